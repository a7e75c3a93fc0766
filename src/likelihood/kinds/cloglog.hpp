// Labels 0 or 1 with the complementary log-log link: P(y_c = 1) = 1 - exp(-exp(f_c)), the probability that a
// Poisson count of rate e^f is not 0.
#pragma once

#include <numbers>

#include "likelihood/kinds/independent_outputs.hpp"
#include "likelihood/output_nodes.hpp"

namespace bdl {

struct Cloglog : IndependentOutputs<Cloglog> {
  using Base = IndependentOutputs<Cloglog>;
  using Base::log_density, Base::misfit, Base::moments;
  static double log_density(const Likelihood&, Index, double f, double y) {
    const double rate = std::exp(f);
    return of_share(y, [=](double label) { return label > 0 ? log_success(f, rate) : -rate; });
  }
  static double misfit(const Likelihood& l, Index c, double f, double y) { return -log_density(l, c, f, y); }
  static TargetMoments moments(const Likelihood&, Index, double f) {
    const double p = -std::expm1(-std::exp(f));
    return {p, p * std::exp(-std::exp(f))};
  }
  static double slope(const Likelihood&, Index, double f, double y) {
    return of_share(y, [=](double label) { return label > 0 ? -share(std::exp(f)) : std::exp(f); });
  }
  template <class Target>
  static double curvature(const Likelihood&, Index, double f, const Target& y) {
    if (std::isnan(y())) return 0;
    const double rate = std::exp(f), r = share(rate);
    return of_share(y(), [=](double label) { return label > 0 ? bend(rate, r) : rate; });
  }
  /// The information is e^2f / (exp(e^f) - 1).
  static double root(const Likelihood&, Index, double f) {
    const double rate = std::exp(f), r = share(rate);
    return std::max(r > 0 ? std::sqrt(rate * r) : 0, least_root);
  }
  /// log(1 - exp(-e^f)) has a singularity at log(2 pi) +- i pi / 2.
  static double strip(const Likelihood&) { return std::numbers::pi / 2; }
  static double width(const Likelihood&, double) { return 1; }
  static double typical_curvature(const Likelihood&, double) { return 1; }
  static ExpectedLoss expected_loss(const Likelihood& l, Index, double m, double v, double y) {
    return of_success_share(m, v, y, [&] { return expected_by_nodes<Cloglog>(l, m, v, loss_of_success); });
  }
  static ExpectedLoss expected_loss_of_many(const Likelihood& l, double m, double v, double y) {
    return of_success_share(m, v, y,
                            [&] { return expected_by_few_nodes<Cloglog>(l, m, v, loss_of_success); });
  }

 private:
  static ExpectedLoss loss_of_success(double f) {
    const double rate = std::exp(f), r = share(rate);
    return {-log_success(f, rate), -r, bend(rate, r)};
  }
  /// The loss of a failure is e^f, which has a closed form and overflows where a success has no loss.
  template <class OfSuccess>
  static ExpectedLoss of_success_share(double m, double v, double y, OfSuccess&& of_success) {
    const double failure = y < 1 ? (1 - y) * std::exp(m + v / 2) : 0;
    if (!(y > 0)) return {failure, failure, failure};
    const ExpectedLoss success = of_success();
    return {y * success.loss + failure, y * success.slope + failure, y * success.curvature + failure};
  }
  static double log_success(double f, double rate) { return f < -30 ? f : std::log(-std::expm1(-rate)); }
  /// Returns minus the second derivative of log P(y = 1), given r = share(rate).
  static double bend(double rate, double r) {
    return r * (rate < 1e-4 ? rate / 2 + rate * rate / 12 : r > 0 ? rate + r - 1 : 0);
  }
  /// Returns rate / (e^rate - 1).
  static double share(double rate) {
    if (rate > 700) return 0;
    return rate > 0 ? rate / std::expm1(rate) : 1;
  }
};

}  // namespace bdl
