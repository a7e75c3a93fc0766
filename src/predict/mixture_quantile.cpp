#include "predict/mixture_quantile.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>

#include "likelihood/gaussian_integrals.hpp"
#include "likelihood/kinds/gamma.hpp"
#include "likelihood/kinds/heteroscedastic.hpp"
#include "likelihood/kinds/negative_binomial.hpp"
#include "likelihood/kinds/student_t.hpp"
#include "likelihood/limited_rates.hpp"
#include "likelihood/special_functions.hpp"

namespace bdl {
namespace {

double normal_quantile(Tail tail) {
  const double z = bdl::normal_quantile(tail.probability);
  return tail.upper ? -z : z;
}

struct Moments {
  double mean, deviation;
};

/// Returns the moments of value(f_k).
template <class Value>
Moments moments_of(const Mixture& mixture, Index c, Value value) {
  double mean = 0, variance = 0;
  for (Index k = 0; k < mixture.components(); ++k) mean += mixture.weight(k) * value(mixture.f(c, k));
  for (Index k = 0; k < mixture.components(); ++k)
    variance += mixture.weight(k) * std::pow(value(mixture.f(c, k)) - mean, 2);
  return {mean, std::sqrt(variance)};
}

struct Point {
  double probability, density, slope;  // the slope is the density's
};

/// Evaluates sum_k w_k N(sign f_k, sigma^2) at z.
Point gaussian_mixture(const Mixture& mixture, Index c, double sign, double sigma, double z) {
  Point sum{0, 0, 0};
  for (Index k = 0; k < mixture.components(); ++k) {
    const double u = (z - sign * mixture.f(c, k)) / sigma;
    sum.probability += mixture.weight(k) * normal_cdf(u);
    const double bell = mixture.weight(k) * std::exp(-u * u / 2);
    sum.density += bell;
    sum.slope -= bell * u;
  }
  sum.density /= sigma * std::sqrt(2 * std::numbers::pi);
  sum.slope /= sigma * sigma * std::sqrt(2 * std::numbers::pi);
  return sum;
}

/// Returns the smallest integer y >= 0 with reached(y), which is false up to some y and then true. Searches
/// from the guess with steps that double, then bisects.
template <class Reached>
double smallest_count(double guess, Reached reached) {
  double high = std::isfinite(guess) ? std::max(0.0, std::floor(guess)) : 0.0, low = -1;
  double step = std::max(1.0, high * 0x1p-50);
  if (reached(high)) {
    for (low = high - step; low >= 0 && reached(low); low = high - step) {
      high = low;
      step *= 2;
    }
    low = std::max(low, -1.0);
  } else {
    do {
      low = high;
      high += step;
      step *= 2;
    } while (!reached(high));
  }
  for (double middle = std::floor((low + high) / 2); middle > low && middle < high;
       middle = std::floor((low + high) / 2))
    (reached(middle) ? high : low) = middle;
  return high;
}

bool reaches(const CountTails& tails, Tail tail) {
  return tail.upper ? tails.above <= tail.probability : tails.at_most >= tail.probability;
}

/// Returns the place of a double among all doubles; double_at() is the inverse.
std::int64_t place_of(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits;
}
double double_at(std::int64_t place) {
  return std::bit_cast<double>(place >= 0 ? place : std::numeric_limits<std::int64_t>::min() - place);
}

/// Halves an interval, or the number of doubles in it if its ends have different orders of magnitude.
double half_way(double low, double high, double sigma) {
  const double width = high - low;
  if (width < 0x1p60 * sigma) return low + width / 2;
  return double_at(std::midpoint(place_of(low), place_of(high)));
}

}  // namespace

Tail tail_at(double level) {
  return level <= 0.5 ? Tail{level, false} : Tail{1 - level, true};
}

/// Solves log P(Z <= z) = log p by Halley's method, in the lower tail of the mirrored mixture if need be. The
/// bracket: each component has its quantile between f_k - sigma sqrt(-2 log p) and f_k. After a step of h the
/// error is of order h^3 / sigma^2.
double gaussian_quantile(const Likelihood& likelihood, const Mixture& mixture, Index c, Tail tail) {
  const double sigma = std::sqrt(1 / likelihood.noise_precision(c) + mixture.variance(c));
  const double sign = tail.upper ? -1 : 1, target = std::log(tail.probability);
  const auto [mean, deviation] = moments_of(mixture, c, [sign](double f) { return sign * f; });
  if (mixture.components() == 1)
    return sign * (mean + std::hypot(deviation, sigma) *
                              student_t_quantile(tail.probability, degrees_of(likelihood, mixture, c)));
  double z = mean + std::hypot(deviation, sigma) * bdl::normal_quantile(tail.probability);
  double low = mean, high = mean;
  for (Index k = 0; k < mixture.components(); ++k) {
    low = std::min(low, sign * mixture.f(c, k));
    high = std::max(high, sign * mixture.f(c, k));
  }
  low -= sigma * std::sqrt(-2 * target);
  if (!std::isfinite(z)) z = half_way(low, high, sigma);  // squares of the outputs overflow
  for (int i = 0; i < 200; ++i) {
    const Point point = gaussian_mixture(mixture, c, sign, sigma, z);
    const double error = std::log(point.probability) - target;
    (error < 0 ? low : high) = z;
    const double newton = error * point.probability / point.density;
    const double bend = newton * (point.slope / point.density - point.density / point.probability) / 2;
    double next = z - newton / std::clamp(1 - bend, 0.5, 2.0);
    const bool inside = next > low && next < high;
    if (!inside) next = half_way(low, high, sigma);
    const double step = std::abs(next - z);
    z = next;
    if (step <= (inside ? 1e-5 : 1e-14) * sigma + 4e-16 * std::abs(z)) break;
  }
  return sign * z;
}

namespace {

/// Returns a count near the quantile of the log rates, for a search whose moments overflow.
double finite_guess(double guess, Moments log_rate, double v, Tail tail) {
  constexpr double largest = 700;
  if (std::isfinite(guess)) return guess;
  return std::exp(std::min(largest, log_rate.mean + std::sqrt(log_rate.deviation * log_rate.deviation + v) *
                                                        normal_quantile(tail)));
}

}  // namespace

double poisson_quantile(const Likelihood& likelihood, const Mixture& mixture, Index c, Tail tail) {
  const double v = mixture.variance(c), limit = likelihood.limit();
  const auto log_rate = [limit](double f) { return limited(f, limit); };
  auto [mean, deviation] = moments_of(mixture, c, [&](double f) { return std::exp(log_rate(f)); });
  if (mixture.is_gaussian()) {
    const RateMoments rate = rate_moments(mixture.f(c, 0), v, limit);
    mean = rate.mean;
    deviation = std::sqrt(rate.variance);
  }
  deviation = std::sqrt(mean + deviation * deviation);
  const auto tails = [&](double count) {
    if (v > 0) return poisson_tails_of_normal(mixture.f(c, 0), v, count, limit);
    CountTails sum{0, 0};
    for (Index k = 0; k < mixture.components(); ++k) {
      const CountTails component = poisson_tails(count, std::exp(log_rate(mixture.f(c, k))));
      sum.at_most += mixture.weight(k) * component.at_most;
      sum.above += mixture.weight(k) * component.above;
    }
    return sum;
  };
  const double guess =
      finite_guess(mean + deviation * normal_quantile(tail), moments_of(mixture, c, log_rate), v, tail);
  return smallest_count(guess, [&](double count) { return reaches(tails(count), tail); });
}

/// Starts the search from the Cornish-Fisher expansion.
double poisson_quantile(double rate, Tail tail) {
  if (std::isinf(rate)) return rate;
  const double z = normal_quantile(tail);
  return smallest_count(rate + std::sqrt(rate) * z + (z * z - 1) / 6,
                        [&](double count) { return reaches(poisson_tails(count, rate), tail); });
}

double poisson_quantile(const Components& log_rates, Tail tail) {
  double mean = 0, square = 0, log_mean = 0, log_square = 0;
  for (const Component& component : log_rates.list) {
    const double v = component.deviation * component.deviation, expected = std::exp(component.mean + v / 2);
    mean += component.weight * expected;
    square += component.weight * expected * expected * std::exp(v);
    log_mean += component.weight * component.mean;
    log_square += component.weight * (component.mean * component.mean + v);
  }
  const double deviation = std::sqrt(mean + std::max(0.0, square - mean * mean));
  const auto tails = [&](double count) {
    CountTails sum{0, 0};
    for (const Component& component : log_rates.list) {
      const CountTails one = poisson_tails_of_normal(
          component.mean, component.deviation * component.deviation, count, component.limit);
      sum.at_most += component.weight * one.at_most;
      sum.above += component.weight * one.above;
    }
    return sum;
  };
  const Moments log_rate{log_mean, std::sqrt(std::max(0.0, log_square - log_mean * log_mean))};
  const double guess = finite_guess(mean + deviation * normal_quantile(tail), log_rate, 0, tail);
  return smallest_count(guess, [&](double count) { return reaches(tails(count), tail); });
}

namespace {

struct Density {
  double probability, density;
};

Density standard(double u, double degrees) {
  if (degrees > 0) return {student_t_cdf(u, degrees), student_t::density(u, degrees)};
  return {normal_cdf(u), std::exp(-u * u / 2) / std::sqrt(2 * std::numbers::pi)};
}

/// Evaluates at z the mixture mirrored by sign.
Density evaluate(const Components& components, double sign, double z) {
  Density sum{0, 0};
  for (const Component& component : components.list) {
    const Density point = standard((z - sign * component.mean) / component.deviation, component.degrees);
    sum.probability += component.weight * point.probability;
    sum.density += component.weight * point.density / component.deviation;
  }
  return sum;
}

/// Returns a bound below the quantile of one component, within a factor of 2 of it: t has the heavier tail.
double standard_bound(double p, double degrees) {
  double u = bdl::normal_quantile(p);
  while (degrees > 0 && u < 0 && standard(u, degrees).probability > p) u *= 2;
  return u;
}

}  // namespace

void find_components(const Likelihood& likelihood, const Mixture& mixture, Index c, Components& out) {
  const bool student = likelihood.kind() == BDL_STUDENT_T;
  out.list.clear();
  if (likelihood.integrates_by_nodes()) {
    for (Index k = 0; k < mixture.components(); ++k)
      out.list.push_back({mixture.f(c, k), 0, mixture.weight(k), likelihood.shape(0)});
    return;
  }
  const double degrees = student && !mixture.is_gaussian() ? likelihood.degrees_of_freedom() : 0;
  double total = 0;
  const double widest = std::exp(largest_log_variance);
  const auto add = [&](double mean, double variance, double weight) {
    if (weight < 1e-300) return;
    out.list.push_back({mean, std::sqrt(std::min(variance, widest)), weight, degrees});
    total += weight;
  };
  if (mixture.is_gaussian() && student)
    student_t::visit_components(likelihood, mixture.f.column(0), mixture.covariance, c, add);
  else if (mixture.is_gaussian())
    heteroscedastic::visit_components(likelihood, mixture.f.column(0), mixture.covariance, c, add);
  else
    for (Index k = 0; k < mixture.components(); ++k)
      add(mixture.f(c, k),
          1 / (student ? likelihood.noise_precision(c)
                       : heteroscedastic::noise_precision(likelihood, mixture.f.column_data(k), c)),
          mixture.weight(k));
  for (Component& component : out.list) component.weight /= total;
}

/// Solves log P(Z <= z) = log p by Newton's method, in the lower tail of the mirrored mixture if need be. The
/// bracket lies between the components' smallest and largest quantiles; it is bisected if Newton leaves it or
/// does not halve it in three steps.
double component_quantile(const Components& components, Tail tail) {
  const double sign = tail.upper ? -1 : 1, target = std::log(tail.probability);
  double low = HUGE_VAL, high = -HUGE_VAL, mean = 0, degrees = -1, far = 0, near = 0;
  for (const Component& component : components.list) {
    if (component.degrees != degrees) {
      degrees = component.degrees;
      far = standard_bound(tail.probability, degrees);
      near = degrees > 0 ? far / 2 : far;
    }
    low = std::min(low, sign * component.mean + far * component.deviation);
    high = std::max(high, sign * component.mean + (degrees > 0 ? 0 : near) * component.deviation);
    mean += component.weight * (sign * component.mean + near * component.deviation);
  }
  double z = std::clamp(mean, low, high), before = high - low;
  for (int i = 1; i < 300 && high - low > 4e-16 * std::abs(z); ++i) {
    const Density point = evaluate(components, sign, z);
    const double error = std::log(point.probability) - target;
    (error < 0 ? low : high) = z;
    const double newton = z - error * point.probability / point.density;
    const bool slow = i % 3 == 0 && high - low > before / 2;
    if (i % 3 == 0) before = high - low;
    const bool inside = newton > low && newton < high && !slow;
    const double next = inside ? newton : low + (high - low) / 2, step = std::abs(next - z);
    z = next;
    if (inside && step * point.density <= 1e-13 * point.probability) break;
  }
  return sign * z;
}

namespace {

CountTails tails_of(const Likelihood& likelihood, const Components& components, double y) {
  CountTails sum{0, 0};
  for (const Component& component : components.list) {
    const CountTails one = likelihood.target_kind() == TargetKind::count
                               ? NegativeBinomial::tails(component.degrees, component.mean, y)
                               : Gamma::tails(component.degrees, component.mean, y);
    sum.at_most += component.weight * one.at_most;
    sum.above += component.weight * one.above;
  }
  return sum;
}

/// Returns mean and deviation of y.
Moments moments_of(const Likelihood& likelihood, const Components& components) {
  double mean = 0, square = 0;
  const double of_count = likelihood.target_kind() == TargetKind::count ? 1 : 0;
  for (const Component& component : components.list) {
    const double one = std::exp(component.mean);
    mean += component.weight * one;
    square += component.weight * (of_count * one + one * one * (1 + 1 / component.degrees));
  }
  return {mean, std::sqrt(std::max(0.0, square - mean * mean))};
}

/// Finds where a tail probability, monotone in y > 0, crosses the level, by bisection of log y and regula
/// falsi of the logs (Illinois).
template <class Excess>
double crossing(double guess, Excess excess) {
  double low = std::log(guess), high = low, at_low = excess(guess), at_high = at_low;
  for (double step = 1; at_low > 0 && low > -700; step *= 2) at_low = excess(std::exp(low -= step));
  for (double step = 1; at_high < 0 && high < 700; step *= 2) at_high = excess(std::exp(high += step));
  for (int i = 0; i < 200 && high - low > 1e-14 * (1 + std::abs(low)); ++i) {
    double middle = low - at_low * (high - low) / (at_high - at_low);
    if (!(middle > low && middle < high) || i % 3 == 2) middle = low + (high - low) / 2;
    const double at = excess(std::exp(middle));
    if (at == 0) return std::exp(middle);
    if (at < 0) {
      low = middle;
      at_low = at;
    } else {
      high = middle;
      at_high = at;
    }
  }
  return std::exp(low + (high - low) / 2);
}

}  // namespace

double log_mean_quantile(const Likelihood& likelihood, const Components& components, Tail tail) {
  const Moments moments = moments_of(likelihood, components);
  const auto tails = [&](double y) { return tails_of(likelihood, components, y); };
  if (likelihood.target_kind() == TargetKind::count)
    return smallest_count(moments.mean + moments.deviation * normal_quantile(tail),
                          [&](double y) { return reaches(tails(y), tail); });
  const double target = std::log(tail.probability), guess = std::clamp(moments.mean, 1e-300, 1e300);
  return crossing(guess, [&](double y) {
    const CountTails at = tails(y);
    const double error = std::log(std::max(tail.upper ? at.above : at.at_most, 1e-320)) - target;
    return tail.upper ? -error : error;
  });
}

double log_mean_quantile(const Likelihood& likelihood, double mean, Tail tail) {
  const double shape = likelihood.shape(0);
  if (!std::isfinite(mean)) return mean;
  if (likelihood.target_kind() == TargetKind::positive)
    return mean / shape * gamma_quantile(tail.probability, tail.upper, shape);
  const double deviation = std::sqrt(mean + mean * mean / shape);
  return smallest_count(mean + deviation * normal_quantile(tail),
                        [&](double y) { return reaches(negative_binomial_tails(y, mean, shape), tail); });
}

}  // namespace bdl
