// For tests of SGD and Adam: draws theta_s = mu + sigma eps_s whose eps_s are known, and the losses that
// rules bbb and map go down, in plain loops.
#pragma once

#include <functional>

#include "steps/averages.hpp"
#include "support/naive_network.hpp"
#include "support/streams.hpp"

namespace bdl::testing {

/// The eps_s of a step (D x S).
inline Dense normals_of(Index step, Index dimension, Index samples) {
  return Random(static_cast<std::uint64_t>(700 + step)).normal(dimension, samples);
}

template <class T>
class KnownDraws final : public DrawSource<T> {
 public:
  void parameters(const Posterior<T>& q, DrawPlace place, MatrixView<T> thetas, Scratch&) override {
    const Dense covariance = inverse_of(dense_precision(q)),
                eps = normals_of(place.step, thetas.rows, thetas.cols);
    for (Index s = 0; s < thetas.cols; ++s)
      for (Index i = 0; i < thetas.rows; ++i)
        thetas(i, s) = static_cast<T>(static_cast<double>(q.mean()[static_cast<std::size_t>(i)]) +
                                      std::sqrt(covariance(i, i)) * eps(i, s));
  }
  void probes(const Posterior<T>&, DrawPlace, MatrixView<T>) override {}
};

/// Examples (columns) for a network under a likelihood, of which each counts `scale` times.
struct Examples {
  NaiveNetwork naive;
  Likelihood likelihood;
  Dense x, y;
  double scale = 1;

  Examples(const NaiveNetwork& network, const Likelihood& density, Index count, std::uint64_t seed)
      : naive(network), likelihood(density), y(density.targets(), 0) {
    Random random(seed);
    x = random.normal(naive.width(0), count);
    for (Index i = 0; i < count; ++i) y = beside(y, random_targets(likelihood, random));
  }
  /// Minus the log likelihood.
  double operator()(const Dense& theta) const {
    double sum = 0;
    for (Index i = 0; i < x.cols; ++i)
      sum -= likelihood.log_density(naive.outputs(theta, columns_of(x, i, 1)).values.data(),
                                    columns_of(y, i, 1).values.data());
    return scale * sum;
  }
  /// Its mean over theta_s = mu + sigma eps_s.
  double expected(const Dense& mean, const Dense& sigma, const Dense& eps) const {
    double sum = 0;
    for (Index s = 0; s < eps.cols; ++s) {
      Dense theta = mean;
      for (Index i = 0; i < theta.rows; ++i) theta(i, 0) += sigma(i, 0) * eps(i, s);
      sum += (*this)(theta);
    }
    return sum / static_cast<double>(eps.cols);
  }
};

/// Central differences.
inline Dense differences(const std::function<double(const Dense&)>& f, const Dense& at) {
  constexpr double h = 1e-5;
  Dense out(at.rows, 1);
  for (Index i = 0; i < at.rows; ++i) {
    Dense high = at, low = at;
    high(i, 0) += h, low(i, 0) -= h;
    out(i, 0) = (f(high) - f(low)) / (2 * h);
  }
  return out;
}

/// Kingma and Ba 2015, algorithm 1, line by line; without the denominator for SGD.
struct Descent1 {
  double rate, beta1, beta2, epsilon;
  bool adam;
  Dense m, v;
  Index t = 0;

  Descent1(const Options& options, Index size)
      : rate(options.learning_rate),
        beta1(options.momentum),
        beta2(options.adam_beta2),
        epsilon(options.adam_epsilon),
        adam(options.descent == DescentOption::adam),
        m(size, 1),
        v(size, 1) {}
  void take(const Dense& g, Dense& theta) {
    ++t;
    const auto count = static_cast<double>(t);
    for (Index i = 0; i < g.rows; ++i) {
      m(i, 0) = beta1 * m(i, 0) + (1 - beta1) * g(i, 0);
      v(i, 0) = beta2 * v(i, 0) + (1 - beta2) * g(i, 0) * g(i, 0);
      const double mhat = m(i, 0) / (1 - std::pow(beta1, count));
      const double vhat = v(i, 0) / (1 - std::pow(beta2, count));
      theta(i, 0) -= rate * (adam ? mhat / (std::sqrt(vhat) + epsilon) : mhat);
    }
  }
};

inline Options first_order_options(Rule rule, EstimateKind estimate, DescentOption descent) {
  Options options = plain_options();
  options.rule = rule;
  options.curvature = estimate;
  options.descent = descent;
  options.learning_rate = 0.02;
  return options;
}

}  // namespace bdl::testing
