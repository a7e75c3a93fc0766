#include "optimize/minimize.hpp"

#include <cxxabi.h>
#include <lbfgs.h>
#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "base/error.hpp"

namespace bdl {
namespace {

struct Call {
  const Minimization& problem;
  std::size_t size;  // libLBFGS may round its own up
  std::exception_ptr error;
  bool ended = false;

  /// Calls function(). After an error it returns `otherwise`, until libLBFGS gives up.
  template <class Function, class Value>
  Value guarded(Value otherwise, Function&& function) {
    if (error) return otherwise;
    try {
      return function();
    } catch (const abi::__forced_unwind&) {
      throw;  // the thread ends
    } catch (...) {
      error = std::current_exception();
      return otherwise;
    }
  }
};

lbfgsfloatval_t evaluate(void* instance, const lbfgsfloatval_t* x, lbfgsfloatval_t* g, const int n,
                         const lbfgsfloatval_t) {
  auto& call = *static_cast<Call*>(instance);
  std::fill_n(g, n, 0.0);
  return call.guarded(std::numeric_limits<double>::quiet_NaN(), [&] {
    return call.problem.evaluate({x, call.size}, {g, call.size});
  });
}

int report(void* instance, const lbfgsfloatval_t* x, const lbfgsfloatval_t* g, const lbfgsfloatval_t,
           const lbfgsfloatval_t, const lbfgsfloatval_t, const lbfgsfloatval_t, int, int, int) {
  auto& call = *static_cast<Call*>(instance);
  call.ended = call.guarded(true, [&] { return call.problem.report({x, call.size}, {g, call.size}); });
  return call.ended ? 1 : 0;
}

}  // namespace

bool minimize(const Minimization& problem, std::span<double> x) {
  if (x.size() > INT32_MAX / 2) fail(Status::ERROR_UNSUPPORTED, "%zu variables are too many", x.size());
  const std::unique_ptr<lbfgsfloatval_t, void (*)(lbfgsfloatval_t*)> variables(
      lbfgs_malloc(static_cast<int>(x.size())), lbfgs_free);
  if (!variables) throw std::bad_alloc();
  std::ranges::copy(x, variables.get());
  lbfgs_parameter_t parameters;
  lbfgs_parameter_init(&parameters);
  parameters.m = static_cast<int>(problem.memory);
  parameters.epsilon = 0;  // report() knows when it is enough
  // Only backtracking needs no gradient at trials, which have none out of bounds.
  parameters.linesearch = LBFGS_LINESEARCH_BACKTRACKING_WOLFE;
  Call call{problem, x.size(), nullptr};
  const int status =
      lbfgs(static_cast<int>(x.size()), variables.get(), nullptr, evaluate, report, &call, &parameters);
  if (call.error) std::rethrow_exception(call.error);
  if (status == LBFGSERR_OUTOFMEMORY) throw std::bad_alloc();
  std::copy_n(variables.get(), x.size(), x.data());
  return call.ended;
}

namespace {

struct Destroy {
  void operator()(nlopt_opt problem) const { nlopt_destroy(problem); }
};

/// State of NLopt's callback, and the best point so far: NLopt may fail after it has found it.
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

/// NLopt's callback. No exception may pass through NLopt, which is C.
double evaluate(unsigned size, const double* x, double* gradient, void* context) noexcept {
  auto& course = *static_cast<Course*>(context);
  if (course.error) return 0;  // NLopt first ends its line search
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

double minimize_within_bounds(Minimiser minimiser, const Bounds& bounds, int most_evaluations,
                              const Objective& objective, std::span<double> x) {
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
