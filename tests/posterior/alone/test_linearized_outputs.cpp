// Jacobians of networks and custom models, and the law of linearised outputs, against dense matrices; batches
// in a loop allocate nothing.
#include "c_api/failing_allocator.hpp"
#include "model/network.hpp"
#include "posterior/linearized_outputs.hpp"
#include "support/posteriors.hpp"
#include "support/user_networks.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

std::vector<NaiveNetwork> networks() {
  std::vector<NaiveNetwork> out;
  for (const bool bias : {false, true})
    for (const auto& sizes :
         std::vector<std::vector<Index>>{{1, 1}, {3, 1}, {2, 4}, {2, 5, 1}, {3, 4, 3}, {2, 3, 4, 2}})
      out.push_back({sizes, BDL_TANH, bias});
  return out;
}

template <class T>
Network<T> fast(const NaiveNetwork& naive) {
  return {naive.sizes, naive.activation, naive.bias, Likelihood(BDL_GAUSSIAN, naive.sizes.back())};
}

Dense unit(Index size, Index k) {
  Dense out(size, 1);
  out(k, 0) = 1;
  return out;
}

/// J^T, D x C.
Dense naive_jacobian(const NaiveNetwork& naive, const Dense& theta, const Dense& x) {
  Dense out(naive.parameters(), 0);
  for (Index c = 0; c < naive.sizes.back(); ++c)
    out = beside(out, naive.row(theta, x, unit(naive.sizes.back(), c)));
  return out;
}

template <class T>
void check_jacobian(const Model<T>& model, const NaiveNetwork& naive, Random& random) {
  constexpr Index examples = 5;
  const Index outputs = model.outputs(), dimension = model.parameters();
  JacobianRows<T> jacobian(model);
  for (int repetition = 0; repetition < 2; ++repetition) {
    const Padded<T> theta(random.normal(dimension, 1, 0.8)), x(random.normal(model.inputs(), examples));
    Padded<T> f(poison(outputs, examples)), rows(poison(dimension, outputs * examples));
    jacobian.compute(theta.column(), x.get(), f.view(), rows.view());
    for (Index i = 0; i < examples; ++i) {
      const Dense input = columns_of(x.dense(), i, 1);
      assert_close("f", columns_of(f.dense(), i, 1), naive.outputs(theta.dense(), input), accuracy<T>);
      const Dense expected = naive_jacobian(naive, theta.dense(), input);
      for (Index c = 0; c < outputs; ++c)
        assert_close("row", columns_of(rows.dense(), c * examples + i, 1), columns_of(expected, c, 1),
                     accuracy<T>);
    }
  }
}

template <class T>
void jacobians_have_one_row_per_output(void**) {
  Random random(1);
  for (NaiveNetwork& naive : networks()) {
    check_jacobian<T>(fast<T>(naive), naive, random);
    check_jacobian<T>(user_network<T>(naive, Likelihood(BDL_POISSON, naive.sizes.back())), naive, random);
  }
}

void jacobians_are_derivatives(void**) {
  Random random(2);
  for (const NaiveNetwork& naive : networks()) {
    const auto model = fast<double>(naive);
    const Index outputs = model.outputs();
    Padded<double> theta(random.normal(model.parameters(), 1)), f(Dense(outputs, 1)),
        rows(Dense(model.parameters(), outputs)), high(Dense(outputs, 1)), low(Dense(outputs, 1));
    const Padded<double> x(random.normal(model.inputs(), 1));
    Scratch scratch;
    JacobianRows<double>(model).compute(theta.column(), x.get(), f.view(), rows.view());
    constexpr double h = 1e-5;
    for (Index j = 0; j < model.parameters(); ++j) {
      double& parameter = theta.column()[static_cast<std::size_t>(j)];
      const double kept = parameter;
      parameter = kept + h;
      model.forward(theta.column(), x.get(), high.view(), scratch);
      parameter = kept - h;
      model.forward(theta.column(), x.get(), low.view(), scratch);
      parameter = kept;
      for (Index c = 0; c < outputs; ++c)
        assert_near("df / dtheta", rows.dense()(j, c), (high.dense()(c, 0) - low.dense()(c, 0)) / (2 * h),
                    1e-9);
    }
  }
}

/// f(x; mu) and J Sigma J^T, every family, networks and custom models.
template <class T>
void check_law(const Model<T>& model, const NaiveNetwork& naive, const bdl::testing::Belief<T>& belief,
               const Dense& x) {
  const double tolerance = sizeof(T) == 8 ? 1e-10 : 2e-4;
  const Padded<T> input(x);
  LinearizedOutputs<T> law(model);
  law.compute(*belief.q, input.get());
  Dense expected(model.outputs(), x.cols);
  for (Index i = 0; i < x.cols; ++i) {
    const Dense example = columns_of(input.dense(), i, 1);
    const Dense j = naive_jacobian(naive, belief.mean, example), f = naive.outputs(belief.mean, example);
    for (Index c = 0; c < f.rows; ++c) expected(c, i) = f(c, 0);
    const Dense got = dense_of(law.covariance(i));
    assert_close(belief.name.c_str(), got, transposed(j) * belief.covariance * j, tolerance);
    assert_same("S^T", got, transposed(got));
  }
  // Compares all examples at once: an output near 0 is a difference of larger numbers.
  assert_close("mean", dense_of(law.mean()), expected, accuracy<T>);
}

template <class T>
void linearized_outputs_have_their_law(void**) {
  Random random(3);
  for (NaiveNetwork& naive : networks()) {
    const auto network = fast<T>(naive);
    const auto user = user_network<T>(naive, network.likelihood);
    const Dense x = random.normal(network.inputs(), 6);
    for (const auto& belief : beliefs<T>(network.parameters(), 7)) {
      check_law<T>(network, naive, belief, x);
      check_law<T>(user, naive, belief, x);
    }
  }
}

/// More parameters than one thread's share, where products take another path: Sigma is diagonal here.
template <class T>
void many_parameters(void**) {
  Random random(4);
  const NaiveNetwork naive{{40, 110, 3}, BDL_TANH, true};
  const auto model = fast<T>(naive);
  assert_true(model.parameters() > 4096);
  const Dense d = rounded<T>(random.uniform(model.parameters(), 1, 0.5, 3));
  const auto q = low_rank_of<T>(Dense(model.parameters(), 0), d);
  const Dense mean = rounded<T>(random.normal(model.parameters(), 1, 0.2));
  for (Index i = 0; i < mean.rows; ++i) q->mean()[static_cast<std::size_t>(i)] = static_cast<T>(mean(i, 0));
  const Padded<T> x(random.normal(40, 3));
  LinearizedOutputs<T> law(model);
  law.compute(*q, x.get());
  for (Index i = 0; i < 3; ++i) {
    const Dense j = naive_jacobian(naive, mean, columns_of(x.dense(), i, 1));
    Dense scaled = j;
    for (Index c = 0; c < 3; ++c)
      for (Index k = 0; k < d.rows; ++k) scaled(k, c) /= d(k, 0);
    assert_close("S", dense_of(law.covariance(i)), transposed(j) * scaled, accuracy<T>);
  }
}

void the_company_does_not_matter(void**) {
  Random random(5);
  const NaiveNetwork naive{{3, 4, 3}, BDL_TANH, true};
  const auto model = fast<double>(naive);
  const Padded<double> x(random.normal(3, 9));
  for (const auto& belief : beliefs<double>(model.parameters(), 8)) {
    LinearizedOutputs<double> all(model), one(model);
    all.compute(*belief.q, x.get());
    for (Index i = 0; i < 9; ++i) {
      one.compute(*belief.q, x.get().columns(i, 1));
      assert_close("mean", dense_of(one.mean()), dense_of(all.mean().columns(i, 1)), 1e-14);
      assert_close("covariance", dense_of(one.covariance(0)), dense_of(all.covariance(i)), 1e-13);
    }
  }
}

/// Once reserved for the largest batch, batches of any size allocate nothing.
template <class T>
void batches_allocate_nothing(void**) {
  Random random(6);
  for (const NaiveNetwork& naive :
       {NaiveNetwork{{3, 5, 2}, BDL_RELU, true}, NaiveNetwork{{3, 1}, BDL_RELU, true},
        NaiveNetwork{{30, 160, 2}, BDL_RELU, true}}) {
    const auto model = fast<T>(naive);
    const Padded<T> x(random.normal(model.inputs(), 8));
    std::vector<std::unique_ptr<Posterior<T>>> posteriors;
    posteriors.push_back(std::make_unique<LowRankPosterior<T>>(model.parameters(), 0));
    posteriors.push_back(std::make_unique<LowRankPosterior<T>>(model.parameters(), 3));
    if (model.parameters() < 100)
      posteriors.push_back(std::make_unique<FullPosterior<T>>(model.parameters()));
    for (const auto& q : posteriors) {
      LinearizedOutputs<T> law(model);
      law.compute(*q, x.get());
      allocator::requests = 0;
      for (const Index count : {1, 8, 5}) law.compute(*q, x.get().columns(0, count));
      assert_int_equal(allocator::requests, 0);
    }
  }
}

void overflows_are_named(void**) {
  const NaiveNetwork naive{{1, 2}, BDL_TANH, false};
  const auto model = fast<double>(naive);
  LowRankPosterior<double> q(2, 0);
  LinearizedOutputs<double> law(model);
  std::ranges::fill(q.mean(), 1e10);
  const Padded<double> x(beside(Dense(1, 1, 1), Dense(1, 1, 1e300))), steep(Dense(1, 1, 1e200));
  law.compute(q, x.get());
  expect_error(Status::ERROR_DIVERGED, "the model's output for example 1 (counting from 0) is not finite",
               [&] { law.check(); });
  law.compute(q, steep.get());
  expect_error(Status::ERROR_DIVERGED,
               "the variance of the model's output for example 0 (counting from 0) is not finite",
               [&] { law.check(); });
}

}  // namespace

int test_linearized_outputs() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(jacobians_have_one_row_per_output<float>),
      cmocka_unit_test(jacobians_have_one_row_per_output<double>),
      cmocka_unit_test(jacobians_are_derivatives),
      cmocka_unit_test(linearized_outputs_have_their_law<float>),
      cmocka_unit_test(linearized_outputs_have_their_law<double>),
      cmocka_unit_test(many_parameters<float>),
      cmocka_unit_test(many_parameters<double>),
      cmocka_unit_test(the_company_does_not_matter),
      cmocka_unit_test(batches_allocate_nothing<float>),
      cmocka_unit_test(batches_allocate_nothing<double>),
      cmocka_unit_test(overflows_are_named),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
