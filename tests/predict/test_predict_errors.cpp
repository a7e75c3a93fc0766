// Calls that predictions refuse: the status, the message, and outputs that stay as they were.
#include "model/user_model.hpp"
#include "predict_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr double untouched = -12345;

struct Outputs {
  Table a{4, 2}, b{4, 2}, c{4, 2};

  Outputs() {
    for (Table* table : {&a, &b, &c}) std::fill(table->values.begin(), table->values.end(), untouched);
  }
  void check() const {
    for (const Table* table : {&a, &b, &c})
      for (const double value : table->values) assert_true(value == untouched);
  }
};

/// A query of every kind, its outputs all wanted; y suits the likelihood.
using Call = std::function<void(const Query<double>&, Outputs&)>;

const Table levels(1, 2, {0.1, 0.9}), one_level(1, 1, {0.3}), labels(4, 1, {0, 1, 1, 0}), numbers(4, 2);

const Call call_moments = [](const auto& q, Outputs& o) {
  predict_moments(q, o.a.out(), o.b.out(), o.c.out());
};
const Call call_quantiles = [](const auto& q, Outputs& o) {
  predict_quantiles(q, one_level.array(), o.a.out());
};
const Call call_interval = [](const auto& q, Outputs& o) { predict_interval(q, 0.9, o.a.out(), o.b.out()); };
const Call call_classes = [](const auto& q, Outputs& o) {
  const OutArray entropy = bdl_f64_out(o.b.values.data(), 4, q.model.likelihood.targets());
  predict_classes(q, o.a.out(), entropy, bdl_none_out());
};
const Call call_log_density = [](const auto& q, Outputs& o) {
  const bool one_target = q.model.likelihood.targets() == 1;
  predict_log_density(q, one_target ? labels.array() : numbers.array(), bdl_f64_out(o.a.values.data(), 4, 1));
};
const Call call_draws = [](const auto& q, Outputs& o) {
  predict_draws(q, bdl_f64_out(o.a.values.data(), 4, q.model.likelihood.targets()));
};
const Call call_elbo = [](const auto& q, Outputs&) {
  expected_log_likelihood(q, (q.model.likelihood.targets() == 1 ? labels : numbers).array());
};

struct Case {
  bdl_likelihood kind;
  Call call;
};

const std::vector<Case> all_calls = {
    {BDL_GAUSSIAN, call_moments},     {BDL_GAUSSIAN, call_quantiles},    {BDL_POISSON, call_quantiles},
    {BDL_GAUSSIAN, call_interval},    {BDL_BERNOULLI, call_classes},     {BDL_CATEGORICAL, call_classes},
    {BDL_GAUSSIAN, call_log_density}, {BDL_BERNOULLI, call_log_density}, {BDL_CATEGORICAL, call_elbo},
    {BDL_POISSON, call_elbo},         {BDL_GAUSSIAN, call_draws},        {BDL_CATEGORICAL, call_draws},
};

/// A two-layer model with two outputs, a posterior and four examples that give no errors.
struct Good {
  Network<double> model;
  TableBelief<double> b;
  Table x;

  explicit Good(bdl_likelihood kind, const std::vector<Index>& sizes = {3, 2, 2},
                TableRandom random = TableRandom(1))
      : model(network<double>(sizes, kind)),
        b(belief<double>(Kind::diagonal, model.parameters(), 0.1, random)),
        x(normal_table(random, 4, 3)) {}
  Query<double> query(Index samples = 1) const { return monte_carlo(model, b, x, samples); }
};

void expect_query_error(const Case& c, const Query<double>& query, Status status, const char* word) {
  Outputs outputs;
  expect_error(status, word, [&] { c.call(query, outputs); });
  outputs.check();
}

void good_queries_succeed(void**) {
  for (const Case& c : all_calls) {
    Outputs outputs;
    c.call(Good(c.kind).query(), outputs);
  }
}

void x_must_be_right(void**) {
  for (const Case& c : all_calls) {
    const Good good(c.kind);
    const auto with = [&](const Array& x) {
      Query<double> query = good.query();
      query.x = x;
      return query;
    };
    Table spoiled = good.x;
    spoiled(2, 1) = infinity;
    expect_query_error(c, with(Table(4, 2).array()), Status::ERROR_SHAPE, "x has 2 columns, expected 3");
    expect_query_error(c, with(bdl_none()), Status::ERROR_SHAPE, "x is empty");
    expect_query_error(c, with(bdl_f64(nullptr, 4, 3)), Status::ERROR_INVALID_ARGUMENT, "x has NULL data");
    expect_query_error(c, with(spoiled.array()), Status::ERROR_NOT_FINITE,
                       "x is not finite at row 2, column 1");
  }
}

void samples_must_be_in_range(void**) {
  for (const Case& c : all_calls)
    for (const Index samples : {Index{0}, Index{-1}, (Index{1} << 31) + 1, std::numeric_limits<Index>::max()})
      for (const bdl_predict_method method : {BDL_MONTE_CARLO, BDL_LINEARIZED_MONTE_CARLO}) {
        const Good good(c.kind);
        Query<double> query = good.query(samples);
        query.spec.method = method;
        expect_query_error(c, query, Status::ERROR_INVALID_ARGUMENT, "samples is");
      }
  const Good good(BDL_BERNOULLI);
  Query<double> query = good.query(0);
  query.spec.method = BDL_LINEARIZED;
  expect_query_error({BDL_BERNOULLI, call_draws}, query, Status::ERROR_INVALID_ARGUMENT, "samples is 0");
}

void quadrature_needs_one_layer_and_one_output(void**) {
  for (const Case& c : all_calls) {
    if (c.kind == BDL_CATEGORICAL) continue;
    for (const std::vector<Index>& sizes : {std::vector<Index>{3, 1, 1}, std::vector<Index>{3, 2}}) {
      const Good good(c.kind, sizes);
      Query<double> query = good.query();
      query.spec.method = BDL_QUADRATURE;
      expect_query_error(c, query, Status::ERROR_UNSUPPORTED, "");
    }
  }
  const Good good(BDL_GAUSSIAN, {3, 1, 1});
  expect_error(Status::ERROR_UNSUPPORTED, "quadrature needs a network with one layer and one output",
               [&] { check_query(quadrature(good.model, good.b, good.x)); });
  expect_error(Status::ERROR_UNSUPPORTED, "draws need method monte_carlo",
               [&] { predict_draws(plug_in(good.model, good.b, good.x), bdl_none_out()); });
}

void likelihoods_must_suit(void**) {
  for (const bdl_likelihood kind : {BDL_BERNOULLI, BDL_CATEGORICAL})
    for (const Call& call : {call_quantiles, call_interval})
      expect_query_error({kind, call}, Good(kind).query(), Status::ERROR_UNSUPPORTED, "no quantiles");
  for (const bdl_likelihood kind : {BDL_GAUSSIAN, BDL_POISSON})
    expect_query_error({kind, call_classes}, Good(kind).query(), Status::ERROR_UNSUPPORTED, "no classes");
}

void targets_must_suit(void**) {
  const Good good(BDL_POISSON);
  const auto refuse = [&](const Table& y, Status status, const char* word) {
    Table result(4, 1, {1, 2, 3, 4});
    expect_error(status, word, [&] { predict_log_density(good.query(), y.array(), result.out()); });
    assert_same_bits(result, Table(4, 1, {1, 2, 3, 4}));
    expect_error(status, word, [&] { expected_log_likelihood(good.query(), y.array()); });
  };
  refuse(Table(3, 2), Status::ERROR_SHAPE, "y has 3 rows, expected 4");
  refuse(Table(4, 1), Status::ERROR_SHAPE, "y has 1 columns, expected 2");
  Table y(4, 2);
  y(3, 1) = 0.5;
  refuse(y, Status::ERROR_LABEL, "y is 0.5 at row 3, column 1");
  y(3, 1) = quiet_nan;
  refuse(y, Status::ERROR_NOT_FINITE, "y is not finite at row 3, column 1");
}

void levels_must_be_probabilities(void**) {
  const Good good(BDL_GAUSSIAN);
  Outputs o;
  for (const double level : {0.0, 1.0, -0.5, 2.0}) {
    const Table wrong(1, 2, {0.5, level});
    expect_error(Status::ERROR_INVALID_ARGUMENT, "levels is",
                 [&] { predict_quantiles(good.query(), wrong.array(), Table(4, 4).out()); });
    expect_error(Status::ERROR_INVALID_ARGUMENT, "probability is",
                 [&] { predict_interval(good.query(), level, o.a.out(), o.b.out()); });
  }
  expect_error(Status::ERROR_INVALID_ARGUMENT, "probability is nan",
               [&] { predict_interval(good.query(), quiet_nan, o.a.out(), o.b.out()); });
  expect_error(Status::ERROR_NOT_FINITE, "levels is not finite",
               [&] { predict_quantiles(good.query(), Table(1, 1, {quiet_nan}).array(), o.a.out()); });
  expect_error(Status::ERROR_SHAPE, "levels has 2 rows, expected 1", [&] {
    predict_quantiles(good.query(), Table(2, 1, {0.5, 0.5}).array(), o.a.out());
  });
  o.check();
}

void outputs_must_fit(void**) {
  const Good good(BDL_GAUSSIAN);
  const auto q = good.query();
  Outputs o;
  Table wrong(4, 3);
  const OutArray w = wrong.out(), none = bdl_none_out();
  const auto refuse = [](const char* word, const std::function<void()>& call) {
    expect_error(Status::ERROR_SHAPE, word, call);
  };
  refuse("mean has 3 columns", [&] { predict_moments(q, w, o.b.out(), o.c.out()); });
  refuse("epistemic_variance has 3", [&] { predict_moments(q, o.a.out(), w, o.c.out()); });
  refuse("noise_variance has 3", [&] { predict_moments(q, o.a.out(), o.b.out(), w); });
  refuse("quantiles has 3 columns, expected 4", [&] { predict_quantiles(q, levels.array(), w); });
  refuse("lower has 3", [&] { predict_interval(q, 0.5, w, o.b.out()); });
  refuse("upper has 3", [&] { predict_interval(q, 0.5, o.a.out(), w); });
  refuse("log_density has 3", [&] { predict_log_density(q, numbers.array(), w); });
  refuse("draws has 3", [&] { predict_draws(q, w); });
  const Good classes(BDL_CATEGORICAL);
  refuse("probabilities has 3", [&] { predict_classes(classes.query(), w, none, none); });
  refuse("entropy has 2 columns, expected 1",
         [&] { predict_classes(classes.query(), o.a.out(), o.b.out(), none); });
  refuse("mutual_information has 2", [&] { predict_classes(classes.query(), none, none, o.b.out()); });
  const OutArray overlapping = bdl_strided_out(o.a.values.data(), BDL_F64, 4, 2, 1, 1);
  refuse("elements overlap", [&] { predict_moments(q, overlapping, none, none); });
  std::int32_t integers[8] = {};
  refuse("output of dtype i32",
         [&] { predict_moments(q, bdl_strided_out(integers, BDL_I32, 4, 2, 2, 1), none, none); });
  o.check();
}

/// Outputs that overflow though the inputs are ordinary.
void divergence_is_reported_before_anything_is_written(void**) {
  for (const Case& c : all_calls) {
    Good good(c.kind, {3, 2});
    std::ranges::fill(good.b.q->mean(), 1e308);
    for (Index j = 0; j < 3; ++j) good.x(3, j) = 9;
    expect_query_error(c, good.query(), Status::ERROR_DIVERGED, "has no meaning");
  }
}

void results_must_be_numbers(void**) {
  const Scalar huge(BDL_POISSON, 800, 1e-6);
  expect_error(Status::ERROR_DIVERGED, "expected log likelihood is -inf, which is not finite",
               [&] { expected_log_likelihood(plug_in(huge.model, huge.b, huge.x), Table(1, 1).array()); });
}

std::int32_t failing_outputs(void*, Array, Array, OutArray) {
  return 3;
}

void callbacks_may_fail(void**) {
  const UserModel<double> model(3, 4, Likelihood(BDL_GAUSSIAN, 2), {failing_outputs, nullptr, nullptr});
  TableRandom random(1);
  const auto b = belief<double>(Kind::diagonal, 4, 1, random);
  const Table x = normal_table(random, 4, 3);
  expect_query_error({BDL_GAUSSIAN, call_moments}, {model, *b.q, x.array(), {BDL_MONTE_CARLO, 3, 1}},
                     Status::ERROR_CALLBACK, "callback returned 3");
  expect_query_error({BDL_GAUSSIAN, call_moments}, {model, *b.q, x.array(), {BDL_QUADRATURE, 3, 1}},
                     Status::ERROR_UNSUPPORTED, "quadrature needs");
}

}  // namespace

int test_predict_errors() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(good_queries_succeed),
      cmocka_unit_test(x_must_be_right),
      cmocka_unit_test(samples_must_be_in_range),
      cmocka_unit_test(quadrature_needs_one_layer_and_one_output),
      cmocka_unit_test(likelihoods_must_suit),
      cmocka_unit_test(targets_must_suit),
      cmocka_unit_test(levels_must_be_probabilities),
      cmocka_unit_test(outputs_must_fit),
      cmocka_unit_test(divergence_is_reported_before_anything_is_written),
      cmocka_unit_test(results_must_be_numbers),
      cmocka_unit_test(callbacks_may_fail),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
