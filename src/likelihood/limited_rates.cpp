// Without a limit: trapezoidal sums from the mode outwards (gaussian_integrals.hpp explains the choice of
// steps). On the line Im f = b, |exp(y f - e^f)| is the same function as on the real line, shifted by log cos
// b, times cos(b)^-y. The step depends on the smaller of the widths of the Gaussian, 1, and of this factor, 1
// / sqrt(y).

#include "likelihood/limited_rates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace bdl {
namespace {

constexpr double exponent = 37;  // exp(-37) < 1e-16

/// Returns the step in t for exp(-t^2 / 2) exp(y f - e^f), f = m + s t.
double step_size(double s, double y) {
  const double a = std::min(std::sqrt(2 * exponent / (1 + s * s * y)), 1 / s);
  const double h = 2 * std::numbers::pi * a / (exponent + a * a / 2 - y * std::log(std::cos(s * a)));
  return std::min(h, 0.5);
}

/// Returns h (value(0) + value(h) + value(-h) + ...) until further terms are negligible; value is unimodal.
/// Takes some hundred terms; the bound ends sums that are NaN.
template <class Value>
double sum_outwards(double h, Value value) {
  constexpr double most_terms = 1e5;
  double sum = value(0.0);
  for (const double direction : {h, -h})
    for (double k = 1, term = 1; term > 1e-18 * sum && k < most_terms; ++k)
      sum += term = value(k * direction);
  return h * sum;
}

/// Returns the root of s (y - e^f) - t, f = m + s t, which is decreasing and concave: Newton's method
/// converges monotonically from its right.
double mode(double m, double s, double y) {
  const double most = 700 - 2 * std::log(std::max(s, 1.0));  // s^2 e^f does not overflow
  double t = y > 0 ? std::clamp((std::log(y) - m) / s, 0.0, s * y) : 0.0;
  t = std::min(t, (most - m) / s);
  for (int i = 0; i < 2000; ++i) {
    const double rate = std::exp(m + s * t), curvature = 1 + s * s * rate;
    const double step = (s * (y - rate) - t) / curvature;
    t += step;
    if (step * step * curvature <= 1e-6) break;  // small compared with the width
  }
  return t;
}

/// Returns E[P(Y > count | f)] and its complement as sums over f, for f that is narrow compared with the
/// likelihood of the count.
CountTails tails_over_f(double m, double s, double count) {
  const double h = step_size(s, count + 1);
  CountTails sums{0, 0};
  double total = 0;
  const double last = std::ceil(9 / h);
  for (double k = -last; k <= last; ++k) {
    const double weight = std::exp(-k * h * k * h / 2);
    const CountTails tails = poisson_tails(count, std::exp(m + s * k * h));
    total += weight;
    sums.at_most += weight * tails.at_most;
    sums.above += weight * tails.above;
  }
  return {sums.at_most / total, sums.above / total};
}

/// Y <= count exactly if G ~ Gamma(count + 1) exceeds e^f. Sums over g = log G, whose density is
/// exp(a g - e^g) / Gamma(a) with a = count + 1 and mode log a.
CountTails tails_over_g(double m, double s, double count) {
  const double a = count + 1, center = std::log(a);
  const double density = a * std::exp(log_poisson(a, a));
  const auto tail = [&](double sign) {
    return density * sum_outwards(step_size(1, a + 1 / (s * s)), [&](double d) {
             return std::exp(-a * log_excess(std::expm1(d))) * normal_cdf(sign * (center + d - m) / s);
           });
  };
  return {tail(1), tail(-1)};
}

/// Deviation of f beyond which the sum for a count of 0 would take too many terms.
constexpr double widest_for_zero = 8;

/// Returns log(-z Phi(z) / phi(z)) for z <= -30, by the asymptotic series.
double log_mills(double z) {
  const double s = 1 / (z * z);
  return std::log1p(-s * (1 - s * (3 - s * (15 - s * (105 - s * (945 - s * 10395))))));
}

constexpr double asymptotic = -30;

double log_normal_cdf(double z) {
  if (z > asymptotic) return std::log(normal_cdf(z));
  return log_mills(z) - z * z / 2 - std::log(-z * std::sqrt(2 * std::numbers::pi));
}

/// Returns log Phi(z) - log Phi(w), where z - w = `difference`.
double log_cdf_ratio(double z, double w, double difference) {
  if (z > asymptotic || w > asymptotic) return log_normal_cdf(z) - log_normal_cdf(w);
  return log_mills(z) - log_mills(w) - difference * (z + w) / 2 + std::log(w / z);
}

/// Returns the log of P(Y = 0) = P(f < g), g = log G with G ~ Gamma(1), as in tails_over_g(): the density
/// exp(g - e^g) of g is narrow whatever s is. Its product with Phi((g - m) / s) has its mode near `center`.
double log_zero_over_g(double m, double s) {
  const double slope = std::max(0.0, m / s / s), center = std::log1p(slope), w = (center - m) / s;
  const double sum = sum_outwards(step_size(1, 1 + slope), [&](double d) {
    return std::exp(d - (1 + slope) * std::expm1(d) + log_cdf_ratio(w + d / s, w, d / s));
  });
  return center - (1 + slope) + log_normal_cdf(w) + std::log(sum);
}

}  // namespace

double log_poisson_lognormal(double m, double v, double count) {
  if (count == 0 && v > widest_for_zero * widest_for_zero) return log_zero_over_g(m, std::sqrt(v));
  const double s = std::sqrt(v), t = mode(m, s, count), f = m + s * t, rate = std::exp(f);
  const double h = step_size(s, count + std::abs(t) / s);
  const double sum = sum_outwards(h, [&](double u) {
    const double d = s * u;
    return std::exp(-u * u / 2 - t * u + count * d - rate * std::expm1(d));
  });
  return log_poisson(count, rate) - t * t / 2 + std::log(sum / std::sqrt(2 * std::numbers::pi));
}

CountTails poisson_lognormal_tails(double m, double v, double count) {
  if (std::isinf(count)) return {1, 0};
  const double s = std::sqrt(v);
  return s * s * (count + 1) < 1 ? tails_over_f(m, s, count) : tails_over_g(m, s, count);
}

namespace {

constexpr double reach = 9;  // standard deviations: exp(-9^2 / 2) < 1e-17
constexpr std::size_t order = 16, most_points = 1024;
constexpr double degree = order;

/// Returns Legendre's polynomial of degree `order` at x, and its derivative.
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
  std::array<double, order> nodes, weights;  // for [-1, 1]
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

/// Panels between points that are dense where an integrand changes fast.
class Panels {
 public:
  Panels(double low, double high) : low_(low), high_(high) { points_ = {low, high}; }

  /// Adds points at distances of width, 2 width, 4 width ... on both sides.
  void crowd_around(double center, double width) {
    add(center);
    for (double step = width; step < 2 * (high_ - low_) && step > 0; step *= 2) {
      add(center - step);
      add(center + step);
    }
  }
  /// Calls add(f, weight) at each node.
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

/// Returns panels for f ~ N(m, s^2) and for the bend at the limit.
Panels panels_of_normal(double m, double s, double low, double high, double limit) {
  Panels panels(low - reach * s, high + reach * s);
  panels.crowd_around(m, s / 2);
  panels.crowd_around(limit, 1 / (1 + std::exp(limit)));
  return panels;
}

/// True if the limit matters to expectations whose mass extends `reach` deviations above this mean.
bool meets_limit(double m, double s, double limit) {
  return m + reach * s > limit;
}

double density_exponent(double f, double m, double s) {
  const double t = (f - m) / s;
  return -t * t / 2;
}

/// Returns E[value(g)].
template <class Value>
double expectation(double m, double s, double limit, Value value) {
  double sum = 0, total = 0;
  panels_of_normal(m, s, m, m, limit).visit([&](double f, double weight) {
    const double mass = weight * std::exp(density_exponent(f, m, s));
    sum += mass * value(limited(f, limit));
    total += mass;
  });
  return sum / total;
}

/// Returns the mode of count f - e^f - (f - m)^2 / (2 v), whose slope falls, or the limit if that is lower.
double mode_below(double m, double v, double count, double limit) {
  const auto slope = [&](double f) { return count - std::exp(f) - (f - m) / v; };
  double low = std::min(m, std::log(count + 0.5)) - 1, high = limit;
  while (slope(low) < 0) low -= 1 + std::abs(low);
  if (low >= high || slope(high) >= 0) return high;
  for (int i = 0; i < 100; ++i) (slope((low + high) / 2) > 0 ? low : high) = (low + high) / 2;
  return low;
}

}  // namespace

/// Out of reach of the limit: e^{m + v / 2}, and its square times e^v - 1; one exponent if a factor
/// overflows.
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
    if (std::isinf(term)) return;  // the rate is 0
    if (term > top) {
      sum = sum * std::exp(top - term) + weight;
      top = term;
    } else {
      sum += weight * std::exp(term - top);
    }
  });
  return top + std::log(sum / (s * std::sqrt(2 * std::numbers::pi)));
}

/// Y <= count exactly if G ~ Gamma(a), a = count + 1, exceeds e^g. Sums over log G, whose density has its
/// mode at log a and a width of 1 / sqrt(a).
CountTails poisson_tails_of_normal(double m, double v, double count, double limit) {
  if (std::isinf(count)) return {1, 0};
  if (!(v > 0)) return poisson_tails(count, std::exp(limited(m, limit)));
  const double s = std::sqrt(v);
  if (!meets_limit(m, s, limit)) return poisson_lognormal_tails(m, v, count);
  const double a = count + 1, center = std::log(a), width = 1 / std::sqrt(a), extent = reach * width + 40 / a;
  if (!(center - extent < center)) {  // the Gamma's width is below rounding
    const double t = (unlimited(center, limit) - m) / s;
    return {normal_cdf(t), normal_cdf(-t)};
  }
  Panels panels(center - extent, center + std::min(extent, reach * width + std::log1p(40 / a)));
  panels.crowd_around(center, width / 2);
  panels.crowd_around(limited(m, limit), s * bend_at(m, limit).slope);
  panels.crowd_around(limit, 1e-3);
  panels.crowd_around(limit + 1, 1e-3);
  CountTails sums{0, 0};
  double total = 0;
  panels.visit([&](double g, double weight) {
    const double mass = weight * std::exp(-a * log_excess(std::expm1(g - center))),
                 t = (unlimited(g, limit) - m) / s;
    total += mass;
    sums.at_most += mass * normal_cdf(t);
    sums.above += mass * normal_cdf(-t);
  });
  return {sums.at_most / total, sums.above / total};
}

}  // namespace bdl
