// Gradient and curvature estimates of a minibatch: against finite differences of the expected loss and
// against outer products written out, for every likelihood, both kinds of curvature, depths 0 to 2, networks
// and custom models.
#include <functional>

#include "base/array.hpp"
#include "curvature/estimator.hpp"
#include "curvature/seeds.hpp"
#include "model/network.hpp"
#include "model/user_model.hpp"
#include "support/likelihoods.hpp"
#include "support/naive_network.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index examples = 4, samples = 3;
constexpr double scale = 2.5;
constexpr CurvatureKind kinds[] = {CurvatureKind::empirical_fisher, CurvatureKind::gauss_newton};

/// One minibatch for a network of some depth under a likelihood.
struct Batch {
  Likelihood likelihood;
  NaiveNetwork naive;
  Network<double> network;
  Dense thetas, x, y;

  Batch(const Likelihood& density, std::vector<Index> sizes, bool bias)
      : likelihood(density),
        naive{std::move(sizes), BDL_SIGMOID, bias},
        network(naive.sizes, naive.activation, bias, likelihood),
        y(density.targets(), 0) {
    Random random(static_cast<std::uint64_t>(naive.parameters() + likelihood.kind()));
    thetas = random.normal(naive.parameters(), samples, 0.7);
    x = random.normal(naive.width(0), examples);
    for (Index i = 0; i < examples; ++i) y = beside(y, random_targets(likelihood, random));
  }
  Dense outputs(Index i, Index s, const Dense& at) const {
    return naive.outputs(columns_of(at, s, 1), columns_of(x, i, 1));
  }
  double log_likelihood(const Dense& at) const {
    double sum = 0;
    for (Index s = 0; s < samples; ++s)
      for (Index i = 0; i < examples; ++i)
        sum += likelihood.log_density(outputs(i, s, at).values.data(), columns_of(y, i, 1).values.data());
    return sum;
  }
  /// sum_is J^T (gradient gradient^T or Hessian) J with the Jacobian row by row.
  Dense curvature(CurvatureKind kind) const {
    Dense out(naive.parameters(), naive.parameters());
    for (Index s = 0; s < samples; ++s)
      for (Index i = 0; i < examples; ++i)
        for (Index k = 0; k < seed_count(likelihood, {1, 1, kind}); ++k) {
          const Dense f = outputs(i, s, thetas), target = columns_of(y, i, 1);
          Dense seed(f.rows, 1);
          double coefficient = 0;
          if (kind == CurvatureKind::empirical_fisher)
            likelihood.gradient(f.values.data(), target.values.data(), seed.values.data());
          else
            likelihood.hessian_root(f.values.data(), target.values.data(), k, seed.values.data(),
                                    &coefficient);
          const Dense row = naive.row(columns_of(thetas, s, 1), columns_of(x, i, 1), seed);
          out = out + row * transposed(row);
        }
    return out;
  }
  Dense gradient(const Dense& at) const {
    Dense out(naive.parameters(), 1);
    for (Index s = 0; s < samples; ++s)
      for (Index i = 0; i < examples; ++i) {
        Dense seed(naive.sizes.back(), 1);
        likelihood.gradient(outputs(i, s, at).values.data(), columns_of(y, i, 1).values.data(),
                            seed.values.data());
        out = out + naive.row(columns_of(at, s, 1), columns_of(x, i, 1), seed);
      }
    return out;
  }
};

void for_each_batch(const std::function<void(Batch&)>& check) {
  for (const Likelihood& likelihood : all_likelihoods())
    for (const bool bias : {true, false})
      for (std::vector<Index> sizes : std::vector<std::vector<Index>>{{3}, {3, 2}, {2, 4, 3}}) {
        sizes.push_back(likelihood.outputs());
        Batch batch(likelihood, sizes, bias);
        check(batch);
      }
}

/// An estimate written out: the gradient, the curvature matrix, its diagonal.
struct Summary {
  Dense gradient, curvature, diagonal;
  double log_likelihood;
  Index rows;
};

template <class T>
Summary summarise(Estimator<T>& estimator, const Batch& batch, CurvatureKind kind) {
  const Padded<T> thetas(batch.thetas), x(batch.x), y(batch.y);
  const Estimate<T> estimate = estimator.estimate(thetas.get(), x.get(), y.get(), {kind, scale});
  const Index dimension = batch.thetas.rows;
  Padded<T> gradient(poison(dimension, 1)), diagonal(poison(dimension, 1));
  Padded<double> curvature(Dense(dimension, dimension));
  estimate.rows->sum(estimate.c, gradient.column());
  estimate.rows->sum_squares(estimate.w, diagonal.column());
  estimate.rows->add_outer(estimate.w, curvature.view());
  for (Index j = 0; j < dimension; ++j)
    for (Index i = 0; i < j; ++i) curvature.view()(i, j) = curvature.view()(j, i);
  assert_true(std::ssize(estimate.c) == estimate.rows->count() &&
              std::ssize(estimate.w) == estimate.rows->count());
  assert_int_equal(estimator.cost({examples, samples, kind}).count, estimate.rows->count());
  return {gradient.dense(), curvature.dense(), diagonal.dense(), estimate.expected_log_likelihood,
          estimate.rows->count()};
}

void gradients_are_finite_differences_of_the_loss(void**) {
  constexpr double h = 1e-5;
  for_each_batch([](Batch& batch) {
    Dense expected(batch.naive.parameters(), 1);
    for (Index p = 0; p < batch.naive.parameters(); ++p) {
      Dense up = batch.thetas, down = batch.thetas;
      for (Index s = 0; s < samples; ++s) {
        up(p, s) += h;
        down(p, s) -= h;
      }
      expected(p, 0) = -scale * (batch.log_likelihood(up) - batch.log_likelihood(down)) / (2 * h);
    }
    for (const CurvatureKind kind : kinds) {
      const auto estimator = make_estimator<double>(batch.network);
      const Summary summary = summarise(*estimator, batch, kind);
      assert_close("gradient", summary.gradient, expected, 1e-7);
      assert_close("gradient", summary.gradient, scale * batch.gradient(batch.thetas), 1e-12);
    }
  });
}

void curvature_is_the_sum_of_outer_products(void**) {
  for_each_batch([](Batch& batch) {
    const auto estimator = make_estimator<double>(batch.network);
    for (const CurvatureKind kind : kinds) {
      const Summary summary = summarise(*estimator, batch, kind);
      const Dense expected = scale * batch.curvature(kind);
      assert_close("curvature", summary.curvature, expected, 1e-12);
      assert_close("diagonal", summary.diagonal, diagonal_of(expected), 1e-12);
      const bool merged = batch.network.is_single_index();
      assert_int_equal(summary.rows,
                       merged ? examples : examples * samples * seed_count(batch.likelihood, {1, 1, kind}));
    }
  });
}

/// For generalised linear models Gauss-Newton is the Hessian.
void gauss_newton_of_linear_models_is_the_hessian(void**) {
  constexpr double h = 1e-5;
  for (const Likelihood& likelihood : all_likelihoods()) {
    const Batch batch(likelihood, {3, likelihood.outputs()}, true);
    const auto estimator = make_estimator<double>(batch.network);
    Dense hessian(batch.naive.parameters(), 0);
    for (Index p = 0; p < batch.naive.parameters(); ++p) {
      Dense up = batch.thetas, down = batch.thetas;
      for (Index s = 0; s < samples; ++s) {
        up(p, s) += h;
        down(p, s) -= h;
      }
      hessian = beside(hessian, scale / (2 * h) * (batch.gradient(up) - batch.gradient(down)));
    }
    assert_close("Hessian", summarise(*estimator, batch, CurvatureKind::gauss_newton).curvature, hessian,
                 1e-7);
  }
}

void float_estimates_agree_with_double(void**) {
  for_each_batch([](Batch& batch) {
    const Network<float> network(batch.naive.sizes, batch.naive.activation, batch.naive.bias,
                                 batch.likelihood);
    const auto fast = make_estimator<float>(network);
    const auto exact = make_estimator<double>(batch.network);
    for (const CurvatureKind kind : kinds) {
      const Summary got = summarise(*fast, batch, kind), expected = summarise(*exact, batch, kind);
      assert_close("gradient", got.gradient, expected.gradient, 1e-4);
      assert_close("curvature", got.curvature, expected.curvature, 1e-4);
      assert_near("log likelihood", got.log_likelihood, expected.log_likelihood, 1e-5);
    }
  });
}

void log_likelihood_and_errors_are_means_over_the_samples(void**) {
  for_each_batch([](Batch& batch) {
    const auto estimator = make_estimator<double>(batch.network);
    const Summary summary = summarise(*estimator, batch, CurvatureKind::empirical_fisher);
    assert_near("log likelihood", summary.log_likelihood, batch.log_likelihood(batch.thetas) / samples,
                1e-12);
    if (batch.likelihood.kind() != BDL_GAUSSIAN) return;
    Dense errors = poison(batch.likelihood.outputs(), 1), expected(batch.likelihood.outputs(), 1);
    sum_squared_errors<double>(batch.likelihood, estimator->outputs(), Padded<double>(batch.y).get(),
                               errors.values);
    for (Index c = 0; c < errors.rows; ++c)
      for (Index s = 0; s < samples; ++s)
        for (Index i = 0; i < examples; ++i)
          expected(c, 0) += std::pow(batch.y(c, i) - batch.outputs(i, s, batch.thetas)(c, 0), 2) / samples;
    assert_close("squared errors", errors, expected, 1e-12);
  });
}

std::int32_t naive_outputs(void* context, bdl_matrix theta, bdl_matrix x, bdl_matrix_out f) {
  const auto& naive = *static_cast<NaiveNetwork*>(context);
  Dense at(theta.cols, 1), input(x.cols, 1);
  for (Index p = 0; p < theta.cols; ++p) at(p, 0) = element(theta, 0, p);
  for (Index i = 0; i < x.rows; ++i) {
    for (Index k = 0; k < x.cols; ++k) input(k, 0) = element(x, i, k);
    const Dense out = naive.outputs(at, input);
    scatter(ConstMatrixView<double>(out.values.data(), out.rows, 1), f, i);
  }
  return 0;
}

std::int32_t naive_gradients(void* context, bdl_matrix theta, bdl_matrix x, bdl_matrix seeds,
                             bdl_matrix_out rows) {
  const auto& naive = *static_cast<NaiveNetwork*>(context);
  Dense at(theta.cols, 1), input(x.cols, 1), seed(seeds.cols, 1);
  for (Index p = 0; p < theta.cols; ++p) at(p, 0) = element(theta, 0, p);
  for (Index i = 0; i < x.rows; ++i) {
    for (Index k = 0; k < x.cols; ++k) input(k, 0) = element(x, i, k);
    for (Index c = 0; c < seeds.cols; ++c) seed(c, 0) = element(seeds, i, c);
    const Dense row = naive.row(at, input, seed);
    scatter(ConstMatrixView<double>(row.values.data(), row.rows, 1), rows, i);
  }
  return 0;
}

void user_models_estimate_what_networks_do(void**) {
  for_each_batch([](Batch& batch) {
    const UserModel<double> user(batch.naive.width(0), batch.naive.parameters(), batch.likelihood,
                                 {naive_outputs, naive_gradients, &batch.naive});
    const auto estimator = make_estimator<double>(user), reference = make_estimator<double>(batch.network);
    for (const CurvatureKind kind : kinds) {
      const Summary got = summarise(*estimator, batch, kind), expected = summarise(*reference, batch, kind);
      assert_close("gradient", got.gradient, expected.gradient, 1e-12);
      assert_close("curvature", got.curvature, expected.curvature, 1e-12);
      assert_near("log likelihood", got.log_likelihood, expected.log_likelihood, 1e-12);
    }
  });
}

void outputs_that_are_not_finite_are_named(void**) {
  Batch batch(gaussian(2, {1}), {3, 2}, true);
  const auto estimator = make_estimator<double>(batch.network);
  batch.x(1, 2) = infinity;
  expect_error(Status::ERROR_DIVERGED, "example 2", [&] { summarise(*estimator, batch, kinds[0]); });
  batch.x(1, 2) = 0;
  batch.thetas(0, 1) = not_a_number;
  expect_error(Status::ERROR_DIVERGED, "output 0 for example 0",
               [&] { summarise(*estimator, batch, kinds[1]); });
}

}  // namespace

int test_estimators() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(gradients_are_finite_differences_of_the_loss),
      cmocka_unit_test(curvature_is_the_sum_of_outer_products),
      cmocka_unit_test(gauss_newton_of_linear_models_is_the_hessian),
      cmocka_unit_test(float_estimates_agree_with_double),
      cmocka_unit_test(log_likelihood_and_errors_are_means_over_the_samples),
      cmocka_unit_test(user_models_estimate_what_networks_do),
      cmocka_unit_test(outputs_that_are_not_finite_are_named),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
