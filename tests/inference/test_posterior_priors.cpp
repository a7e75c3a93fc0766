// A posterior as prior: what was learned from some data is where learning from more begins. In
// linear-Gaussian models, two parts one after the other give what both together do.
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <string>

#include "c_api/handles.hpp"
#include "support/dense.hpp"

namespace {

using bdl::testing::Dense;
using bdl::testing::diagonal_matrix;
using bdl::testing::diagonal_of;
using bdl::testing::identity;
using bdl::testing::inverse_of;
using bdl::testing::transposed;

constexpr int64_t examples = 24, inputs = 4;
constexpr double noise_precision = 3;

/// How a posterior is made; low-rank ones of rank D.
enum class Kind { full, full_moment, layerwise, low_rank, diagonal, diagonal_moment };
const char* const words[] = {"full", "full moment", "layerwise", "low rank", "diagonal", "diagonal moment"};

bool is_diagonal(Kind kind) {
  return kind == Kind::diagonal || kind == Kind::diagonal_moment;
}

Posterior posterior_for(Kind kind, bdl_dtype dtype = BDL_F64, int64_t rank = inputs) {
  const int64_t whole[] = {inputs};
  bdl_posterior* q = nullptr;
  switch (kind) {
    case Kind::full:
      OK(bdl_posterior_create_full(dtype, inputs, &q));
      break;
    case Kind::full_moment:
      OK(bdl_posterior_create_full_moment(dtype, inputs, &q));
      break;
    case Kind::layerwise:
      OK(bdl_posterior_create_blockwise_full(dtype, whole, 1, &q));
      break;
    case Kind::diagonal_moment:
      OK(bdl_posterior_create_diagonal_moment(dtype, inputs, &q));
      break;
    default:
      OK(bdl_posterior_create_low_rank(dtype, inputs, kind == Kind::diagonal ? 0 : rank, &q));
  }
  return Posterior(q);
}

/// Columns of 1 and -1 that are orthogonal within every four rows, or anything.
struct Data {
  Dense x{examples, inputs}, y{examples, 1};
  explicit Data(bool orthogonal) {
    for (int64_t i = 0; i < examples; ++i) {
      for (int64_t k = 0; k < inputs; ++k)
        x(i, k) = orthogonal
                      ? (__builtin_popcountll(static_cast<unsigned long long>(i & k)) % 2 == 0 ? 1 : -1)
                      : std::sin(1.3 * static_cast<double>(i) * static_cast<double>(k + 1) + 0.4);
      y(i, 0) = std::cos(0.9 * static_cast<double>(i)) + x(i, 1);
    }
  }
  bdl_matrix inputs_of(int64_t first, int64_t count) const {
    return bdl_strided(x.values.data() + first, BDL_F64, count, inputs, 1, examples);
  }
  bdl_matrix targets_of(int64_t first, int64_t count) const {
    return bdl_f64(y.values.data() + first, count, 1);
  }
};

Learner make_learner(Posterior posterior, const char* method, int64_t count) {
  Model model = make_mlp(BDL_F64, {inputs, 1}, BDL_GAUSSIAN, false, BDL_IDENTITY);
  const double tau = noise_precision;
  OK(bdl_model_set_noise_precision(model.get(), bdl_f64(&tau, 1, 1)));
  Optimizer optimizer = make_optimizer(model, posterior, count, method);
  Learner l{std::move(model), std::move(posterior), std::move(optimizer)};
  l.set("learn_noise", 0);
  l.set("learn_prior", 0);
  return l;
}

void take_prior(Learner& l, const Posterior& prior) {
  OK(bdl_optimizer_set_prior_posterior(l.optimizer.get(), prior.get()));
}

void learn(Learner& l, const char* method, const Data& data, int64_t first, int64_t count) {
  const bdl_matrix x = data.inputs_of(first, count), y = data.targets_of(first, count);
  Dense scores(count, 1);
  if (std::strncmp(method, "exact-", 6) == 0) return l.fit(x, y, 1000);
  l.set_if_read("block=0");
  OK(bdl_optimizer_observe(l.optimizer.get(), x, y, bdl_f64_out(scores.values.data(), count, 1)));
}

Dense precision_of(const Posterior& q) {
  Dense covariance(inputs, inputs);
  int64_t all[inputs];
  for (int64_t k = 0; k < inputs; ++k) all[k] = k;
  OK(bdl_posterior_covariance(q.get(), all, inputs, all, inputs,
                              bdl_f64_out(covariance.values.data(), inputs, inputs)));
  return inverse_of(covariance);
}

void assert_posterior(const char* what, const Posterior& q, const Dense& mean, const Dense& precision,
                      double tolerance) {
  const Dense got = precision_of(q);
  const Vector got_mean = mean_of(q);
  for (int64_t i = 0; i < inputs; ++i) {
    if (!(std::abs(got_mean[static_cast<std::size_t>(i)] - mean(i, 0)) <= tolerance))
      fail_msg("%s: mean %d is %.17g, expected %.17g", what, static_cast<int>(i),
               got_mean[static_cast<std::size_t>(i)], mean(i, 0));
    for (int64_t j = 0; j < inputs; ++j)
      if (!(std::abs(got(i, j) - precision(i, j)) <= tolerance * precision(i, i)))
        fail_msg("%s: precision (%d, %d) is %.17g, expected %.17g", what, static_cast<int>(i),
                 static_cast<int>(j), got(i, j), precision(i, j));
  }
}

/// N(0, I) and all data.
void assert_of_all_data(const char* what, const Posterior& q, const Data& data, double tolerance) {
  const Dense precision = identity(inputs) + noise_precision * (transposed(data.x) * data.x),
              mean = inverse_of(precision) * (noise_precision * (transposed(data.x) * data.y));
  assert_posterior(what, q, mean, precision, tolerance);
}

struct Course {
  const char* method;
  Kind kind;
  double tolerance = 1e-9;
};

const Course courses[] = {{"exact-full", Kind::full},
                          {"exact-full", Kind::layerwise},
                          {"exact-low-rank", Kind::low_rank},
                          {"exact-diagonal", Kind::diagonal},
                          {"ekf", Kind::full},
                          {"ekf", Kind::layerwise},
                          {"lo-fi", Kind::low_rank},
                          {"vd-ekf", Kind::diagonal}};

void two_parts_are_the_whole(void**) {
  for (const Course& course : courses) {
    const Data data(is_diagonal(course.kind));
    Learner first = make_learner(posterior_for(course.kind), course.method, 12);
    take_prior(first, posterior_for(course.kind));  // N(0, I): a stream of a network would have another mean
    learn(first, course.method, data, 0, 12);
    Learner second = make_learner(posterior_for(course.kind), course.method, 12);
    take_prior(second, first.posterior);
    learn(second, course.method, data, 12, 12);
    assert_of_all_data(course.method, second.posterior, data, course.tolerance);
  }
}

/// Any family's posterior, in either arithmetic, as the prior of full ones; and of low-rank ones those that
/// are.
void families_take_each_other(void**) {
  for (const Kind of : {Kind::full, Kind::full_moment, Kind::layerwise, Kind::low_rank, Kind::diagonal,
                        Kind::diagonal_moment})
    for (const Kind by : {Kind::full, Kind::layerwise, Kind::low_rank})
      for (const bdl_dtype dtype : {BDL_F64, BDL_F32}) {
        if (by == Kind::low_rank && of != Kind::low_rank && !is_diagonal(of)) continue;
        const Data data(is_diagonal(of));
        Learner first = make_learner(posterior_for(is_diagonal(of) ? Kind::diagonal : Kind::full),
                                     is_diagonal(of) ? "exact-diagonal" : "exact-full", 12);
        learn(first, "exact-", data, 0, 12);
        const Posterior prior = posterior_for(of, dtype);
        const Vector mean = mean_of(first.posterior);
        const Dense precision = precision_of(first.posterior), covariance = inverse_of(precision),
                    lambda = diagonal_of(precision), variance = diagonal_of(covariance),
                    u = bdl::testing::cholesky_of(precision - 0.5 * identity(inputs));
        const Dense rows = transposed(u), half(inputs, 1, 0.5);
        const bdl_matrix mu = bdl_f64(mean.data(), 1, inputs);
        const auto square = [](const Dense& a) { return bdl_f64(a.values.data(), inputs, inputs); };
        const auto vector = [](const Dense& a) { return bdl_f64(a.values.data(), 1, inputs); };
        const char* const names[] = {"mean", "block0.precision"};
        const bdl_matrix values[] = {mu, square(precision)};
        switch (of) {
          case Kind::full:
            OK(bdl_posterior_set_full(prior.get(), mu, square(precision)));
            break;
          case Kind::full_moment:
            OK(bdl_posterior_set_full_moment(prior.get(), mu, square(covariance)));
            break;
          case Kind::layerwise:
            OK(bdl_posterior_set_tensors(prior.get(), names, values, 2));
            break;
          case Kind::low_rank:
            OK(bdl_posterior_set_low_rank(prior.get(), mu, square(rows), vector(half)));
            break;
          case Kind::diagonal:
            OK(bdl_posterior_set_low_rank(prior.get(), mu, bdl_none(), vector(lambda)));
            break;
          default:
            OK(bdl_posterior_set_diagonal_moment(prior.get(), mu, vector(variance)));
        }
        for (const bool in_stream : {false, true}) {
          const char* const method = by == Kind::low_rank ? (in_stream ? "lo-fi" : "exact-low-rank")
                                                          : (in_stream ? "ekf" : "exact-full");
          Learner second = make_learner(posterior_for(by), method, 12);
          take_prior(second, prior);
          learn(second, method, data, 12, 12);
          const std::string what = std::string(words[static_cast<int>(of)]) + " for " + method;
          assert_of_all_data(what.c_str(), second.posterior, data, dtype == BDL_F32 ? 1e-5 : 1e-9);
        }
      }
}

/// A prior with dense precision, and its parts.
struct Given {
  Posterior q = posterior_for(Kind::full);
  Dense precision{inputs, inputs}, mean{inputs, 1};
  Given() {
    for (int64_t j = 0; j < inputs; ++j) {
      mean(j, 0) = 0.3 * static_cast<double>(j) - 0.5;
      for (int64_t i = 0; i < inputs; ++i)
        precision(i, j) = (i == j ? 3.0 : 0.0) + std::cos(static_cast<double>(i + j));
    }
    OK(bdl_posterior_set_full(q.get(), bdl_f64(mean.values.data(), 1, inputs),
                              bdl_f64(precision.values.data(), inputs, inputs)));
  }
};

Dense column(const Vector& values) {
  Dense out(inputs, 1);
  for (int64_t i = 0; i < inputs; ++i) out(i, 0) = values[static_cast<std::size_t>(i)];
  return out;
}

/// One step of natural and plain gradients on one example, each against its formula with the whole Lambda_0.
void steps_have_the_whole_precision(void**) {
  const Data data(false);
  const Given given;
  const double start[inputs] = {0.2, -0.1, 0.4, 0.3}, a = 0.3, b = 0.2;
  const Dense x = transposed(data.x), h = noise_precision * (x * data.x);
  for (const Kind kind : {Kind::full, Kind::layerwise, Kind::diagonal}) {
    Learner l = make_learner(posterior_for(kind), "slang-lin-hess", examples);
    const char* const names[] = {"mean"};
    const bdl_matrix values[] = {bdl_f64(start, 1, inputs)};
    OK(bdl_posterior_set_tensors(l.posterior.get(), names, values, 1));
    take_prior(l, given.q);
    for (const char* const name : {"momentum", "guard"}) l.set(name, 0.0);
    l.set("learning_rate", a);
    l.set("curvature_rate", b);
    OK(bdl_optimizer_step(l.optimizer.get(), data.inputs_of(0, examples), data.targets_of(0, examples)));
    Dense mean = column({start[0], start[1], start[2], start[3]}),
          precision = (1 - b) * identity(inputs) + b * (h + given.precision);
    if (kind == Kind::diagonal) precision = diagonal_matrix(diagonal_of(precision));
    const Dense gradient = h * mean - noise_precision * (x * data.y) + given.precision * (mean - given.mean);
    assert_posterior(words[static_cast<int>(kind)], l.posterior,
                     mean - a * (inverse_of(precision) * gradient), precision, 1e-12);
  }
  for (const char* const method : {"map", "bbb"}) {
    Learner l = make_learner(posterior_for(Kind::diagonal), method, examples);
    const char* const names[] = {"mean"};
    const bdl_matrix values[] = {bdl_f64(start, 1, inputs)};
    OK(bdl_posterior_set_tensors(l.posterior.get(), names, values, 1));
    take_prior(l, given.q);
    l.set("descent", "sgd");
    l.set("curvature", "lin-hess");
    l.set("momentum", 0.0);
    l.set("learning_rate", a);
    OK(bdl_optimizer_step(l.optimizer.get(), data.inputs_of(0, examples), data.targets_of(0, examples)));
    const Dense mean = column({start[0], start[1], start[2], start[3]}),
                gradient = h * mean - noise_precision * (x * data.y) + given.precision * (mean - given.mean),
                expected = mean - a / examples * gradient;
    const Vector got = mean_of(l.posterior), variance = variance_of(l.posterior);
    for (int64_t i = 0; i < inputs; ++i) {
      const auto k = static_cast<std::size_t>(i);
      assert_close(got[k], expected(i, 0), 1e-12, method);
      // sigma = 1 at the start: d loss / d log sigma = (H + Lambda_0 - 1) / N.
      const double slope = (h(i, i) + given.precision(i, i) - 1) / examples;
      if (!std::strcmp(method, "bbb")) assert_close(variance[k], std::exp(-2 * a * slope), 1e-12, method);
    }
  }
}

/// A low-rank posterior of less rank than the prior: its step is the projection of the whole one.
void low_rank_steps_have_the_priors_columns(void**) {
  const Data data(false);
  const Posterior prior = posterior_for(Kind::low_rank, BDL_F64, 2);
  const double u[inputs * 2] = {1, 0.5, -0.3, 2, 0.7, 0.1, 1.1, -0.9}, d[inputs] = {1, 2, 3, 4},
                          mu[inputs] = {0.1, 0.2, 0.3, 0.4};
  OK(bdl_posterior_set_low_rank(prior.get(), bdl_f64(mu, 1, inputs), bdl_f64(u, inputs, 2),
                                bdl_f64(d, 1, inputs)));
  for (const char* const eigen : {"gram", "outer"})
    for (const int64_t rank : {1, 3, 4}) {
      Learner l = make_learner(posterior_for(Kind::low_rank, BDL_F64, rank), "slang-lin-hess", examples);
      take_prior(l, prior);
      l.set("eigen_method", eigen);
      for (const char* const name : {"momentum", "guard"}) l.set(name, 0.0);
      l.set("learning_rate", 0.1);
      l.set("curvature_rate", 0.5);
      l.set("initial_precision", 2.0);
      OK(bdl_optimizer_step(l.optimizer.get(), data.inputs_of(0, 3), data.targets_of(0, 3)));
      Dense factor(inputs, 2), diagonal(inputs, 1), x(inputs, 3), y(3, 1);
      for (int64_t i = 0; i < inputs; ++i) {
        diagonal(i, 0) = d[i];
        for (int64_t k = 0; k < 2; ++k) factor(i, k) = u[2 * i + k];
        for (int64_t k = 0; k < 3; ++k) x(i, k) = data.x(k, i);
      }
      for (int64_t k = 0; k < 3; ++k) y(k, 0) = data.y(k, 0);
      const double weight = noise_precision * examples / 3;
      const Dense whole = 0.5 * (weight * (x * transposed(x)) + factor * transposed(factor)),
                  kept = bdl::testing::top_part(whole, rank);
      Dense precision = kept;
      for (int64_t i = 0; i < inputs; ++i)
        precision(i, i) += 0.5 * 2 + 0.5 * diagonal(i, 0) + whole(i, i) - kept(i, i);
      const Dense mean = column({mu[0], mu[1], mu[2], mu[3]}),  // where a blank posterior starts
          gradient = weight * (x * (transposed(x) * mean - y));
      assert_posterior(eigen, l.posterior, mean - 0.1 * (inverse_of(precision) * gradient), precision, 1e-10);
    }
}

void the_elbo_has_the_whole_prior(void**) {
  const Data data(false);
  const Given given;
  for (const Kind kind : {Kind::full, Kind::diagonal, Kind::layerwise}) {
    Learner l = make_learner(posterior_for(kind), "slang-ggn", examples);
    take_prior(l, given.q);
    l.fit(data.inputs_of(0, examples), data.targets_of(0, examples), 2);
    double kl = 0, expected = 0, running = 0;
    OK(bdl_optimizer_elbo(l.optimizer.get(), data.inputs_of(0, examples), data.targets_of(0, examples), 0, 1,
                          nullptr, &kl));
    OK(bdl_optimizer_running_elbo(l.optimizer.get(), nullptr, &running));
    OK(bdl_posterior_kl(l.posterior.get(), given.q.get(), &expected));
    assert_true(kl == expected && running == expected);
    Vector lambda(inputs);
    OK(bdl_optimizer_get_prior(l.optimizer.get(), bdl_f64_out(lambda.data(), 1, inputs)));
    for (int64_t i = 0; i < inputs; ++i)
      assert_close(lambda[static_cast<std::size_t>(i)], given.precision(i, i), 1e-15, "precision");
  }
}

void laplace_adds_the_whole_precision(void**) {
  const Data data(false);
  const Given given;
  const Dense h = noise_precision * (transposed(data.x) * data.x);
  for (const Kind kind : {Kind::full, Kind::layerwise}) {
    Learner l = make_learner(posterior_for(kind), "laplace", examples);
    take_prior(l, given.q);
    l.fit(data.inputs_of(0, examples), data.targets_of(0, examples), 1);
    assert_posterior("laplace", l.posterior, column(mean_of(l.posterior)), h + given.precision, 1e-12);
  }
}

/// A file holds the prior: half a course, loaded, goes on as the whole does. Freed handles are not missed.
void the_prior_is_saved(void**) {
  const Data data(false);
  char path[] = "/tmp/bdl-prior-XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0 && close(file) == 0);
  for (const Kind kind : {Kind::full, Kind::layerwise, Kind::low_rank, Kind::diagonal}) {
    const Posterior prior = posterior_for(kind == Kind::low_rank ? kind : Kind::layerwise);
    const char* const names[] = {"mean"};
    const double mu[inputs] = {1, 2, 3, 4};
    const bdl_matrix values[] = {bdl_f64(mu, 1, inputs)};
    OK(bdl_posterior_set_tensors(prior.get(), names, values, 1));
    const auto prepare = [&] {
      Learner l = make_learner(posterior_for(kind), "slang-ggn", examples);
      take_prior(l, prior);
      l.set("total_steps", 40);
      l.fit(data.inputs_of(0, examples), data.targets_of(0, examples), 2);
      return l;
    };
    Learner whole = prepare(), half = prepare();
    OK(bdl_save(path, nullptr, nullptr, half.optimizer.get()));
    bdl_model* model = nullptr;
    bdl_posterior* posterior = nullptr;
    bdl_optimizer* optimizer = nullptr;
    OK(bdl_load(path, nullptr, &model, &posterior, &optimizer));
    Learner loaded{Model(model), Posterior(posterior), Optimizer(optimizer)};
    whole.fit(data.inputs_of(0, examples), data.targets_of(0, examples), 2);
    loaded.fit(data.inputs_of(0, examples), data.targets_of(0, examples), 2);
    assert_true(moments_of(whole.posterior) == moments_of(loaded.posterior));
    double a = 0, b = 0;
    OK(bdl_optimizer_running_elbo(whole.optimizer.get(), nullptr, &a));
    OK(bdl_optimizer_running_elbo(loaded.optimizer.get(), nullptr, &b));
    assert_true(a == b);
  }
  unlink(path);
}

void setting_an_option_of_the_prior_ends_it(void**) {
  const Given given;
  Learner l = make_learner(posterior_for(Kind::full), "slang-ggn", examples);
  take_prior(l, given.q);
  l.set("learning_rate", 0.1);
  Vector lambda(inputs);
  OK(bdl_optimizer_get_prior(l.optimizer.get(), bdl_f64_out(lambda.data(), 1, inputs)));
  assert_true(lambda[1] == given.precision(1, 1));
  l.set("prior_precision", 7.0);
  OK(bdl_optimizer_get_prior(l.optimizer.get(), bdl_f64_out(lambda.data(), 1, inputs)));
  assert_true(lambda[1] == 7);
}

void refuses(const Learner& l, const Posterior& prior, bdl_status status, const char* word) {
  Vector before(inputs), after(inputs);
  OK(bdl_optimizer_get_prior(l.optimizer.get(), bdl_f64_out(before.data(), 1, inputs)));
  assert_int_equal(bdl_optimizer_set_prior_posterior(l.optimizer.get(), prior.get()), status);
  if (!std::strstr(bdl_last_error(), word)) fail_msg("%s", bdl_last_error());
  OK(bdl_optimizer_get_prior(l.optimizer.get(), bdl_f64_out(after.data(), 1, inputs)));
  assert_true(before == after);
}

void what_cannot_be_used_is_refused(void**) {
  const Given given;
  const Learner full = make_learner(posterior_for(Kind::full), "slang-ggn", examples),
                low_rank = make_learner(posterior_for(Kind::low_rank), "slang-ggn", examples),
                lo_fi = make_learner(posterior_for(Kind::low_rank, BDL_F64, 1), "lo-fi", examples),
                vd_ekf = make_learner(posterior_for(Kind::diagonal), "vd-ekf", examples),
                map = make_learner(posterior_for(Kind::low_rank), "map", examples);
  bdl_posterior* other = nullptr;
  OK(bdl_posterior_create_full(BDL_F64, inputs + 1, &other));
  refuses(full, Posterior(other), BDL_ERROR_SHAPE, "the prior has 5 parameters, expected 4");
  OK(bdl_posterior_create_dropout(full.model.get(), 0.1, 0, &other));
  const Posterior dropout(other);
  refuses(full, dropout, BDL_ERROR_UNSUPPORTED, "expected a Gaussian one");
  refuses(low_rank, given.q, BDL_ERROR_UNSUPPORTED, "use a full, layerwise-full or diagonal posterior");
  refuses(lo_fi, posterior_for(Kind::low_rank, BDL_F64, 2), BDL_ERROR_UNSUPPORTED,
          "one of the prior's family and rank");
  refuses(vd_ekf, given.q, BDL_ERROR_UNSUPPORTED, "joins parameters 0 and 1");
  const Posterior rank_1 = posterior_for(Kind::low_rank, BDL_F64, 1);
  const Vector u(inputs, 0.5), d(inputs, 2), zero(inputs, 0);
  OK(bdl_posterior_set_low_rank(rank_1.get(), bdl_f64(zero.data(), 1, inputs), bdl_f64(u.data(), inputs, 1),
                                bdl_f64(d.data(), 1, inputs)));
  refuses(vd_ekf, rank_1, BDL_ERROR_UNSUPPORTED, "joins parameters 0 and 1");
  OK(bdl_optimizer_set_prior_posterior(map.optimizer.get(), given.q.get()));
  assert_int_equal(bdl_optimizer_set_int(map.optimizer.get(), "laplace", 1), BDL_ERROR_UNSUPPORTED);
  assert_int_equal(bdl_optimizer_set_prior_posterior(full.optimizer.get(), nullptr),
                   BDL_ERROR_INVALID_ARGUMENT);
  assert_string_equal(bdl_last_error(), "bdl_optimizer_set_prior_posterior: prior is NULL");
  assert_int_equal(bdl_optimizer_set_prior_posterior(nullptr, given.q.get()), BDL_ERROR_INVALID_ARGUMENT);
  Model model = make_mlp(BDL_F64, {inputs, 1}, BDL_GAUSSIAN, false, BDL_IDENTITY);
  OK(bdl_posterior_create_dropout(model.get(), 0.1, 0, &other));
  Posterior masks(other);
  Optimizer optimizer = make_optimizer(model, masks, examples, "mc-dropout");
  assert_int_equal(bdl_optimizer_set_prior_posterior(optimizer.get(), given.q.get()), BDL_ERROR_UNSUPPORTED);
}

}  // namespace

int test_posterior_priors() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(two_parts_are_the_whole),
      cmocka_unit_test(families_take_each_other),
      cmocka_unit_test(steps_have_the_whole_precision),
      cmocka_unit_test(low_rank_steps_have_the_priors_columns),
      cmocka_unit_test(the_elbo_has_the_whole_prior),
      cmocka_unit_test(laplace_adds_the_whole_precision),
      cmocka_unit_test(the_prior_is_saved),
      cmocka_unit_test(setting_an_option_of_the_prior_ends_it),
      cmocka_unit_test(what_cannot_be_used_is_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
