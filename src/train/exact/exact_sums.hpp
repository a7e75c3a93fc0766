// Sums over the rows of a data set that the exact ELBO at q needs, in a model with f = theta^T x, or with
// several such outputs (several_outputs.hpp). A small data set stays in memory; a large one is read anew for
// each sum, a block at a time. The sums of shards are added up in the order of their tree, over all ranks.
#pragma once

#include "base/interrupt.hpp"
#include "data/data_set.hpp"
#include "evidence/exact_estimator.hpp"
#include "model/network.hpp"
#include "ranks/tree_sums.hpp"
#include "train/exact/several_outputs.hpp"

namespace bdl {

/// Form in which H = sum_i E[l''_i] x_i x_i^T is summed: not at all (rows are in memory), its diagonal, the
/// matrix, or its diagonal and products with some vectors.
enum class HessianSum { none, diagonal, matrix, products };

/// Number of rows, and the shards and ranks among which they are divided.
struct RowShares {
  Index rows = 0, shards = 1, rank = 0, ranks = 1;
};

class ExactSums {
 public:
  /// The model must outlive it.
  ExactSums(const Network<double>& model, const RowShares& shares);
  /// Sets the data, in the model's units; they must outlive it. A small data set is read here, once.
  void read_from(DataSet& data, const Standardization& units);
  Index rows() const { return shares_.rows; }
  const RowShares& shares() const { return shares_; }
  /// True if all rows are in memory.
  static bool has_rows(const RowShares& shares, Index dimension);
  /// Largest number of rows of a block.
  static Index most_rows(Index dimension);
  /// True if estimate() returns all rows as they are: they are in memory, and an example has one output.
  bool has_rows() const { return is_in_memory() && !several_; }
  const Estimate<double>& estimate() const { return estimate_; }

  /// Computes the sums at q; H is multiplied with the columns of `y`, if there are any. All ranks call it,
  /// and it fails on all of them if it fails on one. Each rank reads the rows of its shards.
  void evaluate(const Posterior<double>& q, HessianSum of_h, ConstMatrixView<double> y, Team& team,
                ExampleLoss loss = ExampleLoss::exact);
  /// Computes the expected gradient and information by the shape of the density at q (likelihood/shape.hpp).
  ConstSpan<double> shape_sums(const Posterior<double>& q, Team& team);
  /// Computes sum_i w_i x_i E[d^2 l_i / df du]^T for the learned numbers u of the shape: D x K. The view
  /// lives until the next sum.
  MatrixView<double> shape_couplings(const Posterior<double>& q, Team& team);
  double log_likelihood() const { return sums_.numbers()[0] - of_spread_; }
  bool has_several_outputs() const { return several_.has_value(); }
  /// Returns the number of noise precisions to learn: one for each output or for all; 0 if there is none.
  Index noises() const;
  /// Sums for a noise: E[squared error] (of several outputs only), number of targets, variances of outputs.
  double squares(Index noise) const { return sums_.numbers()[number_of(0, noise)]; }
  double targets_of(Index noise) const { return sums_.numbers()[number_of(1, noise)]; }
  double variances(Index noise) const { return sums_.numbers()[number_of(2, noise)] + spread_; }
  /// Returns sum_i w_i E[(y_b - f_b)(y_c - f_c)], b >= c, of outputs that have a noise each.
  double products(Index b, Index c) const {
    return sums_.numbers()[number_of(3, 0) + static_cast<std::size_t>(c * noises() - c * (c + 1) / 2 + b)];
  }
  /// Returns sum_i E[l'_i] x_i. The caller may change these views, which live until the next sum.
  std::span<double> slope() { return part(0, 1); }
  std::span<double> diagonal() { return part(1, 1); }
  MatrixView<double> matrix() { return {part(1, dimension()).data(), dimension(), dimension()}; }
  MatrixView<double> products() { return {part(2, vectors_).data(), dimension(), vectors_}; }
  /// Returns diag(start + sum_i b_i x_i x_i^T) with b_i about the largest possible E[l''_i]: 1/4, the noise
  /// precision, or the count.
  ConstSpan<double> typical_precision(ConstSpan<double> start, Team& team);

 private:
  Index dimension() const { return model_.parameters(); }
  Index columns() const { return model_.likelihood.columns(); }
  /// Number of products of outputs that are summed: their noises may have covariances.
  Index pairs() const { return several_ && noises() > 1 ? noises() * (noises() + 1) / 2 : 0; }
  std::size_t number_of(Index kind, Index noise) const {
    return static_cast<std::size_t>(1 + kind * noises() + noise);
  }
  bool is_in_memory() const { return has_rows(shares_, dimension()); }
  std::span<double> part(Index first, Index count) {
    const auto size = static_cast<std::size_t>(dimension());
    return sums_.values().subspan(static_cast<std::size_t>(first) * size,
                                  static_cast<std::size_t>(count) * size);
  }
  bool keeps_gram() const;
  void keep_gram();
  void use_gram(const Posterior<double>& q);
  void begin(HessianSum of_h, Index vectors, Index numbers = 1);
  void add_shape(const Posterior<double>& q, const ShardRange& rows, std::span<double> out);
  void add_couplings(const Posterior<double>& q, const ShardRange& rows, bool is_first,
                     MatrixView<double> out);
  void finish(Team& team);
  template <class Add>
  void add_shape_rows(Team& team, Add&& add);
  template <class Visit>
  void for_each_block(Index shard, Visit&& visit);
  void add_block(const Posterior<double>& q, const ShardRange& rows, ConstMatrixView<double> y, bool is_first,
                 const Summand<double>& out);
  void add_variances(Index count, std::span<double> numbers) const;
  void add_several(const ShardRange& rows, ConstMatrixView<double> y, bool is_first,
                   const Summand<double>& out);
  void write_hessian(ConstMatrixView<double> y, std::span<double> out);
  void write_several_hessian(ConstMatrixView<double> y, std::span<double> out);
  void add_typical(const ShardRange& rows, std::span<double> out) const;

  const Network<double>& model_;
  RowShares shares_;
  Index block_;  // number of rows in memory at a time
  DataSet* data_ = nullptr;
  const Standardization* units_ = nullptr;
  Buffer<double> x_, y_, part_, projected_, weighted_, shape_parts_;
  std::optional<ExactEstimator<double>> estimator_;  // of one output
  Estimate<double> estimate_;
  std::optional<SeveralOutputs> several_;
  // Of one output with Gaussian noise of precision tau, H / tau = sum_i x_i x_i^T is the same at all q: data
  // that are not in memory are multiplied once. Sums are then those at the mean, and the variances of the
  // outputs add tr(Sigma H / tau) = spread_, and a loss of of_spread_.
  Buffer<double> gram_, product_;
  bool has_gram_ = false;
  double spread_ = 0, of_spread_ = 0;
  Scratch scratch_;
  HessianSum of_h_ = HessianSum::none;
  ExampleLoss loss_ = ExampleLoss::exact;
  Index vectors_ = 0;
  TreeSums<double> sums_;
};

/// Calls visit(rows, is_first) for each block of a shard, with its rows in x_ and y_.
template <class Visit>
void ExactSums::for_each_block(Index shard, Visit&& visit) {
  const ShardRange all = part_of(shard, shares_.shards, rows());
  for (Index first = all.first; first < all.end; first += block_) {
    const ShardRange block{first, std::min(first + block_, all.end)};
    check_interrupt();
    if (!is_in_memory())
      data_->fetch({block.first, block.count()}, *units_, x_.matrix(model_.inputs(), block.count()),
                   y_.matrix(columns(), block.count()));
    visit(block, first == all.first);
    if (data_->blocks.given()) data_->forget(block.first, block.count());
  }
}

}  // namespace bdl
