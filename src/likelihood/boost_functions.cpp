// The only file that includes Boost.Math. Its functions return NaN or infinity where they have no value; none
// throws, and double is not computed as long double.
#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <numbers>

#include "likelihood/special_functions.hpp"

namespace bdl {
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

/// P(T < -|z|) = I_x(nu / 2, 1 / 2) / 2 = (1 - I_{1-x}(1 / 2, nu / 2)) / 2 for x = nu / (nu + z^2). ibetac()
/// is for tails that the difference would cancel; near 0 it loses digits for nu = 1.
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

}  // namespace bdl
