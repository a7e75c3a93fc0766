// Draws: their moments, and that they are exactly a function of posterior and key. Every statistical
// assertion rejects a correct sampler with a probability below 1e-6 (over the choice of the seed, which is
// fixed).
#include "base/simd.hpp"
#include "parallel/parallel.hpp"
#include "posterior/dropout/dropout.hpp"
#include "support/posteriors.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class T>
Dense draws(const Posterior<T>& q, const StreamKey& key, Index count, Index padding = 0) {
  Scratch scratch;
  Padded<T> thetas(poison(q.dimension(), count), padding);
  sample(q, key, thetas.view(), scratch);
  return thetas.dense();
}

constexpr StreamKey key{11, Stream::posterior_sample, 5, 0};

/// For n draws of dimension D: n |C^T (mean - mu)|^2 is chi-square(D), and each entry of the whitened
/// covariance is off by less than 6 of its standard errors sqrt(2 / n) or sqrt(1 / n): two-sided 2e-9 each.
template <class T>
void moments_are_those_of_the_posterior(void**) {
  constexpr Index count = 20'000, dimension = 6;
  for (const Belief<T>& belief : beliefs<T>(dimension, 15)) {
    const Dense thetas = draws(*belief.q, key, count);
    const Dense root = transposed(cholesky_of(belief.precision));  // whitens: root Sigma root^T = I
    Dense mean(dimension, 1), moments(dimension, dimension);
    for (Index s = 0; s < count; ++s) {
      const Dense z = root * (columns_of(thetas, s, 1) - belief.mean);
      mean = mean + z;
      moments = moments + z * transposed(z);
    }
    const double n = static_cast<double>(count);
    for (Index i = 0; i < dimension; ++i) {
      assert_true(std::abs(mean(i, 0)) < 6 * std::sqrt(n));
      for (Index j = 0; j < dimension; ++j)
        assert_true(std::abs(moments(i, j) - (i == j ? n : 0)) < 6 * std::sqrt(n * (i == j ? 2 : 1)));
    }
  }
}

/// theta_s = mu + F eps_s with eps_s the stream of sample key.sample + s: of D numbers and those of factors.
template <class T>
void draws_are_the_colored_stream(void**) {
  for (const Belief<T>& belief : beliefs<T>(9, 16)) {
    const Dense f = root_of(*belief.q);
    Padded<T> eps(Dense(f.cols, 3));
    for (Index s = 0; s < 3; ++s)
      fill_normal<T>({key.seed, key.stream, key.step, static_cast<std::uint32_t>(s)}, 0,
                     eps.view().column(s));
    Dense expected = f * eps.dense();
    for (Index s = 0; s < 3; ++s)
      for (Index i = 0; i < 9; ++i) expected(i, s) += belief.mean(i, 0);
    assert_close(belief.name.c_str(), draws(*belief.q, key, 3), expected, sizeof(T) == 8 ? 1e-12 : 1e-5);
  }
}

template <class T>
void draws_depend_on_posterior_and_key_alone(void**) {
  for (const Belief<T>& belief : beliefs<T>(13, 17)) {
    const Dense first = draws(*belief.q, key, 4);
    assert_same("again", draws(*belief.q, key, 4), first);
    assert_same("of a clone", draws(*belief.q->clone(), key, 4), first);
    assert_same("in padded columns", draws(*belief.q, key, 4, 3), first);
    StreamKey later = key;
    later.sample = 2;  // samples are numbered: a later start continues the sequence
    assert_same("from the third on", draws(*belief.q, later, 2), columns_of(first, 2, 2));
    for (const StreamKey& other :
         {StreamKey{12, key.stream, key.step, 0}, StreamKey{key.seed, Stream::prediction, key.step, 0},
          StreamKey{key.seed, key.stream, 6, 0}})
      assert_true(max_abs(draws(*belief.q, other, 4) - first) > 0.01);
  }
}

/// All the ways of drawing `count` draws in one call are those of drawing one after the other.
template <class T>
void check_any_number_at_once(const char* name, const Posterior<T>& q, Index most) {
  const Dense one_by_one = [&] {
    Dense all(q.dimension(), 0);
    for (Index s = 0; s < most; ++s)
      all = beside(all, draws(q, {key.seed, key.stream, key.step, static_cast<std::uint32_t>(s)}, 1));
    return all;
  }();
  for (Index first = 0; first < most; ++first)
    for (Index count = 2; first + count <= most; ++count)
      assert_same(name, draws(q, {key.seed, key.stream, key.step, static_cast<std::uint32_t>(first)}, count),
                  columns_of(one_by_one, first, count));
}

/// On each kind of processor and any number of threads.
template <class Check>
void with_each_machine(Check check) {
  for (const Simd widest : {Simd::baseline, Simd::avx2, Simd::avx512}) {
    most_simd = widest;
    for (const Index threads : {1, 3}) {
      const ThreadLimit limit(threads);
      check();
    }
  }
  most_simd = Simd::avx512;
}

template <class T>
void draws_do_not_depend_on_how_many_are_asked_for(void**) {
  with_each_machine([] {
    for (const Index dimension : {1, 2, 5, 8, 13, 40})
      for (const Belief<T>& belief : beliefs<T>(dimension, 18))
        check_any_number_at_once(belief.name.c_str(), *belief.q, 9);
    const DropoutPosterior<T> masks(dropout_layout(std::vector<Index>{3, 5, 2}, true, 0.1, 0.5));
    check_any_number_at_once("dropout", masks, 9);
  });
}

/// Ranks whose sums are taken in other groups: all up to 21, in rows that fill vectors, blocks and parts or
/// do not.
template <class T>
void draws_of_any_rank_do_not_depend_on_how_many_are_asked_for(void**) {
  with_each_machine([] {
    for (Index rank = 0; rank <= 21; ++rank)
      for (const Index dimension : {21, 32, 33, 64, 95, 257, 300}) {
        Random random(static_cast<std::uint64_t>(19 + rank));
        const Dense u = random.normal(dimension, rank), d = random.uniform(dimension, 1, 0.5, 3);
        check_any_number_at_once("low rank", *low_rank_of<T>(u, d), 6);
        check_any_number_at_once("low rank moment", *low_rank_moment_of<T>(u, d), 6);
      }
  });
}

/// Rows enough for several parts, on several threads.
template <class T>
void draws_of_many_parameters_do_not_depend_on_how_many_are_asked_for(void**) {
  constexpr Index dimension = 9000;
  for (const Index rank : {3, 8}) {
    Random random(20);
    const auto q = low_rank_of<T>(random.normal(dimension, rank), random.uniform(dimension, 1, 0.5, 3));
    with_each_machine([&] { check_any_number_at_once("low rank", *q, 5); });
  }
}

}  // namespace

int test_samples() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(moments_are_those_of_the_posterior<float>),
      cmocka_unit_test(moments_are_those_of_the_posterior<double>),
      cmocka_unit_test(draws_are_the_colored_stream<float>),
      cmocka_unit_test(draws_are_the_colored_stream<double>),
      cmocka_unit_test(draws_depend_on_posterior_and_key_alone<float>),
      cmocka_unit_test(draws_depend_on_posterior_and_key_alone<double>),
      cmocka_unit_test(draws_do_not_depend_on_how_many_are_asked_for<float>),
      cmocka_unit_test(draws_do_not_depend_on_how_many_are_asked_for<double>),
      cmocka_unit_test(draws_of_any_rank_do_not_depend_on_how_many_are_asked_for<float>),
      cmocka_unit_test(draws_of_any_rank_do_not_depend_on_how_many_are_asked_for<double>),
      cmocka_unit_test(draws_of_many_parameters_do_not_depend_on_how_many_are_asked_for<float>),
      cmocka_unit_test(draws_of_many_parameters_do_not_depend_on_how_many_are_asked_for<double>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
