// "bong-golden-1": every rule x estimate x family on small problems, with the normal draws to inject;
// predictive scores; batch blr. The file's "conventions" say what its entries mean.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "bong_variants.hpp"

namespace golden {
namespace {

/// The file's draws, handed to the library.
struct Draws {
  const Json& problem;
  const Algorithm& algorithm;
};

std::int32_t supply(void* user_data, bdl_draw_kind kind, std::int64_t step, std::int64_t iteration,
                    const bdl_posterior* q, bdl_matrix_out out) {
  const Draws& draws = *static_cast<const Draws*>(user_data);
  const Json& all = draws.problem.at(kind == BDL_DRAW_PARAMETERS ? "eps" : "probes");
  const Json& here = all.at(static_cast<std::size_t>(step)).at(static_cast<std::size_t>(iteration));
  if (static_cast<std::int64_t>(here.size()) != out.rows) return 1;
  for (std::int64_t s = 0; s < out.rows; ++s) {
    Vector values = here[static_cast<std::size_t>(s)].get<Vector>();
    if (kind == BDL_DRAW_PARAMETERS) values = draw(q, draws.algorithm.family, values);
    for (std::int64_t p = 0; p < out.cols; ++p)
      static_cast<double*>(out.data)[s * out.row_stride + p * out.col_stride] =
          values[static_cast<std::size_t>(p)];
  }
  return 0;
}

Owned<bdl_optimizer> make_optimizer(bdl_model* model, bdl_posterior* q, const Json& problem,
                                    const Algorithm& algorithm, double alpha, std::int64_t size) {
  bdl_optimizer* o = nullptr;
  const char* const method = algorithm.rule == "bbb" ? "online-bbb" : algorithm.rule.c_str();
  check(bdl_optimizer_create(model, q, method, size, &o));
  Owned<bdl_optimizer> owned(o, bdl_optimizer_free);
  check(bdl_optimizer_set_choice(o, "curvature", algorithm.estimator.c_str()));
  if (algorithm.rule != "bong") check(bdl_optimizer_set_double(o, "learning_rate", alpha));
  check(bdl_optimizer_set_double(o, "guard", 0));  // the published algorithms have no line search,
  check(bdl_optimizer_set_choice(o, "indefinite", "shorten"));  // nor steps to second order
  if (algorithm.estimator.starts_with("mc"))
    check(bdl_optimizer_set_int(o, "samples", problem.at("S").get<std::int64_t>()));
  if (algorithm.is("klmean")) {
    check(bdl_optimizer_set_choice(o, "mean_update", "unprojected"));
  } else if (algorithm.is("hutchinson")) {
    check(bdl_optimizer_set_int(o, "probes", static_cast<std::int64_t>(problem.at("probes")[0][0].size())));
  } else if (!algorithm.variant.empty() && !algorithm.is("dyn") && !algorithm.is("W0zero") &&
             !algorithm.has_jitter()) {
    throw std::runtime_error("unknown variant " + algorithm.variant);
  }
  return owned;
}

double compare(const bdl_posterior* q, const Algorithm& algorithm, const Json& expected) {
  double worst = error(mean_of(q).values, expected.at("mu").get<Vector>());
  if (algorithm.family.starts_with("fc"))
    return std::max(worst, error(covariance_of(q).values, dense(expected.at("Sigma")).values));
  if (algorithm.family.starts_with("diag"))
    return std::max(worst, error(variance_of(q), expected.at("var").get<Vector>()));
  const LowRank parts(q);
  worst = std::max(worst, error(parts.ups, expected.at("ups").get<Vector>()));
  return std::max(worst, error((parts.w * transposed(parts.w)).values, dense(expected.at("WWt")).values));
}

/// The stream; q is left as it is at its end.
double replay_stream(const Json& file, const Json& problem, const Algorithm& algorithm, const Json& result,
                     bdl_model* model, const Dense& x, const Dense& y, bdl_posterior* q) {
  Draws draws{problem, algorithm};
  const auto optimizer = make_optimizer(model, q, problem, algorithm, result.at("alpha").get<double>(), 1);
  bdl_optimizer* const o = optimizer.get();
  if (algorithm.rule == "blr" || algorithm.rule == "bbb")
    check(bdl_optimizer_set_int(o, "iterations", result.at("iters").get<std::int64_t>()));
  check(bdl_optimizer_set_draws(o, supply, &draws, nullptr));
  if (algorithm.is("dyn")) {
    check(bdl_optimizer_set_double(o, "transition", file.at("gamma").get<double>()));
    check(bdl_optimizer_set_double(o, "process_noise", file.at("q").get<double>()));
  }
  double worst = 0;
  std::size_t compared = 0;
  for (std::int64_t t = 0; t < x.rows; ++t) {
    const Dense x_t = columns_of(transposed(x), t, 1), y_t = columns_of(transposed(y), t, 1);
    check(bdl_optimizer_observe(o, row(x_t.values), row(y_t.values), bdl_none_out()));
    if (!result.at("after").contains(std::to_string(t + 1))) continue;
    worst = std::max(worst, compare(q, algorithm, result.at("after").at(std::to_string(t + 1))));
    ++compared;
  }
  if (compared != result.at("after").size()) throw std::runtime_error("an observation is missing");
  if (bdl_optimizer_shortened_steps(o) > 0) throw std::runtime_error("a step was shortened");
  return worst;
}

/// A stream of the library's own algorithms, or of what it can be made to do.
double replay_entry(const Json& file, const Json& problem, const Algorithm& algorithm, const Json& result,
                    bdl_model* model, bdl_posterior* q) {
  if (algorithm.is("literal")) return replay_literal(problem, algorithm, result, model);
  const Dense x = dense(problem.at("X")), y = targets(problem, problem.at("Y"));
  if (!algorithm.has_jitter()) return replay_stream(file, problem, algorithm, result, model, x, y, q);
  const auto probabilities = make_probability_model(model, std::stod(algorithm.variant.substr(6)));
  const Dense hot = dense(problem.at("Y"));
  return replay_stream(file, problem, algorithm, result, probabilities.get(), beside(x, hot),
                       Dense(hot.rows, hot.cols), q);
}

double replay_batch(const Json& problem, const Algorithm& algorithm, const Json& result, bdl_model* model) {
  const auto q = make_posterior(problem, algorithm);
  Draws draws{problem, algorithm};
  const Dense x = dense(problem.at("X")), y = targets(problem, problem.at("Y"));
  const double alpha = result.at("alpha").get<double>(), lambda = result.at("lambda").get<double>();
  const auto optimizer = make_optimizer(model, q.get(), problem, algorithm, alpha, x.rows);
  bdl_optimizer* const o = optimizer.get();
  check(bdl_optimizer_set_double(o, "curvature_rate", alpha));
  check(bdl_optimizer_set_choice(o, "schedule", "power"));
  if (algorithm.family == "dlr") check(bdl_optimizer_set_choice(o, "mean_update", "unprojected"));
  check(bdl_optimizer_set_prior(o, bdl_f64(&lambda, 1, 1)));
  check(bdl_optimizer_set_draws(o, supply, &draws, nullptr));
  double worst = 0;
  std::size_t compared = 0;
  for (int k = 1; compared < result.at("after").size(); ++k) {
    check(bdl_optimizer_step(o, view(x), view(y)));
    if (!result.at("after").contains(std::to_string(k))) continue;
    worst = std::max(worst, compare(q.get(), algorithm, result.at("after").at(std::to_string(k))));
    ++compared;
  }
  return worst;
}

/// -log of the mean density at outputs f (one per row), by a model that returns its inputs.
double nlpd(const Json& problem, const Dense& f, const Dense& y) {
  Json same = problem;
  same["predictor"] = {{"type", "linear"}, {"D", f.cols}, {"C", f.cols}};
  const auto identity = make_model(same);
  const Dense theta = bdl::testing::identity(f.cols);
  double top = -HUGE_VAL, sum = 0;
  Vector densities;
  for (std::int64_t s = 0; s < f.rows; ++s) {
    const Dense f_s = columns_of(transposed(f), s, 1);
    double log_density = 0;
    check(bdl_model_log_likelihood(identity.get(), row(theta.values), row(f_s.values), row(y.values),
                                   bdl_f64_out(&log_density, 1, 1)));
    densities.push_back(log_density);
    top = std::max(top, log_density);
  }
  for (const double density : densities) sum += std::exp(density - top);
  return -(top + std::log(sum / static_cast<double>(f.rows)));
}

double compare_predictive(const Json& problem, const std::string& family, const Json& expected,
                          bdl_model* model, const bdl_posterior* q) {
  const Vector x = expected.at("x").get<Vector>();
  const Dense y = transposed(targets(problem, Json::array({expected.at("y")})));
  const auto outputs = problem.at("C").get<std::int64_t>(), dim = bdl_posterior_dimension(q);
  const Json& eps = problem.at("eps")[0][0];
  const Dense mean = mean_of(q);
  Dense f_mc(static_cast<std::int64_t>(eps.size()), outputs), f_lin = f_mc, f_mean(1, outputs),
                                                              jacobian(outputs, dim);
  check(bdl_model_evaluate(model, row(mean.values), row(x), view_out(f_mean)));
  check(bdl_model_jacobian(model, row(mean.values), row(x), view_out(jacobian)));
  for (std::int64_t s = 0; s < f_mc.rows; ++s) {
    Dense theta(dim, 1), f(1, outputs);
    theta.values = draw(q, family, eps[static_cast<std::size_t>(s)].get<Vector>());
    check(bdl_model_evaluate(model, row(theta.values), row(x), view_out(f)));
    const Dense linear = jacobian * (theta - mean);
    for (std::int64_t c = 0; c < outputs; ++c) {
      f_mc(s, c) = f(0, c);
      f_lin(s, c) = f_mean(0, c) + linear(c, 0);
    }
  }
  const auto log_density = [&](bdl_predict_method method) {
    double value = 0;
    check(bdl_predict_log_density(model, q, row(x), row(y.values), method, 1, 1, bdl_f64_out(&value, 1, 1)));
    return -value;
  };
  double worst = error({log_density(BDL_PLUG_IN)}, {expected.at("nll_plugin").get<double>()});
  worst = std::max(worst, error({nlpd(problem, f_mc, y)}, {expected.at("nlpd_mc").get<double>()}));
  worst = std::max(worst, error({nlpd(problem, f_lin, y)}, {expected.at("nlpd_lin_mc").get<double>()}));
  if (expected.contains("nlpd_closed_form"))
    worst = std::max(worst,
                     error({log_density(BDL_LINEARIZED)}, {expected.at("nlpd_closed_form").get<double>()}));
  return worst;
}

/// Errors by kind of entry, and the keys beyond the tolerance.
struct Report {
  double worst = 0;
  int entries = 0;
  bool passed = true;
  void add(const std::string& problem, const std::string& key, double value) {
    worst = std::max(worst, value);
    ++entries;
    if (value <= tolerance) return;
    passed = false;
    std::printf("bong %s %s error=%.3g FAILED\n", problem.c_str(), key.c_str(), value);
  }
};

}  // namespace

bool replay_bong(const Json& file) {
  bool passed = !file.at("problems").empty();
  for (const Json& problem : file.at("problems")) {
    const std::string name = problem.at("name");
    const auto model = make_model(problem);
    Report report;
    for (const auto& [key, result] : problem.at("results").items()) {
      const Algorithm algorithm(key);
      const auto q = make_posterior(problem, algorithm);
      report.add(name, key, replay_entry(file, problem, algorithm, result, model.get(), q.get()));
      const Json predictive = problem.value("predictive", Json::object());
      if (key == "bong-lin-hess-" + algorithm.family && predictive.contains(algorithm.family))
        report.add(name, "predictive " + algorithm.family,
                   compare_predictive(problem, algorithm.family, predictive.at(algorithm.family), model.get(),
                                      q.get()));
    }
    for (const auto& [key, result] : problem.at("batch").items())
      report.add(name, "batch " + key, replay_batch(problem, Algorithm(key), result, model.get()));
    std::printf("bong %s entries=%d largest_error=%.3g %s\n", name.c_str(), report.entries, report.worst,
                report.passed ? "ok" : "FAILED");
    passed = passed && report.passed;
  }
  return passed;
}

}  // namespace golden
