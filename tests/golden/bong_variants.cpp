#include "bong_variants.hpp"

#include <algorithm>
#include <cmath>

namespace golden {
namespace {

using bdl::testing::cholesky_of;
using bdl::testing::columns_of;
using bdl::testing::diagonal_matrix;
using bdl::testing::identity;
using bdl::testing::inverse_of;
using bdl::testing::transposed;

/// N(mean, covariance) as the literal steps have it: neither matrix is symmetric.
struct Literal {
  Dense mean, precision, covariance;
};

/// Gradient and Hessian of minus the expected log likelihood.
struct Evidence {
  Dense gradient, hessian;
};

std::int32_t supply_draws(void* user_data, bdl_draw_kind, std::int64_t, std::int64_t, const bdl_posterior* q,
                          bdl_matrix_out out) {
  const Json& eps = *static_cast<const Json*>(user_data);
  for (std::int64_t s = 0; s < out.rows; ++s) {
    const Vector theta = draw(q, "fc", eps[static_cast<std::size_t>(s)].get<Vector>());
    for (std::int64_t p = 0; p < out.cols; ++p)
      static_cast<double*>(out.data)[s * out.row_stride + p * out.col_stride] =
          theta[static_cast<std::size_t>(p)];
  }
  return 0;
}

Dense precision_of(const bdl_posterior* q) {
  for (std::int64_t index = 0; index < bdl_posterior_tensor_count(q); ++index) {
    const char* name = nullptr;
    std::int64_t rows = 0, cols = 0;
    check(bdl_posterior_tensor_describe(q, index, &name, &rows, &cols, nullptr));
    if (std::string(name) != "precision") continue;
    Dense precision(rows, cols);
    check(bdl_posterior_get_tensor(q, index, view_out(precision)));
    return precision;
  }
  throw std::runtime_error("the posterior has no precision");
}

/// Reads g and H from a short natural step of the library, P' = P + r H and mean' = mean - r P'^-1 g, of the
/// normal distribution with the symmetric part of the covariance.
Evidence evidence(bdl_model* model, const Literal& at, const std::string& estimator, const Json& eps,
                  const Dense& x, const Dense& y) {
  constexpr double rate = 1.0 / 1024;
  const std::int64_t dim = at.mean.rows;
  bdl_posterior* q = nullptr;
  check(bdl_posterior_create_full(BDL_F64, dim, &q));
  const Owned<bdl_posterior> owned_q(q, bdl_posterior_free);
  const Dense covariance = 0.5 * (at.covariance + transposed(at.covariance)),
              inverse = inverse_of(covariance);
  check(bdl_posterior_set_full(q, row(at.mean.values), view(0.5 * (inverse + transposed(inverse)))));
  const Dense before = precision_of(q);

  bdl_optimizer* o = nullptr;
  check(bdl_optimizer_create(model, q, "blr", 1, &o));
  const Owned<bdl_optimizer> owned_o(o, bdl_optimizer_free);
  check(bdl_optimizer_set_choice(o, "curvature", estimator.c_str()));
  check(bdl_optimizer_set_double(o, "learning_rate", rate));
  check(bdl_optimizer_set_double(o, "guard", 0));
  check(bdl_optimizer_set_choice(o, "indefinite", "error"));
  check(bdl_optimizer_set_int(o, "iterations", 1));
  if (estimator.starts_with("mc"))
    check(bdl_optimizer_set_int(o, "samples", static_cast<std::int64_t>(eps.size())));
  check(bdl_optimizer_set_draws(o, supply_draws, const_cast<Json*>(&eps), nullptr));
  check(bdl_optimizer_observe(o, row(x.values), row(y.values), bdl_none_out()));
  const Dense after = precision_of(q);
  return {1 / rate * (after * (at.mean - mean_of(q))), 1 / rate * (after - before)};
}

/// With the gradients 2 Sigma m mu^T + 2 Sigma M Sigma and Sigma m of the natural parameters.
Literal stepped(const Literal& q, const Dense& m, const Dense& twice_gradient, double rate) {
  const Dense u = q.covariance * m;
  const Dense precision = q.precision + 4 * rate * (u * transposed(q.mean)) +
                          2 * rate * (q.covariance * twice_gradient * q.covariance);
  const Dense covariance = inverse_of(precision);
  return {covariance * (q.precision * q.mean - rate * u), precision, covariance};
}

}  // namespace

double replay_literal(const Json& problem, const Algorithm& algorithm, const Json& result, bdl_model* model) {
  const Json& prior = problem.at("prior");
  const Dense x = dense(problem.at("X")), y = targets(problem, problem.at("Y"));
  const double rate = result.at("alpha").get<double>();
  Literal q{transposed(dense(Json::array({prior.at("mu")}))), inverse_of(dense(prior.at("Sigma"))),
            dense(prior.at("Sigma"))};
  double worst = 0;
  for (std::int64_t t = 0; t < x.rows; ++t) {
    const Literal start = q;
    for (std::size_t i = 0; i < result.at("iters").get<std::size_t>(); ++i) {
      const Json& eps = problem.at("eps")[static_cast<std::size_t>(t)][i];
      const Evidence e = evidence(model, q, algorithm.estimator, eps, columns_of(transposed(x), t, 1),
                                  columns_of(transposed(y), t, 1));
      q = algorithm.rule == "bog" ? stepped(q, e.gradient, e.hessian, rate)
                                  : stepped(q, e.gradient + start.precision * (q.mean - start.mean),
                                            e.hessian + start.precision - q.precision, rate);
    }
    if (!result.at("after").contains(std::to_string(t + 1))) continue;
    const Json& expected = result.at("after").at(std::to_string(t + 1));
    worst = std::max({worst, error(q.mean.values, expected.at("mu").get<Vector>()),
                      error(q.covariance.values, dense(expected.at("Sigma")).values)});
  }
  return worst;
}

namespace {

struct ProbabilityModel {
  const bdl_model* classifier;
  double jitter;

  /// The logits' Jacobian, the label's covariance R = diag p - p p^T and p - y.
  struct Here {
    Dense jacobian, covariance, residual, root;
  };
  Here at(bdl_matrix parameters, bdl_matrix inputs) const;
};

Vector first_row(bdl_matrix a) {
  Vector values(static_cast<std::size_t>(a.cols));
  for (std::int64_t j = 0; j < a.cols; ++j)
    values[static_cast<std::size_t>(j)] = static_cast<const double*>(a.data)[j * a.col_stride];
  return values;
}

void set_first_row(bdl_matrix_out a, const Dense& values) {
  for (std::int64_t j = 0; j < a.cols; ++j)
    static_cast<double*>(a.data)[j * a.col_stride] = values.values[static_cast<std::size_t>(j)];
}

ProbabilityModel::Here ProbabilityModel::at(bdl_matrix parameters, bdl_matrix inputs) const {
  const Vector theta = first_row(parameters), both = first_row(inputs);
  const std::int64_t outputs = bdl_model_outputs(classifier);
  const Vector x(both.begin(), both.end() - outputs);
  Dense p(outputs, 1), jacobian(outputs, static_cast<std::int64_t>(theta.size()));
  check(bdl_model_evaluate(classifier, row(theta), row(x), row_out(p.values)));
  check(bdl_model_jacobian(classifier, row(theta), row(x), view_out(jacobian)));
  double sum = 0;
  for (double& value : p.values) sum += value = std::exp(value);
  p = 1 / sum * p;
  Dense residual = p;
  for (std::int64_t c = 0; c < outputs; ++c) residual(c, 0) -= both[x.size() + static_cast<std::size_t>(c)];
  const Dense covariance = diagonal_matrix(p) - p * transposed(p);
  return {jacobian, covariance, residual, inverse_of(cholesky_of(covariance + jitter * identity(outputs)))};
}

std::int32_t outputs_of(void* user_data, bdl_matrix parameters, bdl_matrix inputs, bdl_matrix_out outputs) {
  const auto here = static_cast<const ProbabilityModel*>(user_data)->at(parameters, inputs);
  set_first_row(outputs, here.root * here.residual);
  return 0;
}

std::int32_t gradients_of(void* user_data, bdl_matrix parameters, bdl_matrix inputs, bdl_matrix seeds,
                          bdl_matrix_out rows) {
  const auto here = static_cast<const ProbabilityModel*>(user_data)->at(parameters, inputs);
  Dense seed(seeds.cols, 1);
  seed.values = first_row(seeds);
  set_first_row(rows, transposed(here.jacobian) * here.covariance * transposed(here.root) * seed);
  return 0;
}

}  // namespace

Owned<bdl_model> make_probability_model(const bdl_model* classifier, double jitter) {
  const std::int64_t outputs = bdl_model_outputs(classifier);
  auto data = std::make_unique<ProbabilityModel>(ProbabilityModel{classifier, jitter});
  const bdl_model_callbacks callbacks{
      sizeof callbacks, outputs_of, gradients_of, data.get(),
      [](void* user_data) { delete static_cast<ProbabilityModel*>(user_data); }};
  bdl_model* model = nullptr;
  check(bdl_model_create_user(BDL_F64, bdl_model_inputs(classifier) + outputs, outputs,
                              bdl_model_parameters(classifier), BDL_GAUSSIAN, &callbacks, &model));
  data.release();
  Owned<bdl_model> owned(model, bdl_model_free);
  check(bdl_model_set_noise_covariance(model, view(identity(outputs))));
  return owned;
}

}  // namespace golden
