// Operations that training repeats with a Kronecker-factored posterior allocate once: draws, solutions,
// marginal variances, factors.
#include "network/convolution/patch_rows.hpp"
#include "network/outer_rows.hpp"
#include "parallel/parallel.hpp"
#include "posterior/families.hpp"
#include "posterior/kronecker/factors.hpp"
#include "support/counting_allocator.hpp"
#include "support/naive_convolution.hpp"

// Last: it includes cmocka.h.
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index draws = 3;
const std::vector<MatrixShape> shapes = {{30, 40, true}, {8}, {20, 9, false}};
constexpr Index dimension = 30 * 41 + 8 + 20 * 9;

PosteriorKind kind() {
  return {Family::kronecker, dimension, 0, {}, {}, {}, shapes};
}

template <class T>
void repeated_work_allocates_nothing(void**) {
  const auto q = create_posterior<T>(kind());
  Padded<T> thetas(Dense(dimension, draws));
  Scratch scratch;
  parallel_for(4, [](Index) noexcept {});  // the threads start once
  std::size_t before = 0;
  for (const Index count : {draws, Index{1}, draws}) {
    sample<T>(*q, {1, Stream::user, 0, 0}, thetas.view().columns(0, count), scratch);
    q->solve(thetas.view().columns(0, count), scratch);
    q->marginal_variance(thetas.column(), scratch);
    if (before == 0) before = counting::calls;
  }
  assert_int_equal(counting::calls, before);
}

template <class T>
void add_both(const BlockRows<T>& rows, const Dense& w, Scratch& scratch, KroneckerFactors& factors,
              std::size_t k) {
  const Padded<T> weights(w);
  std::size_t before = 0;
  for (int round = 0; round < 3; ++round) {  // what the first one takes becomes one block after it
    if (round < 2) before = counting::calls;
    rows.add_input_factor(1, {}, factors.omega(k), scratch);
    rows.add_output_factor(1, weights.column(), factors.gamma(k), scratch);
  }
  assert_int_equal(counting::calls, before);
}

template <class T>
void factors_allocate_nothing(void**) {
  Random random(3);
  KroneckerFactors factors;
  factors.reserve(shapes);
  std::ranges::fill(factors.values(), 0.0);
  assert_int_equal(factors.size(), 30 * 30 + 41 * 41 + 20 * 20 + 9 * 9);
  OuterRows<T> dense({40, 30, 0, 1200});
  PatchRows<T> patches(window_of({1, 9, 9}, 20, 3, 1, 1), true);
  Scratch scratch;
  parallel_for(4, [](Index) noexcept {});
  for (const Index examples : {1, 700}) {
    const Padded<T> a(random.normal(40, examples)), e(random.normal(30, 2 * examples));
    dense.view(a.get(), e.get(), examples);
    add_both(dense, Dense(2 * examples, 1, 1.0), scratch, factors, 0);
    Packets<T> in({1, 9, 9}, examples, random.normal(examples, 81), 0, 0),
        out({20, 9, 9}, examples, random.normal(examples, 20 * 81), 0, 0);
    patches.view(in.view(), out.view(), examples);
    add_both(patches, Dense(examples, 1, 1.0), scratch, factors, 2);
  }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_kronecker_memory() {
  const CMUnitTest tests[] = {BOTH(repeated_work_allocates_nothing), BOTH(factors_allocate_nothing)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
