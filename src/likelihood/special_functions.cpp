#include "likelihood/special_functions.hpp"

#include <algorithm>
#include <array>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <numbers>

namespace bdl {
namespace {

/// Returns log Gamma(n + 1) - log(sqrt(2 pi n) (n / e)^n) for n >= 16.
double stirling_remainder(double n) {
  const double s = 1 / (n * n);
  return (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s / 1188)))) / n;
}

constexpr std::size_t temme_terms = 26;

/// Returns f_n of eta / mu = sum_n f_n eta^n, where eta^2 / 2 = mu - log(1 + mu). As dmu/deta = f + eta, the
/// coefficients of mu are alpha_n = (f_{n-1} + [n = 2]) / n, and mu f = eta determines them one by one.
constexpr std::array<double, temme_terms> temme_coefficients() {
  std::array<double, temme_terms> f{1.0}, alpha{0.0, 1.0};
  for (std::size_t n = 2; n <= temme_terms; ++n) {
    double sum = n == 2 ? 0.5 : 0.0;
    for (std::size_t j = 2; j < n; ++j) sum += alpha[j] * f[n - j];
    const double order = static_cast<double>(n);
    f[n - 1] = -sum * order / (order + 1);
    if (n < temme_terms) alpha[n] = (f[n - 1] + (n == 2 ? 1.0 : 0.0)) / order;
  }
  return f;
}

/// Temme's uniform expansion of Q(a, x) = P(Y <= a - 1), x = a (1 + mu), in the form of Gil, Segura and Temme
/// (SIAM J. Sci. Comput. 34, 2012, section 2.3): for large a and |mu| <= 1/2.
CountTails uniform_tails(double a, double mu) {
  static constexpr auto f = temme_coefficients();
  const double half_square = log_excess(mu), eta = std::copysign(std::sqrt(2 * half_square), mu);
  std::array<double, temme_terms + 1> beta{};
  for (std::size_t n = temme_terms - 1; n-- > 0;)
    beta[n] = static_cast<double>(n + 2) / a * beta[n + 2] + f[n + 1];
  double series = 0;
  for (std::size_t n = temme_terms - 1; n-- > 0;) series = series * eta + beta[n];
  series /= 1 + beta[1] / a;
  const double correction = std::exp(-a * half_square) * series / std::sqrt(2 * std::numbers::pi * a);
  const double z = eta * std::sqrt(a / 2);
  return {std::erfc(z) / 2 + correction, std::erfc(-z) / 2 - correction};
}

/// Returns the sum of P(Y = start), P(Y = start + 1), ...; downward_sum() goes down.
double upward_sum(double start, double rate) {
  double sum = 0, term = 1;
  for (double j = start + 1; term > 1e-17 * sum; ++j) {
    sum += term;
    term *= rate / j;
  }
  return std::exp(log_poisson(start, rate)) * sum;
}

double downward_sum(double start, double rate) {
  double sum = 0, term = 1;
  for (double j = start; term > 1e-17 * sum; --j) {
    sum += term;
    term *= j / rate;
  }
  return std::exp(log_poisson(start, rate)) * sum;
}

}  // namespace

/// Uses log(1 + mu) = 2 atanh(r) with r = mu / (2 + mu).
double log_excess(double mu) {
  if (std::abs(mu) > 0.5) return mu - std::log1p(mu);
  const double r = mu / (2 + mu), square = r * r;
  double sum = 0, power = 1;
  for (int k = 3; power > 1e-17; k += 2, power *= square) sum += power / k;
  return r * mu - 2 * r * square * sum;
}

double normal_cdf(double z) {
  return std::erfc(-z / std::numbers::sqrt2) / 2;
}

namespace {

/// Returns 1 - 1 / z^2 + 3 / z^4 - ... without the 1: for z <= -20 Phi(z) = phi(z) / -z times the series.
double mills_series(double z) {
  const double s = 1 / (z * z);
  double sum = 0, term = 1;
  for (int k = 1; k <= 8; ++k) {
    term *= -(2 * k - 1) * s;
    sum += term;
  }
  return sum;
}

constexpr double far_tail = -20;

}  // namespace

double log_normal_cdf(double z) {
  return normal_mills(z).log_cdf;
}

Mills normal_mills(double z) {
  const double half_square = z * z / 2;
  if (z > far_tail) {
    const double tail = std::erfc(std::abs(z) / std::numbers::sqrt2) / 2, cdf = z > 0 ? 1 - tail : tail,
                 ratio = std::exp(-half_square) / (std::sqrt(2 * std::numbers::pi) * cdf);
    return {z > 0 ? std::log1p(-tail) : std::log(tail), ratio, std::max(0.0, ratio * (ratio + z))};
  }
  const double series = mills_series(z), ratio = -z / (1 + series);
  return {-half_square - std::log(-z) - std::log(2 * std::numbers::pi) / 2 + std::log1p(series), ratio,
          ratio * z * series / (1 + series)};
}

double log_gamma_remainder(double x) {
  if (x >= 16) return stirling_remainder(x);
  int sign = 0;
  return lgamma_r(x, &sign) - (x - 0.5) * std::log(x) + x - std::log(2 * std::numbers::pi) / 2;
}

/// Has no differences of large numbers: they cancel in Stirling's form.
double log_rising_over_factorial(double shape, double count) {
  if (count == 0) return 0;
  return count * std::log1p(shape / count) + (shape - 0.5) * std::log1p(count / shape) -
         std::log(2 * std::numbers::pi * count) / 2 + log_gamma_remainder(count + shape) -
         log_gamma_remainder(shape) - log_gamma_remainder(count);
}

/// Uses lgamma_r(), as lgamma() writes a global sign, which would be a race between threads.
double log_factorial(double count) {
  int sign = 0;
  return lgamma_r(count + 1, &sign);
}

double half_poisson_deviance(double f, double count) {
  if (!(count > 0)) return std::exp(f);
  const double d = f - std::log(count);
  return count * (std::expm1(d) - d);
}

/// Uses the saddle point form (Loader 2000), which has no difference of large numbers.
double log_poisson(double count, double rate) {
  if (count == 0) return -rate;
  if (std::isinf(rate)) return -HUGE_VAL;
  if (count < 16) return count * std::log(rate) - rate - std::log(std::tgamma(count + 1));
  return -count * log_excess((rate - count) / count) - stirling_remainder(count) -
         std::log(2 * std::numbers::pi * count) / 2;
}

CountTails poisson_tails(double count, double rate) {
  if (std::isinf(count)) return {1, 0};
  if (std::isinf(rate)) return {0, 1};
  const double a = count + 1, mu = (rate - a) / a;
  if (a >= 64 && std::abs(mu) <= 0.5) return uniform_tails(a, mu);
  if (mu < 0) {
    const double above = upward_sum(a, rate);
    return {1 - above, above};
  }
  const double at_most = downward_sum(count, rate);
  return {at_most, 1 - at_most};
}

// The only file that includes Boost.Math. Its functions return NaN or infinity where they have no value; none
// throws, and double is not computed as long double.

namespace {

namespace policies = boost::math::policies;
constexpr policies::policy<
    policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
    policies::overflow_error<policies::ignore_error>, policies::underflow_error<policies::ignore_error>,
    policies::denorm_error<policies::ignore_error>, policies::evaluation_error<policies::ignore_error>,
    policies::rounding_error<policies::ignore_error>, policies::promote_double<false>>
    quiet;

}  // namespace

double normal_quantile(double p) {
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * std::max(p, 1e-300), quiet);
}

double digamma(double x) {
  return boost::math::digamma(x, quiet);
}

double trigamma(double x) {
  return boost::math::trigamma(x, quiet);
}

/// P(Y <= y) = I_p(shape, y + 1) for p = shape / (shape + mean); the complement keeps digits near 1.
CountTails negative_binomial_tails(double count, double mean, double shape) {
  if (count < 0) return {0, 1};
  if (std::isinf(count)) return {1, 0};
  if (std::isinf(mean)) return {0, 1};
  const double p = shape / (shape + mean), q = mean / (shape + mean);
  if (p < 0.5)
    return {boost::math::ibeta(shape, count + 1, p, quiet), boost::math::ibetac(shape, count + 1, p, quiet)};
  return {boost::math::ibetac(count + 1, shape, q, quiet), boost::math::ibeta(count + 1, shape, q, quiet)};
}

CountTails gamma_tails(double y, double shape) {
  if (!(y > 0)) return {0, 1};
  if (std::isinf(y)) return {1, 0};
  return {boost::math::gamma_p(shape, y, quiet), boost::math::gamma_q(shape, y, quiet)};
}

double gamma_quantile(double p, bool upper, double shape) {
  return upper ? boost::math::gamma_q_inv(shape, p, quiet) : boost::math::gamma_p_inv(shape, p, quiet);
}

/// P(T < -|z|) = I_x(nu / 2, 1 / 2) / 2 = (1 - I_{1-x}(1 / 2, nu / 2)) / 2 for x = nu / (nu + z^2). ibetac()
/// avoids the cancellation of that difference in the tails, but loses digits near 0 for nu = 1.
double student_t_cdf(double z, double nu) {
  const double square = z * z, sum = nu + square;
  double twice;
  if (square < 1)
    twice = 1 - boost::math::ibeta(0.5, nu / 2, square / sum, quiet);
  else if (square < nu)
    twice = boost::math::ibetac(0.5, nu / 2, square / sum, quiet);
  else
    twice = boost::math::ibeta(nu / 2, 0.5, nu / sum, quiet);
  return z < 0 ? twice / 2 : 1 - twice / 2;
}

/// With x = nu / (nu + t^2), P(T <= t) = I_x(nu / 2, 1 / 2) / 2; y = 1 - x has no cancellation near 0.
double student_t_quantile(double p, double nu) {
  constexpr double normal = 1e12;  // degrees of freedom from which t is z to rounding
  if (!(nu < normal)) return normal_quantile(p);
  double y = 0;
  const double x = boost::math::ibeta_inv(nu / 2, 0.5, 2 * std::max(p, 1e-300), &y, quiet);
  return -std::sqrt(nu * y / x);
}

}  // namespace bdl
