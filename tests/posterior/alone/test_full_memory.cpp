// Steps with full covariance take their memory once: a second step of the same kind allocates nothing.
#include <cstdlib>
#include <new>

#include "support/full_steps.hpp"

namespace {
int allocations = 0;
}

// The allocations of Buffer.
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  void* const memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
  if (!memory) throw std::bad_alloc();
  ++allocations;
  return memory;
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

template <class Call>
void assert_allocates_once(Call call) {
  const int start = allocations;
  call();
  const int first = allocations;
  call();
  if (allocations != first) fail_msg("%d allocations, then %d", first - start, allocations - first);
}

template <class T>
void later_steps_allocate_nothing(void**) {
  for (const Family family : {Family::full, Family::full_moment})
    for (const Descent descent : {Descent::natural, Descent::plain})
      for (const PriorForm prior : {PriorForm::none, PriorForm::posterior, PriorForm::diagonal})
        for (const CurvatureForm curvature : {CurvatureForm::one_row, CurvatureForm::few_rows,
                                              CurvatureForm::many_rows, CurvatureForm::matrix})
          for (const double scale : {1.0, 8.0})  // the larger are shortened
            for (const Index size : {5, 40}) {
              StepProblem<T> problem(family, size, prior, curvature, 31, scale);
              const auto next = posterior_of<T>(family, problem.from);
              Scratch scratch;
              const auto step = problem.step(descent);
              assert_allocates_once([&] { next->update(step, scratch); });
            }
}

template <class T>
void later_drifts_allocate_nothing(void**) {
  for (const Family family : {Family::full, Family::full_moment}) {
    Random random(32);
    const Gaussian q = random_gaussian<T>(12, random);
    const auto from = posterior_of<T>(family, q), next = posterior_of<T>(family, q);
    Padded<T> noise(random.uniform(12, 1, 0, 1));
    Scratch scratch;
    assert_allocates_once([&] { next->drift(*from, {0.9, 0.8, noise.column()}, scratch); });
  }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_full_memory() {
  const CMUnitTest tests[] = {BOTH(later_steps_allocate_nothing), BOTH(later_drifts_allocate_nothing)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
