#include "predict/mixture_quantile.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "likelihood/poisson_lognormal.hpp"
#include "likelihood/special_functions.hpp"
#include "predict/component_quantile.hpp"

namespace bdl {
namespace {

double normal_quantile(Tail tail) {
  const double z = bdl::normal_quantile(tail.probability);
  return tail.upper ? -z : z;
}

struct Moments {
  double mean, deviation;
};

/// Of value(f_k).
template <class Value>
Moments moments_of(const Mixture& mixture, Index c, Value value) {
  double mean = 0, variance = 0;
  for (Index k = 0; k < mixture.components(); ++k) mean += mixture.weight(k) * value(mixture.f(c, k));
  for (Index k = 0; k < mixture.components(); ++k)
    variance += mixture.weight(k) * std::pow(value(mixture.f(c, k)) - mean, 2);
  return {mean, std::sqrt(variance)};
}

struct Point {
  double probability, density, slope;  // slope: of the density
};

/// Of sum_k w_k N(sign f_k, sigma^2) at z.
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

/// The smallest integer >= 0 for which reached(y), which is false and then true: steps that double from the
/// guess, then bisection.
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

}  // namespace

Tail tail_at(double level) {
  return level <= 0.5 ? Tail{level, false} : Tail{1 - level, true};
}

/// Halley for log P(Z <= z) = log p, in the lower tail of the mirrored mixture if need be, kept within a
/// bracket: every component has its quantile between f_k - sigma sqrt(-2 log p) and f_k. After a step of h
/// the error is of the order of h^3 / sigma^2.
double gaussian_quantile(const Likelihood& likelihood, const Mixture& mixture, Index c, Tail tail) {
  const double sigma = std::sqrt(1 / likelihood.noise_precision(c) + mixture.variance(c));
  const double sign = tail.upper ? -1 : 1, target = std::log(tail.probability);
  const auto [mean, deviation] = moments_of(mixture, c, [sign](double f) { return sign * f; });
  double z = mean + std::hypot(deviation, sigma) * bdl::normal_quantile(tail.probability);
  if (mixture.components() == 1) return sign * z;
  double low = mean, high = mean;
  for (Index k = 0; k < mixture.components(); ++k) {
    low = std::min(low, sign * mixture.f(c, k));
    high = std::max(high, sign * mixture.f(c, k));
  }
  low -= sigma * std::sqrt(-2 * target);
  for (int i = 0; i < 200; ++i) {
    const Point point = gaussian_mixture(mixture, c, sign, sigma, z);
    const double error = std::log(point.probability) - target;
    (error < 0 ? low : high) = z;
    const double newton = error * point.probability / point.density;
    const double bend = newton * (point.slope / point.density - point.density / point.probability) / 2;
    double next = z - newton / std::clamp(1 - bend, 0.5, 2.0);
    const bool inside = next > low && next < high;
    if (!inside) next = low + (high - low) / 2;
    const double step = std::abs(next - z);
    z = next;
    if (step <= (inside ? 1e-5 : 1e-14) * sigma + 4e-16 * std::abs(z)) break;
  }
  return sign * z;
}

double poisson_quantile(const Mixture& mixture, Index c, Tail tail) {
  const double v = mixture.variance(c), growth = std::exp(v / 2);
  auto [mean, deviation] = moments_of(mixture, c, [growth](double f) { return growth * std::exp(f); });
  deviation = std::sqrt(mean + deviation * deviation + mean * mean * std::expm1(v));
  const auto tails = [&](double count) {
    if (v > 0) return poisson_lognormal_tails(mixture.f(c, 0), v, count);
    CountTails sum{0, 0};
    for (Index k = 0; k < mixture.components(); ++k) {
      const CountTails part = poisson_tails(count, std::exp(mixture.f(c, k)));
      sum.at_most += mixture.weight(k) * part.at_most;
      sum.above += mixture.weight(k) * part.above;
    }
    return sum;
  };
  return smallest_count(mean + deviation * normal_quantile(tail),
                        [&](double count) { return reaches(tails(count), tail); });
}

/// Starts from the Cornish-Fisher expansion.
double poisson_quantile(double rate, Tail tail) {
  const double z = normal_quantile(tail);
  return smallest_count(rate + std::sqrt(rate) * z + (z * z - 1) / 6,
                        [&](double count) { return reaches(poisson_tails(count, rate), tail); });
}

double poisson_quantile(const Components& log_rates, Tail tail) {
  double mean = 0, square = 0;
  for (const Component& part : log_rates.parts) {
    const double v = part.deviation * part.deviation, expected = std::exp(part.mean + v / 2);
    mean += part.weight * expected;
    square += part.weight * expected * expected * std::exp(v);
  }
  const double deviation = std::sqrt(mean + std::max(0.0, square - mean * mean));
  const auto tails = [&](double count) {
    CountTails sum{0, 0};
    for (const Component& part : log_rates.parts) {
      const CountTails one = part.deviation > 0
                                 ? poisson_lognormal_tails(part.mean, part.deviation * part.deviation, count)
                                 : poisson_tails(count, std::exp(part.mean));
      sum.at_most += part.weight * one.at_most;
      sum.above += part.weight * one.above;
    }
    return sum;
  };
  return smallest_count(mean + deviation * normal_quantile(tail),
                        [&](double count) { return reaches(tails(count), tail); });
}

}  // namespace bdl
