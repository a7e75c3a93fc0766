// Expectations over the outputs of a model with f = Theta^T x of several outputs, and the sums that the exact
// ELBO needs of them: under q the outputs of an example are N(m_i, V_i), V_i = J_i Sigma J_i^T, so its share
// of H is E[d^2 l_i / df^2] (x) x_i x_i^T. Outputs that are independent given f need the diagonal of V_i
// only.
#pragma once

#include <optional>

#include "evidence/exact_estimator.hpp"
#include "likelihood/class_integrals.hpp"
#include "model/network.hpp"

namespace bdl {

class SeveralOutputs {
 public:
  /// The model must outlive it.
  explicit SeveralOutputs(const Network<double>& model);
  /// Prepares for blocks of rows at this posterior, which must live until the last of them.
  void begin(const Posterior<double>& q);
  /// Computes the expectations for a block of rows (columns of x and y, numbered from `first`) and returns
  /// its expected log likelihood. Fails with ERROR_DIVERGED, naming the row, if one is not finite.
  double evaluate(ConstMatrixView<double> x, ConstMatrixView<double> y, Index first, ExampleLoss loss);

  /// Sums over the rows of the last block: E[dl], diag(H), the lower triangle of H, and H Y.
  void write_slope(std::span<double> out);
  void write_diagonal(std::span<double> out);
  void write_matrix(MatrixView<double> out);
  void write_products(ConstMatrixView<double> y, MatrixView<double> out);

  /// Adds sums over the last block to `sums`: for each noise E[squared error], then the numbers of targets,
  /// then the variances of outputs. Either each output has its noise, or all have one.
  void add_errors(ConstMatrixView<double> y, Index noises, std::span<double> sums) const;
  /// Adds E[(y_b - f_b)(y_c - f_c)], b >= c, column by column; their covariances only if the noises have some.
  void add_products(ConstMatrixView<double> y, std::span<double> sums) const;
  /// Adds diag(sum_i b_i x_i x_i^T), with b_i about the largest possible E[l''_i].
  void add_typical(ConstMatrixView<double> x, ConstMatrixView<double> y, std::span<double> out) const;
  /// Number of doubles that it holds for so many rows and parameters.
  static double numbers(double rows, double parameters, double outputs);

 private:
  bool has_classes() const { return classes_.has_value(); }
  /// True if outputs have covariances and a Hessian, not variances and its diagonal.
  bool is_coupled() const { return has_classes() || model_.likelihood.noise_covariance().given(); }
  Index width() const { return layer_.inputs + (layer_.has_bias() ? 1 : 0); }
  Index place(Index output, Index input) const {
    return input < layer_.inputs ? layer_.weight_offset + output * layer_.inputs + input
                                 : layer_.bias_offset + output;
  }
  /// Number of combinations of outputs whose covariances are computed: contrasts of classes, or outputs.
  Index combinations() const { return combination_.cols; }
  void write_rows(Index first, Index count, MatrixView<double> out) const;
  void find_covariances(Index first, Index count);
  void spread_by_factor(Index first, Index count);
  void integrate(ConstMatrixView<double> y, Index first, ExampleLoss loss);
  double weighted_row(Index i, ConstMatrixView<double> y, ExampleLoss loss, double* memory);
  double integrate_row(Index i, ConstMatrixView<double> y, ExampleLoss loss, double* memory);
  double integrate_classes(Index i, Index y, double* memory);
  double integrate_correlated(Index i, const double* y);
  MatrixView<double> hessian(Index i) {
    return {hessians_.data() + i * outputs_ * outputs_, outputs_, outputs_};
  }
  double entry(Index i, Index c, Index k) const {
    return is_coupled() ? hessians_.data()[(i * outputs_ + c) * outputs_ + k]
                        : hessians_.data()[i * outputs_ + c];
  }
  bool couples(Index c, Index k) const { return c == k || is_coupled(); }
  /// Covariance of outputs b >= c of an example, without classes.
  double covariance(Index i, Index b, Index c) const {
    if (is_coupled()) return covariances_.data()[(i * outputs_ + c) * outputs_ + b];
    return b == c ? covariances_.data()[i * outputs_ + c] : 0;
  }

  const Network<double>& model_;
  const DenseShape& layer_;
  Index outputs_, rows_ = 0;
  std::optional<ClassIntegrals> classes_;
  std::vector<Index> possible_;  // the classes of a categorical y
  std::vector<double> combination_memory_;
  ConstMatrixView<double> combination_;
  const Posterior<double>* q_ = nullptr;
  bool has_spread_ = false;
  Buffer<double> spread_;  // L^-1 (combinations (x) I) where Sigma^-1 = L L^T
  Buffer<double> x_, weights_, scaled_, f_, slopes_, hessians_, covariances_, losses_, work_, solved_,
      memory_;
  Scratch scratch_;
};

}  // namespace bdl
