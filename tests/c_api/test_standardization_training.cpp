// Training with standardisation inside the model is exactly training on data standardised by hand.
#include "standardized_runs.hpp"

namespace {

constexpr bdl_dtype dtypes[] = {BDL_F64, BDL_F32};
constexpr bdl_likelihood likelihoods[] = {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_CATEGORICAL, BDL_POISSON};

void assert_same_noise(const Twins& t) {
  if (t.likelihood != BDL_GAUSSIAN) return;
  Table got = table(t.outputs(), t.outputs()), expected = got;
  OK(bdl_model_get_noise_covariance(t.inside.model.get(), got.out()));
  OK(bdl_model_get_noise_covariance(t.by_hand.model.get(), expected.out()));
  for (int64_t c = 0; c < t.outputs(); ++c)
    assert_relative(got(c, c), t.variance(c, c, expected(c, c)), 1e-14, "noise variance");
}

void assert_same_elbo(const Twins& t) {
  double got = 0, expected = 0, kl = 0, expected_kl = 0;
  OK(bdl_optimizer_running_elbo(t.inside.optimizer.get(), &got, &kl));
  OK(bdl_optimizer_running_elbo(t.by_hand.optimizer.get(), &expected, &expected_kl));
  assert_relative(got, expected - t.log_scale_of_all(), 1e-13, "running log likelihood");
  assert_true(kl == expected_kl);
  OK(bdl_optimizer_elbo(t.inside.optimizer.get(), t.x.view(), t.y.view(), 5, 3, &got, &kl));
  OK(bdl_optimizer_elbo(t.by_hand.optimizer.get(), t.x_hand.view(), t.y_hand.view(), 5, 3, &expected,
                        &expected_kl));
  assert_relative(got, expected - t.log_scale_of_all(), 1e-13, "log likelihood");
  assert_true(kl == expected_kl);
}

/// The noise and the prior precision are learned.
void fits_are_the_same(void**) {
  for (const bdl_dtype dtype : dtypes)
    for (const bdl_likelihood likelihood : likelihoods) {
      Twins t(dtype, likelihood);
      t.set("minibatch", 7);
      t.set("learn_from", 0.2);
      t.fit(6);
      t.assert_same_posteriors();
      assert_same_noise(t);
      assert_same_elbo(t);
      OK(bdl_optimizer_step(t.inside.optimizer.get(), t.x.rows_of(3, 5), t.y.rows_of(3, 5)));
      OK(bdl_optimizer_step(t.by_hand.optimizer.get(), t.x_hand.rows_of(3, 5), t.y_hand.rows_of(3, 5)));
      t.assert_same_posteriors();
      assert_same_noise(t);
    }
}

void every_method_is_the_same(void**) {
  for (const char* method : {"slang", "von", "bbb", "map", "laplace"}) {
    Twins t(BDL_F64, BDL_GAUSSIAN, strcmp(method, "slang") == 0 ? 2 : 0, method);
    t.fit(5);
    t.assert_same_posteriors();
    assert_same_noise(t);
  }
}

void laplace_is_the_same(void**) {
  for (const int64_t rank : {int64_t{2}, int64_t{FULL}}) {
    Twins t(BDL_F64, BDL_GAUSSIAN, rank, "map");
    t.fit(3);
    OK(bdl_optimizer_laplace(t.inside.optimizer.get(), t.x.view(), t.y.view()));
    OK(bdl_optimizer_laplace(t.by_hand.optimizer.get(), t.x_hand.view(), t.y_hand.view()));
    t.assert_same_posteriors();
  }
}

/// Also the ELBO by quadrature.
void exact_optima_are_the_same(void**) {
  for (const bdl_dtype dtype : dtypes)
    for (const bdl_likelihood likelihood : {BDL_GAUSSIAN, BDL_POISSON})
      for (const char* method : {"exact-full", "exact-low-rank", "exact-diagonal"}) {
        const int64_t rank = strcmp(method, "exact-full") == 0       ? int64_t{FULL}
                             : strcmp(method, "exact-low-rank") == 0 ? int64_t{1}
                                                                     : int64_t{0};
        Twins t(dtype, likelihood, rank, method, 1, true);
        t.fit(200);
        t.assert_same_posteriors();
        assert_same_elbo(t);
        double got = 0, expected = 0;
        OK(bdl_optimizer_elbo(t.inside.optimizer.get(), t.x.view(), t.y.view(), 0, 0, &got, nullptr));
        OK(bdl_optimizer_elbo(t.by_hand.optimizer.get(), t.x_hand.view(), t.y_hand.view(), 0, 0, &expected,
                              nullptr));
        assert_relative(got, expected - t.log_scale_of_all(), 1e-13, "exact log likelihood");
      }
}

/// Results do not depend on the arrays' layout and type.
void layouts_are_the_same(void**) {
  Twins t(BDL_F64, BDL_GAUSSIAN);
  const Vector before = Vector(t.units.x_scale.values);
  Vector columns, spread(static_cast<std::size_t>(ROWS * 2 * (INPUTS + 1)), NAN);
  for (int64_t j = 0; j < INPUTS; ++j)
    for (int64_t i = 0; i < ROWS; ++i) {
      columns.push_back(t.x(i, j));
      spread[static_cast<std::size_t>((ROWS - 1 - i) * 2 * (INPUTS + 1) + 2 * j)] = t.x(i, j);
    }
  const bdl_matrix views[] = {bdl_column_major(columns.data(), BDL_F64, ROWS, INPUTS),
                              bdl_strided(spread.data() + (ROWS - 1) * 2 * (INPUTS + 1), BDL_F64, ROWS,
                                          INPUTS, -2 * (INPUTS + 1), 2)};
  t.fit(2);
  for (const bdl_matrix& x : views) {
    Twins other(BDL_F64, BDL_GAUSSIAN);
    OK(bdl_model_standardize(other.inside.model.get(), x, t.y.view()));
    assert_true(units_of(other.inside.model.get()).x_scale.values == before);
    other.inside.fit(x, t.y.view(), 2);
    assert_true(moments_of(other.inside.posterior) == moments_of(t.by_hand.posterior));
  }
}

/// Scores of a row are lower by the scales of those of its targets that are there.
void streams_are_the_same(void**) {
  for (const char* score : {"plug_in", "linearized"}) {
    Twins t(BDL_F64, BDL_GAUSSIAN, FULL, "ekf");
    t.set("score", score);
    t.set("block", 2);
    for (int64_t i = 0; i < ROWS; i += 3) t.y(i, i % 2) = t.y_hand(i, i % 2) = NAN;
    t.y(4, 0) = t.y(4, 1) = t.y_hand(4, 0) = t.y_hand(4, 1) = NAN;
    Table got = table(ROWS, 1), expected = got;
    OK(bdl_optimizer_observe(t.inside.optimizer.get(), t.x.view(), t.y.view(), got.out()));
    OK(bdl_optimizer_observe(t.by_hand.optimizer.get(), t.x_hand.view(), t.y_hand.view(), expected.out()));
    t.assert_same_posteriors();
    double sum = 0, mean = 0;
    for (int64_t i = 0; i < ROWS; ++i) {
      double shift = 0;
      for (int64_t c = 0; c < 2; ++c) shift += std::isnan(t.y(i, c)) ? 0 : std::log(t.units.y_scale(0, c));
      assert_true(std::isnan(got(i, 0)) == (i == 4));
      if (i == 4) continue;
      assert_relative(got(i, 0), expected(i, 0) - shift, 1e-12, "log density");
      sum += got(i, 0);
    }
    OK(bdl_optimizer_prequential(t.inside.optimizer.get(), nullptr, &mean, nullptr));
    assert_relative(mean, sum / (ROWS - 1), 1e-13, "mean log density");
  }
}

/// The error is of predictions in the caller's units, over all targets.
void prequential_errors_are_in_the_callers_units(void**) {
  Twins t(BDL_F64, BDL_GAUSSIAN, FULL, "ekf");
  OK(bdl_optimizer_initialize(t.inside.optimizer.get()));
  double squares = 0, error = 0;
  for (int64_t i = 0; i < ROWS; ++i) {
    Table mean = table(1, 2);
    OK(bdl_predict(t.inside.model.get(), t.inside.posterior.get(), t.x.rows_of(i, 1), BDL_PLUG_IN, 1, 1,
                   mean.out(), bdl_none_out(), bdl_none_out()));
    for (int64_t c = 0; c < 2; ++c) squares += std::pow(t.y(i, c) - mean(0, c), 2);
    OK(bdl_optimizer_observe(t.inside.optimizer.get(), t.x.rows_of(i, 1), t.y.rows_of(i, 1), bdl_none_out()));
  }
  OK(bdl_optimizer_prequential(t.inside.optimizer.get(), nullptr, nullptr, &error));
  assert_relative(error, std::sqrt(squares / (2 * ROWS)), 1e-12, "error");
}

/// Scores of all trials; what was learned about the options is the same.
void searches_are_the_same(void**) {
  for (const bdl_dtype dtype : dtypes) {
    Twins t(dtype, BDL_GAUSSIAN);
    const auto run = [&](const Learner& l, const Table& x, const Table& y) {
      bdl_search* search = nullptr;
      OK(bdl_search_create(l.optimizer.get(), 3, 3, BDL_MONTE_CARLO, 5, 2, &search));
      const Search owned(search);
      OK(bdl_search_add_double(search, "prior_precision", 0.1, 10, BDL_SCALE_LOG));
      OK(bdl_search_run(search, x.view(), y.view(), 3, 0, nullptr, nullptr));
      Vector scores(3);
      for (int64_t k = 0; k < 3; ++k)
        OK(bdl_search_trial(search, k, bdl_none_out(), &scores[static_cast<std::size_t>(k)], nullptr,
                            nullptr));
      return scores;
    };
    const Vector got = run(t.inside, t.x, t.y), expected = run(t.by_hand, t.x_hand, t.y_hand);
    const double tolerance = dtype == BDL_F64 ? 1e-12 : 1e-6;  // floats by hand are rounded before y is seen
    for (std::size_t k = 0; k < 3; ++k)
      assert_relative(got[k], expected[k] - t.log_scale(), tolerance, "score");
  }
}

}  // namespace

int test_standardization_training() {
  const CMUnitTest tests[] = {cmocka_unit_test(fits_are_the_same),
                              cmocka_unit_test(every_method_is_the_same),
                              cmocka_unit_test(laplace_is_the_same),
                              cmocka_unit_test(exact_optima_are_the_same),
                              cmocka_unit_test(layouts_are_the_same),
                              cmocka_unit_test(streams_are_the_same),
                              cmocka_unit_test(prequential_errors_are_in_the_callers_units),
                              cmocka_unit_test(searches_are_the_same)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
