// Point parameters and running statistics in training: in every family, the posterior of the other parameters
// is what it is without them. Tests their steps, failed steps, and the options that they work with or refuse.
#include <limits>

#include "posterior/families.hpp"
#include "posterior/point_parameters.hpp"
#include "search/cross_validation.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"
#include "train/fit.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr const char* text = "input 3; dense 4; batchnorm; tanh; dense 3; batchnorm noaffine; dense 1";
constexpr Index examples = 12, data_size = 60;

template <class T>
std::shared_ptr<Network<T>> network() {
  return std::make_shared<Network<T>>(std::make_shared<const Graph<T>>(text), Likelihood(BDL_BERNOULLI, 1));
}

struct Problem {
  Dense x, y;
  explicit Problem(Index count = examples) : x(Random(3).normal(3, count)), y(1, count) {
    for (Index i = 0; i < count; ++i) y(0, i) = x(0, i) * x(1, i) > 0 ? 1 : 0;
  }
};

struct Case {
  const char *method, *family;
  Index rank;
};
constexpr Case cases[] = {{"slang", "low_rank", 2},
                          {"slang", "low_rank", 0},
                          {"vogn", "low_rank", 0},
                          {"slang", "full", 0},
                          {"slang", "layerwise_full", 0},
                          {"slang", "full_moment", 0},
                          {"slang", "diagonal_moment", 0},
                          {"slang-online-eig", "low_rank", 2},
                          {"bbb", "low_rank", 0},
                          {"map", "low_rank", 2},
                          {"map", "full", 0},
                          {"laplace", "low_rank", 2},
                          {"laplace", "layerwise_full", 0},
                          {"mc-dropout", "dropout", 0}};

template <class T>
std::shared_ptr<Posterior<T>> posterior_of(const Case& item, const Network<T>& model) {
  const Index d = model.parameters();
  const std::string family = item.family;
  const auto words = family_words();
  const auto number = std::ranges::find(words, family) - words.begin() + 1;
  PosteriorKind kind{static_cast<Family>(number), d, item.rank, {}, {}};
  if (family == "layerwise_full") kind.blocks = {16, 8, 15, 4};
  if (family == "dropout") {
    kind.dropout = DropoutLayout{layers_with_masks(*model.graph()), 0.1, 0.2};
    kind.point_parameters = point_parameters_of<T>(model);
  }
  return create_posterior<T>(kind);
}

template <class T>
struct Trained {
  std::shared_ptr<Network<T>> model = network<T>();
  std::shared_ptr<Posterior<T>> q;
  std::unique_ptr<Optimizer<T>> optimizer;

  explicit Trained(const Case& item)
      : q(posterior_of<T>(item, *model)),
        optimizer(std::make_unique<Optimizer<T>>(model, q, find_method(item.method), data_size)) {}
  void step(const Problem& problem, int count) {
    for (int k = 0; k < count; ++k) step_on(*optimizer, problem.x, problem.y);
  }
  void fit(const Problem& problem, Index epochs) {
    bdl::fit(*optimizer, bdl_f64(problem.x.values.data(), problem.x.cols, 3),
             bdl_f64(problem.y.values.data(), problem.x.cols, 1), epochs, {});
  }
};

/// Bits of all that is believed.
template <class T>
std::vector<double> numbers_of(const Posterior<T>& q) {
  std::vector<double> out;
  q.read_tensors([&](const PosteriorTensor<const T>& tensor) {
    tensor.with([&](const auto& values) {
      for (Index j = 0; j < values.cols; ++j)
        for (Index i = 0; i < values.rows; ++i) out.push_back(static_cast<double>(values(i, j)));
    });
  });
  return out;
}

std::vector<Index> uncertain(const PointLayout& points, Index dimension) {
  std::vector<Index> out;
  for_each_uncertain(points, dimension, [&](Index offset, Index size) {
    for (Index i = offset; i < offset + size; ++i) out.push_back(i);
  });
  return out;
}

/// Returns the posterior of the other parameters, with this dense precision.
template <class T>
std::unique_ptr<Posterior<T>> without_points(const Posterior<T>& q, const Dense& precision) {
  const auto kept = uncertain(q.point_parameters(), q.dimension());
  const auto count = static_cast<Index>(kept.size());
  Dense part(count, count);
  for (Index j = 0; j < count; ++j)
    for (Index i = 0; i < count; ++i) part(i, j) = precision(kept[at(i)], kept[at(j)]);
  auto out = full_of<T>(part);
  for (Index i = 0; i < count; ++i) out->mean()[at(i)] = q.mean()[at(kept[at(i)])];
  return out;
}

template <class T>
void points_add_nothing(void**) {
  const double tolerance = sizeof(T) == 8 ? 1e-12 : 1e-4;
  for (const Case& item : cases) {
    Trained<T> t(item);
    t.fit(Problem(data_size), 3);
    const Posterior<T>& q = *t.q;
    if (!q.is_gaussian()) continue;
    assert_true((q.point_parameters().ranges == std::vector<ParameterRange>{{16, 8}}));
    assert_int_equal(q.point_parameters().statistics, 14);
    const Dense precision = dense_precision(q);
    // The precision of full_moment is an inverse, whose rounding grows with its size.
    const double exact = static_cast<double>(precision.rows) * std::numeric_limits<T>::epsilon();
    for (Index j = 16; j < 24; ++j)
      for (Index i = 0; i < precision.rows; ++i) {
        assert_near(item.family, precision(i, j), i == j ? 1 : 0, exact);
        assert_near(item.family, precision(j, i), i == j ? 1 : 0, exact);
      }
    const auto other = without_points(q, precision);
    Scratch scratch;
    assert_near("log det", q.log_det_covariance(), other->log_det_covariance(), tolerance);
    assert_near("entropy", entropy(q), entropy(*other), tolerance);
    const auto kept = uncertain(q.point_parameters(), q.dimension());
    std::vector<T> all(at(q.dimension())), some;
    for (std::size_t p = 0; p < all.size(); ++p) all[p] = static_cast<T>(0.5 + static_cast<double>(p));
    for (const Index p : kept) some.push_back(all[at(p)]);
    assert_near("KL to precisions", kl_to_prior<T>(q, all, scratch), kl_to_prior<T>(*other, some, scratch),
                tolerance);
    some.clear();
    for (const Index p : kept) some.push_back(t.optimizer->prior().precision()[at(p)]);
    assert_near("KL to the prior", kl_from_prior(*t.optimizer), kl_to_prior<T>(*other, some, scratch),
                tolerance);
    for (Index p = 16; p < 24; ++p) assert_true(t.optimizer->prior().precision()[at(p)] == 1);
    std::vector<T> theta(at(q.dimension())), part;
    for (Index p = 0; p < q.dimension(); ++p)
      theta[at(p)] = q.mean()[at(p)] + static_cast<T>(0.01 * std::sin(p));
    for (const Index p : kept) part.push_back(theta[at(p)]);
    assert_near("log density", log_density<T>(q, theta, scratch), log_density<T>(*other, part, scratch),
                tolerance);
    const auto copy = q.clone();
    copy->mean()[18] += 1;
    assert_near("KL to another point", kl<T>(q, *copy, scratch), 0, tolerance * 100);
  }
}

template <class T>
void readers_see_no_variance(void**) {
  for (const Case& item : cases) {
    Trained<T> t(item);
    t.step(Problem(), 4);
    const Posterior<T>& q = *t.q;
    const Index d = q.dimension();
    Scratch scratch;
    Padded<T> draws(poison(d, 3)), variance(poison(d, 1)), solved(Random(5).normal(d, 2));
    sample(q, {4, Stream::user, 0, 0}, draws.view(), scratch);
    read_marginal_variance(q, variance.column(), scratch);
    read_solution(q, solved.view(), scratch);
    for (Index p = 16; p < 24; ++p) {
      for (Index s = 0; s < 3; ++s) assert_true(draws.get()(p, s) == q.mean()[at(p)]);
      assert_true(variance.get()(p, 0) == 0 && solved.get()(p, 0) == 0 && solved.get()(p, 1) == 0);
    }
    bool varies = !q.is_gaussian();  // masks may be equal
    for (Index p = 0; p < 12; ++p)
      varies = varies || (draws.get()(p, 0) != draws.get()(p, 1) && variance.get()(p, 0) > 0);
    assert_true(varies);
    const std::vector<Index> rows{17, 0}, cols{17, 0};
    Padded<double> block(poison(2, 2));
    covariance_block<T>(q, rows, cols, block.view(), scratch);
    assert_true(block.get()(0, 0) == 0 && block.get()(0, 1) == 0 && block.get()(1, 0) == 0 &&
                block.get()(1, 1) > 0);
    if (!q.is_gaussian()) continue;
    read_precision_diagonal(q, variance.column());
    assert_true(std::isinf(variance.get()(16, 0)) && std::isfinite(variance.get()(0, 0)));
  }
}

/// Draws at the mean.
class MeanDraws final : public DrawSource<double> {
 public:
  void parameters(const Posterior<double>& q, DrawPlace, MatrixView<double> thetas, Scratch&) override {
    for (Index s = 0; s < thetas.cols; ++s) {
      std::ranges::copy(q.mean(), thetas.column_data(s));
      thetas(17, s) = 99;  // nobody may
    }
  }
  void probes(const Posterior<double>&, DrawPlace, MatrixView<double>) override {}
};

/// The first two steps of points, and the statistics that they leave, by formulas.
void steps_are_preconditioned_gradients(void**) {
  for (const char* family : {"low_rank", "full", "layerwise_full", "full_moment", "diagonal_moment"}) {
    Trained<double> t({"slang", family, 0});
    const Problem problem;
    Options options = t.optimizer->options();
    options.guard = 0;
    options.samples = 3;
    options.momentum = 0.6;
    options.learning_rate = 0.1;
    options.curvature_rate = 0.3;
    options.point_damping = 0.01;
    options.initial_precision = 1000;  // so that no step of a covariance is shortened
    t.optimizer->set_options(options);
    t.optimizer->set_draws(std::make_shared<MeanDraws>());
    initialize(*t.optimizer);
    const auto estimator = make_estimator<double>(*t.model);
    std::vector<double> s(8), momentum(8),
        statistics(std::as_const(*t.q).statistics().begin(), std::as_const(*t.q).statistics().end());
    assert_true(statistics[0] == 0 && statistics[7] == 1);
    for (int step = 0; step < 2; ++step) {
      const std::vector<double> mean(std::as_const(*t.q).mean().begin(), std::as_const(*t.q).mean().end());
      Dense thetas(t.q->dimension(), 3);
      for (Index k = 0; k < 3; ++k) std::ranges::copy(mean, thetas.column(k));
      const Padded<double> at_mean(thetas), x(problem.x), y(problem.y);
      const double scale = data_size / (3.0 * examples);
      SeedSpec spec;
      spec.scale = scale;
      spec.statistics = {statistics, statistics};
      const auto estimate = estimator->estimate(at_mean.get(), x.get(), y.get(), spec);
      std::vector<double> gradient(mean.size()), squares(8);
      estimate.rows->sum(estimate.c, gradient);
      estimator->point_squares(estimate.w, squares);
      step_on(*t.optimizer, problem.x, problem.y);
      for (std::size_t k = 0; k < 8; ++k) {
        const double h = squares[k] / data_size, weight = step == 0 ? 1 : 0.3;
        s[k] += weight * (h - s[k]);
        momentum[k] = 0.6 * momentum[k] + 0.4 * gradient[16 + k];
        const double m = momentum[k] / (1 - std::pow(0.6, step + 1));
        assert_near(family, std::as_const(*t.q).mean()[16 + k],
                    mean[16 + k] - 0.1 * m / (data_size * (s[k] + 0.01)), 1e-12);
      }
      assert_close("statistics", column_of(std::as_const(*t.q).statistics()), column_of(statistics), 1e-14);
    }
  }
}

/// A step that fails changes nothing, and one that is as it should be gives what it would have given.
template <class T>
void failed_steps_change_nothing(void**) {
  for (const Case& item : cases) {
    Trained<T> failing(item), other(item);
    const Problem problem, one(1);
    for (int k = 0; k < 4; ++k) {
      step_on(*other.optimizer, problem.x, problem.y);
      const auto before = numbers_of(*failing.q);
      expect_error(Status::ERROR_INVALID_ARGUMENT, "layer \"batchnorm\" (line 3)",
                   [&] { step_on(*failing.optimizer, one.x, one.y); });
      if (k > 0) assert_true(numbers_of(*failing.q) == before);
      step_on(*failing.optimizer, problem.x, problem.y);
    }
    assert_true(numbers_of(*failing.q) == numbers_of(*other.q));
  }
}

/// Back to the last good state, statistics and all.
void a_run_away_is_taken_back(void**) {
  Trained<double> t({"slang", "low_rank", 2});
  const Problem problem;
  Options options = t.optimizer->options();
  options.guard = 0;
  t.optimizer->set_options(options);
  t.step(problem, 1);  // the state before it is the good one
  const auto start = t.q->clone();
  t.optimizer->watch.forget();
  Problem broken = problem;
  broken.x = 1e3 * broken.x;
  options.learning_rate = 1e6;
  t.optimizer->set_options(options);
  for (int k = 0; k < 50; ++k) {
    try {
      step_on(*t.optimizer, broken.x, broken.y);
    } catch (const Error& error) {
      assert_true(error.status() == Status::ERROR_DIVERGED);
      assert_true(numbers_of(*t.q) != numbers_of(*start));
      assert_true(t.optimizer->watch.go_back(*t.optimizer));
      assert_true(numbers_of(*t.q) == numbers_of(*start));
      return;
    }
  }
  fail_msg("no step failed");
}

void copies_have_points_and_statistics(void**) {
  for (const Case& item : cases) {
    Trained<double> t(item);
    t.step(Problem(), 2);
    const auto copy = t.q->clone();
    assert_true(numbers_of(*copy) == numbers_of(*t.q) && copy->point_parameters() == t.q->point_parameters());
    const auto single = converted<float>(*t.q);
    assert_true(single->point_parameters() == t.q->point_parameters());
    assert_true(std::ranges::equal(std::as_const(*single).statistics(), std::as_const(*t.q).statistics()));
    const auto before = numbers_of(*t.q);
    t.step(Problem(), 1);
    const auto after = numbers_of(*t.q);
    assert_true(before != after && numbers_of(*copy) == before);
    t.q->swap(*copy);
    assert_true(numbers_of(*t.q) == before && numbers_of(*copy) == after);
    t.q->assign(*copy);
    assert_true(numbers_of(*t.q) == after);
    t.q->reset();
    assert_true(std::as_const(*t.q).statistics()[0] == 0 && std::as_const(*t.q).statistics()[13] == 1);
  }
}

/// Groups are those of the other parameters, whichever way they are made.
void prior_groups_are_without_points(void**) {
  using enum PriorGroups;
  const auto model = network<double>();
  for (const auto& [grouping, count] :
       {std::pair(shared, 1), {weights_biases, 2}, {layers, 3}, {blocks, 6}}) {
    Options options;
    options.prior_groups = grouping;
    options.prior_precision = 4;
    Prior<double> prior(model->blocks(), options);
    assert_int_equal(prior.groups().size(), count);
    for (const double group : prior.groups()) assert_true(group == 4);
    for (Index p = 0; p < model->parameters(); ++p)
      assert_true(prior.precision()[at(p)] == (p >= 16 && p < 24 ? 1 : 4));
    Padded<double> theta(Dense(model->parameters(), 1, 3));
    for (Index p = 16; p < 24; ++p) theta.view()(p, 0) = 1e6;
    std::vector<double> squares(prior.groups().size()), slope(at(model->parameters()), 1);
    prior.mean_squares(theta.get(), squares);
    for (const double square : squares) assert_near("mean square", square, 9, 1e-14);
    std::vector<double> out(slope.size());
    Scratch scratch;
    prior.slope(theta.column(), 2, slope, out, scratch);
    for (Index p = 0; p < model->parameters(); ++p)
      assert_near("slope", out[at(p)], p >= 16 && p < 24 ? 2 : 14, 1e-14);
    prior.fix(slope);
    assert_true(prior.precision()[16] == 1);
  }
}

/// As a search makes them: the same network, untrained.
void blank_copies_begin_anew(void**) {
  for (const Case& item : cases) {
    Trained<double> t(item);
    t.step(Problem(), 2);
    const auto copy = blank_copy(*t.optimizer, 40);
    const Posterior<double>& q = *copy->posterior();
    assert_true(q.is_blank() && q.point_parameters() == t.q->point_parameters() && q.statistics()[0] == 0 &&
                q.statistics()[13] == 1);
    step_on(*copy, Problem().x, Problem().y);
  }
}

void written_tensors_leave_points_alone(void**) {
  for (const char* family : {"low_rank", "full", "layerwise_full", "full_moment", "diagonal_moment"}) {
    Trained<double> t({"slang", family, 2});
    t.step(Problem(), 1);
    set_tensors<double>(*t.q, [](const PosteriorTensor<double>& tensor) {
      if (tensor.role == TensorRole::factor) return false;
      tensor.with([&](const auto& values) {
        for (Index j = 0; j < values.cols; ++j)
          for (Index i = 0; i < values.rows; ++i) values(i, j) = i == j || tensor.is_vector ? 3 : 0.01;
      });
      return true;
    });
    const Dense precision = dense_precision(*t.q);
    for (Index i = 0; i < precision.rows; ++i) assert_near(family, precision(i, 20), i == 20 ? 1 : 0, 1e-15);
    assert_true(std::as_const(*t.q).statistics()[3] == 3);
    expect_error(Status::ERROR_INVALID_ARGUMENT, "running_variance is -1", [&] {
      set_tensors<double>(*t.q, [](const PosteriorTensor<double>& tensor) {
        if (tensor.role == TensorRole::variance) tensor.wide(0, 2) = -1;
        return tensor.role == TensorRole::variance;
      });
    });
  }
}

void what_does_not_fit_is_refused(void**) {
  const auto model = network<double>();
  const auto plain = make_network<double>({3, 4, 1}, Likelihood(BDL_BERNOULLI, 1));
  const Index d = model->parameters();
  auto used = make_posterior<double>(d, 0);
  used->set_blank(false);
  const auto create = [](const auto& of, const auto& q, const char* method) {
    return std::make_unique<Optimizer<double>>(of, q, find_method(method), data_size);
  };
  expect_error(Status::ERROR_SHAPE, "layer \"batchnorm\" (line 3)", [&] { create(model, used, "slang"); });
  assert_true(used->point_parameters().is_empty());
  const auto q = make_posterior<double>(d, 0);
  const auto first = create(model, q, "slang");
  create(model, q, "vogn");
  std::shared_ptr<Network<double>> other = make_network<double>({d - 1, 1}, Likelihood(BDL_BERNOULLI, 1));
  expect_error(Status::ERROR_SHAPE, "point parameters", [&] { create(other, q, "slang"); });
  expect_error(Status::ERROR_SHAPE, "point parameters",
               [&] { create(std::shared_ptr<Model<double>>(), q, "slang"); });
  for (const char* method : {"von", "slang-ggn", "slang-lin-hess", "slang-lin-ef", "bong", "lo-fi"}) {
    const auto fresh = make_posterior<double>(d, std::string(method) == "von" ? 0 : 2);
    expect_error(Status::ERROR_UNSUPPORTED, "layer \"batchnorm\" (line 3)",
                 [&] { create(model, fresh, method); });
    assert_true(fresh->point_parameters().is_empty());
  }
  expect_error(Status::ERROR_UNSUPPORTED, "layer \"batchnorm\" (line 3)", [&] {
    Options options = first->options();
    options.curvature = EstimateKind::mc_ggn;
    first->check_options(options);
  });
  expect_error(Status::ERROR_UNSUPPORTED, "layer \"batchnorm\" (line 3)",
               [&] { first->check_use(Use::rows); });
}

/// A learned posterior becomes a prior: point parameters begin where its own are, and have no prior.
void beliefs_are_priors(void**) {
  for (const char* family : {"low_rank", "full", "layerwise_full"}) {
    Trained<double> first({"slang", family, 2}), second({"slang", family, 2});
    first.step(Problem(), 5);
    second.optimizer->set_prior(first.q->clone());
    initialize(*second.optimizer);
    assert_true(std::ranges::equal(std::as_const(*second.q).mean(), std::as_const(*first.q).mean()));
    assert_true(
        std::ranges::equal(std::as_const(*second.q).statistics(), std::as_const(*first.q).statistics()));
    second.step(Problem(), 5);
    const Dense precision = dense_precision(*second.q);
    for (Index i = 0; i < precision.rows; ++i) assert_near(family, precision(i, 20), i == 20 ? 1 : 0, 1e-15);
    assert_true(kl_from_prior(*second.optimizer) > 0);
    Trained<double> third({"slang", family, 2});
    expect_error(Status::ERROR_SHAPE, "point parameters", [&] {
      third.optimizer->set_prior(std::shared_ptr<Posterior<double>>(make_posterior<double>(43, 2)));
    });
  }
}

}  // namespace

int test_points() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(points_add_nothing<float>),
      cmocka_unit_test(points_add_nothing<double>),
      cmocka_unit_test(readers_see_no_variance<float>),
      cmocka_unit_test(readers_see_no_variance<double>),
      cmocka_unit_test(steps_are_preconditioned_gradients),
      cmocka_unit_test(failed_steps_change_nothing<float>),
      cmocka_unit_test(failed_steps_change_nothing<double>),
      cmocka_unit_test(a_run_away_is_taken_back),
      cmocka_unit_test(copies_have_points_and_statistics),
      cmocka_unit_test(prior_groups_are_without_points),
      cmocka_unit_test(blank_copies_begin_anew),
      cmocka_unit_test(written_tensors_leave_points_alone),
      cmocka_unit_test(what_does_not_fit_is_refused),
      cmocka_unit_test(beliefs_are_priors),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
