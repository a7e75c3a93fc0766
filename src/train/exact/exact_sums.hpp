// What the rows of a data set say about q in a model with f = theta^T x, added up. Few rows stay in memory;
// else they are read anew for each sum, a block at a time. Shards are added up in their tree, over ranks.
#pragma once

#include "data/data_set.hpp"
#include "evidence/exact_estimator.hpp"
#include "model/network.hpp"
#include "ranks/tree_sums.hpp"

namespace bdl {

/// What is summed up of H = sum_i E[l''_i] x_i x_i^T: nothing, since the rows are at hand; its diagonal; the
/// matrix; or its diagonal and products with some vectors.
enum class HessianSum { none, diagonal, matrix, products };

/// Which rows there are, and who adds them up.
struct RowShares {
  Index rows = 0, shards = 1, rank = 0, ranks = 1;
};

class ExactSums {
 public:
  /// The model must outlive it.
  ExactSums(const Network<double>& model, const RowShares& shares);
  /// From now on the data, in the model's units, which must outlive it: few rows are read here, once.
  void read_from(DataSet& data, const Standardization& units);
  Index rows() const { return shares_.rows; }
  const RowShares& shares() const { return shares_; }
  /// All rows are in memory, as those of the last estimate().
  static bool has_rows(const RowShares& shares, Index dimension);
  bool has_rows() const { return has_rows(shares_, dimension()); }
  const Estimate<double>& estimate() const { return estimate_; }

  /// At q, of which `y` are the vectors that H is multiplied with. Memory for it is reserved; all ranks call
  /// it, and all fail if one does. Each reads the rows of its own shards.
  void evaluate(const Posterior<double>& q, HessianSum of_h, ConstMatrixView<double> y, Team& team,
                ExampleLoss loss = ExampleLoss::exact);
  double log_likelihood() const { return sums_.numbers()[0]; }
  /// sum_i E[l'_i] x_i; it and what follows may be changed, and live until the next sum.
  std::span<double> slope() { return part(0, 1); }
  std::span<double> diagonal() { return part(1, 1); }
  MatrixView<double> matrix() { return {part(1, dimension()).data(), dimension(), dimension()}; }
  MatrixView<double> products() { return {part(2, vectors_).data(), dimension(), vectors_}; }
  /// diag(start + sum_i b_i x_i x_i^T) for about the most that E[l''_i] can be: 1/4, the noise precision, or
  /// the count.
  ConstSpan<double> typical_precision(ConstSpan<double> start, Team& team);

 private:
  Index dimension() const { return model_.parameters(); }
  std::span<double> part(Index first, Index count) {
    const auto size = static_cast<std::size_t>(dimension());
    return sums_.values().subspan(static_cast<std::size_t>(first) * size,
                                  static_cast<std::size_t>(count) * size);
  }
  void begin(HessianSum of_h, Index vectors);
  void finish(Team& team);
  template <class Visit>
  void for_each_block(Index shard, Visit&& visit);
  void add_block(const Posterior<double>& q, const ShardRange& rows, ConstMatrixView<double> y, bool is_first,
                 const Summand<double>& out);
  void write_hessian(ConstMatrixView<double> y, std::span<double> out);
  void add_typical(const ShardRange& rows, std::span<double> out) const;

  const Network<double>& model_;
  RowShares shares_;
  Index block_;  // rows that are in memory together
  DataSet* data_ = nullptr;
  const Standardization* units_ = nullptr;
  Buffer<double> x_, y_, part_, projected_, weighted_;
  ExactEstimator<double> estimator_;
  Estimate<double> estimate_;
  HessianSum of_h_ = HessianSum::none;
  ExampleLoss loss_ = ExampleLoss::exact;
  Index vectors_ = 0;
  TreeSums<double> sums_;
};

}  // namespace bdl
