// A problem of "elrg-golden-1" as the library holds it: network, posterior, prior, options of training.
#pragma once

#include <memory>

#include "elrg_noise.hpp"
#include "golden.hpp"
#include "model/network.hpp"
#include "steps/averages.hpp"

namespace golden {

inline std::size_t size(bdl::Index i) {
  return static_cast<std::size_t>(i);
}

struct ElrgProblem {
  explicit ElrgProblem(const Json& problem);

  const Json& json;
  std::shared_ptr<const bdl::Graph<double>> graph;
  bdl::Network<double> model;
  bdl::Index examples, rank = 0;
  double data_size;
  bdl::Options options;
  bdl::Averages<double> averages;
  std::unique_ptr<bdl::Posterior<double>> q, next;
  Vector prior;  ///< precisions

  bool has_classes() const { return json.at("likelihood") == "categorical"; }
  bool is_point() const { return json.at("family") == "map"; }
  bool is_tied() const { return options.diagonal_part == bdl::DiagonalPart::tied; }
  /// V = W / root.
  double root() const;
  const Json& expected() const { return json.at("expected"); }
  bdl::ConstMatrixView<double> x() const { return {x_.data(), graph->inputs(), examples}; }
  bdl::ConstMatrixView<double> y() const { return {y_.data(), std::ssize(y_) / examples, examples}; }

  /// As the file begins.
  void restart();

  /// u, t and rho layer by layer: factor by factor, rows before columns, then biases.
  Vector tied_of(const Json& layers) const;

  std::unique_ptr<GivenNoise> noise(const Json& samples) const;

 private:
  void set_options();
  void set_block(std::size_t layer, bdl::LowRankMomentPosterior<double>& member, bdl::Index offset);
  bdl::Index weights_of(std::size_t layer) const;
  Vector x_, y_;
};

/// Each layer's estimator.
std::vector<bdl::LayerNoise> estimators_of(const Json& layers);

}  // namespace golden
