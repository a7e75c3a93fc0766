#include "bong_problem.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace golden {
namespace {

Dense symmetric_part(const Dense& a) {
  return 0.5 * (a + transposed(a));
}

}  // namespace

Dense dense(const Json& rows) {
  Dense out(static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows.at(0).size()));
  for (std::int64_t i = 0; i < out.rows; ++i)
    for (std::int64_t j = 0; j < out.cols; ++j)
      out(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  return out;
}

bdl_matrix view(const Dense& a) {
  return bdl_column_major(a.values.data(), BDL_F64, a.rows, a.cols);
}

bdl_matrix_out view_out(Dense& a) {
  return bdl_column_major_out(a.values.data(), BDL_F64, a.rows, a.cols);
}

Algorithm::Algorithm(const std::string& key) {
  const std::size_t bar = key.find('|');
  variant = bar == key.npos ? "" : key.substr(bar + 1);
  const std::string name = key.substr(0, bar);
  const std::size_t first = name.find('-'), last = name.rfind('-');
  rule = name.substr(0, first);
  estimator = name.substr(first + 1, last - first - 1);
  family = name.substr(last + 1);
}

Owned<bdl_model> make_model(const Json& problem) {
  const Json& predictor = problem.at("predictor");
  const auto outputs = problem.at("C").get<std::int64_t>();
  const std::string type = predictor.at("type"), density = problem.at("likelihood").at("type");
  std::vector<std::int64_t> sizes{predictor.at("D").get<std::int64_t>()};
  if (type == "mlp")
    sizes.push_back(predictor.at("K").get<std::int64_t>());
  else if (type != "linear")
    throw std::runtime_error("unknown predictor " + type);
  sizes.push_back(outputs);
  const std::map<std::string, bdl_likelihood> likelihoods{
      {"gaussian", BDL_GAUSSIAN}, {"bernoulli", BDL_BERNOULLI}, {"categorical", BDL_CATEGORICAL}};
  bdl_model* model = nullptr;
  check(bdl_model_create_mlp(BDL_F64, sizes.data(), static_cast<std::int32_t>(sizes.size()), BDL_TANH,
                             predictor.value("bias", false) ? 1 : 0, likelihoods.at(density), &model));
  Owned<bdl_model> owned(model, bdl_model_free);
  if (density == "gaussian")
    check(bdl_model_set_noise_covariance(model, view(dense(problem.at("likelihood").at("R")))));
  return owned;
}

Dense targets(const Json& problem, const Json& rows) {
  const Dense y = dense(rows);
  if (problem.at("likelihood").at("type") != "categorical") return y;
  Dense classes(y.rows, 1);
  for (std::int64_t i = 0; i < y.rows; ++i)
    for (std::int64_t c = 0; c < y.cols; ++c)
      if (y(i, c) > 0.5) classes(i, 0) = static_cast<double>(c);
  return classes;
}

Owned<bdl_posterior> make_posterior(const Json& problem, const Algorithm& algorithm) {
  const Json& prior = problem.at("prior");
  const auto dim = problem.at("P").get<std::int64_t>();
  const std::string& family = algorithm.family;
  const Vector mean = prior.at("mu").get<Vector>();
  bdl_posterior* q = nullptr;
  if (family == "fc") {
    check(bdl_posterior_create_full(BDL_F64, dim, &q));
    check(bdl_posterior_set_full(q, row(mean), view(symmetric_part(inverse_of(dense(prior.at("Sigma")))))));
  } else if (family == "fc_mom") {
    check(bdl_posterior_create_full_moment(BDL_F64, dim, &q));
    check(bdl_posterior_set_full_moment(q, row(mean), view(dense(prior.at("Sigma")))));
  } else if (family == "diag_mom") {
    check(bdl_posterior_create_diagonal_moment(BDL_F64, dim, &q));
    check(bdl_posterior_set_diagonal_moment(q, row(mean), row(prior.at("var").get<Vector>())));
  } else if (family == "diag") {
    Vector precision = prior.at("var").get<Vector>();
    for (double& value : precision) value = 1 / value;
    check(bdl_posterior_create_low_rank(BDL_F64, dim, 0, &q));
    check(bdl_posterior_set_low_rank(q, row(mean), bdl_none(), row(precision)));
  } else if (family == "dlr") {
    const Dense w = dense(prior.at("W"));
    check(bdl_posterior_create_low_rank(BDL_F64, dim, w.cols, &q));
    check(bdl_posterior_set_low_rank(q, row(mean), algorithm.is("W0zero") ? bdl_none() : view(w),
                                     row(prior.at("ups").get<Vector>())));
  } else {
    throw std::runtime_error("unknown family " + family);
  }
  return {q, bdl_posterior_free};
}

Dense mean_of(const bdl_posterior* q) {
  Dense mean(bdl_posterior_dimension(q), 1);
  check(bdl_posterior_mean(q, row_out(mean.values)));
  return mean;
}

Dense covariance_of(const bdl_posterior* q) {
  const std::int64_t dim = bdl_posterior_dimension(q);
  std::vector<std::int64_t> all(static_cast<std::size_t>(dim));
  for (std::int64_t i = 0; i < dim; ++i) all[static_cast<std::size_t>(i)] = i;
  Dense covariance(dim, dim);
  check(bdl_posterior_covariance(q, all.data(), dim, all.data(), dim, view_out(covariance)));
  return covariance;
}

Vector variance_of(const bdl_posterior* q) {
  Vector variance(static_cast<std::size_t>(bdl_posterior_dimension(q)));
  check(bdl_posterior_marginal_variance(q, row_out(variance)));
  return variance;
}

LowRank::LowRank(const bdl_posterior* q)
    : w(bdl_posterior_dimension(q), bdl_posterior_rank(q)), ups(static_cast<std::size_t>(w.rows)) {
  check(bdl_posterior_get_low_rank(q, view_out(w), row_out(ups)));
}

Vector draw(const bdl_posterior* q, const std::string& family, const Vector& z) {
  const Dense mean = mean_of(q);
  Dense shift(mean.rows, 1);
  shift.values = z;
  if (family == "fc" || family == "fc_mom") {
    shift = cholesky_of(symmetric_part(covariance_of(q))) * shift;
  } else if (family == "dlr") {  // Ups^-1/2 (I + V V^T)^-1/2 z, V = Ups^-1/2 W
    const LowRank parts(q);
    Dense v = parts.w;
    for (std::int64_t i = 0; i < v.rows; ++i)
      for (std::int64_t k = 0; k < v.cols; ++k) v(i, k) /= std::sqrt(parts.ups[static_cast<std::size_t>(i)]);
    const auto eigen = eigen_of(transposed(v) * v);
    const Dense basis = v * eigen.vectors;
    Dense inner = transposed(basis) * shift;
    for (std::int64_t k = 0; k < inner.rows; ++k) {
      const double root = std::sqrt(1 + std::max(0.0, eigen.values[static_cast<std::size_t>(k)]));
      inner(k, 0) *= -1 / (root * (1 + root));
    }
    shift = shift + basis * inner;
    for (std::int64_t i = 0; i < v.rows; ++i)
      shift(i, 0) /= std::sqrt(parts.ups[static_cast<std::size_t>(i)]);
  } else {
    const Vector variance = variance_of(q);
    for (std::size_t i = 0; i < z.size(); ++i) shift.values[i] *= std::sqrt(variance[i]);
  }
  return (mean + shift).values;
}

}  // namespace golden
