// A posterior of independent blocks: consecutive ranges of the parameters, each with a posterior of any
// Gaussian family. Sigma is block diagonal, so a step is one of each block, with the block's range of the
// curvature.
#pragma once

#include <string>
#include <vector>

#include "posterior/posterior.hpp"

namespace bdl {

template <class T>
class BlocksPosterior final : public Posterior<T> {
 public:
  /// Takes at least one member; `family` says what such a posterior is called.
  BlocksPosterior(Family family, std::vector<std::unique_ptr<Posterior<T>>> members);

  Family family() const override { return family_; }
  /// Returns D, or the rank of all members where they are created with one.
  Index rank() const override;
  Index block_count() const { return std::ssize(members_); }
  const Posterior<T>& member(Index k) const { return *members_[static_cast<std::size_t>(k)]; }
  Posterior<T>& member(Index k) { return *members_[static_cast<std::size_t>(k)]; }
  Index offset(Index k) const { return offsets_[static_cast<std::size_t>(k)]; }
  bool has_blocks_of(const BlocksPosterior& other) const { return offsets_ == other.offsets_; }

  std::unique_ptr<Posterior<T>> clone() const override;
  void assign(const Posterior<T>& other) override;
  void swap(Posterior<T>& other) override;
  /// Tensors of block k are called "block<k>.<name>".
  void tensors(const TensorVisitor<T>& visit) override;
  void accept_tensors() override;
  void complete() const override;
  bool keeps_covariance() const override;
  void read_covariance(const TensorVisitor<const T>& visit) const override;
  void write_covariance(const TensorSource<T>& source) override;
  void set_isotropic(double precision) override;
  void set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t> sign_seed) override;
  /// Each block is shortened by itself; returns the smallest fraction of them.
  double update(const PosteriorStep<T>& step, Scratch& scratch) override;
  double squared_shift(const Posterior<T>& from, ConstSpan<T> shift, Scratch& scratch) const override;
  void drift(const Posterior<T>& from, const Drift<T>& drift, Scratch& scratch) override;
  Index factor_normals() const override;
  void solve(MatrixView<T> x, Scratch& scratch) const override;
  void color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T> more, Scratch& scratch) const override;
  void variances(MatrixView<T> x, std::span<double> out, Scratch& scratch) const override;
  void marginal_variance(std::span<T> out, Scratch& scratch) const override;
  void precision_diagonal(std::span<T> out) const override;
  void multiply_precision(ConstSpan<T> x, std::span<T> out, Scratch& scratch) const override;
  double quadratic(ConstSpan<T> x, Scratch& scratch) const override;
  double log_det_covariance() const override;
  double trace_precision(const Posterior<T>& q, Scratch& scratch) const override;

 private:
  PosteriorKind family_kind() const override;
  PosteriorStep<T> step_of(Index k, const PosteriorStep<T>& step, Scratch& scratch) const;
  template <class Values>
  auto range_of(Index k, Values values) const {
    return values.empty() ? values
                          : values.subspan(static_cast<std::size_t>(offset(k)),
                                           static_cast<std::size_t>(member(k).dimension()));
  }
  MatrixView<T> range_of(Index k, MatrixView<T> columns) const {
    return columns.block(offset(k), 0, member(k).dimension(), columns.cols);
  }
  Family family_;
  std::vector<std::unique_ptr<Posterior<T>>> members_;  // their means are in this one's memory
  std::vector<Index> offsets_;
  std::vector<std::string> names_;  // of the members' tensors but the mean
};

/// Fails with ERROR_UNSUPPORTED for other families.
template <class T>
const BlocksPosterior<T>& as_blocks(const Posterior<T>& q);

}  // namespace bdl
