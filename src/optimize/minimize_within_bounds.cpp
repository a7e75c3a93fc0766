#include "optimize/minimize_within_bounds.hpp"

#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "base/error.hpp"

namespace bdl {
namespace {

struct Destroy {
  void operator()(nlopt_opt problem) const { nlopt_destroy(problem); }
};

/// What NLopt's callback needs, and the best point it has seen: NLopt may end with a failure behind it.
struct Course {
  const Objective& objective;
  nlopt_opt problem;
  std::vector<double> best_x;
  double best = std::numeric_limits<double>::infinity();
  std::exception_ptr error;

  double evaluate(ConstSpan<double> x, std::span<double> gradient) {
    const double value = objective(x, gradient);
    if (value < best) {
      best = value;
      std::ranges::copy(x, best_x.begin());
    }
    return std::isfinite(value) ? value : 1e300;
  }
};

/// No exception may pass through NLopt, which is C.
double evaluate(unsigned size, const double* x, double* gradient, void* context) noexcept {
  auto& course = *static_cast<Course*>(context);
  if (course.error) return 0;  // a line search still ends after the stop
  try {
    return course.evaluate({x, size}, {gradient, gradient ? size : 0});
  } catch (...) {
    course.error = std::current_exception();
    nlopt_force_stop(course.problem);
    return 0;
  }
}

void check(nlopt_result result) {
  if (result == NLOPT_OUT_OF_MEMORY) throw std::bad_alloc();
  if (result == NLOPT_INVALID_ARGS) fail(Status::ERROR_INTERNAL, "NLopt refused its arguments");
}

}  // namespace

double minimise(Minimiser minimiser, const Bounds& bounds, int most_evaluations, const Objective& objective,
                std::span<double> x) {
  const auto algorithm = minimiser == Minimiser::lbfgs ? NLOPT_LD_LBFGS : NLOPT_LN_SBPLX;
  const std::unique_ptr<nlopt_opt_s, Destroy> problem(
      nlopt_create(algorithm, static_cast<unsigned>(x.size())));
  if (!problem) throw std::bad_alloc();
  Course course{objective,
                problem.get(),
                std::vector<double>(x.begin(), x.end()),
                std::numeric_limits<double>::infinity(),
                {}};
  check(nlopt_set_lower_bounds(problem.get(), bounds.low.data()));
  check(nlopt_set_upper_bounds(problem.get(), bounds.high.data()));
  check(nlopt_set_initial_step1(problem.get(), bounds.first_step));
  check(nlopt_set_maxeval(problem.get(), most_evaluations));
  check(nlopt_set_ftol_abs(problem.get(), 1e-7));
  check(nlopt_set_min_objective(problem.get(), evaluate, &course));
  double value;
  const nlopt_result result = nlopt_optimize(problem.get(), x.data(), &value);
  if (course.error) std::rethrow_exception(course.error);
  check(result);
  std::ranges::copy(course.best_x, x.begin());
  return course.best;
}

}  // namespace bdl
