// Tails of the normal, Poisson and Student-t distributions against values computed with 60 digits.
#include "likelihood/special_functions.hpp"
#include "predict/predict_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct PoissonCase {
  double count, rate, at_most, above, log_probability;
};

constexpr PoissonCase poisson_cases[] = {
    {0, 1e-300, 1.0, 1.0e-300, -1.0e-300},
    {0, 0.1, 0.90483741803595957, 0.095162581964040432, -0.10000000000000001},
    {0, 1, 0.36787944117144232, 0.63212055882855768, -1.0},
    {0, 30, 9.3576229688401746e-14, 0.99999999999990642, -30.0},
    {1, 0.001, 0.99999950033320837, 4.996667916333403e-7, -6.908755278982137},
    {3, 2.5, 0.75757613313306596, 0.24242386686693404, -1.5428872736055898},
    {3, 40, 4.8888644651810509e-14, 0.99999999999995111, -30.725121106886246},
    {15, 16, 0.46674489138772075, 0.53325510861227925, -2.310440550244173},
    {16, 15.5, 0.61544025510656482, 0.38455974489343518, -2.3184197232774578},
    {30, 60, 1.4174343333492245e-5, 0.99998582565666651, -11.827899482167144},
    {62, 63, 0.48324457407427741, 0.51675542592572259, -2.9918286366149673},
    {62, 40, 0.9995311435535598, 0.00046885644644020212, -8.1556555178259432},
    {63, 63.5, 0.50835887944097369, 0.49164112055902631, -2.993802327666831},
    {63, 33, 0.99999887506137293, 1.1249386270698828e-6, -13.729340026893272},
    {63, 95, 0.00031008571956087595, 0.99968991428043912, -9.1150722284474541},
    {63, 97, 0.00015063479197734136, 0.99984936520802266, -9.8025247535684089},
    {64, 20, 0.99999999999999868, 1.319253838549172e-15, -33.441333975185775},
    {99, 100, 0.48670120172085134, 0.51329879827914866, -3.2223569567543533},
    {99, 60, 0.99999851847236735, 1.4815276326460468e-6, -13.794093709587431},
    {99, 149, 8.4044263657705394e-6, 0.99999159557363423, -12.743521080974944},
    {99, 200, 1.8438936497115742e-15, 0.99999999999999816, -34.600786081319768},
    {1000, 1000, 0.50840936716850599, 0.49159063283149401, -4.3728995060262968},
    {1000, 1000.5, 0.50210232422301754, 0.49789767577698246, -4.3730244643752489},
    {1000, 900, 0.99950936726714241, 0.00049063273285759392, -9.7334151638525981},
    {1000, 1200, 1.5531469821142222e-9, 0.99999999844685302, -22.051342712071671},
    {1000, 1400, 1.1285593921137611e-29, 1.0, -67.900662884813366},
    {1000, 501, 1.0, 4.4828027675433352e-86, -196.52207740329855},
    {12345, 12000, 0.99915678025269325, 0.00084321974730674817, -10.541967782329937},
    {12345, 12345, 0.50239369473441986, 0.49760630526558014, -5.6294484844655816},
    {12345, 13100, 1.411937544054982e-11, 0.99999999998588062, -27.816577508471923},
    {1000000, 1000000, 0.50026596148628365, 0.49973403851371635, -7.8266938955201431},
    {1000000, 1000001, 0.49986701930561774, 0.50013298069438226, -7.8266943955198098},
    {1000000, 995000, 0.99999972646778594, 2.7353221405871338e-7, -20.368517439802186},
    {1000000, 1007000, 1.4440194546290524e-12, 0.99999999999855598, -32.212957470278044},
};

void poisson_tails_are_accurate(void**) {
  for (const auto& [count, rate, at_most, above, log_probability] : poisson_cases) {
    const CountTails tails = poisson_tails(count, rate);
    assert_close(tails.at_most, at_most, 2e-13);
    assert_close(tails.above, above, 2e-13);
    assert_close(log_poisson(count, rate), log_probability, 1e-14, 1e-14);
  }
}

/// P(Y <= y) - P(Y <= y - 1) = P(Y = y), across the borders between the methods.
void poisson_tails_differ_by_the_probabilities(void**) {
  for (const double rate : {0.3, 5.0, 31.5, 42.0, 64.0, 95.5, 130.0, 500.0, 40000.0}) {
    const double deviation = std::sqrt(rate);
    const double first = std::floor(std::max(1.0, rate - 9 * deviation));
    for (double y = first; y < rate + 9 * deviation; y += std::ceil(deviation / 4)) {
      const CountTails here = poisson_tails(y, rate), before = poisson_tails(y - 1, rate);
      const double probability = std::exp(log_poisson(y, rate));
      assert_near(here.at_most - before.at_most, probability, 2e-15 + 1e-12 * probability);
      assert_near(before.above - here.above, probability, 2e-15 + 1e-12 * probability);
      assert_near(here.at_most + here.above, 1, 1e-14);
    }
  }
}

void poisson_extremes_have_limits(void**) {
  assert_true(poisson_tails(0, 0).at_most == 1);
  assert_true(poisson_tails(1000, 0).above == 0);
  assert_true(poisson_tails(1000, infinity).above == 1);
  assert_true(poisson_tails(infinity, 1000).at_most == 1);
  assert_near(poisson_tails(1e300, 1e300).at_most, 0.5, 1e-15);
  assert_true(log_poisson(0, 0) == 0);
  assert_true(log_poisson(3, 0) == -infinity);
  assert_true(log_poisson(30, 0) == -infinity);
}

struct Pair {
  double argument, value;
};

void normal_quantiles_are_accurate(void**) {
  constexpr Pair cases[] = {
      {1e-300, -37.047096299361199},
      {1e-100, -21.273453560965324},
      {1e-20, -9.2623400897984076},
      {1e-10, -6.3613409024040562},
      {1e-5, -4.2648907939228246},
      {0.001, -3.0902323061678135},
      {0.025, -1.9599639845400542},
      {0.05, -1.6448536269514727},
      {0.1, -1.2815515655446004},
      {0.25, -0.67448975019608174},
      {0.4, -0.25334710313579974},
      {0.499, -0.0025066308995717662},
      {0.5, 0},
      {0.4999999, -2.5066282747031065e-7},
  };
  for (const auto& [p, z] : cases) assert_close(normal_quantile(p), z, 1e-14, 3e-16);
  assert_true(std::isfinite(normal_quantile(5e-324)));
  for (double p = 1e-12; p < 0.5; p *= 1.7) assert_close(normal_cdf(normal_quantile(p)), p, 1e-13);
}

void log_excess_keeps_its_precision(void**) {
  constexpr Pair cases[] = {
      {-0.9999, 8.2104403719762929},   {-0.6, 0.31629073187415503},
      {-0.5, 0.19314718055994531},     {-0.3, 0.056674943938732374},
      {-1e-3, 5.0033358353350016e-7},  {-1e-9, 5.000000003333334e-19},
      {1e-12, 4.9999999999966665e-25}, {1e-5, 4.9999666669166655e-11},
      {0.2, 0.017678443206045376},     {0.5, 0.094534891891835618},
      {0.51, 0.097890349173167042},    {3, 1.6137056388801094},
      {1e10, 9999999976.9741491},      {0, 0},
  };
  for (const auto& [mu, value] : cases) assert_close(log_excess(mu), value, 2e-15);
}

void digamma_is_accurate(void**) {
  constexpr Pair cases[] = {
      {0.001, -1000.5755719318103}, {0.5, -1.9635100260214235}, {1, -0.57721566490153286},
      {2, 0.42278433509846714},     {7.25, 1.910453526883736},  {60, 4.0859880813835383},
      {1e4, 9.2102903711428494},    {1e9, 20.723265836446411},
  };
  for (const auto& [x, value] : cases) assert_close(digamma(x), value, 1e-15);
}

struct StudentCase {
  double z, nu, below;
};

void student_t_tails_are_accurate(void**) {
  constexpr StudentCase cases[] = {
      {-1e-6, 1, 0.49999968169011383},   {-0.7, 0.02, 0.47757324839179221},
      {-0.5, 1.5, 0.34028355533497},     {-3, 2.5, 0.036288047774515922},
      {-40, 3.3, 7.5294436408996808e-6}, {-1e-8, 7, 0.49999999615008549},
      {-2, 30, 0.027312522481491552},    {-6, 40.5, 2.2602263843533205e-7},
      {-25, 50, 3.2133327069435542e-30}, {-1.3, 1000, 0.096950264207728648},
      {-8, 1e4, 6.910604364532691e-16},  {-0.1, 1e5, 0.46017226295336311},
      {-3, 1e6, 0.0013499312707108985},  {-5, 1e9, 2.8665162019758142e-7},
  };
  for (const auto& [z, nu, below] : cases) {
    assert_close(student_t_cdf(z, nu), below, 5e-14);
    assert_close(student_t_cdf(-z, nu), 1 - below, 1e-15);
  }
  assert_true(student_t_cdf(-infinity, 3) == 0 && student_t_cdf(infinity, 3) == 1);
  assert_true(student_t_cdf(0, 3) == 0.5 && std::isnan(student_t_cdf(std::nan(""), 3)));
}

}  // namespace

int test_special_functions() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(poisson_tails_are_accurate),
      cmocka_unit_test(poisson_tails_differ_by_the_probabilities),
      cmocka_unit_test(poisson_extremes_have_limits),
      cmocka_unit_test(normal_quantiles_are_accurate),
      cmocka_unit_test(log_excess_keeps_its_precision),
      cmocka_unit_test(digamma_is_accurate),
      cmocka_unit_test(student_t_tails_are_accurate),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
