// NLopt behind one function: minima inside and at bounds, budgets, identical results when run again, and
// exceptions thrown in the objective.
#include <stdexcept>

#include "optimize/minimize.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

double rosenbrock(ConstSpan<double> x, std::span<double> gradient) {
  const double a = 1 - x[0], b = x[1] - x[0] * x[0];
  if (!gradient.empty()) {
    gradient[0] = -2 * a - 400 * x[0] * b;
    gradient[1] = 200 * b;
  }
  return a * a + 100 * b * b;
}

struct Case {
  Minimiser minimiser;
  int evaluations;
  double tolerance;
};
constexpr Case cases[] = {{Minimiser::lbfgs, 200, 1e-3}, {Minimiser::subplex, 2000, 2e-2}};

void minima_inside_are_found(void**) {
  const std::vector<double> low{-2, -2}, high{2, 2};
  for (const Case& c : cases) {
    std::vector<double> x{-1.2, 1}, again = x;
    const double value = minimize_within_bounds(c.minimiser, {low, high, 0.5}, c.evaluations, rosenbrock, x);
    assert_near("x", x[0], 1, c.tolerance);
    assert_near("y", x[1], 1, 2 * c.tolerance);
    assert_true(value == rosenbrock(x, {}));
    assert_true(minimize_within_bounds(c.minimiser, {low, high, 0.5}, c.evaluations, rosenbrock, again) ==
                    value &&
                again == x);
  }
}

void minima_at_bounds_are_found(void**) {
  const std::vector<double> low{-2, -2}, high{0.5, 2};
  for (const Case& c : cases) {
    std::vector<double> x{-1.2, 1};
    minimize_within_bounds(c.minimiser, {low, high, 0.5}, c.evaluations, rosenbrock, x);
    assert_near("x", x[0], 0.5, c.tolerance);
    assert_near("y", x[1], 0.25, 2 * c.tolerance);
  }
}

/// One dimension, and a start at the minimum, where line searches have nothing to find.
void a_minimum_is_kept(void**) {
  const std::vector<double> low{-1}, high{3};
  const auto parabola = [](ConstSpan<double> x, std::span<double> gradient) {
    if (!gradient.empty()) gradient[0] = 2 * (x[0] - 1);
    return (x[0] - 1) * (x[0] - 1);
  };
  for (const Case& c : cases)
    for (const double start : {1.0, -1.0, 3.0}) {
      std::vector<double> x{start};
      assert_near("value", minimize_within_bounds(c.minimiser, {low, high, 0.5}, c.evaluations, parabola, x),
                  0, 1e-5);
      assert_near("x", x[0], 1, 2e-3);
    }
}

void budgets_are_kept(void**) {
  const std::vector<double> low{-2, -2}, high{2, 2};
  for (const Case& c : cases) {
    int calls = 0;
    std::vector<double> x{-1.2, 1};
    const double value = minimize_within_bounds(
        c.minimiser, {low, high, 0.5}, 10,
        [&](ConstSpan<double> at, std::span<double> gradient) {
          ++calls;
          return rosenbrock(at, gradient);
        },
        x);
    assert_true(calls > 2 && calls <= 11 && value <= rosenbrock(std::vector<double>{-1.2, 1}, {}));
  }
}

/// Values that are not finite are avoided, and what is thrown comes out as it is.
void bad_objectives_are_survived(void**) {
  const std::vector<double> low{-2, -2}, high{2, 2};
  for (const Case& c : cases) {
    std::vector<double> x{-1.2, 1};
    int calls = 0;
    minimize_within_bounds(
        c.minimiser, {low, high, 0.5}, c.evaluations,
        [&](ConstSpan<double> at, std::span<double> gradient) {
          return ++calls % 5 == 4 ? not_a_number : rosenbrock(at, gradient);
        },
        x);
    assert_true(std::isfinite(x[0]) && std::isfinite(x[1]));
    x = {-1.2, 1};
    calls = 0;
    bool thrown = false;
    try {
      minimize_within_bounds(
          c.minimiser, {low, high, 0.5}, c.evaluations,
          [&](ConstSpan<double> at, std::span<double> gradient) {
            if (++calls == 3) throw std::domain_error("mine");
            return rosenbrock(at, gradient);
          },
          x);
    } catch (const std::domain_error& error) {
      thrown = std::strcmp(error.what(), "mine") == 0;
    }
    assert_true(thrown);
    assert_int_equal(calls, 3);
  }
}

}  // namespace

int test_minimisers() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(minima_inside_are_found),     cmocka_unit_test(minima_at_bounds_are_found),
      cmocka_unit_test(a_minimum_is_kept),           cmocka_unit_test(budgets_are_kept),
      cmocka_unit_test(bad_objectives_are_survived),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
