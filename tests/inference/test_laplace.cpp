// Laplace's approximation against the Gauss-Newton matrix written out from Jacobians and Hessians at the
// outputs, for every likelihood and family; more rows than are taken at a time.
#include "curvature/data_rows.hpp"
#include "curvature/jacobian.hpp"
#include "support/likelihoods.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"
#include "train/fit.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Case {
  Likelihood likelihood;
  std::vector<Index> sizes;
  Index examples;
};

struct Data {
  std::shared_ptr<Network<double>> network;
  std::vector<double> x, y;  // one example per row
  Array x_array, y_array;
  Dense theta, curvature;  // sum over the examples of J^T (Hessian at the outputs) J

  Data(const Case& c, std::uint64_t seed) : network(make_network<double>(c.sizes, c.likelihood)) {
    Random random(seed);
    const Index inputs = c.sizes.front(), targets = c.likelihood.targets();
    for (Index k = 0; k < c.examples * inputs; ++k) x.push_back(random.normal());
    for (Index k = 0; k < c.examples * targets; ++k)
      y.push_back(c.likelihood.kind() == BDL_GAUSSIAN ? random.normal() : std::floor(2 * random.uniform()));
    x_array = bdl_f64(x.data(), c.examples, inputs);
    y_array = bdl_f64(y.data(), c.examples, targets);
    theta = random.normal(network->parameters(), 1, 0.5);
    curvature = gauss_newton(c.examples);
  }

  Dense gauss_newton(Index examples) const {
    const Index outputs = network->outputs(), size = network->parameters();
    Dense sum(size, size);
    Scratch scratch;
    std::vector<double> f(static_cast<std::size_t>(outputs)), h(f);
    for (Index i = 0; i < examples; ++i) {
      const ConstMatrixView<double> one(x.data() + i * network->inputs(), network->inputs(), 1);
      Padded<double> rows(poison(size, outputs), 1);
      write_jacobian<double>(*network, theta.values, one, rows.view());
      network->forward(theta.values, one, {f.data(), outputs, 1}, scratch);
      network->likelihood.hessian_terms(f.data(), static_cast<const double*>(nullptr), h.data());
      Dense hessian(outputs, outputs);
      for (Index a = 0; a < outputs; ++a)
        for (Index b = 0; b < outputs; ++b) hessian(a, b) = network->likelihood.hessian_entry(h.data(), a, b);
      const Dense j = rows.dense();
      sum = sum + j * hessian * transposed(j);
    }
    return sum;
  }
};

const Case cases[] = {
    {gaussian(1, {2.5}), {3, 4, 1}, 20},          {gaussian(2, {0.5, 3}), {2, 3, 2}, 15},
    {Likelihood(BDL_BERNOULLI, 1), {5, 1}, 30},   {Likelihood(BDL_CATEGORICAL, 3), {2, 4, 3}, 12},
    {Likelihood(BDL_POISSON, 1), {3, 1}, 25},     {gaussian(1, {2}), {2, 2, 1}, 2100},
    {Likelihood(BDL_BERNOULLI, 1), {4, 1}, 2050}, {Likelihood(BDL_CATEGORICAL, 3), {3, 3}, 1500},
};

void rows_of_a_data_set_are_those_of_its_chunks(void**) {
  for (const Case& c : cases) {
    const Data data(c, 3);
    ArrayData examples(data.x_array, data.y_array);
    DataRows<double> rows(*data.network, data.theta.values, examples, {CurvatureKind::gauss_newton, 2});
    const Index size = data.network->parameters();
    const Dense w = column_of(rows.weights());
    Dense outer(size, size);
    rows.add_outer(rows.weights(), {outer.values.data(), size, size});
    for (Index j = 0; j < size; ++j)
      for (Index i = 0; i < j; ++i) outer(i, j) = outer(j, i);
    assert_close("sum of outer products", outer, 2.0 * data.curvature, 1e-12);
    Padded<double> squares(poison(size, 1));
    rows.sum_squares(rows.weights(), squares.column());
    assert_close("squares", squares.dense(), 2.0 * diagonal_of(data.curvature), 1e-12);
    const Dense u = Random(5).normal(size, 3);
    Padded<double> projected(poison(3, rows.count()), 2), product(poison(size, 3), 1);
    rows.project(Padded<double>(u).get(), projected.view());
    Dense weighted = transposed(projected.dense());
    for (Index k = 0; k < 3; ++k)
      for (Index r = 0; r < rows.count(); ++r) weighted(r, k) *= w(r, 0);
    rows.combine(Padded<double>(weighted).get(), product.view());
    assert_close("B W B^T U", product.dense(), 2.0 * (data.curvature * u), 1e-11);
    Padded<double> sum(poison(size, 1));
    rows.sum(Padded<double>(columns_of(weighted, 1, 1)).column(), sum.column());
    assert_close("sum", sum.dense(), columns_of(product.dense(), 1, 1), 1e-12);
  }
}

/// N = 3 n: every example counts three times.
Dense precision_after(const Data& data, const std::shared_ptr<Posterior<double>>& q, const Dense& lambda) {
  std::ranges::copy(data.theta.values, q->mean().begin());
  q->set_isotropic(1e12);  // of no account
  q->set_blank(false);
  Optimizer<double> optimizer(data.network, q, find_method("slang"), 3 * data.x_array.rows);
  optimizer.prior().fix(lambda.values);
  laplace(optimizer, data.x_array, data.y_array);
  assert_same("mean", column_of(std::as_const(*q).mean()), data.theta);
  return dense_precision(*q);
}

void the_precision_is_gauss_newton_plus_prior(void**) {
  for (const Case& c : cases) {
    const Data data(c, 4);
    const Index size = data.network->parameters();
    const Dense lambda = Random(6).uniform(size, 1, 0.5, 2), h = 3.0 * data.curvature,
                exact = h + diagonal_matrix(lambda);
    assert_close("full", precision_after(data, std::make_shared<FullPosterior<double>>(size), lambda), exact,
                 1e-11);
    assert_close("diagonal", precision_after(data, make_posterior<double>(size, 0), lambda),
                 diagonal_matrix(diagonal_of(exact)), 1e-11);
    assert_close("rank D", precision_after(data, make_posterior<double>(size, size), lambda), exact, 1e-10);
    const Dense top = top_part(h, 2);
    assert_close("rank 2", precision_after(data, make_posterior<double>(size, 2), lambda),
                 top + diagonal_matrix(diagonal_of(exact - top)), 1e-9);
  }
}

/// A few power iterations from random directions find the eigenpairs of a large network's data set.
void the_range_finder_starts_cold(void**) {
  const Data data({gaussian(1, {4}), {6, 12, 1}, 2500}, 8);
  const Index size = data.network->parameters();
  const auto q = make_posterior<double>(size, 3);
  std::ranges::copy(data.theta.values, q->mean().begin());
  q->set_blank(false);
  Optimizer<double> optimizer(data.network, q, find_method("slang"), data.x_array.rows);
  Options options;
  options.eigen_method = EigenMethod::randomized;
  optimizer.set_options(options);
  laplace(optimizer, data.x_array, data.y_array);
  const Dense u = dense_of(as_low_rank<double>(*q).u());
  assert_close("U U^T", u * transposed(u), top_part(data.curvature, 3), 1e-6);
}

void fit_ends_with_it(void**) {
  const Data data(cases[0], 9);
  const auto q = make_posterior<double>(data.network->parameters(), 2);
  Optimizer<double> optimizer(data.network, q, find_method("slang"), data.x_array.rows);
  Options options;
  options.laplace = 1;
  options.minibatch = 7;
  optimizer.set_options(options);
  assert_true(fit(optimizer, data.x_array, data.y_array, 2, {}) == Status::OK);
  const Dense after = dense_precision(*q);
  laplace(optimizer, data.x_array, data.y_array);
  assert_same("precision", dense_precision(*q), after);
}

std::int32_t fail_at_the_end(void* context) {
  return static_cast<const Optimizer<double>*>(context)->state.epoch == 2 ? -1 : 0;
}

/// A fit whose last callback fails has ended with it; one that lacks only this goes on with it alone.
void nothing_of_it_is_lost(void**) {
  const Data data(cases[0], 9);
  const Index size = data.network->parameters();
  Options options;
  options.minibatch = 7;
  options.learn_noise = 0;  // the model is shared
  const auto fresh = [&](bool with) {
    options.laplace = with;
    auto optimizer = std::make_unique<Optimizer<double>>(data.network, make_posterior<double>(size, 2),
                                                         find_method("slang"), data.x_array.rows);
    optimizer->set_options(options);
    return optimizer;
  };
  const auto whole = fresh(true), failed = fresh(true), late = fresh(false);
  assert_true(fit(*whole, data.x_array, data.y_array, 2, {}) == Status::OK);
  const Dense expected = dense_precision(*whole->posterior());
  expect_error(Status::ERROR_CALLBACK, "returned -1", [&] {
    fit(*failed, data.x_array, data.y_array, 2, {fail_at_the_end, failed.get()});
  });
  assert_same("precision", dense_precision(*failed->posterior()), expected);
  assert_true(fit(*late, data.x_array, data.y_array, 2, {}) == Status::OK);
  TrainingState& state = late->state;
  --state.epoch;
  state.batch = state.batches;
  options.laplace = 1;
  late->set_options(options);
  const Index steps = state.step;
  assert_true(fit(*late, data.x_array, data.y_array, 0, {}) == Status::OK);
  assert_true(state.step == steps && state.batch == 0 && state.epoch == 2);
  assert_same("precision", dense_precision(*late->posterior()), expected);
}

void other_families_and_gram_matrices_out_of_reach_are_refused(void**) {
  const Data data(cases[5], 10);
  const Index size = data.network->parameters();
  const auto moment = std::make_shared<FullMomentPosterior<double>>(size);
  Optimizer<double> of_moments(data.network, moment, find_method("slang"), 2100);
  expect_error(Status::ERROR_UNSUPPORTED, "Laplace",
               [&] { laplace(of_moments, data.x_array, data.y_array); });
  const auto q = make_posterior<double>(size, 2);
  const Dense before = dense_precision(*q);
  Optimizer<double> optimizer(data.network, q, find_method("slang"), 2100);
  expect_error(Status::ERROR_UNSUPPORTED, "blank", [&] { laplace(optimizer, data.x_array, data.y_array); });
  assert_true(q->is_blank());
  q->set_blank(false);
  Options options;
  options.eigen_method = EigenMethod::gram;
  optimizer.set_options(options);
  expect_error(Status::ERROR_UNSUPPORTED, "Gram", [&] { laplace(optimizer, data.x_array, data.y_array); });
  options.laplace = 1;
  optimizer.set_options(options);
  expect_error(Status::ERROR_UNSUPPORTED, "Gram", [&] { fit(optimizer, data.x_array, data.y_array, 1, {}); });
  assert_true(optimizer.state.step == 0);
  assert_same("precision", dense_precision(*q), before);
}

}  // namespace

int test_laplace() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(rows_of_a_data_set_are_those_of_its_chunks),
      cmocka_unit_test(the_precision_is_gauss_newton_plus_prior),
      cmocka_unit_test(the_range_finder_starts_cold),
      cmocka_unit_test(fit_ends_with_it),
      cmocka_unit_test(nothing_of_it_is_lost),
      cmocka_unit_test(other_families_and_gram_matrices_out_of_reach_are_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
