// A user's own model gives what the built-in one gives; its data are destroyed once, when nothing uses them
// any more.
#include "handles.hpp"

namespace {

template <class T>
T at(const bdl_matrix& m, int64_t i, int64_t j) {
  return static_cast<const T*>(m.data)[i * m.row_stride + j * m.col_stride];
}
template <class T>
T& at(const bdl_matrix_out& m, int64_t i, int64_t j) {
  return static_cast<T*>(m.data)[i * m.row_stride + j * m.col_stride];
}

/// f = w^T x + b for one output, in the network's order of parameters.
template <class T>
struct Linear {
  static int32_t outputs(void*, bdl_matrix theta, bdl_matrix x, bdl_matrix_out f) {
    for (int64_t i = 0; i < x.rows; ++i) {
      T sum = at<T>(theta, 0, x.cols);
      for (int64_t j = 0; j < x.cols; ++j) sum += at<T>(theta, 0, j) * at<T>(x, i, j);
      at<T>(f, i, 0) = sum;
    }
    return 0;
  }
  static int32_t gradients(void*, bdl_matrix, bdl_matrix x, bdl_matrix seeds, bdl_matrix_out rows) {
    for (int64_t i = 0; i < x.rows; ++i) {
      for (int64_t j = 0; j < x.cols; ++j) at<T>(rows, i, j) = at<T>(seeds, i, 0) * at<T>(x, i, j);
      at<T>(rows, i, x.cols) = at<T>(seeds, i, 0);
    }
    return 0;
  }
};

/// f_c = a x^c with c = 1 and 2 ... of two parameters: f_0 = a exp(b x), f_1 = a b.
struct Curve {
  static int32_t outputs(void*, bdl_matrix theta, bdl_matrix x, bdl_matrix_out f) {
    const double a = at<double>(theta, 0, 0), b = at<double>(theta, 0, 1);
    for (int64_t i = 0; i < x.rows; ++i)
      at<double>(f, i, 0) = a * std::exp(b * at<double>(x, i, 0)), at<double>(f, i, 1) = a * b;
    return 0;
  }
  static int32_t gradients(void*, bdl_matrix theta, bdl_matrix x, bdl_matrix seeds, bdl_matrix_out rows) {
    const double a = at<double>(theta, 0, 0), b = at<double>(theta, 0, 1);
    for (int64_t i = 0; i < x.rows; ++i) {
      const double e = std::exp(b * at<double>(x, i, 0)), s = at<double>(seeds, i, 0),
                   r = at<double>(seeds, i, 1);
      at<double>(rows, i, 0) = s * e + r * b;
      at<double>(rows, i, 1) = s * a * at<double>(x, i, 0) * e + r * a;
    }
    return 0;
  }
};

Model make_user(bdl_dtype dtype, int64_t inputs, int64_t outputs, int64_t parameters,
                bdl_likelihood likelihood, bdl_outputs_fn f, bdl_gradients_fn g, void* user_data = nullptr,
                void (*destroy)(void*) = nullptr) {
  bdl_model* model = nullptr;
  OK(create_user(dtype, inputs, outputs, parameters, likelihood, f, g, user_data, destroy, &model));
  return Model(model);
}

/// Trains from the same start: custom models have no initialisation of their own.
Vector trained_from_zero(Model model, bdl_dtype dtype, int64_t rank, const char* method,
                         bdl_likelihood likelihood) {
  const dataset d = data_for(likelihood);
  const Vector zeros(3), hundred(3, 100.0);
  Learner l(std::move(model), dtype, rank, ROWS, method);
  Vector precision(9);
  for (std::size_t i = 0; i < 3; ++i) precision[4 * i] = 100;
  if (rank == FULL)
    OK(bdl_posterior_set_full(l.posterior.get(), bdl_f64(zeros.data(), 1, 3),
                              bdl_f64(precision.data(), 3, 3)));
  else
    OK(bdl_posterior_set_low_rank(l.posterior.get(), bdl_f64(zeros.data(), 1, 3), bdl_none(),
                                  bdl_f64(hundred.data(), 1, 3)));
  l.set("minibatch", 6);
  l.set("prior_groups", "shared");  // a user's parameters are one block
  // Column 0 of the targets, and the counts' only column.
  l.fit(x_of(&d), bdl_strided(d.y, BDL_F64, ROWS, 1, d.targets, 1), 10);
  Vector moments = moments_of(l.posterior);
  double likelihood_now = 0, kl = 0;
  OK(bdl_optimizer_running_elbo(l.optimizer.get(), &likelihood_now, &kl));
  moments.insert(moments.end(), {likelihood_now, kl});
  return moments;
}

template <class T>
void compare_with_network(bdl_dtype dtype, double tolerance) {
  for (const bdl_likelihood likelihood : {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_POISSON})
    for (const int64_t rank : {int64_t(0), int64_t(2), int64_t(FULL)})
      for (const char* method : {"slang", "slang-ggn"}) {
        const Vector network =
            trained_from_zero(make_mlp(dtype, {INPUTS, 1}, likelihood), dtype, rank, method, likelihood);
        const Vector user = trained_from_zero(
            make_user(dtype, INPUTS, 1, INPUTS + 1, likelihood, Linear<T>::outputs, Linear<T>::gradients),
            dtype, rank, method, likelihood);
        for (std::size_t i = 0; i < user.size(); ++i)
          assert_close(user[i], network[i], tolerance * (std::fabs(network[i]) + 1e-2), "custom model");
      }
}

void test_same_as_network(void**) {
  compare_with_network<double>(BDL_F64, 1e-9);
  compare_with_network<float>(BDL_F32, 1e-2);
}

/// The calls around training agree too, exactly where results do not depend on the order of sums.
void test_single_calls(void**) {
  const dataset d = data_for(BDL_BERNOULLI);
  const Model network = make_mlp(BDL_F64, {INPUTS, 1}, BDL_BERNOULLI);
  const Model user =
      make_user(BDL_F64, INPUTS, 1, 3, BDL_BERNOULLI, Linear<double>::outputs, Linear<double>::gradients);
  const Vector theta = {0.5, -0.25, 0.125};
  const bdl_matrix p = bdl_f64(theta.data(), 1, 3), y = bdl_strided(d.y, BDL_F64, ROWS, 1, 2, 1);
  Vector f(ROWS), g(ROWS), a(ROWS * 3), b(ROWS * 3);
  OK(bdl_model_evaluate(network.get(), p, x_of(&d), bdl_f64_out(f.data(), ROWS, 1)));
  OK(bdl_model_evaluate(user.get(), p, x_of(&d), bdl_f64_out(g.data(), ROWS, 1)));
  for (std::size_t i = 0; i < ROWS; ++i) assert_close(g[i], f[i], 1e-14, "output");
  OK(bdl_model_log_likelihood(network.get(), p, x_of(&d), y, bdl_f64_out(f.data(), ROWS, 1)));
  OK(bdl_model_log_likelihood(user.get(), p, x_of(&d), y, bdl_f64_out(g.data(), ROWS, 1)));
  for (std::size_t i = 0; i < ROWS; ++i) assert_close(g[i], f[i], 1e-14, "log likelihood");
  OK(bdl_model_gradient_rows(network.get(), p, x_of(&d), y, bdl_f64_out(a.data(), ROWS, 3)));
  OK(bdl_model_gradient_rows(user.get(), p, x_of(&d), y, bdl_f64_out(b.data(), ROWS, 3)));
  for (std::size_t i = 0; i < a.size(); ++i) assert_close(b[i], a[i], 1e-14, "gradient");
  const char* name = nullptr;
  int64_t offset = -1, rows = 0, cols = 0;
  OK(bdl_model_block(user.get(), 0, &name, &offset, &rows, &cols));
  assert_string_equal(name, "parameters");
  assert_true(offset == 0 && rows * cols == 3);
}

/// Two parameters, nonlinear, two outputs: the truth is found, and gradient rows are derivatives.
void test_nonlinear(void**) {
  constexpr int64_t n = 60;
  const double a = 1.5, b = -0.8, step = 1e-6;
  Vector x(n), y(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = 3.0 * static_cast<double>(i) / n;
    y[2 * i] = a * std::exp(b * x[i]) + 0.01 * std::sin(7.0 * static_cast<double>(i));
    y[2 * i + 1] = a * b + 0.01 * std::cos(5.0 * static_cast<double>(i));
  }
  const bdl_matrix inputs = bdl_f64(x.data(), n, 1), targets = bdl_f64(y.data(), n, 2);
  Learner l(make_user(BDL_F64, 1, 2, 2, BDL_GAUSSIAN, Curve::outputs, Curve::gradients), BDL_F64, FULL, n);
  const double start[] = {1, -0.5}, precision[] = {1000, 0, 0, 1000};
  OK(bdl_posterior_set_full(l.posterior.get(), bdl_f64(start, 1, 2), bdl_f64(precision, 2, 2)));
  l.fit(inputs, targets, 300);
  const Vector mean = mean_of(l.posterior);
  assert_close(mean[0], a, 0.02, "a");
  assert_close(mean[1], b, 0.02, "b");

  Vector rows(2 * n), above(n), below(n);
  OK(bdl_model_gradient_rows(l.model.get(), bdl_f64(mean.data(), 1, 2), inputs, targets,
                             bdl_f64_out(rows.data(), n, 2)));
  for (std::size_t k = 0; k < 2; ++k) {
    Vector up = mean, down = mean;
    up[k] += step;
    down[k] -= step;
    OK(bdl_model_log_likelihood(l.model.get(), bdl_f64(up.data(), 1, 2), inputs, targets,
                                bdl_f64_out(above.data(), n, 1)));
    OK(bdl_model_log_likelihood(l.model.get(), bdl_f64(down.data(), 1, 2), inputs, targets,
                                bdl_f64_out(below.data(), n, 1)));
    for (std::size_t i = 0; i < n; ++i) {
      const double slope = -(above[i] - below[i]) / (2 * step);
      assert_close(rows[2 * i + k], slope, 1e-4 * (1 + std::fabs(slope)), "gradient row");
    }
  }
}

void count(void* user_data) {
  ++*static_cast<int*>(user_data);
}

void test_destroy(void**) {
  int destroyed = 0;
  const auto make = [&] {
    return make_user(BDL_F64, INPUTS, 1, 3, BDL_GAUSSIAN, Linear<double>::outputs, Linear<double>::gradients,
                     &destroyed, count);
  };
  make().reset();
  assert_int_equal(destroyed, 1);

  Learner l(make(), BDL_F64, 1, ROWS);
  l.model.reset();  // the optimizer keeps the model alive
  l.posterior.reset();
  assert_int_equal(destroyed, 1);
  const dataset d = data_for(BDL_POISSON);
  l.fit(x_of(&d), y_of(&d), 1);
  l.optimizer.reset();
  assert_int_equal(destroyed, 2);

  { const Learner in_order(make(), BDL_F64, 1, ROWS); }
  assert_int_equal(destroyed, 3);
}

double noise_of(const Model& model) {
  double precision = 0;
  OK(bdl_model_get_noise_precision(model.get(), bdl_f64_out(&precision, 1, 1)));
  return precision;
}

/// A checkpoint cannot hold callbacks: the model to use is handed in, shared, and takes over the noise
/// precision.
void test_checkpoint(void**) {
  char path[] = "/tmp/bdl-user-XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  int destroyed = 0;
  const dataset d = data_for(BDL_POISSON);  // one column of targets
  Learner l(make_user(BDL_F64, INPUTS, 1, 3, BDL_GAUSSIAN, Linear<double>::outputs, Linear<double>::gradients,
                      &destroyed, count),
            BDL_F64, 1, ROWS);
  l.fit(x_of(&d), y_of(&d), 5);
  OK(bdl_save(path, nullptr, nullptr, l.optimizer.get()));

  Model fresh = make_user(BDL_F64, INPUTS, 1, 3, BDL_GAUSSIAN, Linear<double>::outputs,
                          Linear<double>::gradients, &destroyed, count);
  Model other =
      make_user(BDL_F64, INPUTS, 1, 4, BDL_GAUSSIAN, Linear<double>::outputs, Linear<double>::gradients);
  Model network = make_mlp(BDL_F64, {INPUTS, 1}, BDL_GAUSSIAN);
  bdl_model* model = nullptr;
  bdl_posterior* posterior = nullptr;
  bdl_optimizer* optimizer = nullptr;
  assert_true(bdl_load(path, nullptr, &model, &posterior, &optimizer) != BDL_OK);  // no model given
  assert_true(bdl_load(path, other.get(), &model, &posterior, &optimizer) != BDL_OK);
  assert_true(!model && !posterior && !optimizer);
  assert_true(noise_of(fresh) == 1);  // a load that fails changes nothing
  OK(bdl_save(path, l.model.get(), l.posterior.get(), nullptr));
  assert_int_equal(bdl_load(path, fresh.get(), &model, &posterior, &optimizer),
                   BDL_ERROR_FORMAT);  // no optimizer
  assert_true(noise_of(fresh) == 1 && !model && !posterior);
  OK(bdl_save(path, nullptr, nullptr, l.optimizer.get()));
  OK(bdl_load(path, fresh.get(), &model, &posterior, &optimizer));

  assert_true(noise_of(fresh) == noise_of(l.model) && noise_of(fresh) != 1);
  l.fit(x_of(&d), y_of(&d), 2);
  OK(bdl_optimizer_fit(optimizer, x_of(&d), y_of(&d), 2, nullptr, nullptr));
  assert_true(moments_of(Posterior(posterior)) == moments_of(l.posterior));
  fresh.reset();
  bdl_model_free(model);
  assert_int_equal(destroyed, 0);
  bdl_optimizer_free(optimizer);
  assert_int_equal(destroyed, 1);
  assert_int_equal(remove(path), 0);
}

}  // namespace

int test_api_user_model() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_same_as_network), cmocka_unit_test(test_single_calls),
                              cmocka_unit_test(test_nonlinear), cmocka_unit_test(test_destroy),
                              cmocka_unit_test(test_checkpoint)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
