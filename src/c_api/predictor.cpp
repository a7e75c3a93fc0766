#include "predict/predictor.hpp"

#include "c_api/convert.hpp"
#include "c_api/handles.hpp"

struct bdl_predictor {
  Either<bdl::Predictor<float>, bdl::Predictor<double>> object;
};

namespace bdl {
namespace {

/// predict(query) in the arithmetic of the handle.
template <class Predict>
bdl_status answer(const char* function, bdl_predictor* predictor, const bdl_matrix& x, Predict&& predict) {
  return guard(function, [&] { with(predictor, "predictor", [&](auto& p) { predict(p.query(x)); }); });
}

}  // namespace
}  // namespace bdl

bdl_status bdl_predictor_create(const bdl_model* model, const bdl_posterior* posterior,
                                bdl_predict_method method, int64_t samples, uint64_t seed,
                                bdl_predictor** predictor) {
  return bdl::guard("bdl_predictor_create", [&] {
    bdl::not_null(predictor, "predictor");
    bdl::check_enum(method, BDL_MONTE_CARLO, BDL_LOCAL_MONTE_CARLO, "method");
    bdl::with_both(model, posterior, [&](const auto& m, const auto& q) {
      using T = typename std::remove_cvref_t<decltype(m)>::Scalar;
      *predictor = new bdl_predictor{
          std::make_shared<bdl::Predictor<T>>(m, q, bdl::PredictSpec{method, samples, seed})};
    });
  });
}

void bdl_predictor_free(bdl_predictor* predictor) {
  delete predictor;
}

bdl_status bdl_predictor_moments(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out mean,
                                 bdl_matrix_out epistemic_variance, bdl_matrix_out noise_variance) {
  return bdl::answer("bdl_predictor_moments", predictor, x, [&](const auto& query) {
    bdl::predict_moments(query, mean, epistemic_variance, noise_variance);
  });
}

bdl_status bdl_predictor_quantiles(bdl_predictor* predictor, bdl_matrix x, bdl_matrix levels,
                                   bdl_matrix_out quantiles) {
  return bdl::answer("bdl_predictor_quantiles", predictor, x,
                     [&](const auto& query) { bdl::predict_quantiles(query, levels, quantiles); });
}

bdl_status bdl_predictor_interval(bdl_predictor* predictor, bdl_matrix x, double probability,
                                  bdl_matrix_out lower, bdl_matrix_out upper) {
  return bdl::answer("bdl_predictor_interval", predictor, x,
                     [&](const auto& query) { bdl::predict_interval(query, probability, lower, upper); });
}

bdl_status bdl_predictor_classes(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out probabilities,
                                 bdl_matrix_out entropy, bdl_matrix_out mutual_information) {
  return bdl::answer("bdl_predictor_classes", predictor, x, [&](const auto& query) {
    bdl::predict_classes(query, probabilities, entropy, mutual_information);
  });
}

bdl_status bdl_predictor_log_density(bdl_predictor* predictor, bdl_matrix x, bdl_matrix y,
                                     bdl_matrix_out log_density) {
  return bdl::answer("bdl_predictor_log_density", predictor, x,
                     [&](const auto& query) { bdl::predict_log_density(query, y, log_density); });
}

bdl_status bdl_predictor_draws(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out draws) {
  return bdl::answer("bdl_predictor_draws", predictor, x,
                     [&](const auto& query) { bdl::predict_draws(query, draws); });
}

bdl_status bdl_predictor_output_distribution(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out mean,
                                             bdl_matrix_out covariance) {
  return bdl::answer("bdl_predictor_output_distribution", predictor, x, [&](auto query) {
    query.spec.method = BDL_LINEARIZED;
    bdl::predict_output_distribution(query, mean, covariance);
  });
}
