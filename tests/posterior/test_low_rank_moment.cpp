// Covariances diag(s) + W W^T: gradients of the KL, the limits at which other families and precisions end,
// other families from them, time, and what there is not. What every family answers: test_operations,
// test_divergences, test_samples.
#include "linalg/tall/tall.hpp"
#include "parallel/parallel.hpp"
#include "posterior/families.hpp"
#include "posterior/low_rank_moment/low_rank_moment.hpp"
#include "prior/prior.hpp"
#include "support/posteriors.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Problem {
  const char* name;
  Dense w, s, mean, prior_mean, precision;
};

/// Ranks 0 to more than D, W = 0 and equal columns; s from 1e-5, where C reaches 1e6.
std::vector<Problem> problems(Index dimension) {
  Random random(31);
  std::vector<Problem> out;
  const auto add = [&](const char* name, const Dense& w, double least) {
    out.push_back({name, w, random.uniform(dimension, 1, least, 2 * least), random.normal(dimension, 1),
                   random.normal(dimension, 1), random.uniform(dimension, 1, 0.3, 3)});
  };
  const Dense column = random.normal(dimension, 1);
  add("rank 0", Dense(dimension, 0), 0.5);
  add("rank 1", column, 0.5);
  add("rank 3", random.normal(dimension, 3), 0.5);
  add("small s", random.normal(dimension, 2, 0.3), 1e-5);
  add("zero factor", Dense(dimension, 3), 0.2);
  add("equal columns", beside(column, column), 0.01);
  add("rank D + 2", random.normal(dimension, dimension + 2), 0.5);
  return out;
}

Dense covariance_of(const Problem& p) {
  return p.w * transposed(p.w) + diagonal_matrix(p.s);
}

/// KL(N(mean, diag(s) + W W^T) || N(prior mean, diag(1 / precision))), densely.
double dense_kl(const Problem& p) {
  const Dense covariance = covariance_of(p), shift = p.mean - p.prior_mean;
  double sum = -log_det(covariance) - static_cast<double>(p.s.rows);
  for (Index i = 0; i < p.s.rows; ++i)
    sum += p.precision(i, 0) * (covariance(i, i) + shift(i, 0) * shift(i, 0)) - std::log(p.precision(i, 0));
  return sum / 2;
}

template <class T>
struct Gradient {
  Dense mean, w, log_sigma;
};

template <class T>
Gradient<T> gradient_of(const Problem& p) {
  const auto q = low_rank_moment_of<T>(p.w, p.s);
  for (Index i = 0; i < p.mean.rows; ++i)
    q->mean()[static_cast<std::size_t>(i)] = static_cast<T>(p.mean(i, 0));
  const Padded<T> prior_mean(p.prior_mean), precision(p.precision);
  Padded<T> mean(poison(p.mean.rows, 1)), w(poison(p.w.rows, p.w.cols), 3), rho(poison(p.mean.rows, 1));
  Scratch scratch;
  kl_gradient<T>(*q, prior_mean.column(), precision.column(), {mean.column(), w.view(), rho.column()},
                 scratch);
  return {mean.dense(), w.dense(), rho.dense()};
}

/// With S = Sigma^-1: lambda (mu - m), (diag(lambda) - S) W, s o (lambda - diag(S)).
template <class T>
void gradients_are_those_of_the_dense_covariance(void**) {
  constexpr double tolerance = sizeof(T) == 8 ? 1e-10 : 1e-5;
  for (const Index dimension : {1, 4, 33})
    for (const Problem& p : problems(dimension)) {
      const Gradient<T> got = gradient_of<T>(p);
      const Dense slope = diagonal_matrix(p.precision) - inverse_of(covariance_of(p));
      Dense mean = p.mean - p.prior_mean, rho(dimension, 1);
      for (Index i = 0; i < dimension; ++i) {
        mean(i, 0) *= p.precision(i, 0);
        rho(i, 0) = p.s(i, 0) * slope(i, i);
      }
      assert_close(p.name, got.mean, mean, tolerance);
      assert_close(p.name, got.w, slope * p.w, tolerance);
      assert_close(p.name, got.log_sigma, rho, tolerance);
    }
}

/// Central differences of the dense KL.
void gradients_are_slopes_of_the_divergence(void**) {
  for (const Problem& p : problems(5)) {
    const Gradient<double> got = gradient_of<double>(p);
    const auto slope = [&](auto&& change, double step) {
      Problem up = p, down = p;
      change(up, step);
      change(down, -step);
      return (dense_kl(up) - dense_kl(down)) / (2 * step);
    };
    const double small = 1e-4 * std::sqrt(p.s(0, 0));
    Dense mean(5, 1), w(5, p.w.cols), rho(5, 1);
    for (Index i = 0; i < 5; ++i) {
      mean(i, 0) = slope([&](Problem& at, double h) { at.mean(i, 0) += h; }, 1e-4);
      rho(i, 0) = slope([&](Problem& at, double h) { at.s(i, 0) *= std::exp(2 * h); }, 1e-4);
      for (Index k = 0; k < p.w.cols; ++k)
        w(i, k) = slope([&](Problem& at, double h) { at.w(i, k) += h; }, small);
    }
    assert_close(p.name, got.mean, mean, 1e-7);
    assert_close(p.name, got.log_sigma, rho, 1e-7);
    assert_close(p.name, got.w, w, p.s(0, 0) < 1e-3 ? 1e-5 : 1e-7);
  }
}

/// With s = constant and only the KL acting, W^T W = (gamma - s) I is the optimum.
void factor_of_the_prior_is_stationary(void**) {
  const double gamma = 2, s = 0.3;
  Dense w(6, 3);
  for (Index k = 0; k < 3; ++k) {  // orthogonal: two entries of each column
    w(2 * k, k) = 0.6 * std::sqrt(gamma - s);
    w(2 * k + 1, k) = -0.8 * std::sqrt(gamma - s);
  }
  const Gradient<double> got =
      gradient_of<double>({"", w, Dense(6, 1, s), Dense(6, 1), Dense(6, 1), Dense(6, 1, 1 / gamma)});
  assert_true(max_abs(got.w) < 1e-12 && max_abs(got.mean) == 0);
}

/// Parts that are not asked for stay as they are, and others are the same.
void parts_of_the_gradient_can_be_left_out(void**) {
  const Problem p = problems(7)[2];
  const auto q = low_rank_moment_of<double>(p.w, p.s);
  const Gradient<double> all = gradient_of<double>(p);
  const Padded<double> precision(p.precision);
  Padded<double> w(poison(7, p.w.cols)), rho(poison(7, 1));
  Scratch scratch;
  kl_gradient<double>(*q, {}, precision.column(), {{}, w.view(), {}}, scratch);
  assert_same("by W", w.dense(), all.w);
  kl_gradient<double>(*q, {}, precision.column(), {{}, {}, rho.column()}, scratch);
  assert_same("by log sigma", rho.dense(), all.log_sigma);
}

/// Rows of several blocks and parts.
void large_gradients_are_the_same(void**) {
  constexpr Index dimension = 10'000;
  Random random(5);
  const Problem p{"",
                  random.normal(dimension, 3, 0.1),
                  random.uniform(dimension, 1, 0.5, 2),
                  Dense(dimension, 1),
                  Dense(dimension, 1),
                  Dense(dimension, 1, 1.0)};
  const Gradient<double> got = gradient_of<double>(p);
  Dense scaled = p.w, core = identity(3);
  for (Index k = 0; k < 3; ++k)
    for (Index i = 0; i < dimension; ++i) scaled(i, k) /= p.s(i, 0);
  core = core + transposed(p.w) * scaled;
  const Dense mixed = scaled * inverse_of(core);
  assert_close("by W", got.w, p.w - mixed, 1e-12);
  Dense rho(dimension, 1);
  for (Index i = 0; i < dimension; ++i) {
    double h = 0;
    for (Index k = 0; k < 3; ++k) h += p.w(i, k) * mixed(i, k);
    rho(i, 0) = p.s(i, 0) - 1 + h;
  }
  assert_close("by log sigma", got.log_sigma, rho, 1e-12);
}

/// Log determinant, derivatives, draws and products, in parts of rows that several threads share.
template <class T>
Dense numbers_on(Index threads) {
  constexpr Index dimension = 20'000;
  const ThreadLimit limit(threads);
  Random random(7);
  const Problem p{"",
                  random.normal(dimension, 3),
                  random.uniform(dimension, 1, 0.1, 1),
                  random.normal(dimension, 1),
                  Dense(dimension, 1),
                  random.uniform(dimension, 1, 0.5, 2)};
  const auto q = low_rank_moment_of<T>(p.w, p.s);
  Scratch scratch;
  Padded<T> x(Dense(dimension, 3));
  sample<T>(*q, {1, Stream::user, 0, 0}, x.view(), scratch);
  const Dense drawn = x.dense();
  q->solve(x.view(), scratch);
  const Gradient<T> gradient = gradient_of<T>(p);
  return beside(beside(drawn, x.dense()),
                beside(beside(gradient.w, gradient.log_sigma), Dense(dimension, 1, q->log_det_covariance())));
}

template <class T>
void bits_do_not_depend_on_threads(void**) {
  const Dense alone = numbers_on<T>(1);
  for (const Index threads : {2, 3}) assert_same("numbers", numbers_on<T>(threads), alone);
}

/// Rank 0 is mean field: the diagonal families' numbers.
void rank_0_is_the_diagonal_family(void**) {
  Random random(8);
  const Dense s = random.uniform(11, 1, 0.2, 2), mean = random.normal(11, 1);
  const auto q = belief_of<double>("q", low_rank_moment_of<double>(Dense(11, 0), s), mean);
  auto diagonal = std::make_unique<DiagonalMomentPosterior<double>>(11);
  diagonal->set_variance(s.values);
  const auto same = belief_of<double>("same", std::move(diagonal), mean);
  const Padded<double> theta(random.normal(11, 1)), precision(random.uniform(11, 1, 0.1, 2));
  Scratch scratch;
  assert_true(q.q->is_diagonal());
  assert_near("KL", kl_to_prior(*q.q, precision.column(), scratch),
              kl_to_prior(*same.q, precision.column(), scratch), 1e-14);
  assert_near("log density", log_density(*q.q, theta.column(), scratch),
              log_density(*same.q, theta.column(), scratch), 1e-14);
  assert_near("KL of both", kl(*q.q, *same.q, scratch), 0, 1e-14);
}

/// x^T Sigma^-1 x = |w|^2 / (s + |w|^2) for x = W = w: differences of squares would lose it.
void quadratic_forms_keep_their_digits(void**) {
  const double s = 1e-10;
  const Dense w = Random(4).normal(20, 1);
  const auto q = low_rank_moment_of<double>(w, Dense(20, 1, s));
  Scratch scratch;
  const Padded<double> x(w);
  assert_near("quadratic", q->quadratic(x.column(), scratch), dot(w, w) / (s + dot(w, w)), 1e-11);
}

/// C is singular in single precision here: KL and gradient must be those of the same numbers in double.
void equal_columns_are_legal_in_single_precision(void**) {
  constexpr Index dimension = 5000;
  const float s = std::exp(-12.0F);
  const Padded<float> column(Random(3).normal(dimension, 1, 0.1));
  const Problem p{"equal columns",
                  beside(column.dense(), column.dense()),
                  Dense(dimension, 1, static_cast<double>(s)),
                  Dense(dimension, 1),
                  Dense(dimension, 1),
                  Dense(dimension, 1, 1.0)};
  const auto narrow = low_rank_moment_of<float>(p.w, p.s);
  const double square = 2 * dot(column.dense(), column.dense()) / static_cast<double>(s),
               log_det = dimension * std::log(static_cast<double>(s)) + std::log1p(square);
  assert_near("log det", narrow->log_det_covariance(), log_det, 1e-7);
  const Gradient<float> got = gradient_of<float>(p);
  // W C^-1 = W / (1 + 2 |w|^2 / s) for the two equal columns.
  const Dense expected = (1 - 1 / (static_cast<double>(s) * (1 + square))) * p.w;
  assert_close("by W", got.w, expected, 1e-5);
}

/// Covariance of 100,000 draws, within 5 standard errors.
void draws_have_the_covariance(void**) {
  constexpr Index count = 100'000, dimension = 5;
  Random random(12);
  const auto q =
      low_rank_moment_of<double>(random.normal(dimension, 2), random.uniform(dimension, 1, 0.1, 1));
  const Dense covariance = inverse_of(dense_precision<double>(*q));
  Padded<double> thetas(Dense(dimension, count));
  Scratch scratch;
  sample<double>(*q, {3, Stream::user, 0, 0}, thetas.view(), scratch);
  const Dense draws = thetas.dense();
  for (Index i = 0; i < dimension; ++i)
    for (Index j = 0; j <= i; ++j) {
      double sum = 0;
      for (Index k = 0; k < count; ++k) sum += draws(i, k) * draws(j, k);
      const double spread =
          covariance(i, i) * covariance(j, j) + covariance(i, j) * covariance(i, j);  // of one product
      assert_true(std::abs(sum / count - covariance(i, j)) < 5 * std::sqrt(spread / count));
    }
}

template <class T>
void other_families_hold_the_same_moments(void**) {
  constexpr double tolerance = sizeof(T) == 8 ? 1e-12 : 1e-5;
  auto all = beliefs<T>(6, 17);
  all.pop_back();  // blocks of many families, which no kind describes
  auto layers = create_posterior<T>({Family::layerwise_low_rank_moment, 6, 2, {4, 2}});
  const Padded<T> precision(Random(5).uniform(6, 1, 1, 2));
  layers->set_diagonal(precision.column(), 3);
  all.push_back({"layers", std::move(layers), Dense(6, 1), {}, {}});
  all.back().precision = dense_precision<T>(*all.back().q);
  all.back().covariance = inverse_of(all.back().precision);
  for (const Belief<T>& q : all) {
    const auto full = full_covariance_of(*q.q);
    assert_close(q.name.c_str(), dense_of(full->covariance()), q.covariance, tolerance);
    assert_same("mean", column_of(std::as_const(*full).mean()), q.mean);
    const auto diagonal = marginals_of(*q.q);
    assert_close(q.name.c_str(), column_of(diagonal->variance()), diagonal_of(q.covariance), tolerance);
    assert_same("mean", column_of(std::as_const(*diagonal).mean()), q.mean);
    assert_true(full->is_blank() == q.q->is_blank() && diagonal->is_blank() == q.q->is_blank());
  }
}

template <class T>
void time_passes_exactly(void**) {
  constexpr double tolerance = sizeof(T) == 8 ? 1e-12 : 1e-5;
  Random random(9);
  const auto from = belief_of<T>(
      "from", low_rank_moment_of<T>(random.normal(7, 2), random.uniform(7, 1, 0.5, 2)), random.normal(7, 1));
  const Padded<T> noise(random.uniform(7, 1, 0.1, 1));
  LowRankMomentPosterior<T> to(7, 2);
  Scratch workspace;
  to.drift(*from.q, {0.9, 0.81 / 0.7, noise.column()}, workspace);
  assert_close("covariance", inverse_of(dense_precision<T>(to)),
               0.81 / 0.7 * from.covariance + diagonal_matrix(noise.dense()), tolerance);
  assert_close("mean", column_of(std::as_const(to).mean()), 0.9 * from.mean, tolerance);
}

/// With a seed, a tenth of the variances is that of W.
template <class T>
void spread_keeps_the_variances(void**) {
  constexpr double tolerance = sizeof(T) == 8 ? 1e-12 : 1e-5;
  const Padded<T> precision(Random(2).uniform(8, 1, 0.5, 4));
  for (const bool spread : {false, true}) {
    LowRankMomentPosterior<T> q(8, 3);
    q.set_diagonal(precision.column(), spread ? std::optional<std::uint64_t>(5) : std::nullopt);
    Scratch scratch;
    Padded<T> variance(poison(8, 1));
    q.marginal_variance(variance.column(), scratch);
    const Dense w = dense_of(std::as_const(q).w());
    for (Index i = 0; i < 8; ++i) {
      const double expected = 1 / static_cast<double>(precision.column()[static_cast<std::size_t>(i)]);
      assert_near("variance", variance.dense()(i, 0), expected, tolerance);
      assert_near("of W", (w * transposed(w))(i, i), spread ? expected / 10 : 0, tolerance);
    }
  }
}

/// As priors of others they are exact where the family can be; nothing else becomes one of them.
void priors_are_exact_or_refused(void**) {
  Random random(6);
  const auto q =
      belief_of<double>("q", low_rank_moment_of<double>(random.normal(5, 2), random.uniform(5, 1, 0.5, 2)),
                        random.normal(5, 1));
  for (const Family family : {Family::full, Family::full_moment})
    assert_close("precision", dense_precision(*in_family<double>(*q.q, {family, 5})), q.precision, 1e-12);
  expect_error(Status::ERROR_UNSUPPORTED, "rank 2", [&] {
    static_cast<void>(in_family<double>(*q.q, {Family::low_rank, 5, 2}));
  });
  const PosteriorKind own{Family::low_rank_moment, 5, 2}, other{Family::low_rank_moment, 5, 3};
  assert_same("precision", dense_precision(*in_family<double>(*q.q, own)), q.precision);
  expect_error(Status::ERROR_UNSUPPORTED, "low_rank_moment",
               [&] { static_cast<void>(in_family<double>(*q.q, other)); });
  const auto diagonal = marginals_of(*q.q);
  assert_close("precision", dense_precision(*in_family<double>(*diagonal, other)),
               dense_precision<double>(*diagonal), 1e-14);
}

void there_are_no_natural_gradient_steps(void**) {
  LowRankMomentPosterior<double> q(3, 1), to(3, 1);
  Scratch workspace;
  const PosteriorStep<double> step{q};
  expect_error(Status::ERROR_UNSUPPORTED, "low-rank-moment", [&] { to.update(step, workspace); });
  expect_error(Status::ERROR_UNSUPPORTED, "low-rank-moment",
               [] { as_low_rank_moment<double>(DiagonalMomentPosterior<double>(2)); });
  expect_error(Status::ERROR_DIVERGED, "covariance is not finite and positive",
               [] { low_rank_moment_of<double>(Dense(3, 1), Dense(3, 1, -1)); });
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_low_rank_moment() {
  const CMUnitTest tests[] = {
      BOTH(gradients_are_those_of_the_dense_covariance),
      cmocka_unit_test(gradients_are_slopes_of_the_divergence),
      cmocka_unit_test(factor_of_the_prior_is_stationary),
      cmocka_unit_test(parts_of_the_gradient_can_be_left_out),
      cmocka_unit_test(large_gradients_are_the_same),
      BOTH(bits_do_not_depend_on_threads),
      cmocka_unit_test(rank_0_is_the_diagonal_family),
      cmocka_unit_test(quadratic_forms_keep_their_digits),
      cmocka_unit_test(equal_columns_are_legal_in_single_precision),
      cmocka_unit_test(draws_have_the_covariance),
      BOTH(other_families_hold_the_same_moments),
      BOTH(time_passes_exactly),
      BOTH(spread_keeps_the_variances),
      cmocka_unit_test(priors_are_exact_or_refused),
      cmocka_unit_test(there_are_no_natural_gradient_steps),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
