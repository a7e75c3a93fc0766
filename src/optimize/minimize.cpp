#include "optimize/minimize.hpp"

#include <cxxabi.h>
#include <lbfgs.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <new>

#include "base/error.hpp"

namespace bdl {
namespace {

struct Call {
  const Minimization& problem;
  std::size_t size;  // libLBFGS may round it up
  std::exception_ptr error;
  bool ended = false;

  /// After an error everything is refused until libLBFGS gives up.
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

Index minimization_bytes(Index variables, Index memory) {
  constexpr Index vectors = 5;  // x, its gradient, those before, and the direction
  return static_cast<Index>(sizeof(double)) * variables * (vectors + 2 * memory);
}

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
  // Trials out of bounds have no gradient, which only backtracking does not ask for.
  parameters.linesearch = LBFGS_LINESEARCH_BACKTRACKING_WOLFE;
  Call call{problem, x.size(), nullptr};
  const int status =
      lbfgs(static_cast<int>(x.size()), variables.get(), nullptr, evaluate, report, &call, &parameters);
  if (call.error) std::rethrow_exception(call.error);
  if (status == LBFGSERR_OUTOFMEMORY) throw std::bad_alloc();
  std::copy_n(variables.get(), x.size(), x.data());
  return call.ended;
}

}  // namespace bdl
