// Every row of the method table through the same tests: on a linear-Gaussian model it ends at the posterior
// of its family, equal seeds give identical results, a run resumed from a file goes on exactly, and input
// that it refuses changes nothing. A new method needs a line here.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "c_api/handles.hpp"
#include "support/dense.hpp"

namespace {

using bdl::testing::Dense;
using bdl::testing::diagonal_matrix;
using bdl::testing::diagonal_of;
using bdl::testing::inverse_of;
using bdl::testing::transposed;

constexpr int64_t examples = 40, inputs = 3;
constexpr double noise_precision = 4, prior_precision = 2;

enum class Kind {
  full,       // Sigma^-1 dense
  layerwise,  // the same, as the model has one layer
  diagonal,   // rank 0
  low_rank,   // rank D: as full
  dropout,
  low_rank_moment,    // rank D - 1: as full
  flat_moment,        // the same of all parameters at once
  mean_field_moment,  // the same of rank 0: as diagonal
  kronecker,          // as full: one layer with Gaussian noise
};

/// Whose squared residuals the curvature sees: then the outer products of gradients are, on average, the
/// Hessian only where the residuals are as large as the noise says.
enum class Residuals { none, at_samples, at_mean };

/// How the posterior of the family is to be reached.
enum class Course {
  descent,   // stochastic, with falling rates
  solution,  // to the optimum, without noise
  filter,    // all rows as one observation: exact
  none,      // it does not end there: rates of their own, or another posterior
};

struct Row {
  const char* method;
  std::initializer_list<Kind> kinds;
  Residuals residuals;
  Course course;
  double mean_tolerance, variance_tolerance;  // in standard deviations; relative
};

const Row rows[] = {
    {"slang",
     {Kind::full, Kind::diagonal, Kind::low_rank},
     Residuals::at_samples,
     Course::descent,
     0.05,
     0.05},
    {"slang-ggn", {Kind::full, Kind::diagonal, Kind::low_rank}, Residuals::none, Course::descent, 0.05, 1e-6},
    {"slang-lin-hess",
     {Kind::full, Kind::diagonal, Kind::low_rank},
     Residuals::none,
     Course::descent,
     1e-6,
     1e-6},
    {"slang-lin-ef",
     {Kind::full, Kind::diagonal, Kind::low_rank},
     Residuals::at_mean,
     Course::descent,
     1e-6,
     1e-3},
    {"slang-exact-hess",
     {Kind::full, Kind::diagonal, Kind::low_rank},
     Residuals::none,
     Course::descent,
     1e-6,
     1e-6},
    {"slang-online-eig", {Kind::low_rank}, Residuals::at_samples, Course::none, 0, 0},
    {"von", {Kind::diagonal}, Residuals::none, Course::descent, 0.1, 1e-6},
    {"vogn", {Kind::diagonal}, Residuals::at_samples, Course::descent, 0.1, 0.1},
    {"ogn", {Kind::diagonal}, Residuals::at_mean, Course::descent, 0.1, 0.1},
    {"ivon", {Kind::diagonal}, Residuals::none, Course::descent, 0.1, 0.1},
    {"kfac", {Kind::kronecker}, Residuals::none, Course::descent, 0.05, 0.05},
    {"noisy-kfac", {Kind::kronecker}, Residuals::none, Course::descent, 0.1, 0.05},
    {"von-full", {Kind::full}, Residuals::none, Course::descent, 0.1, 1e-6},
    {"vogn-full", {Kind::full}, Residuals::at_samples, Course::descent, 0.1, 0.1},
    {"exact-full", {Kind::full}, Residuals::none, Course::solution, 1e-8, 1e-8},
    {"exact-diagonal", {Kind::diagonal}, Residuals::none, Course::solution, 1e-8, 1e-8},
    {"exact-low-rank", {Kind::low_rank}, Residuals::none, Course::solution, 1e-6, 1e-6},
    {"bbb", {Kind::diagonal}, Residuals::none, Course::descent, 0.1, 0.1},
    {"elrg", {Kind::low_rank_moment}, Residuals::none, Course::none, 0, 0},
    {"elrg-d", {Kind::low_rank_moment}, Residuals::none, Course::descent, 0.1, 0.1},
    {"mf-vi", {Kind::mean_field_moment}, Residuals::none, Course::descent, 0.1, 0.1},
    {"low-rank-vi", {Kind::low_rank_moment}, Residuals::none, Course::none, 0, 0},
    {"k-tied", {Kind::mean_field_moment}, Residuals::none, Course::descent, 0.1, 0.1},
    {"map", {Kind::full, Kind::diagonal, Kind::low_rank}, Residuals::none, Course::none, 0, 0},
    {"sgd", {Kind::full, Kind::diagonal, Kind::low_rank}, Residuals::none, Course::none, 0, 0},
    {"swag", {Kind::flat_moment}, Residuals::none, Course::none, 0, 0},
    {"mc-dropout", {Kind::dropout}, Residuals::none, Course::none, 0, 0},
    {"laplace",
     {Kind::full, Kind::diagonal, Kind::low_rank, Kind::kronecker},
     Residuals::none,
     Course::descent,
     1e-3,
     1e-12},
    {"bong", {Kind::full, Kind::low_rank}, Residuals::none, Course::filter, 1e-9, 1e-9},
    {"blr", {Kind::full, Kind::diagonal, Kind::low_rank}, Residuals::none, Course::none, 0, 0},
    {"bog", {Kind::full, Kind::diagonal, Kind::low_rank}, Residuals::none, Course::none, 0, 0},
    {"online-bbb", {Kind::full, Kind::diagonal, Kind::low_rank}, Residuals::none, Course::none, 0, 0},
    {"rvga", {Kind::full}, Residuals::none, Course::none, 0, 0},
    {"cm-ekf", {Kind::full}, Residuals::none, Course::filter, 1e-9, 1e-9},
    {"ekf", {Kind::full}, Residuals::none, Course::filter, 1e-9, 1e-9},
    {"vd-ekf", {Kind::diagonal}, Residuals::none, Course::none, 0, 0},
    {"lo-fi", {Kind::low_rank}, Residuals::none, Course::filter, 1e-9, 1e-9},
};

bool is_online(const Row& row) {
  constexpr const char* online[] = {"bong",   "blr", "bog",    "online-bbb", "rvga",
                                    "cm-ekf", "ekf", "vd-ekf", "lo-fi"};
  return std::ranges::any_of(online, [&](const char* name) { return std::strcmp(name, row.method) == 0; });
}

bool is_newton(const Row& row) {
  constexpr const char* newton[] = {"vogn", "ogn", "ivon", "kfac", "noisy-kfac"};
  return std::ranges::any_of(newton, [&](const char* name) { return std::strcmp(name, row.method) == 0; });
}

/// Its draws are no parameters that a callback could give.
bool is_noisy(Kind kind) {
  return kind == Kind::low_rank_moment || kind == Kind::mean_field_moment;
}

bool is_exact(const Row& row) {
  return row.course == Course::solution;
}

template <class Visit>
void for_each_row(Visit&& visit) {
  for (const Row& row : rows)
    for (const Kind kind : row.kinds) {
      visit(row, kind);
      if (kind == Kind::full) visit(row, Kind::layerwise);
    }
}

void the_table_is_whole(void**) {
  int64_t count = 0;
  for (; bdl_method_name(count); ++count)
    if (std::ranges::none_of(
            rows, [&](const Row& row) { return !std::strcmp(row.method, bdl_method_name(count)); }))
      fail_msg("method %s has no line in this test", bdl_method_name(count));
  assert_int_equal(count, std::size(rows));
}

/// y = X mu* + s c with signs s and mu* = (tau / lambda) X^T (s c): then mu* is the posterior mean whatever c
/// is, and c_i^2 = 1 / tau - x_i^T Sigma x_i makes E_q (y_i - f_i)^2 = 1 / tau.
struct Problem {
  Dense x{examples, inputs}, y{examples, 1}, mean, precision;  // precision: of the family's best posterior

  Problem(Kind kind, Residuals residuals) {
    for (int64_t i = 0; i < examples; ++i) {
      x(i, 0) = 1;
      x(i, 1) = std::sin(1.7 * static_cast<double>(i) + 0.3);
      x(i, 2) = std::cos(2.3 * static_cast<double>(i)) + 0.3 * x(i, 1);
    }
    const Dense lambda = prior_precision * bdl::testing::identity(inputs),
                exact = lambda + noise_precision * (transposed(x) * x);
    const bool diagonal = kind == Kind::diagonal || kind == Kind::mean_field_moment;
    precision = diagonal ? diagonal_matrix(diagonal_of(exact)) : exact;
    const Dense covariance = inverse_of(precision);
    Dense residual(examples, 1);
    for (int64_t i = 0; i < examples; ++i) {
      Dense row(inputs, 1);
      for (int64_t k = 0; k < inputs; ++k) row(k, 0) = x(i, k);
      const double spread = residuals == Residuals::at_mean ? 0 : dot(row, covariance * row);
      residual(i, 0) = (i % 2 == 0 ? 1 : -1) * std::sqrt(1 / noise_precision - spread);
    }
    mean = noise_precision / prior_precision * (transposed(x) * residual);
    y = x * mean + residual;
  }
  bdl_matrix inputs_of() const {
    return bdl_strided(x.values.data(), BDL_F64, examples, inputs, 1, examples);
  }
  bdl_matrix targets_of() const { return bdl_f64(y.values.data(), examples, 1); }
};

Posterior posterior_for(const Model& model, Kind kind) {
  bdl_posterior* q = nullptr;
  if (kind == Kind::layerwise) {
    OK(bdl_posterior_create_layerwise_full(model.get(), &q));
    return Posterior(q);
  }
  if (kind == Kind::kronecker) {
    OK(bdl_posterior_create_kronecker(model.get(), &q));
    return Posterior(q);
  }
  if (kind == Kind::flat_moment) {
    OK(bdl_posterior_create_low_rank_moment(BDL_F64, inputs, inputs - 1, &q));
    return Posterior(q);
  }
  if (is_noisy(kind)) {
    const int64_t rank = kind == Kind::low_rank_moment ? inputs - 1 : 0;
    OK(bdl_posterior_create_layerwise_low_rank_moment(model.get(), rank, &q));
    return Posterior(q);
  }
  if (kind != Kind::dropout)
    return make_posterior(BDL_F64, inputs,
                          kind == Kind::full       ? int64_t{FULL}
                          : kind == Kind::diagonal ? 0
                                                   : inputs);
  OK(bdl_posterior_create_dropout(model.get(), 0.3, 0, &q));
  return Posterior(q);
}

Learner make_learner(const Row& row, Kind kind, int64_t seed = 1, bdl_likelihood likelihood = BDL_GAUSSIAN) {
  Model model = make_mlp(BDL_F64, {inputs, 1}, likelihood, false, BDL_IDENTITY);
  Posterior posterior = posterior_for(model, kind);
  Optimizer optimizer = make_optimizer(model, posterior, examples, row.method);
  Learner l{std::move(model), std::move(posterior), std::move(optimizer)};
  const double tau = noise_precision;
  if (likelihood == BDL_GAUSSIAN) OK(bdl_model_set_noise_precision(l.model.get(), bdl_f64(&tau, 1, 1)));
  l.set("learn_noise", 0);
  l.set("learn_prior", 0);
  l.set("prior_precision", prior_precision);
  l.set("seed", seed);
  if (!is_online(row) && !is_exact(row)) l.set("minibatch", examples / 2);
  if (kind == Kind::flat_moment) l.set("swag_from", 0.0), l.set("swag_every", 1);
  return l;
}

void run(const Row& row, Learner& l, const Problem& problem, int64_t epochs) {
  const bdl_matrix x = problem.inputs_of(), y = problem.targets_of();
  if (!is_online(row)) return l.fit(x, y, epochs);
  Dense scores(examples, 1);
  OK(bdl_optimizer_observe(l.optimizer.get(), x, y, bdl_f64_out(scores.values.data(), examples, 1)));
}

/// The prior, whose mean is not a network's initialisation.
void start_from_prior(Kind kind, Learner& l, const Vector& at) {
  const Dense precision = prior_precision * bdl::testing::identity(inputs), diagonal = diagonal_of(precision);
  const bdl_matrix mean = bdl_f64(at.data(), 1, inputs);
  const bdl_matrix values[] = {mean, bdl_f64(precision.values.data(), inputs, inputs)};
  const char* const names[] = {"mean", kind == Kind::full ? "precision" : "block0.precision"};
  const bdl_matrix of_diagonal[] = {mean, bdl_f64(diagonal.values.data(), inputs, 1)};
  const char* const of_matrix[] = {"mean", "block0.precision"};
  if (kind == Kind::kronecker)
    OK(bdl_posterior_set_tensors(l.posterior.get(), of_matrix, of_diagonal, 2));
  else if (kind == Kind::flat_moment)
    OK(bdl_posterior_set_low_rank_moment(l.posterior.get(), mean, bdl_none(),
                                         bdl_f64(diagonal.values.data(), 1, inputs)));
  else if (kind == Kind::full || kind == Kind::layerwise)
    OK(bdl_posterior_set_tensors(l.posterior.get(), names, values, 2));
  else
    OK(bdl_posterior_set_low_rank(l.posterior.get(), mean, bdl_none(),
                                  bdl_f64(diagonal.values.data(), 1, inputs)));
}

/// Rates that forget the start and average the samples of many steps.
void set_course(const Row& row, Learner& l) {
  if (is_online(row)) return l.set("block", 0);
  l.set_if_read(("minibatch=" + std::to_string(examples)).c_str());
  if (row.course != Course::descent) return;
  if (!is_newton(row)) l.set_if_read("initial_precision=2");
  l.set_if_read("samples=20");
  const bool adam =
      !std::strcmp(row.method, "bbb") || !std::strcmp(row.method, "laplace") || is_noisy(*row.kinds.begin());
  l.set("momentum", adam ? 0.9 : 0.0);
  l.set("learning_rate", adam ? 0.02 : 0.1);
  l.set_if_read("curvature_rate=0.05");
  l.set("final_rate", adam ? 1e-4 : 0.01);
}

void on_a_linear_model_it_ends_at_the_posterior_of_its_family(void**) {
  for_each_row([](const Row& row, Kind kind) {
    if (row.course == Course::none) return;
    const Problem problem(kind, row.residuals);
    Learner l = make_learner(row, kind);
    set_course(row, l);
    if (row.course == Course::filter) start_from_prior(kind, l, Vector(inputs, 0));
    run(row, l, problem, row.course == Course::solution ? 500 : 2000);
    const Vector mean = mean_of(l.posterior), variance = variance_of(l.posterior);
    const Dense expected = diagonal_of(inverse_of(problem.precision));
    for (int64_t i = 0; i < inputs; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double shift = std::abs(mean[k] - problem.mean(i, 0)) / std::sqrt(expected(i, 0)),
                   ratio = std::abs(variance[k] / expected(i, 0) - 1);
      if (!(shift <= row.mean_tolerance && ratio <= row.variance_tolerance))
        fail_msg("%s, family %d, parameter %d: mean %.3g standard deviations off, variance %.3g of itself",
                 row.method, static_cast<int>(kind), static_cast<int>(i), shift, ratio);
    }
  });
}

/// Where the gradient of a step is taken.
enum class At { samples, mean, everywhere };

At place_of(const Learner& l) {
  const char* curvature = nullptr;
  OK(bdl_optimizer_get_choice(l.optimizer.get(), "curvature", &curvature));
  if (!std::strcmp(curvature, "exact-hess")) return At::everywhere;
  return std::strncmp(curvature, "lin-", 4) == 0 ? At::mean : At::samples;
}

constexpr int64_t samples = 2;
constexpr double shifts[samples][inputs] = {{0.3, -0.2, 0.5}, {-0.1, 0.4, 0.2}};

/// theta_s = mu + fixed shifts.
int32_t shifted(void*, bdl_draw_kind, int64_t, int64_t, const bdl_posterior* q, bdl_matrix_out draws) {
  double mean[inputs];
  OK(bdl_posterior_mean(q, bdl_f64_out(mean, 1, inputs)));
  for (int64_t s = 0; s < draws.rows; ++s)
    for (int64_t k = 0; k < inputs; ++k)
      static_cast<double*>(draws.data)[s * draws.row_stride + k * draws.col_stride] = mean[k] + shifts[s][k];
  return 0;
}

/// Minus the expected log likelihood of a step at this mean, without and with the log prior's part.
double loss(const Learner& l, At at, const Vector& mean, bdl_matrix x, bdl_matrix y, bool with_prior) {
  double sum = 0;
  for (int64_t k = 0; k < inputs && with_prior; ++k)
    sum += prior_precision / 2 * mean[static_cast<std::size_t>(k)] * mean[static_cast<std::size_t>(k)];
  const int64_t count = at == At::samples ? samples : 1;
  for (int64_t s = 0; s < count; ++s) {
    Vector theta = mean, density(examples);
    for (int64_t k = 0; k < inputs && at == At::samples; ++k)
      theta[static_cast<std::size_t>(k)] += shifts[s][k];
    OK(bdl_model_log_likelihood(l.model.get(), bdl_f64(theta.data(), 1, inputs), x, y,
                                bdl_f64_out(density.data(), examples, 1)));
    for (const double value : density) sum -= value / static_cast<double>(count);
  }
  return sum;
}

/// With exact expectations, of a copy of the posterior with this mean.
double exact_loss(const Learner& l, const Vector& mean, bdl_matrix x, bdl_matrix y) {
  bdl_posterior* copy = nullptr;
  OK(bdl_posterior_create_full(BDL_F64, inputs, &copy));
  const Posterior q(copy);
  const Dense precision = prior_precision * bdl::testing::identity(inputs);
  OK(bdl_posterior_set_full(copy, bdl_f64(mean.data(), 1, inputs),
                            bdl_f64(precision.values.data(), inputs, inputs)));
  const Optimizer optimizer = make_optimizer(l.model, q, examples);
  double likelihood = 0, sum = 0;
  OK(bdl_optimizer_elbo(optimizer.get(), x, y, 0, 1, &likelihood, nullptr));
  for (const double value : mean) sum += prior_precision / 2 * value * value;
  return sum - likelihood;
}

/// Sigma^-1 (old - new) for natural steps, N (old - new) for plain ones, both of length 1: the gradient.
Vector gradient_of_step(const Learner& l, const Vector& old, bool natural) {
  const Vector now = mean_of(l.posterior);
  Dense shift(inputs, 1), covariance(inputs, inputs);
  for (int64_t k = 0; k < inputs; ++k)
    shift(k, 0) = old[static_cast<std::size_t>(k)] - now[static_cast<std::size_t>(k)];
  int64_t all[inputs];
  for (int64_t k = 0; k < inputs; ++k) all[k] = k;
  OK(bdl_posterior_covariance(l.posterior.get(), all, inputs, all, inputs,
                              bdl_f64_out(covariance.values.data(), inputs, inputs)));
  return natural ? (inverse_of(covariance) * shift).values : (static_cast<double>(examples) * shift).values;
}

/// A logistic regression, one step of length 1 over all data, draws that move with the mean. (Dropout draws
/// masks: test_dropout_training.cpp; noise of layers: tests/network/test_noise.cpp.)
void gradients_are_finite_differences(void**) {
  for_each_row([](const Row& row, Kind kind) {
    if (kind == Kind::dropout || is_noisy(kind) || is_exact(row) || !std::strcmp(row.method, "bog") ||
        !std::strcmp(row.method, "online-bbb"))
      return;
    const Problem problem(kind, Residuals::none);
    Vector classes;
    for (const double value : problem.y.values) classes.push_back(value > 0.2 ? 1 : 0);
    const bdl_matrix x = problem.inputs_of(), y = bdl_f64(classes.data(), examples, 1);
    Learner l = make_learner(row, kind, 1, BDL_BERNOULLI);
    const Vector mean = {0.3, -0.4, 0.2};
    start_from_prior(kind, l, mean);
    const bool online = is_online(row),
               natural = online || (std::strcmp(row.method, "bbb") && std::strcmp(row.method, "map") &&
                                    std::strcmp(row.method, "sgd") && std::strcmp(row.method, "swag") &&
                                    std::strcmp(row.method, "laplace"));
    OK(bdl_optimizer_set_draws(l.optimizer.get(), shifted, nullptr, nullptr));
    for (const char* text : {"samples=2", "momentum=0", "learning_rate=1", "iterations=1", "block=0",
                             "damping=0", "kl_clip=0", "rescale_rate=0"})
      l.set_if_read(text);
    if (!is_newton(row)) l.set_if_read("descent=sgd");
    Dense scores(examples, 1);
    if (online)
      OK(bdl_optimizer_observe(l.optimizer.get(), x, y, bdl_f64_out(scores.values.data(), examples, 1)));
    else
      OK(bdl_optimizer_step(l.optimizer.get(), x, y));
    const Vector gradient = gradient_of_step(l, mean, natural);
    const At at = place_of(l);
    for (std::size_t k = 0; k < inputs; ++k) {
      constexpr double h = 1e-5;
      Vector up = mean, down = mean;
      up[k] += h;
      down[k] -= h;
      const double slope =
          at == At::everywhere
              ? (exact_loss(l, up, x, y) - exact_loss(l, down, x, y)) / (2 * h)
              : (loss(l, at, up, x, y, !online) - loss(l, at, down, x, y, !online)) / (2 * h);
      if (!(std::abs(gradient[k] - slope) <= 1e-7 * std::max(1.0, std::abs(slope))))
        fail_msg("%s, family %d, parameter %d: gradient %.12g, difference %.12g", row.method,
                 static_cast<int>(kind), static_cast<int>(k), gradient[k], slope);
    }
  });
}

Vector state_of(const Learner& l) {
  return moments_of(l.posterior);
}

void the_same_seed_gives_the_same_bits(void**) {
  for_each_row([](const Row& row, Kind kind) {
    const Problem problem(kind, row.residuals);
    std::array<Vector, 3> states;
    for (std::size_t k = 0; k < 3; ++k) {
      Learner l = make_learner(row, kind, k == 2 ? 8 : 7);
      run(row, l, problem, 5);
      states[k] = state_of(l);
    }
    assert_true(states[0] == states[1]);
    if (!is_online(row) && !is_exact(row) && states[0] == states[2])
      fail_msg("%s: seed 8 is as 7", row.method);
  });
}

/// Half of a course, a file, the other half.
void resumed_runs_go_on_exactly(void**) {
  for_each_row([](const Row& row, Kind kind) {
    const Problem problem(kind, row.residuals);
    char path[] = "/tmp/bdl-method-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    const auto prepare = [&] {
      Learner l = make_learner(row, kind);
      if (!is_online(row)) l.set_if_read(("total_steps=" + std::to_string(12)).c_str());
      return l;
    };
    Learner whole = prepare(), half = prepare();
    run(row, whole, problem, 3);
    run(row, half, problem, 3);
    OK(bdl_save(path, nullptr, nullptr, half.optimizer.get()));
    bdl_model* model = nullptr;
    bdl_posterior* posterior = nullptr;
    bdl_optimizer* optimizer = nullptr;
    OK(bdl_load(path, nullptr, &model, &posterior, &optimizer));
    Learner loaded{Model(model), Posterior(posterior), Optimizer(optimizer)};
    run(row, whole, problem, 3);
    run(row, loaded, problem, 3);
    if (state_of(whole) != state_of(loaded)) fail_msg("%s: other bits after loading", row.method);
    unlink(path);
  });
}

void what_it_cannot_use_changes_nothing(void**) {
  for_each_row([](const Row& row, Kind kind) {
    const Problem problem(kind, row.residuals);
    Learner l = make_learner(row, kind);
    run(row, l, problem, 2);
    const Vector before = state_of(l);
    Problem spoiled = problem;
    spoiled.x(5, 1) = NAN;
    Dense scores(examples, 1);
    const auto call = [&](bdl_matrix x, bdl_matrix y) {
      return is_online(row) ? bdl_optimizer_observe(l.optimizer.get(), x, y,
                                                    bdl_f64_out(scores.values.data(), examples, 1))
                            : bdl_optimizer_fit(l.optimizer.get(), x, y, 2, nullptr, nullptr);
    };
    assert_int_equal(call(spoiled.inputs_of(), problem.targets_of()), BDL_ERROR_NOT_FINITE);
    assert_non_null(std::strstr(bdl_last_error(), "x is not finite at row 5, column 1"));
    assert_int_equal(call(problem.inputs_of(), bdl_f64(problem.y.values.data(), examples - 1, 1)),
                     BDL_ERROR_SHAPE);
    assert_int_equal(call(bdl_none(), problem.targets_of()), BDL_ERROR_SHAPE);
    assert_true(state_of(l) == before);
  });
}

}  // namespace

int test_every_method() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(the_table_is_whole),
      cmocka_unit_test(on_a_linear_model_it_ends_at_the_posterior_of_its_family),
      cmocka_unit_test(gradients_are_finite_differences),
      cmocka_unit_test(the_same_seed_gives_the_same_bits),
      cmocka_unit_test(resumed_runs_go_on_exactly),
      cmocka_unit_test(what_it_cannot_use_changes_nothing),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
