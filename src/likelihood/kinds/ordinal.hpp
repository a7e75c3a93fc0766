// Ordered levels 0 .. K - 1 with one output f and ascending cut points c_0 < ... < c_{K-2}: P(y <= k) = 1 /
// (1 + e^(f - c_k)), the cumulative logit or proportional odds model (McCullagh 1980). With b = c_y and a =
// c_{y-1},
//
//   log p = -softplus(f - b) - softplus(a - f) + log(1 - e^(a - b)),
//
// without those terms whose cut point does not exist. It is concave in f and the cut points together.
#pragma once

#include <numbers>

#include "likelihood/kinds/independent_outputs.hpp"
#include "likelihood/logistic.hpp"
#include "likelihood/output_nodes.hpp"
#include "likelihood/shape_terms.hpp"

namespace bdl {

struct Ordinal : IndependentOutputs<Ordinal> {
  using Base = IndependentOutputs<Ordinal>;
  using Base::log_density, Base::misfit;
  static double log_density(const Likelihood& l, Index, double f, double y) {
    return log_probability(l, f, static_cast<Index>(y));
  }
  /// The best f is halfway between the cut points, where the probability is tanh((b - a) / 4).
  static double misfit(const Likelihood& l, Index, double f, double y) {
    const auto k = static_cast<Index>(y);
    const double best = has_both(l, k) ? std::log(std::tanh((upper(l, k) - lower(l, k)) / 4)) : 0;
    return std::max(0.0, best - log_probability(l, f, k));
  }
  /// Writes the probability of each level.
  template <class T>
  static void moments(const Likelihood& l, const T* f, double* mean, double* variance) {
    for (Index k = 0; k < l.levels(); ++k) {
      mean[k] = std::exp(log_probability(l, static_cast<double>(f[0]), k));
      variance[k] = mean[k] * (1 - mean[k]);
    }
  }
  static double slope(const Likelihood& l, Index, double f, double y) {
    return slope_at(l, f, static_cast<Index>(y));
  }
  template <class Target>
  static double curvature(const Likelihood& l, Index, double f, const Target& y) {
    if (std::isnan(y())) return 0;
    const auto k = static_cast<Index>(y());
    double sum = 0;
    if (has_upper(l, k)) sum += logistic(f - upper(l, k)) * logistic(upper(l, k) - f);
    if (has_lower(k)) sum += logistic(lower(l, k) - f) * logistic(f - lower(l, k));
    return sum;
  }
  static double root(const Likelihood& l, Index, double f) {
    double sum = 0;
    for (Index k = 0; k < l.levels(); ++k) {
      const double slope = slope_at(l, f, k);
      sum += std::exp(log_probability(l, f, k)) * slope * slope;
    }
    return std::max(std::sqrt(sum), least_root);
  }
  static double curvature_bound(const Likelihood&) { return 0.5; }
  static double typical_curvature(const Likelihood&, double) { return 0.5; }
  static double strip(const Likelihood&) { return std::numbers::pi; }
  static double width(const Likelihood&, double) { return 1; }
  static ExpectedLoss expected_loss(const Likelihood& l, Index, double m, double v, double y) {
    return of_softplus(l, expected_softplus, m, v, static_cast<Index>(y));
  }
  static ExpectedLoss expected_loss_of_many(const Likelihood& l, double m, double v, double y) {
    return of_softplus(l, expected_softplus_of_many, m, v, static_cast<Index>(y));
  }

  /// log(1 - e^-g) of the gap g has the derivatives r = 1 / (e^g - 1) and -r (1 + r).
  static void add_shape_gradient(const Likelihood& l, double f, double y, double weight, ShapeTerms& out) {
    const auto k = static_cast<Index>(y);
    const double r = gap_ratio(l, k);
    if (has_upper(l, k)) out.add(k, weight * (logistic(f - upper(l, k)) + r));
    if (has_lower(k)) out.add(k - 1, -weight * (logistic(lower(l, k) - f) + r));
  }
  static void add_expected_shape_terms(const Likelihood& l, double m, double v, double y, double weight,
                                       ShapeTerms& out) {
    const auto k = static_cast<Index>(y);
    const double r = gap_ratio(l, k);
    if (has_upper(l, k)) {
      const ExpectedLoss of = expected_softplus_of_many(m - upper(l, k), v);
      out.add(k, weight * (of.slope + r));
      out.add(k, k, weight * of.curvature);
    }
    if (has_lower(k)) {
      const ExpectedLoss of = expected_softplus_of_many(lower(l, k) - m, v);
      out.add(k - 1, -weight * (of.slope + r));
      out.add(k - 1, k - 1, weight * of.curvature);
    }
    add_gap_curvature(l, k, weight, out);
  }
  static void add_shape_information(const Likelihood& l, double f, double weight, ShapeTerms& out) {
    for (Index k = 0; k < l.levels(); ++k) {
      const double share = weight * std::exp(log_probability(l, f, k));
      if (has_upper(l, k)) out.add(k, k, share * logistic(f - upper(l, k)) * logistic(upper(l, k) - f));
      if (has_lower(k)) out.add(k - 1, k - 1, share * logistic(lower(l, k) - f) * logistic(f - lower(l, k)));
      add_gap_curvature(l, k, share, out);
    }
  }
  static void add_shape_coupling(const Likelihood& l, double m, double v, double y, double weight,
                                 std::span<double> out) {
    const auto k = static_cast<Index>(y);
    const auto add = [&](Index cut, double z) {
      out[static_cast<std::size_t>(cut)] -= weight * expected_softplus_of_many(z, v).curvature;
    };
    if (has_upper(l, k)) add(k, m - upper(l, k));
    if (has_lower(k)) add(k - 1, lower(l, k) - m);
  }

 private:
  static bool has_upper(const Likelihood& l, Index k) { return k + 1 < l.levels(); }
  static bool has_lower(Index k) { return k > 0; }
  static bool has_both(const Likelihood& l, Index k) { return has_upper(l, k) && has_lower(k); }
  static double upper(const Likelihood& l, Index k) { return l.shape(k); }
  static double lower(const Likelihood& l, Index k) { return l.shape(k - 1); }
  static double gap_ratio(const Likelihood& l, Index k) {
    return has_both(l, k) ? 1 / std::expm1(upper(l, k) - lower(l, k)) : 0;
  }
  static void add_gap_curvature(const Likelihood& l, Index k, double weight, ShapeTerms& out) {
    if (!has_both(l, k)) return;
    const double r = gap_ratio(l, k), bend = weight * r * (1 + r);
    out.add(k, k, bend);
    out.add(k - 1, k - 1, bend);
    out.add(k, k - 1, -bend);
  }
  static double log_gap(const Likelihood& l, Index k) {
    return has_both(l, k) ? std::log(-std::expm1(lower(l, k) - upper(l, k))) : 0;
  }
  static double log_probability(const Likelihood& l, double f, Index k) {
    double sum = log_gap(l, k);
    if (has_upper(l, k)) sum -= softplus(f - upper(l, k));
    if (has_lower(k)) sum -= softplus(lower(l, k) - f);
    return sum;
  }
  static double slope_at(const Likelihood& l, double f, Index k) {
    double sum = 0;
    if (has_upper(l, k)) sum += logistic(f - upper(l, k));
    if (has_lower(k)) sum -= logistic(lower(l, k) - f);
    return sum;
  }
  static ExpectedLoss of_softplus(const Likelihood& l, ExpectedLoss (*softplus_of)(double, double), double m,
                                  double v, Index k) {
    ExpectedLoss sum{-log_gap(l, k), 0, 0};
    if (has_upper(l, k)) add(softplus_of(m - upper(l, k), v), 1, sum);
    if (has_lower(k)) add(softplus_of(lower(l, k) - m, v), -1, sum);
    return sum;
  }
  static void add(const ExpectedLoss& term, double sign, ExpectedLoss& sum) {
    sum.loss += term.loss;
    sum.slope += sign * term.slope;
    sum.curvature += term.curvature;
  }
};

}  // namespace bdl
