// A posterior of independent blocks: consecutive ranges of the parameters, each with a belief of its own of
// any Gaussian family. Sigma is block diagonal, so a step is one of each block, with the part of the
// curvature that is the block's.
#pragma once

#include <string>
#include <vector>

#include "posterior/posterior.hpp"

namespace bdl {

template <class T>
class BlocksPosterior final : public Posterior<T> {
 public:
  /// At least one member; `family` says what such a posterior is called.
  BlocksPosterior(Family family, std::vector<std::unique_ptr<Posterior<T>>> members);

  Family family() const override { return family_; }
  /// D, or the rank that all members have where that says how they were created.
  Index rank() const override;
  Index block_count() const { return std::ssize(members_); }
  const Posterior<T>& member(Index k) const { return *members_[static_cast<std::size_t>(k)]; }
  Posterior<T>& member(Index k) { return *members_[static_cast<std::size_t>(k)]; }
  Index offset(Index k) const { return offsets_[static_cast<std::size_t>(k)]; }
  bool has_blocks_of(const BlocksPosterior& other) const { return offsets_ == other.offsets_; }

  std::unique_ptr<Posterior<T>> clone() const override;
  void assign(const Posterior<T>& other) override;
  void swap(Posterior<T>& other) override;
  Index bytes() const override;
  Index bytes_to_grow(const StepSize& step) const override;
  /// Those of block k are called "block<k>.<name>".
  void tensors(const TensorVisitor<T>& visit) override;
  void accept_tensors() override;
  void complete() const override;
  bool keeps_covariance() const override;
  void read_covariance(const TensorVisitor<const T>& visit) const override;
  void write_covariance(const TensorSource<T>& source) override;
  bool takes_matrix() const override;
  void set_isotropic(double precision) override;
  void set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t> spread_seed) override;
  /// Each block is shortened on its own; the smallest part that was taken of one.
  double take(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace) override;
  double squared_shift(const Posterior<T>& from, ConstSpan<T> shift,
                       PosteriorScratch<T>& scratch) const override;
  bool moves_by_former_covariance() const override;
  void drift(const Posterior<T>& from, const Drift<T>& drift, UpdateWorkspace<T>& workspace) override;
  void reserve_step(const StepSize& step, UpdateWorkspace<T>& workspace) const override;
  RowsUse use_of_rows(const StepSize& step) const override;
  void reserve_drift(bool has_noise, UpdateWorkspace<T>& workspace) const override;
  void reserve_noise() override;
  void reserve(Index columns, PosteriorScratch<T>& scratch) const override;
  void reserve_marginals(PosteriorScratch<T>& scratch) const override;
  void reserve_variances(Index columns, PosteriorScratch<T>& scratch) const override;
  Index factor_normals() const override;
  void solve(MatrixView<T> x, PosteriorScratch<T>& scratch) const override;
  void color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T> more,
             PosteriorScratch<T>& scratch) const override;
  void variances(MatrixView<T> x, std::span<double> out, PosteriorScratch<T>& scratch) const override;
  void marginal_variance(std::span<T> out, PosteriorScratch<T>& scratch) const override;
  void precision_diagonal(std::span<T> out) const override;
  void multiply_precision(ConstSpan<T> x, std::span<T> out, PosteriorScratch<T>& scratch) const override;
  double quadratic(ConstSpan<T> x, PosteriorScratch<T>& scratch) const override;
  double log_det_covariance() const override;
  double trace_precision(const Posterior<T>& q, PosteriorScratch<T>& scratch) const override;

 private:
  PosteriorKind family_kind() const override;
  StepSize size_for(const Posterior<T>& member, const StepSize& step) const;
  PosteriorStep<T> step_of(Index k, const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace) const;
  template <class Values>
  auto part(Index k, Values values) const {
    return values.empty() ? values
                          : values.subspan(static_cast<std::size_t>(offset(k)),
                                           static_cast<std::size_t>(member(k).dimension()));
  }
  MatrixView<T> part(Index k, MatrixView<T> columns) const {
    return columns.block(offset(k), 0, member(k).dimension(), columns.cols);
  }
  Family family_;
  std::vector<std::unique_ptr<Posterior<T>>> members_;  // their means are parts of this one's
  std::vector<Index> offsets_;
  std::vector<std::string> names_;  // of the members' tensors but the mean
};

/// Fails with ERROR_UNSUPPORTED for other families.
template <class T>
const BlocksPosterior<T>& as_blocks(const Posterior<T>& q);

}  // namespace bdl
