// Normal priors of parameters and of coefficients in the caller's units, against linear-Gaussian models in
// closed form and the optimum of the ELBO of logistic regression; and priors by input columns (ARD).
#include <cmath>
#include <limits>
#include <string>

#include "c_api/handles.hpp"
#include "support/dense.hpp"

namespace {

using bdl::testing::Dense;
using bdl::testing::inverse_of;
using bdl::testing::transposed;

constexpr int64_t rows = 30, features = 3, terms = features + 1;
constexpr double tau = 0.25;  // noise precision in the caller's units
const double inf = std::numeric_limits<double>::infinity(), left_out = std::nan("");

/// Inputs of very different units, far from 0, and targets with a mean.
struct Data {
  Dense x{rows, features}, y{rows, 1}, design{rows, terms};
  explicit Data(double factor = 1, bool classes = false) {
    for (int64_t i = 0; i < rows; ++i) {
      const double t = static_cast<double>(i);
      x(i, 0) = factor * (100 + 3 * std::sin(1.7 * t));
      x(i, 1) = 0.01 * std::cos(2.3 * t);
      x(i, 2) = std::sin(0.9 * t * t) - 2;
      y(i, 0) = 40 + 2 * std::sin(1.7 * t) - 3 * x(i, 2) + 2 * std::cos(5.1 * t);
      if (classes) y(i, 0) = std::sin(1.7 * t) + 0.5 * x(i, 2) + std::cos(5.1 * t) > -1 ? 1 : 0;
      design(i, 0) = 1;
      for (int64_t j = 0; j < features; ++j) design(i, j + 1) = x(i, j);
    }
  }
  bdl_matrix inputs() const { return bdl_strided(x.values.data(), BDL_F64, rows, features, 1, rows); }
  bdl_matrix targets() const { return bdl_f64(y.values.data(), rows, 1); }
};

struct Given {
  Vector location, scale;
};

void give(const Learner& l, const Given& prior) {
  const auto k = static_cast<int64_t>(prior.scale.size());
  OK(bdl_optimizer_set_prior_coefficients(l.optimizer.get(), bdl_f64(prior.location.data(), 1, k),
                                          bdl_f64(prior.scale.data(), 1, k)));
}

void standardize(const Learner& l, const Data& data, bool targets) {
  OK(bdl_model_standardize(l.model.get(), data.inputs(), targets ? data.targets() : bdl_none()));
}

/// When the data are standardised: never, or before or after the prior is set.
enum class Units { plain, before, after };

Learner make_learner(const char* method, const Data& data, const Given& prior, Units units,
                     bdl_likelihood likelihood, int64_t rank = FULL) {
  Learner l(make_mlp(BDL_F64, {features, 1}, likelihood, true, BDL_IDENTITY), BDL_F64, rank, rows, method);
  const bool gaussian = likelihood == BDL_GAUSSIAN;
  if (gaussian) OK(bdl_model_set_noise_precision(l.model.get(), bdl_f64(&tau, 1, 1)));
  l.set_if_read("learn_noise=0");
  l.set_if_read("learn_prior=0");
  if (units == Units::before) standardize(l, data, gaussian);
  give(l, prior);
  if (units == Units::after) standardize(l, data, gaussian);
  return l;
}

struct Coefficients {
  Dense mean{terms, 1}, covariance{terms, terms};
  explicit Coefficients(const Learner& l) {
    OK(bdl_posterior_coefficients(l.posterior.get(), l.model.get(), -1,
                                  bdl_f64_out(mean.values.data(), 1, terms),
                                  bdl_f64_out(covariance.values.data(), terms, terms)));
  }
};

void assert_same(const char* what, const Coefficients& got, const Dense& mean, const Dense& covariance,
                 double tolerance = 1e-9) {
  for (int64_t k = 0; k < terms; ++k) {
    const double sd = std::sqrt(covariance(k, k));
    if (!(std::abs(got.mean(k, 0) - mean(k, 0)) <= tolerance * (sd + std::abs(mean(k, 0)))))
      fail_msg("%s: coefficient %d is %.17g, expected %.17g (sd %g)", what, static_cast<int>(k),
               got.mean(k, 0), mean(k, 0), sd);
    for (int64_t j = 0; j < terms; ++j)
      if (!(std::abs(got.covariance(k, j) - covariance(k, j)) <=
            tolerance * sd * std::sqrt(covariance(j, j))))
        fail_msg("%s: covariance (%d, %d) is %.17g, expected %.17g", what, static_cast<int>(k),
                 static_cast<int>(j), got.covariance(k, j), covariance(k, j));
  }
}

/// The posterior of y ~ N(Z b, 1 / tau) with independent normal priors of b, by b = prior scale times g,
/// which suits inputs of any units.
void closed_form(const Data& data, const Given& prior, Dense& mean, Dense& covariance) {
  Dense z = data.design, precision(terms, terms), shift(terms, 1), size(terms, 1);
  for (int64_t k = 0; k < terms; ++k) {
    const auto at = static_cast<std::size_t>(k);
    double square = 0;
    for (int64_t i = 0; i < rows; ++i) square += z(i, k) * z(i, k);
    size(k, 0) = 1 / std::sqrt(square);
    precision(k, k) = std::pow(size(k, 0) / prior.scale[at], 2);
    shift(k, 0) = prior.location[at] / prior.scale[at] / prior.scale[at] * size(k, 0);
    for (int64_t i = 0; i < rows; ++i) z(i, k) *= size(k, 0);
  }
  for (int64_t k = 0; k < terms; ++k)
    if (std::isinf(prior.scale[static_cast<std::size_t>(k)])) shift(k, 0) = 0;
  covariance = inverse_of(precision + tau * (transposed(z) * z));
  mean = covariance * (tau * (transposed(z) * data.y) + shift);
  for (int64_t k = 0; k < terms; ++k) {
    mean(k, 0) *= size(k, 0);
    for (int64_t j = 0; j < terms; ++j) covariance(j, k) *= size(k, 0) * size(j, 0);
  }
}

const Given priors[] = {{{30, 0.5, -20, 1}, {20, 0.4, 50, 2}},
                        {{0, 0, 0, 0}, {2.5, 2.5, 2.5, 2.5}},
                        {{5, 0.1, 0, 0}, {1, inf, inf, 0.1}},
                        {{0, 0.2, 3, -1}, {inf, 0.05, 10, 1}},
                        {{0, 0, 0, 0}, {inf, inf, inf, inf}}};

void posteriors_are_those_of_the_closed_form(void**) {
  for (const Given& prior : priors)
    for (const double factor : {1.0, 1e-3, 1e4})
      for (const Units units : {Units::plain, Units::before, Units::after}) {
        if (units == Units::plain && factor != 1) continue;  // an inverse of that condition has no 9 digits
        const Data data(factor);
        Given scaled = prior;
        scaled.location[1] /= factor;
        scaled.scale[1] /= factor;
        Learner l = make_learner("exact-full", data, scaled, units, BDL_GAUSSIAN);
        l.fit(data.inputs(), data.targets(), 100);
        Dense mean, covariance;
        closed_form(data, scaled, mean, covariance);
        assert_same("exact-full", Coefficients(l), mean, covariance, units == Units::plain ? 1e-7 : 1e-9);
      }
}

/// What streams learn of known noise is exact too.
void filters_begin_with_the_prior(void**) {
  const Data data;
  for (const Given& prior : priors) {
    if (std::isinf(prior.scale[0]) || std::isinf(prior.scale[1])) continue;  // a wide start costs digits
    Learner l = make_learner("ekf", data, prior, Units::before, BDL_GAUSSIAN);
    l.set("block", 0);
    Vector scores(rows);
    OK(bdl_optimizer_observe(l.optimizer.get(), data.inputs(), data.targets(),
                             bdl_f64_out(scores.data(), rows, 1)));
    Dense mean, covariance;
    closed_form(data, prior, mean, covariance);
    assert_same("ekf", Coefficients(l), mean, covariance, 1e-7);
  }
}

double sigmoid(double f) {
  return 1 / (1 + std::exp(-f));
}

/// At the optimum of the ELBO, S^-1 = sum_i E[p (1 - p)] z z^T + 1 / scale^2 and sum_i (y - E[p]) z = (m -
/// location) / scale^2, in any units. Expectations over f ~ N(z^T m, z^T S z) are sums over a fine grid.
void logistic_regression_is_optimal(void**) {
  const Data data(1, true);
  const Given prior{{0, 0, 0, 0}, {2.5, 2.5, 2.5, 2.5}};
  for (const Units units : {Units::before, Units::after}) {
    Learner l = make_learner("exact-full", data, prior, units, BDL_BERNOULLI);
    l.set("tolerance", 1e-12);
    l.fit(data.inputs(), data.targets(), 1000);
    const Coefficients got(l);
    Dense precision(terms, terms), slope(terms, 1);
    for (int64_t k = 0; k < terms; ++k) {
      precision(k, k) = 1 / (2.5 * 2.5);
      slope(k, 0) = -got.mean(k, 0) / (2.5 * 2.5);
    }
    for (int64_t i = 0; i < rows; ++i) {
      double mean = 0, variance = 0, p = 0, curvature = 0, total = 0;
      for (int64_t k = 0; k < terms; ++k) {
        mean += data.design(i, k) * got.mean(k, 0);
        for (int64_t j = 0; j < terms; ++j)
          variance += data.design(i, k) * got.covariance(k, j) * data.design(i, j);
      }
      for (double t = -9; t <= 9; t += 0.01) {
        const double weight = std::exp(-t * t / 2), s = sigmoid(mean + std::sqrt(variance) * t);
        total += weight;
        p += weight * s;
        curvature += weight * s * (1 - s);
      }
      for (int64_t k = 0; k < terms; ++k) {
        slope(k, 0) += (data.y(i, 0) - p / total) * data.design(i, k);
        for (int64_t j = 0; j < terms; ++j)
          precision(k, j) += curvature / total * data.design(i, k) * data.design(i, j);
      }
    }
    const Dense covariance = inverse_of(precision), shift = covariance * slope;
    assert_same("logistic", got, got.mean + shift, covariance, 1e-6);
  }
}

Given prior_of(const Learner& l) {
  Given prior{Vector(terms), Vector(terms)};
  OK(bdl_optimizer_get_prior_coefficients(l.optimizer.get(), bdl_f64_out(prior.location.data(), 1, terms),
                                          bdl_f64_out(prior.scale.data(), 1, terms)));
  return prior;
}

/// Coefficients without a prior keep that of the options: centred intercepts, and slopes by their precision.
void others_keep_the_prior_of_the_options(void**) {
  const Data data;
  const Given slope{{0, 0, 3, 0}, {left_out, left_out, 7, left_out}};
  Learner l = make_learner("exact-full", data, slope, Units::after, BDL_GAUSSIAN);
  l.set("prior_precision", 4.0);
  double m[features], d[features], mean = 0, size = 0;
  OK(bdl_model_get_standardization(l.model.get(), bdl_f64_out(m, 1, features), bdl_f64_out(d, 1, features),
                                   bdl_f64_out(&mean, 1, 1), bdl_f64_out(&size, 1, 1)));
  const Given got = prior_of(l);
  assert_true(got.location[2] == 3 && got.scale[2] == 7);
  assert_close(got.location[0], mean, 1e-12 * mean, "location of the intercept");
  assert_close(got.scale[0], size / 2, 1e-12 * size, "scale of the intercept");
  for (const int k : {1, 3}) {
    assert_close(got.location[static_cast<std::size_t>(k)], 0, 0, "location");
    const double expected = size / d[k - 1] / 2;
    assert_close(got.scale[static_cast<std::size_t>(k)], expected, 1e-12 * expected, "scale");
  }
  Vector precision(terms);
  OK(bdl_optimizer_get_prior(l.optimizer.get(), bdl_f64_out(precision.data(), 1, terms)));
  assert_close(precision[1], std::pow(size / d[1] / 7, 2), 1e-12 * precision[1], "precision");
  assert_true(precision[0] == 4 && precision[3] == 4);
  give(l, {{0, 0, 0, 0}, Vector(terms, left_out)});  // takes it back
  assert_true(prior_of(l).location[2] == 0);
}

/// Training learns the precision of the others only.
void learning_leaves_given_priors_alone(void**) {
  const Data data;
  const Given slope{{0, 0.1, 0, 0}, {left_out, 0.05, left_out, left_out}};
  for (const char* const method : {"slang-ggn", "laplace", "vogn", "exact-full", "exact-diagonal"})
    for (const int64_t rank : {int64_t{FULL}, int64_t{0}}) {
      const std::string word(method);
      if (rank == FULL ? word == "vogn" || word == "exact-diagonal" : word == "exact-full") continue;
      Learner l(make_mlp(BDL_F64, {features, 1}, BDL_GAUSSIAN, true, BDL_IDENTITY), BDL_F64, rank, rows,
                method);
      standardize(l, data, true);
      give(l, slope);
      if (strcmp(method, "laplace") != 0) l.set_if_read("learn_prior=1");
      if (!strcmp(method, "laplace")) l.set("evidence", "after");
      l.set_if_read("prior_groups=layers");
      l.set_if_read("learn_from=0");
      const Given before = prior_of(l);
      l.fit(data.inputs(), data.targets(), 30);
      const Given after = prior_of(l);
      assert_true(after.location[1] == 0.1 && after.scale[1] == 0.05);
      if (!(after.scale[2] != before.scale[2] && after.scale[3] != before.scale[3]))
        fail_msg("%s has not learned the other priors", method);
      Vector precision(terms);
      OK(bdl_optimizer_get_prior(l.optimizer.get(), bdl_f64_out(precision.data(), 1, terms)));
      assert_true(precision[1] == precision[2] && precision[0] != precision[1]);
    }
}

/// The slopes' precision is at the optimum of the ELBO, beside an intercept whose prior joins parameters too.
void precisions_beside_an_intercept_are_optimal(void**) {
  const Data data;
  const auto elbo_at = [&](double precision, double* learned) {
    Learner l = make_learner("exact-full", data, {{30, 0, 0, 0}, {5, left_out, left_out, left_out}},
                             Units::before, BDL_GAUSSIAN);
    l.set("prior_precision", precision);
    if (learned) l.set("learn_prior", 1);
    l.fit(data.inputs(), data.targets(), 1000);
    double likelihood = 0, kl = 0;
    OK(bdl_optimizer_running_elbo(l.optimizer.get(), &likelihood, &kl));
    double m[features], d[features], mean = 0, size = 0;
    OK(bdl_model_get_standardization(l.model.get(), bdl_f64_out(m, 1, features), bdl_f64_out(d, 1, features),
                                     bdl_f64_out(&mean, 1, 1), bdl_f64_out(&size, 1, 1)));
    if (learned) *learned = std::pow(size / d[0] / prior_of(l).scale[1], 2);
    assert_true(prior_of(l).scale[0] == 5);
    return likelihood - kl;
  };
  double learned = 0;
  const double best = elbo_at(1, &learned);
  assert_true(std::abs(learned - 1) > 1e-3);
  assert_close(elbo_at(learned, nullptr), best, 1e-8, "ELBO");
  for (const double factor : {0.97, 1.03}) assert_true(elbo_at(factor * learned, nullptr) < best - 1e-5);
}

/// Every family that has room for it learns with the prior of an intercept; others say so.
void families_take_priors_of_intercepts(void**) {
  const Data data;
  const Given all = priors[0], slopes{all.location, {left_out, 0.4, 50, 2}};
  struct Case {
    const char* method;
    int64_t rank;
    bool takes_intercept;
  };
  for (const Case& c : {Case{"slang", 2, true},
                        {"slang-ggn", FULL, true},
                        {"exact-diagonal", 0, true},
                        {"exact-low-rank", 2, true},
                        {"vogn", 0, true},
                        {"laplace", FULL, true},
                        {"map", 0, true},
                        {"bbb", 0, true},
                        {"ekf", FULL, true},
                        {"vd-ekf", 0, false},
                        {"lo-fi", 2, true}}) {
    Learner l = make_learner(c.method, data, slopes, Units::before, BDL_GAUSSIAN, c.rank);
    const bdl_status status = bdl_optimizer_set_prior_coefficients(
        l.optimizer.get(), bdl_f64(all.location.data(), 1, terms), bdl_f64(all.scale.data(), 1, terms));
    if (!c.takes_intercept) {
      assert_int_equal(status, BDL_ERROR_UNSUPPORTED);
      assert_non_null(strstr(bdl_last_error(), "the prior of the intercept joins it with the slopes"));
      assert_true(std::isfinite(prior_of(l).scale[0]) && prior_of(l).scale[1] == 0.4);  // nothing has changed
    } else if (status != BDL_OK) {
      fail_msg("%s: %s", c.method, bdl_last_error());
    }
    if (strstr(c.method, "ekf") || strstr(c.method, "lo-fi")) {
      Vector scores(rows);
      OK(bdl_optimizer_observe(l.optimizer.get(), data.inputs(), data.targets(),
                               bdl_f64_out(scores.data(), rows, 1)));
    } else {
      l.fit(data.inputs(), data.targets(), 3);
    }
  }
}

/// A saved optimizer goes on with the same prior, in units that come later too.
void checkpoints_keep_priors(void**) {
  const Data data;
  const Given some{{30, 0, -20, 1}, {20, left_out, inf, 2}};
  Learner l = make_learner("exact-full", data, some, Units::plain, BDL_GAUSSIAN);
  int64_t size = 0;
  OK(bdl_save_bytes(nullptr, nullptr, l.optimizer.get(), nullptr, 0, &size));
  std::vector<unsigned char> bytes(static_cast<std::size_t>(size));
  OK(bdl_save_bytes(nullptr, nullptr, l.optimizer.get(), bytes.data(), size, &size));
  bdl_model* model = nullptr;
  bdl_posterior* posterior = nullptr;
  bdl_optimizer* optimizer = nullptr;
  OK(bdl_load_bytes(bytes.data(), size, nullptr, &model, &posterior, &optimizer));
  Learner loaded{Model(model), Posterior(posterior), Optimizer(optimizer)};
  assert_true(prior_of(l).location == prior_of(loaded).location &&
              prior_of(l).scale == prior_of(loaded).scale);
  for (Learner* const each : {&l, &loaded}) {
    standardize(*each, data, true);
    each->fit(data.inputs(), data.targets(), 100);
  }
  assert_true(moments_of(l.posterior) == moments_of(loaded.posterior));
}

/// Networks have priors of parameters, and start at random weights near their locations.
void networks_have_priors_of_parameters(void**) {
  const Data data;
  Learner l(make_mlp(BDL_F64, {features, 5, 1}, BDL_GAUSSIAN), BDL_F64, 0, rows, "vogn");
  standardize(l, data, true);
  const int64_t d = bdl_model_parameters(l.model.get());
  Vector location(static_cast<std::size_t>(d)), scale(static_cast<std::size_t>(d), left_out);
  location[0] = 4;
  scale[0] = 0.01;
  scale[1] = 0.001;
  OK(bdl_optimizer_set_prior_normal(l.optimizer.get(), bdl_f64(location.data(), 1, d),
                                    bdl_f64(scale.data(), 1, d)));
  l.fit(data.inputs(), data.targets(), 300);
  const Vector mean = mean_of(l.posterior);
  assert_close(mean[0], 4, 0.1, "a weight whose prior is narrow");
  assert_close(mean[1], 0, 0.01, "a weight whose prior is narrow");
  assert_true(std::abs(mean[3] - mean[6]) > 1e-3);  // units differ
  Vector precision(static_cast<std::size_t>(d));
  OK(bdl_optimizer_get_prior(l.optimizer.get(), bdl_f64_out(precision.data(), 1, d)));
  assert_close(precision[0], 1e4, 1e-8, "precision");
  assert_true(precision[2] == precision[3] && precision[2] < 1e4);
}

/// Irrelevant inputs get large precisions, and the evidence grows.
void inputs_have_precisions_of_their_own(void**) {
  constexpr int64_t n = 200, inputs = 6;
  Dense x(n, inputs), y(n, 1);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < inputs; ++j) {
      const double u =
          std::sin(12.9898 * static_cast<double>(i + 1) + 78.233 * static_cast<double>(j)) * 43758.5;
      x(i, j) = 2 * (u - std::floor(u)) - 1;
    }
    const double e = std::sin(91.7 * static_cast<double>(i + 1)) * 1234.5;
    y(i, 0) = std::sin(3 * x(i, 0)) + x(i, 1) * x(i, 1) + 0.2 * (e - std::floor(e) - 0.5);
  }
  const bdl_matrix of_x = bdl_strided(x.values.data(), BDL_F64, n, inputs, 1, n),
                   of_y = bdl_f64(y.values.data(), n, 1);
  for (const char* const way : {"evidence", "samples", "laplace"}) {
    const bool laplace = !strcmp(way, "laplace");
    Learner l(make_mlp(BDL_F64, {inputs, 12, 1}, BDL_GAUSSIAN), BDL_F64, laplace ? FULL : 5, n,
              laplace ? "laplace" : "slang");
    OK(bdl_model_standardize(l.model.get(), of_x, of_y));
    l.set("prior_groups", "inputs");
    if (!laplace) l.set("scales", way);
    l.fit(of_x, of_y, laplace ? 400 : 200);
    const int64_t d = bdl_model_parameters(l.model.get());
    Vector precision(static_cast<std::size_t>(d));
    OK(bdl_optimizer_get_prior(l.optimizer.get(), bdl_f64_out(precision.data(), 1, d)));
    for (std::size_t k = 0; k < 12 * inputs; ++k) assert_true(precision[k] == precision[k % inputs]);
    double useful = std::max(precision[0], precision[1]), useless = HUGE_VAL;
    for (std::size_t j = 2; j < inputs; ++j) useless = std::min(useless, precision[j]);
    if (!(useless > 3 * useful))
      fail_msg("%s: %g for useful inputs, %g for useless ones", way, useful, useless);
  }
}

void mistakes_are_refused(void**) {
  const Data data;
  Learner l = make_learner("exact-full", data, priors[0], Units::before, BDL_GAUSSIAN);
  const double wrong[terms] = {1, 0, 1, 1}, fine[terms] = {1, 1, 1, 1}, bad[terms] = {1, inf, 0, 0};
  const auto refused = [&](bdl_status status, bdl_status expected, const char* text) {
    assert_int_equal(status, expected);
    if (!strstr(bdl_last_error(), text)) fail_msg("\"%s\" lacks \"%s\"", bdl_last_error(), text);
    assert_true(prior_of(l).location == priors[0].location && prior_of(l).scale == priors[0].scale);
  };
  const auto give_coefficients = [&](const double* location, const double* scale, int64_t k) {
    return bdl_optimizer_set_prior_coefficients(l.optimizer.get(), bdl_f64(location, 1, k),
                                                bdl_f64(scale, 1, k));
  };
  refused(give_coefficients(fine, wrong, terms), BDL_ERROR_INVALID_ARGUMENT, "scale has 0 in column 1");
  refused(give_coefficients(bad, fine, terms), BDL_ERROR_INVALID_ARGUMENT, "location has inf in column 1");
  refused(give_coefficients(fine, fine, 3), BDL_ERROR_SHAPE, "location");
  Learner network(make_mlp(BDL_F64, {features, 3, 1}, BDL_GAUSSIAN), BDL_F64, 0, rows, "vogn");
  refused(
      bdl_optimizer_set_prior_coefficients(network.optimizer.get(), bdl_f64(fine, 1, 1), bdl_f64(fine, 1, 1)),
      BDL_ERROR_UNSUPPORTED, "only such models have coefficients");
  bdl_posterior* kronecker = nullptr;
  OK(bdl_posterior_create_kronecker(network.model.get(), &kronecker));
  const Posterior q(kronecker);
  bdl_optimizer* created = nullptr;
  OK(bdl_optimizer_create(network.model.get(), q.get(), "kfac", rows, &created));
  const Optimizer kfac(created);
  refused(bdl_optimizer_set_choice(kfac.get(), "prior_groups", "inputs"), BDL_ERROR_UNSUPPORTED,
          "Kronecker factors have one precision for all weights of a layer");
  bdl_optimizer* bare = nullptr;
  const Posterior plain = make_posterior(BDL_F64, 3, 0);
  OK(bdl_optimizer_create(nullptr, plain.get(), "slang", rows, &bare));
  const Optimizer alone(bare);
  refused(bdl_optimizer_set_choice(alone.get(), "prior_groups", "inputs"), BDL_ERROR_UNSUPPORTED,
          "networks that begin with a dense layer");
}

}  // namespace

int test_normal_priors() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(posteriors_are_those_of_the_closed_form),
      cmocka_unit_test(filters_begin_with_the_prior),
      cmocka_unit_test(logistic_regression_is_optimal),
      cmocka_unit_test(others_keep_the_prior_of_the_options),
      cmocka_unit_test(learning_leaves_given_priors_alone),
      cmocka_unit_test(precisions_beside_an_intercept_are_optimal),
      cmocka_unit_test(families_take_priors_of_intercepts),
      cmocka_unit_test(checkpoints_keep_priors),
      cmocka_unit_test(networks_have_priors_of_parameters),
      cmocka_unit_test(inputs_have_precisions_of_their_own),
      cmocka_unit_test(mistakes_are_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
