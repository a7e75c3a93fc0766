#include "likelihood/limited_rates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "likelihood/limited.hpp"
#include "likelihood/poisson_lognormal.hpp"

namespace bdl {
namespace {

constexpr double reach = 9;  // standard deviations: exp(-9^2 / 2) < 1e-17
constexpr std::size_t order = 16, most_points = 1024;
constexpr double degree = order;

/// Legendre's polynomial of degree `order` at x, and its derivative.
std::array<double, 2> legendre(double x) {
  double before = 1, value = x;
  for (std::size_t k = 2; k <= order; ++k) {
    const double n = static_cast<double>(k), next = ((2 * n - 1) * x * value - (n - 1) * before) / n;
    before = value;
    value = next;
  }
  return {value, degree * (x * value - before) / (x * x - 1)};
}

struct Rule {
  std::array<double, order> nodes, weights;  // on [-1, 1]
  Rule() {
    for (std::size_t i = 0; i < order; ++i) {
      double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (degree + 0.5));
      for (int k = 0; k < 20; ++k) {
        const auto [value, slope] = legendre(x);
        x -= value / slope;
      }
      const double slope = legendre(x)[1];
      nodes[i] = x;
      weights[i] = 2 / ((1 - x * x) * slope * slope);
    }
  }
};

/// Panels between points that crowd around the places where an integrand changes fast.
class Panels {
 public:
  Panels(double low, double high) : low_(low), high_(high) { points_ = {low, high}; }

  /// Points at distances of width, 2 width, 4 width ... on both sides.
  void crowd_around(double center, double width) {
    add(center);
    for (double step = width; step < 2 * (high_ - low_) && step > 0; step *= 2) {
      add(center - step);
      add(center + step);
    }
  }
  /// add(f, weight) at each node.
  template <class Add>
  void visit(Add add) {
    static const Rule rule;
    std::sort(points_.begin(), points_.begin() + static_cast<std::ptrdiff_t>(count_));
    for (std::size_t p = 1; p < count_; ++p) {
      const double half = (points_[p] - points_[p - 1]) / 2, middle = points_[p - 1] + half;
      if (!(half > 0)) continue;
      for (std::size_t i = 0; i < order; ++i) add(middle + half * rule.nodes[i], half * rule.weights[i]);
    }
  }

 private:
  void add(double point) {
    if (point > low_ && point < high_ && count_ < most_points) points_[count_++] = point;
  }
  double low_, high_;
  std::array<double, most_points> points_;
  std::size_t count_ = 2;
};

/// Panels for f ~ N(m, s^2) and for the bend at the limit.
Panels panels_of_normal(double m, double s, double low, double high, double limit) {
  Panels panels(low - reach * s, high + reach * s);
  panels.crowd_around(m, s / 2);
  panels.crowd_around(limit, 1 / (1 + std::exp(limit)));
  return panels;
}

/// Does the limit matter to expectations whose mass is up to reach deviations above this mean?
bool meets_limit(double m, double s, double limit) {
  return m + reach * s > limit;
}

double density_exponent(double f, double m, double s) {
  const double t = (f - m) / s;
  return -t * t / 2;
}

/// E[value(g)].
template <class Value>
double expectation(double m, double s, double limit, Value value) {
  double sum = 0, total = 0;
  panels_of_normal(m, s, m, m, limit).visit([&](double f, double weight) {
    const double part = weight * std::exp(density_exponent(f, m, s));
    sum += part * value(limited(f, limit));
    total += part;
  });
  return sum / total;
}

/// The mode of count f - e^f - (f - m)^2 / (2 v), at most the limit: its slope falls.
double mode_below(double m, double v, double count, double limit) {
  const auto slope = [&](double f) { return count - std::exp(f) - (f - m) / v; };
  double low = std::min(m, std::log(count + 0.5)) - 1, high = limit;
  while (slope(low) < 0) low -= 1 + std::abs(low);
  if (low >= high || slope(high) >= 0) return high;
  for (int i = 0; i < 100; ++i) (slope((low + high) / 2) > 0 ? low : high) = (low + high) / 2;
  return low;
}

}  // namespace

/// Without the limit e^{m + v / 2} and its square times e^v - 1; as one exponent where a factor overflows.
RateMoments rate_moments(double m, double v, double limit) {
  if (!(v > 0)) return {std::exp(limited(m, limit)), 0};
  const double s = std::sqrt(v);
  if (meets_limit(m + 2 * v, s, limit)) {
    const double mean = expectation(m, s, limit, [](double g) { return std::exp(g); });
    return {mean,
            expectation(m, s, limit, [&](double g) { return (std::exp(g) - mean) * (std::exp(g) - mean); })};
  }
  const double product = std::exp(m) * std::exp(v / 2),
               mean = std::isfinite(product) && product > 0 ? product : std::exp(m + v / 2),
               variance = mean * mean * std::expm1(v);
  if (std::isfinite(variance) && variance > 0) return {mean, variance};
  return {mean, std::exp(2 * m + v + (v > 1 ? v + std::log1p(-std::exp(-v)) : std::log(std::expm1(v))))};
}

bool rates_meet_limit(double m, double v, double limit) {
  return meets_limit(m + v, std::sqrt(v), limit);
}

double expected_log_poisson(double m, double v, double count, double limit) {
  if (!(v > 0)) return log_poisson(count, std::exp(limited(m, limit)));
  const auto log_density = [count](double g) { return count * g - std::exp(g); };
  return expectation(m, std::sqrt(v), limit, log_density) - log_factorial(count);
}

double log_poisson_of_normal(double m, double v, double count, double limit) {
  if (!(v > 0)) return log_poisson(count, std::exp(limited(m, limit)));
  const double s = std::sqrt(v);
  if (!meets_limit(m, s, limit)) return log_poisson_lognormal(m, v, count);
  const double width = 1 / std::sqrt(count + 1), best = unlimited(std::log(std::max(count, 0.5)), limit),
               likely = std::min(best, limit + 1000), below = mode_below(m, v, count, limit);
  Panels panels = panels_of_normal(m, s, std::min(m, likely), std::max(m, likely), limit);
  panels.crowd_around(likely, width);
  panels.crowd_around(below, 1 / std::sqrt(1 / v + std::exp(below)));
  double top = -HUGE_VAL, sum = 0;
  panels.visit([&](double f, double weight) {
    const double term = density_exponent(f, m, s) + log_poisson(count, std::exp(limited(f, limit)));
    if (std::isinf(term)) return;  // a rate of 0
    if (term > top) {
      sum = sum * std::exp(top - term) + weight;
      top = term;
    } else {
      sum += weight * std::exp(term - top);
    }
  });
  return top + std::log(sum / (s * std::sqrt(2 * std::numbers::pi)));
}

/// Y <= count exactly when a variable G ~ Gamma(a), a = count + 1, exceeds e^g: sums over log G, whose
/// density has its mode at log a and a width of 1 / sqrt(a).
CountTails poisson_tails_of_normal(double m, double v, double count, double limit) {
  if (std::isinf(count)) return {1, 0};
  if (!(v > 0)) return poisson_tails(count, std::exp(limited(m, limit)));
  const double s = std::sqrt(v);
  if (!meets_limit(m, s, limit)) return poisson_lognormal_tails(m, v, count);
  const double a = count + 1, center = std::log(a), width = 1 / std::sqrt(a), spread = reach * width + 40 / a;
  if (!(center - spread < center)) {  // the Gamma's width is below rounding
    const double t = (unlimited(center, limit) - m) / s;
    return {normal_cdf(t), normal_cdf(-t)};
  }
  Panels panels(center - spread, center + std::min(spread, reach * width + std::log1p(40 / a)));
  panels.crowd_around(center, width / 2);
  panels.crowd_around(limited(m, limit), s * bend_at(m, limit).slope);
  panels.crowd_around(limit, 1e-3);
  panels.crowd_around(limit + 1, 1e-3);
  CountTails sums{0, 0};
  double total = 0;
  panels.visit([&](double g, double weight) {
    const double part = weight * std::exp(-a * log_excess(std::expm1(g - center))),
                 t = (unlimited(g, limit) - m) / s;
    total += part;
    sums.at_most += part * normal_cdf(t);
    sums.above += part * normal_cdf(-t);
  });
  return {sums.at_most / total, sums.above / total};
}

}  // namespace bdl
