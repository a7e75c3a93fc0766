// A copy of a model says what the original says, and neither sees what later happens to the other.
#include "handles.hpp"

namespace {

Model copy_of(const Model& model) {
  bdl_model* copy = nullptr;
  OK(bdl_model_copy(model.get(), &copy));
  assert_true(copy && copy != model.get());
  return Model(copy);
}

/// Outputs and densities, of a posterior that both models have.
Vector said_by(const Model& model, const Posterior& q, const dataset& data) {
  const int64_t outputs = bdl_model_outputs(model.get());
  const Vector theta = mean_of(q);
  const bdl_matrix parameters = bdl_f64(theta.data(), 1, static_cast<int64_t>(theta.size()));
  Vector f(ROWS * outputs), density(ROWS), predictive(ROWS);
  OK(bdl_model_evaluate(model.get(), parameters, x_of(&data), bdl_f64_out(f.data(), ROWS, outputs)));
  OK(bdl_model_log_likelihood(model.get(), parameters, x_of(&data), y_of(&data),
                              bdl_f64_out(density.data(), ROWS, 1)));
  OK(bdl_predict_log_density(model.get(), q.get(), x_of(&data), y_of(&data), BDL_MONTE_CARLO, 5, 1,
                             bdl_f64_out(predictive.data(), ROWS, 1)));
  for (const Vector& part : {density, predictive}) f.insert(f.end(), part.begin(), part.end());
  return f;
}

bool is_real(bdl_likelihood likelihood) {
  return likelihood == BDL_GAUSSIAN || likelihood == BDL_HETEROSCEDASTIC || likelihood == BDL_STUDENT_T;
}

/// Trained, so that noise and degrees of freedom are what was learned, and standardised.
Learner trained_learner(bdl_dtype dtype, bdl_likelihood likelihood, const dataset& data) {
  Learner l(make_mlp(dtype, {INPUTS, 3, outputs_for(likelihood)}, likelihood), dtype, 2, ROWS);
  OK(bdl_model_standardize(l.model.get(), x_of(&data), is_real(likelihood) ? y_of(&data) : bdl_none()));
  l.set("minibatch", 8);
  l.fit(x_of(&data), y_of(&data), 3);
  return l;
}

void copies_say_the_same(void**) {
  for (const bdl_dtype dtype : {BDL_F32, BDL_F64})
    for (int k = BDL_GAUSSIAN; k <= BDL_STUDENT_T; ++k) {
      const auto likelihood = static_cast<bdl_likelihood>(k);
      const dataset data = data_for(likelihood);
      const Learner l = trained_learner(dtype, likelihood, data);
      const Model copy = copy_of(l.model);
      const Vector said = said_by(l.model, l.posterior, data);
      assert_true(said_by(copy, l.posterior, data) == said);
      const char *description = nullptr, *of_copy = nullptr;
      OK(bdl_model_description(l.model.get(), &description));
      OK(bdl_model_description(copy.get(), &of_copy));
      assert_string_equal(of_copy, description);
      assert_int_equal(bdl_model_dtype(copy.get()), dtype);
    }
}

void copies_are_independent(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  Learner l = trained_learner(BDL_F64, BDL_GAUSSIAN, data);
  const Model copy = copy_of(l.model);
  const Vector said = said_by(l.model, l.posterior, data), scale = {3, 5};
  const double precision = 7;
  OK(bdl_model_set_noise_precision(copy.get(), bdl_f64(&precision, 1, 1)));
  OK(bdl_model_set_standardization(copy.get(), bdl_none(), bdl_f64(scale.data(), 1, 2), bdl_none(),
                                   bdl_none()));
  assert_true(said_by(l.model, l.posterior, data) == said);

  const Vector changed = said_by(copy, l.posterior, data);
  bdl_posterior* q = nullptr;
  OK(bdl_posterior_copy(l.posterior.get(), &q));
  const Posterior before(q);
  l.fit(x_of(&data), y_of(&data), 2);  // learns the noise of its own model
  assert_true(said_by(copy, before, data) == changed);
  l.model.reset();
  assert_true(said_by(copy, before, data) == changed);
}

int32_t scaled(void* user_data, bdl_matrix theta, bdl_matrix x, bdl_matrix_out f) {
  for (int64_t i = 0; i < x.rows; ++i)
    static_cast<double*>(f.data)[i * f.row_stride] = *static_cast<const double*>(user_data) *
                                                     *static_cast<const double*>(theta.data) *
                                                     static_cast<const double*>(x.data)[i * x.row_stride];
  return 0;
}

int destroyed = 0;

/// The functions and their data are shared, and given back once.
void copies_of_user_models_share_their_functions(void**) {
  double factor = 2;
  bdl_model* created = nullptr;
  destroyed = 0;
  OK(create_user(
      BDL_F64, 1, 1, 1, BDL_GAUSSIAN, scaled, nullptr, &factor, [](void*) { ++destroyed; }, &created));
  Model model(created), copy = copy_of(model), second = copy_of(copy);
  model.reset();
  copy.reset();
  assert_int_equal(destroyed, 0);
  const double theta = 3, x[] = {1, 4};
  double f[2] = {0, 0};
  OK(bdl_model_evaluate(second.get(), bdl_f64(&theta, 1, 1), bdl_f64(x, 2, 1), bdl_f64_out(f, 2, 1)));
  assert_true(f[0] == 6 && f[1] == 24);
  second.reset();
  assert_int_equal(destroyed, 1);
}

int32_t never_called(void*, bdl_matrix, bdl_matrix, bdl_matrix, bdl_matrix_out) {
  return 1;
}

/// A caller whose struct ends earlier: what comes after it is not read.
void older_callers_are_understood(void**) {
  double factor = 2;
  bdl_model_callbacks callbacks{};
  callbacks.outputs = scaled;
  callbacks.gradients = never_called;
  callbacks.user_data = &factor;
  callbacks.destroy = [](void*) { ++destroyed; };
  destroyed = 0;
  const double theta = 3, x = 4;
  for (const std::size_t size : {offsetof(bdl_model_callbacks, destroy), sizeof callbacks}) {
    callbacks.struct_size = size;
    bdl_model* created = nullptr;
    OK(bdl_model_create_user(BDL_F64, 1, 1, 1, BDL_GAUSSIAN, &callbacks, &created));
    double f = 0;
    OK(bdl_model_evaluate(created, bdl_f64(&theta, 1, 1), bdl_f64(&x, 1, 1), bdl_f64_out(&f, 1, 1)));
    assert_true(f == 24);
    bdl_model_free(created);
    assert_int_equal(destroyed, size == sizeof callbacks ? 1 : 0);
  }
  // The first version of all: outputs only, of a function that needs no data.
  callbacks.struct_size = offsetof(bdl_model_callbacks, gradients);
  callbacks.outputs = [](void* user_data, bdl_matrix, bdl_matrix, bdl_matrix_out f) -> int32_t {
    *static_cast<double*>(f.data) = user_data ? 0 : 5;
    return 0;
  };
  callbacks.gradients = never_called;
  bdl_model* created = nullptr;
  OK(bdl_model_create_user(BDL_F64, 1, 1, 1, BDL_GAUSSIAN, &callbacks, &created));
  const Model model(created);
  double f = 0, jacobian = 0;
  OK(bdl_model_evaluate(created, bdl_f64(&theta, 1, 1), bdl_f64(&x, 1, 1), bdl_f64_out(&f, 1, 1)));
  assert_true(f == 5);
  assert_int_equal(
      bdl_model_jacobian(created, bdl_f64(&theta, 1, 1), bdl_f64(&x, 1, 1), bdl_f64_out(&jacobian, 1, 1)),
      BDL_ERROR_UNSUPPORTED);
}

}  // namespace

int test_model_copies() {
  const CMUnitTest tests[] = {cmocka_unit_test(copies_say_the_same), cmocka_unit_test(copies_are_independent),
                              cmocka_unit_test(copies_of_user_models_share_their_functions),
                              cmocka_unit_test(older_callers_are_understood)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
