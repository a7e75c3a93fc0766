// "vogn-golden-1": networks, data and draws, which the readers of its parts share.
#pragma once

#include "golden.hpp"
#include "train/optimizer.hpp"

namespace golden {

struct VognProblem {
  explicit VognProblem(const Json& file, const Json& problem);
  const Json& json;
  bdl::Index batch;
  std::shared_ptr<bdl::Model<double>> model;
  bdl::Buffer<double> x, y;

  bdl::Index parameters() const { return model->parameters(); }
  /// Minibatch t, or all examples.
  bdl::ConstMatrixView<double> inputs(bdl::Index step) const;
  bdl::ConstMatrixView<double> targets(bdl::Index step) const;
  bdl::Index examples() const;
};

/// Steps of the cases vogn*, ogn, ivon*, adam and sgd; predictions: largest error.
double compare_vogn_cases(const Json& file, const VognProblem& problem);
/// Outputs, losses, gradient and squares at the mean; running statistics; Fisher diagonals and EWC.
double compare_vogn_mean(const Json& file, const VognProblem& problem);
/// The sets of probabilities: scores of classification and out-of-distribution detection.
double compare_vogn_metrics(const Json& file);

/// Kronecker factors and the posteriors made of them; steps of the cases kfac and noisy-kfac.
double compare_vogn_kronecker(const Json& file, const VognProblem& problem);

}  // namespace golden
