// Noise and its units: the caller's, whatever the model's standardisation is and whichever was set first.
#include "standardized_runs.hpp"

namespace {

const double scales[] = {20, 0.5}, equal_scales[] = {4, 4};

Model two_outputs() {
  return make_mlp(BDL_F64, {INPUTS, 3, 2}, BDL_GAUSSIAN);
}

void set_scales(const Model& model, const double* scale) {
  OK(bdl_model_set_standardization(model.get(), bdl_none(), bdl_none(), bdl_none(),
                                   scale ? bdl_f64(scale, 1, 2) : bdl_none()));
}

Vector covariance_of(const Model& model) {
  Vector values(4, NAN);
  OK(bdl_model_get_noise_covariance(model.get(), bdl_f64_out(values.data(), 2, 2)));
  return values;
}

void assert_precisions(const Model& model, int64_t columns, std::initializer_list<double> expected) {
  Vector got(static_cast<std::size_t>(columns), NAN);
  OK(bdl_model_get_noise_precision(model.get(), bdl_f64_out(got.data(), 1, columns)));
  for (std::size_t c = 0; c < got.size(); ++c)
    assert_relative(got[c], expected.begin()[c], 1e-15, "noise precision");
  const Vector covariance = covariance_of(model);
  for (std::size_t c = 0; c < 2; ++c)
    assert_relative(covariance[3 * c], 1 / expected.begin()[columns == 1 ? 0 : c], 1e-15, "noise variance");
}

/// A precision that was not set is 1 for standardised targets; one that the caller has set stays.
void precisions_keep_their_units(void**) {
  const double shared = 0.3, each[] = {0.3, 7};
  for (const bool noise_first : {true, false}) {
    const Model model = two_outputs();
    const auto in_order = [&](const double* scale, bdl_matrix precision) {
      if (!noise_first) set_scales(model, scale);
      OK(bdl_model_set_noise_precision(model.get(), precision));
      if (noise_first) set_scales(model, scale);
    };
    if (!noise_first) {
      set_scales(model, scales);
      assert_precisions(model, 2, {1 / 400.0, 4});
      set_scales(model, equal_scales);
      assert_precisions(model, 1, {1 / 16.0});
    }
    in_order(equal_scales, bdl_f64(&shared, 1, 1));
    assert_precisions(model, 1, {0.3});
    in_order(scales, bdl_f64(&shared, 1, 1));  // shared by the caller's targets, not by the standardised
    assert_precisions(model, 2, {0.3, 0.3});
    in_order(scales, bdl_f64(each, 1, 2));
    assert_precisions(model, 2, {0.3, 7});
    set_scales(model, nullptr);
    assert_precisions(model, 2, {0.3, 7});
  }
}

/// One precision that training shares between standardised targets is one per output to the caller.
void shared_noise_is_read_per_output(void**) {
  const auto [x, y] = odd_data(BDL_GAUSSIAN);
  const Learner l(two_outputs(), BDL_F64, 2, ROWS);
  OK(bdl_model_standardize(l.model.get(), x.view(), y.view()));
  OK(bdl_optimizer_fit(l.optimizer.get(), x.view(), y.view(), 3, nullptr, nullptr));
  const Units units = units_of(l.model.get());
  double one = 0, each[2] = {0, 0};
  assert_int_equal(bdl_model_get_noise_precision(l.model.get(), bdl_f64_out(&one, 1, 1)), BDL_ERROR_SHAPE);
  assert_non_null(strstr(bdl_last_error(), "precision has 1 columns, expected 2"));
  OK(bdl_model_get_noise_precision(l.model.get(), bdl_f64_out(each, 1, 2)));
  assert_relative(each[0] * std::pow(units.y_scale(0, 0), 2), each[1] * std::pow(units.y_scale(0, 1), 2),
                  1e-14, "standardised precision");
}

void covariances_keep_their_units(void**) {
  const Vector covariance = {4, 0.1, 0.1, 0.01};
  const bdl_matrix given = bdl_f64(covariance.data(), 2, 2);
  const auto assert_covariance = [&](const Model& model) {
    const Vector got = covariance_of(model);
    for (std::size_t k = 0; k < 4; ++k) assert_relative(got[k], covariance[k], 1e-15, "covariance");
  };
  const Model before = two_outputs(), after = two_outputs();
  OK(bdl_model_set_noise_covariance(before.get(), given));
  set_scales(before, scales);
  set_scales(after, scales);
  OK(bdl_model_set_noise_covariance(after.get(), given));
  for (const Model* model : {&before, &after}) {
    assert_covariance(*model);
    set_scales(*model, nullptr);
    assert_covariance(*model);
  }
}

/// Densities and draws are those with R_ij / (s_i s_j), computed by hand.
void correlated_noise_is_used_in_its_units(void**) {
  Twins t(BDL_F64, BDL_GAUSSIAN);
  const double s[] = {t.units.y_scale(0, 0), t.units.y_scale(0, 1)};
  const double standard[] = {1, 0.6, 0.6, 0.9},
               caller[] = {s[0] * s[0], 0.6 * s[0] * s[1], 0.6 * s[0] * s[1], 0.9 * s[1] * s[1]};
  OK(bdl_model_set_noise_covariance(t.inside.model.get(), bdl_f64(caller, 2, 2)));
  OK(bdl_model_set_noise_covariance(t.by_hand.model.get(), bdl_f64(standard, 2, 2)));
  t.fit(2);
  for (const bdl_predict_method method : {BDL_MONTE_CARLO, BDL_LINEARIZED}) {
    Table got = table(ROWS, 1), expected = got;
    OK(bdl_predict_log_density(t.inside.model.get(), t.inside.posterior.get(), t.x.view(), t.y.view(), method,
                               5, 1, got.out()));
    OK(bdl_predict_log_density(t.by_hand.model.get(), t.by_hand.posterior.get(), t.x_hand.view(),
                               t.y_hand.view(), method, 5, 1, expected.out()));
    for (int64_t i = 0; i < ROWS; ++i)
      assert_relative(got(i, 0), expected(i, 0) - t.log_scale(), 1e-10, "log density");
  }
}

/// Option initial_noise_precision is a multiple of 1 / Var(y), in whatever units.
void initial_precision_follows_the_variance(void**) {
  Twins t(BDL_F64, BDL_GAUSSIAN, 2, "slang-ggn", 1);
  t.set("initial_noise_precision", 3.0);
  t.set("learn_noise", 0);
  t.fit(1);
  t.assert_same_posteriors();
  double precision = 0;
  OK(bdl_model_get_noise_precision(t.inside.model.get(), bdl_f64_out(&precision, 1, 1)));
  assert_relative(precision, 3 / std::pow(t.units.y_scale(0, 0), 2), 1e-13, "precision");
}

/// Log noise precisions are limited in units of the targets' scales; without scales they have no limit, even
/// after a fit that had one.
void limits_go_with_the_scales(void**) {
  constexpr int64_t rows = 200;
  std::vector<double> x(rows), y(rows);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = std::sin(static_cast<double>(i));
    y[i] = 1000 * std::sin(static_cast<double>(3 * i * i));
  }
  const bdl_matrix inputs = bdl_f64(x.data(), rows, 1), targets = bdl_f64(y.data(), rows, 1),
                   none = bdl_none();
  double noise[2];
  for (const bool was_standardized : {false, true}) {
    const int64_t sizes[] = {1, 8, 2};
    bdl_model* made;
    OK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_TANH, 1, BDL_HETEROSCEDASTIC, &made));
    const Model model(made);
    const auto fit = [&](int64_t epochs, bdl_posterior** q) {
      bdl_optimizer* optimizer;
      OK(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(made), 1, q));
      OK(bdl_optimizer_create(made, *q, "slang-ggn", rows, &optimizer));
      OK(bdl_optimizer_fit(optimizer, inputs, targets, epochs, nullptr, nullptr));
      bdl_optimizer_free(optimizer);
    };
    bdl_posterior* q;
    if (was_standardized) {
      const double mean = 0, scale = 1000;
      OK(bdl_model_set_standardization(made, none, none, bdl_f64(&mean, 1, 1), bdl_f64(&scale, 1, 1)));
      fit(1, &q);
      bdl_posterior_free(q);
      OK(bdl_model_set_standardization(made, none, none, none, none));
    }
    const double precision = 1e-4;
    OK(bdl_model_set_noise_precision(made, bdl_f64(&precision, 1, 1)));
    fit(100, &q);
    const double at = 0;
    OK(bdl_predict(made, q, bdl_f64(&at, 1, 1), BDL_LINEARIZED, 0, 1, bdl_none_out(), bdl_none_out(),
                   bdl_f64_out(&noise[was_standardized], 1, 1)));
    bdl_posterior_free(q);
  }
  assert_true(noise[0] > 300 * 300 && noise[1] == noise[0]);
}

}  // namespace

int test_standardization_noise() {
  const CMUnitTest tests[] = {cmocka_unit_test(precisions_keep_their_units),
                              cmocka_unit_test(shared_noise_is_read_per_output),
                              cmocka_unit_test(covariances_keep_their_units),
                              cmocka_unit_test(correlated_noise_is_used_in_its_units),
                              cmocka_unit_test(initial_precision_follows_the_variance),
                              cmocka_unit_test(limits_go_with_the_scales)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
