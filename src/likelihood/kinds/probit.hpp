// Labels 0 or 1 with the probit link: P(y_c = 1) = Phi(f_c), the normal distribution function.
#pragma once

#include "likelihood/kinds/independent_outputs.hpp"
#include "likelihood/output_nodes.hpp"
#include "likelihood/special_functions.hpp"

namespace bdl {

struct Probit : IndependentOutputs<Probit> {
  using Base = IndependentOutputs<Probit>;
  using Base::log_density, Base::misfit, Base::moments;
  static double log_density(const Likelihood&, Index, double f, double y) {
    return of_share(y, [=](double label) { return log_normal_cdf(label > 0 ? f : -f); });
  }
  static double misfit(const Likelihood& l, Index c, double f, double y) { return -log_density(l, c, f, y); }
  static TargetMoments moments(const Likelihood&, Index, double f) {
    return {normal_cdf(f), normal_cdf(f) * normal_cdf(-f)};
  }
  static double slope(const Likelihood&, Index, double f, double y) {
    return of_share(
        y, [=](double label) { return label > 0 ? -normal_mills(f).ratio : normal_mills(-f).ratio; });
  }
  template <class Target>
  static double curvature(const Likelihood&, Index, double f, const Target& y) {
    if (std::isnan(y())) return 0;
    return of_share(y(), [=](double label) { return normal_mills(label > 0 ? f : -f).curvature; });
  }
  /// The information is phi(f)^2 / (Phi(f) Phi(-f)).
  static double root(const Likelihood&, Index, double f) {
    return std::max(std::sqrt(normal_mills(f).ratio * normal_mills(-f).ratio), least_root);
  }
  static double curvature_bound(const Likelihood&) { return 1; }
  static double typical_curvature(const Likelihood&, double) { return 1; }
  /// The zero of Phi nearest to the real line is at 1.9 +- 2.8 i.
  static double strip(const Likelihood&) { return 2.8; }
  static double width(const Likelihood&, double) { return 1; }
  static ExpectedLoss expected_loss(const Likelihood& l, Index, double m, double v, double y) {
    return expected_by_nodes<Probit>(l, m, v, [=](double f) { return loss_at(f, y); });
  }
  static ExpectedLoss expected_loss_of_many(const Likelihood& l, double m, double v, double y) {
    return expected_by_few_nodes<Probit>(l, m, v, [=](double f) { return loss_at(f, y); });
  }

 private:
  static ExpectedLoss loss_at(double f, double y) {
    if (y > 0 && y < 1) {
      const ExpectedLoss of_1 = loss_at(f, 1), of_0 = loss_at(f, 0);
      return {y * of_1.loss + (1 - y) * of_0.loss, y * of_1.slope + (1 - y) * of_0.slope,
              y * of_1.curvature + (1 - y) * of_0.curvature};
    }
    const double sign = y > 0 ? 1 : -1;
    const Mills mills = normal_mills(sign * f);
    return {-mills.log_cdf, -sign * mills.ratio, mills.curvature};
  }
};

}  // namespace bdl
