#include "bdl/predict.h"

#include "base/overlap.hpp"
#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "predict/predict.hpp"

namespace bdl {
namespace {

struct Arguments {
  const bdl_model* model;
  const bdl_posterior* posterior;
  const bdl_matrix& x;
  const bdl_predict_method& method;
  int64_t samples;
  uint64_t seed;
};

/// predict(query) in the arithmetic of the handles.
template <class Predict>
bdl_status answer(const char* function, const Arguments& a, Predict&& predict) {
  return interruptible_guard(function, [&] {
    check_enum(a.method, BDL_MONTE_CARLO, BDL_LOCAL_MONTE_CARLO, "method");
    with_both(a.model, a.posterior, [&](const auto& m, const auto& q) {
      using T = typename std::remove_cvref_t<decltype(m)>::Scalar;
      predict(Query<T>{m, q, a.x, {a.method, a.samples, a.seed}});
    });
  });
}

}  // namespace
}  // namespace bdl

bdl_status bdl_predict(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                       bdl_predict_method method, int64_t samples, uint64_t seed, bdl_matrix_out mean,
                       bdl_matrix_out epistemic_variance, bdl_matrix_out noise_variance) {
  return bdl::answer("bdl_predict", {model, posterior, x, method, samples, seed}, [&](const auto& query) {
    bdl::check_apart(
        {{"mean", mean}, {"epistemic_variance", epistemic_variance}, {"noise_variance", noise_variance}},
        {{"x", x}});
    bdl::predict_moments(query, mean, epistemic_variance, noise_variance);
  });
}

bdl_status bdl_predict_quantiles(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                 bdl_predict_method method, int64_t samples, uint64_t seed, bdl_matrix levels,
                                 bdl_matrix_out quantiles) {
  return bdl::answer("bdl_predict_quantiles", {model, posterior, x, method, samples, seed},
                     [&](const auto& query) {
                       bdl::check_apart({{"quantiles", quantiles}}, {{"x", x}, {"levels", levels}});
                       bdl::predict_quantiles(query, levels, quantiles);
                     });
}

bdl_status bdl_predict_interval(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                bdl_predict_method method, int64_t samples, uint64_t seed, double probability,
                                bdl_matrix_out lower, bdl_matrix_out upper) {
  return bdl::answer("bdl_predict_interval", {model, posterior, x, method, samples, seed},
                     [&](const auto& query) {
                       bdl::check_apart({{"lower", lower}, {"upper", upper}}, {{"x", x}});
                       bdl::predict_interval(query, probability, lower, upper);
                     });
}

bdl_status bdl_predict_classes(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                               bdl_predict_method method, int64_t samples, uint64_t seed,
                               bdl_matrix_out probabilities, bdl_matrix_out entropy,
                               bdl_matrix_out mutual_information) {
  return bdl::answer("bdl_predict_classes", {model, posterior, x, method, samples, seed},
                     [&](const auto& query) {
                       bdl::check_apart({{"probabilities", probabilities},
                                         {"entropy", entropy},
                                         {"mutual_information", mutual_information}},
                                        {{"x", x}});
                       bdl::predict_classes(query, probabilities, entropy, mutual_information);
                     });
}

bdl_status bdl_predict_log_density(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                   bdl_matrix y, bdl_predict_method method, int64_t samples, uint64_t seed,
                                   bdl_matrix_out log_density) {
  return bdl::answer("bdl_predict_log_density", {model, posterior, x, method, samples, seed},
                     [&](const auto& query) {
                       bdl::check_apart({{"log_density", log_density}}, {{"x", x}, {"y", y}});
                       bdl::predict_log_density(query, y, log_density);
                     });
}

bdl_status bdl_predict_draws(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                             int64_t samples, uint64_t seed, bdl_matrix_out draws) {
  const bdl_predict_method method = BDL_MONTE_CARLO;
  return bdl::answer("bdl_predict_draws", {model, posterior, x, method, samples, seed},
                     [&](const auto& query) {
                       bdl::check_apart({{"draws", draws}}, {{"x", x}});
                       bdl::predict_draws(query, draws);
                     });
}

bdl_status bdl_predict_draws_by(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                bdl_predict_method method, int64_t samples, uint64_t seed,
                                bdl_matrix_out draws) {
  return bdl::answer("bdl_predict_draws_by", {model, posterior, x, method, samples, seed},
                     [&](const auto& query) {
                       bdl::check_apart({{"draws", draws}}, {{"x", x}});
                       bdl::predict_draws(query, draws);
                     });
}

bdl_status bdl_predict_output_distribution(const bdl_model* model, const bdl_posterior* posterior,
                                           bdl_matrix x, bdl_matrix_out mean, bdl_matrix_out covariance) {
  const bdl_predict_method method = BDL_LINEARIZED;
  return bdl::answer("bdl_predict_output_distribution", {model, posterior, x, method, 0, 0},
                     [&](const auto& query) {
                       bdl::check_apart({{"mean", mean}, {"covariance", covariance}}, {{"x", x}});
                       bdl::predict_output_distribution(query, mean, covariance);
                     });
}
