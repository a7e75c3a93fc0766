// Sums of gradients over all rows by BLAS, where each tap meets few positions. For tap t and the pairs (p, q)
// of an output and the input that t brings together,
//
//   sum_r c_r g_r(o, c, t)   = sum over (p, q) of sum_r in_r(c, q) c_r e_r(o, p),
//   sum_r w_r g_r(o, c, t)^2 = sum over (p, q), (p', q') of
//                              sum_r in_r(c, q) in_r(c, q') w_r e_r(o, p) e_r(o, p'):
//
// products of a matrix of inputs (or pairs of inputs) by a matrix of sensitivities (or pairs of them).
#pragma once

#include <vector>

#include "network/convolution/convolution.hpp"

namespace bdl {

/// The products that make the sums for all taps.
class FactorPlan {
 public:
  /// Two positions: the same one for sums, p <= q for squares.
  struct Pair {
    Index p, q;
    bool operator==(const Pair&) const = default;
  };
  /// `count` pairs of inputs, and as many pairs of sensitivities, that a tap brings together.
  struct Run {
    Index tap, in, e, count;
  };

  FactorPlan() = default;
  FactorPlan(const ConvShape& shape, bool of_squares);
  const std::vector<Pair>& in() const { return in_; }
  const std::vector<Pair>& e() const { return e_; }
  /// Returns all runs; those of a tap follow each other.
  const std::vector<Run>& runs() const { return runs_; }

 private:
  void add_tap(const ConvShape& shape, Index tap, bool of_squares);
  std::vector<Pair> in_, e_;
  std::vector<Run> runs_;
};

/// True if every tap meets so few positions that products of factors are the fastest.
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
  void write(ConstMatrixView<T> products, T least, Index filter, Index filters, T* out) const;

  ConvShape shape_;
  FactorPlan sums_, squares_;
  std::vector<Index> live_number_;  // number of each tap among those that meet an input, or -1
  Index live_taps_ = 0;
};

}  // namespace bdl
