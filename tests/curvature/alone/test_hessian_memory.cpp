// Hessian estimates allocate once: a second estimate of no more examples allocates nothing. operator new is
// replaced for this program; BLAS keeps its own buffers, outside of it.
#include <cstdlib>
#include <new>

#include "support/hessian_problem.hpp"

namespace {

std::size_t allocated = 0;

void* allocate(std::size_t size, std::size_t alignment) {
  void* const memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (!memory) throw std::bad_alloc();
  allocated += size;
  return memory;
}

}  // namespace

void* operator new(std::size_t size) {
  return allocate(size, 16);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace {

using namespace bdl;
using namespace bdl::testing;

/// The columns' memory outlives the counted calls.
template <class T>
struct Batch {
  Padded<T> thetas, x, y, v, images;
  Padded<double> dense;

  explicit Batch(const HessianProblem& problem)
      : thetas(problem.thetas),
        x(problem.x),
        y(problem.y),
        v(Dense(problem.dimension(), 9, 1)),
        images(poison(problem.dimension(), 9)),
        dense(Dense(problem.dimension(), problem.dimension())) {}

  void run(HessianEstimator<T>& estimator, HessianForm form, Index examples) {
    const auto inputs = x.get().columns(0, examples), targets = y.get().columns(0, examples);
    switch (form) {
      case HessianForm::dense:
        return estimator.dense(thetas.get(), inputs, targets, 2, dense.view());
      case HessianForm::diagonal:
        return estimator.diagonal(thetas.get(), inputs, targets, 2, images.column());
      case HessianForm::probes:
        return estimator.diagonal_by_probes(thetas.get(), inputs, targets, 2, v.get(), images.column());
      case HessianForm::products:
        return estimator.products(thetas.get(), inputs, targets, 2, v.get(), images.view());
    }
  }
};

template <class T>
void memory_is_allocated_once(void**) {
  for (const Likelihood& likelihood :
       {gaussian(1, {1}), correlated_gaussian(3), Likelihood(BDL_CATEGORICAL, 4)})
    for (const auto& hidden : std::vector<std::vector<Index>>{{}, {18}, {12, 20}})
      for (const HessianForm form :
           {HessianForm::dense, HessianForm::diagonal, HessianForm::probes, HessianForm::products}) {
        const HessianProblem problem(likelihood, hidden, BDL_TANH, true, 33, 2);
        const auto network = problem.network<T>();
        Batch<T> batch(problem);
        HessianEstimator<T> estimator(network);
        batch.run(estimator, form, 33);  // the library's threads start
        allocated = 0;
        for (const Index examples : {33, 5, 1, 33}) batch.run(estimator, form, examples);
        assert_int_equal(allocated, 0);
      }
}

}  // namespace

int test_hessian_memory() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_allocated_once<float>),
      cmocka_unit_test(memory_is_allocated_once<double>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
