// The methods exact-* for several outputs and for classes: closed forms, fits of each output by itself, and
// the conditions of the optimum by dense quadrature.
#include "posterior/full/full.hpp"
#include "support/exact_reference.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"
#include "train/diagnose.hpp"
#include "train/fit.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index features = 3, examples = 60, usual = 100;
constexpr Progress silent{nullptr, nullptr};
constexpr double of_weights = 0.7, of_biases = 0.2;

/// Columns are examples.
struct Data {
  Dense x, y;
  Array inputs() const { return bdl_strided(x.values.data(), BDL_F64, x.cols, x.rows, x.rows, 1); }
  Array targets() const { return bdl_strided(y.values.data(), BDL_F64, y.cols, y.rows, y.rows, 1); }
  /// The same with one of the targets.
  Data only(Index c) const {
    Data out{x, Dense(1, y.cols)};
    for (Index i = 0; i < y.cols; ++i) out.y(0, i) = y(c, i);
    return out;
  }
};

Data make_data(const Likelihood& likelihood, Index count = examples) {
  Random random(17);
  const Dense x = random.normal(features, count), theta = random.normal(likelihood.outputs(), features);
  Data data{x, Dense(likelihood.targets(), count)};
  const Dense f = theta * x;
  for (Index i = 0; i < count; ++i) {
    Index best = 0;
    for (Index c = 0; c < likelihood.outputs(); ++c) {
      const double value = f(c, i) + random.normal();
      if (value > f(best, i)) best = c;
      if (likelihood.kind() == BDL_GAUSSIAN)
        data.y(c, i) = f(c, i) + 0.3 * static_cast<double>(c + 1) * random.normal();
      else if (likelihood.kind() == BDL_BERNOULLI)
        data.y(c, i) = value > 0 ? 1 : 0;
      else if (likelihood.kind() == BDL_POISSON)
        data.y(c, i) = std::floor(2 * std::exp(f(c, i) / 2) * random.uniform());
    }
    if (likelihood.kind() == BDL_CATEGORICAL) data.y(0, i) = static_cast<double>(best);
  }
  return data;
}

template <class T>
using Learner = std::unique_ptr<Optimizer<T>>;

/// rank -1: exact-full.
template <class T = double>
Learner<T> make_learner(const Likelihood& likelihood, Index rank = -1, double prior = of_weights,
                        double bias_prior = of_biases, bool learns_noise = false, Index count = examples) {
  const auto model = make_network<T>({features, likelihood.outputs()}, likelihood);
  const Index dimension = model->parameters();
  std::shared_ptr<Posterior<T>> q = std::make_shared<FullPosterior<T>>(dimension);
  if (rank >= 0) q = bdl::testing::make_posterior<T>(dimension, rank);
  auto learner = std::make_unique<Optimizer<T>>(model, q,
                                                find_method(rank < 0    ? "exact-full"
                                                            : rank == 0 ? "exact-diagonal"
                                                                        : "exact-low-rank"),
                                                count);
  Options options = learner->options();
  options.prior_precision = prior;
  options.bias_prior_precision = bias_prior;
  options.learn_noise = learns_noise ? 1 : 0;
  learner->set_options(options);
  return learner;
}

template <class T>
void fit(Optimizer<T>& learner, const Data& data, Index epochs = usual) {
  assert_true(bdl::fit(learner, data.inputs(), data.targets(), epochs, silent) == Status::OK);
  if (learner.state.distance != 0)
    fail_msg("%g from the optimum after %ld iterations", learner.state.distance,
             static_cast<long>(learner.state.step));
  assert_string_equal(diagnose(learner).message, "");
}

/// Place of input j (features: the bias) of output c.
Index place(Index outputs, Index c, Index j) {
  return j < features ? c * features + j : outputs * features + c;
}

Dense row_of(const Data& data, Index i) {
  Dense x(features + 1, 1, 1);
  for (Index j = 0; j < features; ++j) x(j, 0) = data.x(j, i);
  return x;
}

Dense prior_of(Index outputs) {
  Dense out(outputs * (features + 1), 1, of_weights);
  for (Index c = 0; c < outputs; ++c) out(place(outputs, c, features), 0) = of_biases;
  return out;
}

/// The precision sum_i R^-1 (x) x_i x_i^T + Lambda_0, with or without correlations between the outputs.
void numbers_have_the_closed_form(void**) {
  for (const Likelihood& likelihood : {gaussian(3, {4}), gaussian(3, {0.5, 2, 30}), correlated_gaussian(3)}) {
    const Index outputs = 3, dimension = outputs * (features + 1);
    const Data data = make_data(likelihood);
    Dense precision = diagonal_matrix(prior_of(outputs)), target(dimension, 1);
    Dense noise(outputs, outputs);
    for (Index c = 0; c < outputs; ++c)
      for (Index k = 0; k < outputs; ++k)
        noise(c, k) = likelihood.noise_covariance().given() ? likelihood.noise_covariance().precision()(c, k)
                      : c == k                              ? likelihood.noise_precision(c)
                                                            : 0;
    for (Index i = 0; i < examples; ++i) {
      const Dense x = row_of(data, i);
      for (Index c = 0; c < outputs; ++c)
        for (Index k = 0; k < outputs; ++k)
          for (Index j = 0; j <= features; ++j) {
            target(place(outputs, c, j), 0) += noise(c, k) * data.y(k, i) * x(j, 0);
            for (Index l = 0; l <= features; ++l)
              precision(place(outputs, c, j), place(outputs, k, l)) += noise(c, k) * x(j, 0) * x(l, 0);
          }
    }
    const auto learner = make_learner(likelihood);
    fit(*learner, data);
    assert_true(learner->state.step <= 3);
    assert_close("precision", dense_precision(*learner->posterior()), precision, 1e-9);
    assert_close("mean", column_of(std::as_const(*learner->posterior()).mean()),
                 inverse_of(precision) * target, 1e-9);
  }
}

/// Returns sum_i (y_i - f_i)(y_i - f_i)^T for these parameters.
Dense residual_products(const Data& data, const Dense& mean) {
  const Index outputs = data.y.rows;
  Dense sum(outputs, outputs);
  for (Index i = 0; i < data.x.cols; ++i) {
    const Dense x = row_of(data, i);
    Dense error(outputs, 1);
    for (Index c = 0; c < outputs; ++c) {
      error(c, 0) = data.y(c, i);
      for (Index j = 0; j <= features; ++j) error(c, 0) -= mean(place(outputs, c, j), 0) * x(j, 0);
    }
    sum = sum + error * transposed(error);
  }
  return sum;
}

Dense noise_of(const Likelihood& likelihood) {
  const auto r = likelihood.noise_covariance().covariance();
  Dense out(r.rows, r.cols);
  for (Index c = 0; c < r.cols; ++c)
    for (Index b = 0; b < r.rows; ++b) out(b, c) = r(b, c);
  return out;
}

/// Noise with correlations, which numbers_have_the_closed_form() has not.
Data correlated_data(Index outputs = 3) {
  Data data = make_data(Likelihood(BDL_GAUSSIAN, outputs));
  Random random(5);
  for (Index i = 0; i < data.y.cols; ++i) {
    const double shared = random.normal();
    for (Index c = 0; c < outputs; ++c) data.y(c, i) += 0.5 * static_cast<double>(c + 1) * shared;
  }
  return data;
}

/// Under a flat prior Sigma is R (x) (X^T X)^-1 with R = S / (N - p), as in multivariate linear regression.
void noise_covariance_is_that_of_multivariate_regression(void**) {
  const Index outputs = 3;
  const double degrees = examples - (features + 1);
  const Data data = correlated_data();
  const auto learner = make_learner(Likelihood(BDL_GAUSSIAN, outputs), -1, 1e-11, 1e-11, true);
  fit(*learner, data);
  const Dense mean = column_of(std::as_const(*learner->posterior()).mean()),
              covariance = inverse_of(dense_precision(*learner->posterior())),
              r = (1 / degrees) * residual_products(data, mean);
  assert_close("R", noise_of(learner->model()->likelihood), r, 1e-8);
  Dense gram(features + 1, features + 1);
  for (Index i = 0; i < examples; ++i) gram = gram + row_of(data, i) * transposed(row_of(data, i));
  const Dense inverse = inverse_of(gram);
  for (Index b = 0; b < outputs; ++b)
    for (Index c = 0; c < outputs; ++c)
      for (Index j = 0; j <= features; ++j)
        for (Index k = 0; k <= features; ++k)
          assert_near("covariance", covariance(place(outputs, b, j), place(outputs, c, k)),
                      r(b, c) * inverse(j, k), 1e-8);
  for (Index c = 0; c < outputs; ++c)
    assert_near("degrees", learner->model()->likelihood.noise_degrees(c), degrees, 1e-6);
}

/// The precision is R^-1 (x) X^T X + Lambda_0, and R the mean of E[(y - f)(y - f)^T].
void noise_covariance_meets_its_conditions(void**) {
  const Index outputs = 3;
  const Data data = correlated_data();
  const auto learner = make_learner(Likelihood(BDL_GAUSSIAN, outputs), -1, of_weights, of_biases, true);
  fit(*learner, data);
  const Dense mean = column_of(std::as_const(*learner->posterior()).mean()),
              precision = dense_precision(*learner->posterior()), covariance = inverse_of(precision),
              r = noise_of(learner->model()->likelihood), inverse = inverse_of(r);
  Dense expected = diagonal_matrix(prior_of(outputs)), products = residual_products(data, mean);
  for (Index i = 0; i < examples; ++i) {
    const Dense x = row_of(data, i);
    for (Index b = 0; b < outputs; ++b)
      for (Index c = 0; c < outputs; ++c)
        for (Index j = 0; j <= features; ++j)
          for (Index k = 0; k <= features; ++k) {
            expected(place(outputs, b, j), place(outputs, c, k)) += inverse(b, c) * x(j, 0) * x(k, 0);
            products(b, c) += x(j, 0) * covariance(place(outputs, b, j), place(outputs, c, k)) * x(k, 0);
          }
  }
  assert_close("precision", precision, expected, 1e-8);
  assert_close("R", r, (1.0 / examples) * products, 1e-8);
  fit(*learner, data);  // from the optimum
  assert_close("R again", noise_of(learner->model()->likelihood), r, 1e-8);
}

/// Without enough data, with outputs that repeat each other, or with a noise that the
/// caller has set, each output keeps its own noise.
void noises_stay_independent_where_a_covariance_is_not_known(void**) {
  const Likelihood all(BDL_GAUSSIAN, 3);
  Data repeated = correlated_data();
  for (Index i = 0; i < examples; ++i) repeated.y(2, i) = 2 * repeated.y(0, i) - 1;
  const Data few = make_data(all, 9);
  for (const auto& [likelihood, data] : {std::pair(all, repeated), std::pair(all, few),
                                         std::pair(gaussian(3, {1, 2, 3}), correlated_data())}) {
    const auto learner =
        make_learner(likelihood, -1, of_weights, of_biases, true, static_cast<Index>(data.x.cols));
    fit(*learner, data);
    assert_false(learner->model()->likelihood.noise_covariance().given());
    assert_int_equal(learner->model()->likelihood.noise_precision().size(), 3);
  }
}

/// Outputs that are independent given x are fitted as they are one by one, with noise of their own.
void independent_outputs_are_fits_of_each(void**) {
  for (const bdl_likelihood kind : {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_POISSON})
    for (const Index rank : {-1, 0}) {
      if (kind == BDL_GAUSSIAN && rank < 0) continue;  // they share a noise covariance
      const Index outputs = 3;
      const Likelihood all(kind, outputs), one(kind, 1);
      const Data data = make_data(all);
      const auto learner = make_learner(all, rank, of_weights, of_biases, true);
      fit(*learner, data);
      const Dense mean = column_of(std::as_const(*learner->posterior()).mean()),
                  precision = dense_precision(*learner->posterior());
      for (Index c = 0; c < outputs; ++c) {
        const auto single = make_learner(one, rank, of_weights, of_biases, true);
        fit(*single, data.only(c));
        const Dense expected = column_of(std::as_const(*single->posterior()).mean()),
                    expected_precision = dense_precision(*single->posterior());
        for (Index j = 0; j <= features; ++j) {
          const Index at = place(outputs, c, j);
          assert_near("mean", mean(at, 0), expected(j, 0), 1e-7);
          for (Index l = 0; l <= features; ++l)
            assert_near("precision", precision(at, place(outputs, c, l)), expected_precision(j, l),
                        1e-6 * expected_precision(j, j));
        }
        if (kind != BDL_GAUSSIAN) continue;
        const Likelihood &got = learner->model()->likelihood, &wanted = single->model()->likelihood;
        assert_near("noise", got.noise_precision(c) / wanted.noise_precision(0), 1, 1e-8);
        assert_near("degrees", got.noise_degrees(c), wanted.noise_degrees(0), 1e-6);
      }
    }
}

/// Two classes are a Bernoulli y whose logit is the difference of theirs.
void two_classes_are_a_logit(void**) {
  const Data labels = make_data(Likelihood(BDL_CATEGORICAL, 2));
  const auto classes = make_learner(Likelihood(BDL_CATEGORICAL, 2)),
             logit = make_learner(Likelihood(BDL_BERNOULLI, 1), -1, of_weights / 2, of_biases / 2);
  fit(*classes, labels);
  fit(*logit, labels);
  const Dense mean = column_of(std::as_const(*classes->posterior()).mean()),
              covariance = inverse_of(dense_precision(*classes->posterior())),
              expected = column_of(std::as_const(*logit->posterior()).mean()),
              expected_covariance = inverse_of(dense_precision(*logit->posterior()));
  for (Index j = 0; j <= features; ++j) {
    const Index one = place(2, 1, j), zero = place(2, 0, j);
    assert_near("mean", mean(one, 0) - mean(zero, 0), expected(j, 0), 1e-8);
    assert_near("variance", covariance(one, one) + covariance(zero, zero) - 2 * covariance(one, zero),
                expected_covariance(j, j), 1e-8);
  }
  assert_near("E[log p]", classes->state.running_log_likelihood, logit->state.running_log_likelihood, 1e-8);
}

struct Expected {
  double loss = 0;
  Dense slope, hessian;
};

/// Sums over a fine grid of the contrasts (f_1 - f_0, f_2 - f_0) of three logits.
Expected by_grid(const Dense& m, const Dense& v, Index y) {
  Dense contrast(2, 3);
  contrast(0, 0) = contrast(1, 0) = -1;
  contrast(0, 1) = contrast(1, 2) = 1;
  const Dense s = contrast * v * transposed(contrast);
  const double a = std::sqrt(s(0, 0)), b = s(1, 0) / a, c = std::sqrt(s(1, 1) - b * b);
  Expected out{0, Dense(3, 1), Dense(3, 3)};
  double total = 0;
  for (double t = -9; t <= 9; t += 0.06)
    for (double u = -9; u <= 9; u += 0.06) {
      const double weight = std::exp(-(t * t + u * u) / 2),
                   f[] = {0, m(1, 0) - m(0, 0) + a * t, m(2, 0) - m(0, 0) + b * t + c * u};
      const double top = std::max({f[0], f[1], f[2]});
      double p[3], sum = 0;
      for (int k = 0; k < 3; ++k) sum += p[k] = std::exp(f[k] - top);
      total += weight;
      out.loss += weight * (top + std::log(sum) - f[y]);
      for (int k = 0; k < 3; ++k) {
        p[k] /= sum;
        out.slope(k, 0) += weight * (p[k] - (k == y ? 1 : 0));
      }
      for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l) out.hessian(k, l) += weight * ((k == l ? p[k] : 0) - p[k] * p[l]);
    }
  out.loss /= total;
  out.slope = 1 / total * out.slope;
  out.hessian = 1 / total * out.hessian;
  return out;
}

void classes_meet_the_conditions_of_the_optimum(void**) {
  const Index outputs = 3, dimension = outputs * (features + 1);
  const Likelihood likelihood(BDL_CATEGORICAL, outputs);
  const Data data = make_data(likelihood, 30);
  const auto learner = make_learner(likelihood, -1, of_weights, of_biases, false, 30);
  fit(*learner, data);
  const Dense mean = column_of(std::as_const(*learner->posterior()).mean()),
              precision = dense_precision(*learner->posterior()), covariance = inverse_of(precision);
  const Dense prior = prior_of(outputs);
  Dense slope(dimension, 1), target = diagonal_matrix(prior);
  for (Index a = 0; a < dimension; ++a) slope(a, 0) = prior(a, 0) * mean(a, 0);
  double loss = 0;
  for (Index i = 0; i < data.x.cols; ++i) {
    const Dense x = row_of(data, i);
    Dense jacobian(outputs, dimension);
    for (Index c = 0; c < outputs; ++c)
      for (Index j = 0; j <= features; ++j) jacobian(c, place(outputs, c, j)) = x(j, 0);
    const Expected at = by_grid(jacobian * mean, jacobian * covariance * transposed(jacobian),
                                static_cast<Index>(data.y(0, i)));
    loss += at.loss;
    slope = slope + transposed(jacobian) * at.slope;
    target = target + transposed(jacobian) * at.hessian * jacobian;
  }
  assert_true(std::sqrt(dot(slope, covariance * slope)) < 1e-7);
  assert_close("precision", precision, target, 1e-7);
  assert_near("E[log p]", learner->state.running_log_likelihood, -loss, 1e-7);
}

/// The result does not depend on where the search begins, on the type, or on classes that cannot be.
void classes_have_one_optimum(void**) {
  const Likelihood likelihood(BDL_CATEGORICAL, 4);
  Data data = make_data(likelihood);
  const auto learner = make_learner(likelihood), moved = make_learner(likelihood);
  fit(*learner, data);
  fit(*moved, data, 1000);
  Random random(3);
  for (double& value : moved->posterior()->mean()) value = random.normal();
  fit(*moved, data);
  const auto narrow = make_learner<float>(likelihood);
  fit(*narrow, data);
  const Dense mean = column_of(std::as_const(*learner->posterior()).mean());
  assert_close("mean", column_of(std::as_const(*moved->posterior()).mean()), mean, 1e-8);
  assert_close("mean", column_of(std::as_const(*narrow->posterior()).mean()), mean, 1e-5);
  for (Index i = 0; i < examples; ++i) data.y(0, i) = std::min(data.y(0, i), 2.0);
  Likelihood three = likelihood;
  const Index possible[] = {0, 1, 2};
  three.set_classes(possible);
  const auto some = make_learner(three), less = make_learner(Likelihood(BDL_CATEGORICAL, 3));
  fit(*some, data);
  fit(*less, data);
  for (Index c = 0; c < 3; ++c)
    for (Index j = 0; j <= features; ++j)
      assert_near("mean", std::as_const(*some->posterior()).mean()[static_cast<std::size_t>(place(4, c, j))],
                  std::as_const(*less->posterior()).mean()[static_cast<std::size_t>(place(3, c, j))], 1e-9);
}

/// Classes that planes separate.
Data apart(Index outputs) {
  Random random(5);
  Data data{random.normal(features, examples), Dense(1, examples)};
  for (Index i = 0; i < examples; ++i)
    data.y(0, i) = std::clamp(std::floor(data.x(0, i) + static_cast<double>(outputs) / 2), 0.0,
                              static_cast<double>(outputs - 1));
  return data;
}

void classes_may_be_apart(void**) {
  for (const auto& [outputs, prior] :
       {std::pair<Index, double>{3, 1}, {3, 1e-2}, {3, 1e-4}, {4, 1}, {7, 1}, {7, 1e-4}}) {
    const auto learner = make_learner(Likelihood(BDL_CATEGORICAL, outputs), -1, prior, 1e-4);
    fit(*learner, apart(outputs));
  }
}

void many_classes_are_fitted(void**) {
  for (const Index outputs : {5, 7, 12}) {
    const Likelihood likelihood(BDL_CATEGORICAL, outputs);
    const auto learner = make_learner(likelihood, -1, 1, 1e-4);
    fit(*learner, make_data(likelihood));
  }
}

}  // namespace

int test_exact_several() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(numbers_have_the_closed_form),
      cmocka_unit_test(noise_covariance_is_that_of_multivariate_regression),
      cmocka_unit_test(noise_covariance_meets_its_conditions),
      cmocka_unit_test(noises_stay_independent_where_a_covariance_is_not_known),
      cmocka_unit_test(independent_outputs_are_fits_of_each),
      cmocka_unit_test(two_classes_are_a_logit),
      cmocka_unit_test(classes_meet_the_conditions_of_the_optimum),
      cmocka_unit_test(classes_have_one_optimum),
      cmocka_unit_test(classes_may_be_apart),
      cmocka_unit_test(many_classes_are_fitted),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
