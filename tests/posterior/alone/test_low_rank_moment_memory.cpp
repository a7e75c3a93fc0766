// Operations that training repeats with a covariance diag(s) + W W^T allocate once: draws, C, gradients of
// the KL divergence.
#include "parallel/parallel.hpp"
#include "posterior/families.hpp"
#include "posterior/low_rank_moment/low_rank_moment.hpp"
#include "support/counting_allocator.hpp"
#include "support/dense.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index dimension = 5000, draws = 11;

PosteriorKind kind_of(bool in_layers, Index rank) {
  PosteriorKind kind{in_layers ? Family::layerwise_low_rank_moment : Family::low_rank_moment, dimension,
                     rank};
  if (in_layers) kind.blocks = {4800, 200};
  return kind;
}

template <class T>
void repeated_work_allocates_nothing(void**) {
  for (const bool in_layers : {false, true})
    for (const Index rank : {0, 1, 5}) {
      const auto q = create_posterior<T>(kind_of(in_layers, rank));
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
}

template <class T>
void gradients_allocate_nothing(void**) {
  for (const Index rank : {0, 1, 5}) {
    LowRankMomentPosterior<T> q(dimension, rank);
    Padded<T> mean(Dense(dimension, 1)), w(Dense(dimension, rank)), rho(Dense(dimension, 1)),
        precision(Dense(dimension, 1, 2.0));
    Scratch scratch;
    std::size_t before = 0;
    for (int step = 0; step < 3; ++step) {
      std::ranges::fill(q.s(), static_cast<T>(0.5 + step));
      q.factorize(scratch);
      kl_gradient<T>(q, {}, std::as_const(precision).column(), {mean.column(), w.view(), rho.column()},
                     scratch);
      if (before == 0) before = counting::calls;
    }
    assert_int_equal(counting::calls, before);
    assert_near("by log sigma", static_cast<double>(rho.column()[7]), 2 * 2.5 - 1, 1e-6);
  }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_low_rank_moment_memory() {
  const CMUnitTest tests[] = {BOTH(repeated_work_allocates_nothing), BOTH(gradients_allocate_nothing)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
