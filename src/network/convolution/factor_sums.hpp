// Sums of gradients over all rows where a tap meets few positions. There a tap's share is a product of
// matrices: what all examples have as inputs at a position, times their sensitivities at the position that
// the tap brings it to. Squares of a sum over positions are sums over pairs of them, and products of both
// factors' pairs.
#pragma once

#include <vector>

#include "network/block_rows.hpp"
#include "network/convolution/patch_products.hpp"

namespace bdl {

/// Which products are taken.
class FactorPlan {
 public:
  /// p = q for sums, p <= q for squares.
  struct Pair {
    Index p, q;
    bool operator==(const Pair&) const = default;
  };
  /// So many pairs of inputs and of sensitivities, one after the other, that a tap brings together.
  struct Run {
    Index tap, in, e, count;
  };

  FactorPlan() = default;
  FactorPlan(const ConvShape& shape, bool of_squares);
  const std::vector<Pair>& in() const { return in_; }
  const std::vector<Pair>& e() const { return e_; }
  /// Those of a tap follow each other.
  const std::vector<Run>& runs() const { return runs_; }

 private:
  void add_tap(const ConvShape& shape, Index tap, bool of_squares);
  std::vector<Pair> in_, e_;
  std::vector<Run> runs_;
};

/// Does every tap meet so few positions that products of factors are the fastest?
bool suits_factors(const ConvShape& shape);

template <class T>
class FactorSums {
 public:
  explicit FactorSums(const ConvShape& shape);

  /// out = sum_r w_r g_r, weights as in PatchSums.
  void sum(const PatchFactors<T>& factors, const PatchSums<T>& to, Scratch& scratch) const {
    add_up(factors, sums_, to, scratch);
  }
  /// out = sum_r w_r g_r^2.
  void sum_squares(const PatchFactors<T>& factors, const PatchSums<T>& to, Scratch& scratch) const {
    add_up(factors, squares_, to, scratch);
  }

 private:
  void add_up(const PatchFactors<T>& factors, const FactorPlan& plan, const PatchSums<T>& to,
              Scratch& scratch) const;
  void pack_inputs(const PatchFactors<T>& factors, const FactorPlan& plan, MatrixView<T> out) const;
  void pack_sensitivities(const PatchFactors<T>& factors, const FactorPlan& plan, const T* weights,
                          MatrixView<T> out) const;
  void write(ConstMatrixView<T> shares, T least, Index filter, Index filters, T* out) const;

  ConvShape shape_;
  FactorPlan sums_, squares_;
  std::vector<Index> share_of_;  // of a tap among those that meet an input; -1: none
  Index shares_ = 0;
};

}  // namespace bdl
