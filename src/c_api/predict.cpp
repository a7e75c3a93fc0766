#include "bdl/predict.h"

#include "base/overlap.hpp"
#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "predict/ensemble.hpp"
#include "predict/predict.hpp"

struct bdl_predictor {
  Either<bdl::Ensemble<float>, bdl::Ensemble<double>> object;
  bdl::SharedClaim claim = std::make_shared<bdl::Claim>();
};

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

/// Calls predict(query) in the arithmetic of the handles.
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

void check_quantity(const bdl_quantity& quantity) {
  check_enum(quantity, BDL_QUANTITY_Y, BDL_QUANTITY_LINK, "quantity");
}

constexpr int64_t most_members = 65536;

/// Calls answer(ensemble) in the arithmetic of the handle.
template <class Answer>
bdl_status ask(const char* function, bdl_predictor* predictor, Answer&& answer) {
  return guard(function, [&] { with(predictor, "predictor", answer); });
}

struct Members {
  const bdl_model* const* models;
  const bdl_posterior* const* posteriors;
  int64_t count;
};

template <class T>
bdl_predictor* new_predictor(const Members& members, const PredictSpec& spec) {
  auto ensemble = std::make_shared<Ensemble<T>>();
  for (int64_t j = 0; j < members.count; ++j)
    in_member(j, members.count, [&] {
      with_both(members.models[j], members.posteriors[j], [&](const auto& m, const auto& q) {
        if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(m)>::Scalar, T>)
          ensemble->add(m, q, {spec.method, spec.samples, spec.seed + static_cast<uint64_t>(j)});
        else
          fail(Status::ERROR_SHAPE, "the model's dtype is not that of member 0");
      });
    });
  return new bdl_predictor{std::move(ensemble)};
}

bdl_status create(const char* function, const Members& members, const bdl_predict_method& method,
                  const PredictSpec& spec, bdl_predictor** predictor) {
  return guard(function, [&] {
    not_null(predictor, "predictor");
    not_null(members.models, "models");
    not_null(members.posteriors, "posteriors");
    check_range(members.count, 1, most_members, "count");
    check_enum(method, BDL_MONTE_CARLO, BDL_LOCAL_MONTE_CARLO, "method");
    in_member(0, members.count, [&] { not_null(members.models[0], "model"); });
    const bool is_float = handle_dtype(*members.models[0]) == BDL_F32;
    *predictor = (is_float ? new_predictor<float> : new_predictor<double>)(members, spec);
  });
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_predict(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                       bdl_predict_method method, int64_t samples, uint64_t seed, bdl_matrix_out mean,
                       bdl_matrix_out epistemic_variance, bdl_matrix_out noise_variance) {
  return answer(__func__, {model, posterior, x, method, samples, seed}, [&](const auto& query) {
    check_apart(
        {{"mean", mean}, {"epistemic_variance", epistemic_variance}, {"noise_variance", noise_variance}},
        {{"x", x}});
    predict_moments(query, mean, epistemic_variance, noise_variance);
  });
}

bdl_status bdl_predict_quantiles(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                 bdl_predict_method method, int64_t samples, uint64_t seed, bdl_matrix levels,
                                 bdl_matrix_out quantiles) {
  return answer(__func__, {model, posterior, x, method, samples, seed}, [&](const auto& query) {
    check_apart({{"quantiles", quantiles}}, {{"x", x}, {"levels", levels}});
    predict_quantiles(query, levels, quantiles);
  });
}

bdl_status bdl_predict_interval(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                bdl_predict_method method, int64_t samples, uint64_t seed, double probability,
                                bdl_matrix_out lower, bdl_matrix_out upper) {
  return answer(__func__, {model, posterior, x, method, samples, seed}, [&](const auto& query) {
    check_apart({{"lower", lower}, {"upper", upper}}, {{"x", x}});
    predict_interval(query, probability, lower, upper);
  });
}

bdl_status bdl_predict_classes(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                               bdl_predict_method method, int64_t samples, uint64_t seed,
                               bdl_matrix_out probabilities, bdl_matrix_out entropy,
                               bdl_matrix_out mutual_information) {
  return answer(__func__, {model, posterior, x, method, samples, seed}, [&](const auto& query) {
    check_apart(
        {{"probabilities", probabilities}, {"entropy", entropy}, {"mutual_information", mutual_information}},
        {{"x", x}});
    predict_classes(query, probabilities, entropy, mutual_information);
  });
}

bdl_status bdl_predict_log_density(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                   bdl_matrix y, bdl_predict_method method, int64_t samples, uint64_t seed,
                                   bdl_matrix_out log_density) {
  return answer(__func__, {model, posterior, x, method, samples, seed}, [&](const auto& query) {
    check_apart({{"log_density", log_density}}, {{"x", x}, {"y", y}});
    predict_log_density(query, y, log_density);
  });
}

bdl_status bdl_predict_draws(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                             int64_t samples, uint64_t seed, bdl_matrix_out draws) {
  const bdl_predict_method method = BDL_MONTE_CARLO;
  return answer(__func__, {model, posterior, x, method, samples, seed}, [&](const auto& query) {
    check_apart({{"draws", draws}}, {{"x", x}});
    predict_draws(query, draws);
  });
}

bdl_status bdl_predict_draws_by(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                bdl_predict_method method, int64_t samples, uint64_t seed,
                                bdl_matrix_out draws) {
  return answer(__func__, {model, posterior, x, method, samples, seed}, [&](const auto& query) {
    check_apart({{"draws", draws}}, {{"x", x}});
    predict_draws(query, draws);
  });
}

bdl_status bdl_predict_quantiles_of(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                    bdl_predict_method method, int64_t samples, uint64_t seed,
                                    bdl_quantity quantity, bdl_matrix levels, bdl_matrix_out quantiles) {
  return answer(__func__, {model, posterior, x, method, samples, seed}, [&](const auto& query) {
    check_quantity(quantity);
    check_apart({{"quantiles", quantiles}}, {{"x", x}, {"levels", levels}});
    predict_quantiles_of(query, quantity, levels, quantiles);
  });
}

bdl_status bdl_predict_draws_of(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                bdl_predict_method method, int64_t samples, uint64_t seed,
                                bdl_quantity quantity, bdl_matrix_out draws) {
  return answer(__func__, {model, posterior, x, method, samples, seed}, [&](const auto& query) {
    check_quantity(quantity);
    check_apart({{"draws", draws}}, {{"x", x}});
    predict_draws_of(query, quantity, draws);
  });
}

bdl_status bdl_predict_log_likelihood(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                      bdl_matrix y, bdl_predict_method method, int64_t samples, uint64_t seed,
                                      bdl_matrix_out log_likelihood) {
  return answer(__func__, {model, posterior, x, method, samples, seed}, [&](const auto& query) {
    check_apart({{"log_likelihood", log_likelihood}}, {{"x", x}, {"y", y}});
    predict_log_likelihood(query, y, log_likelihood);
  });
}

bdl_status bdl_predict_output_distribution(const bdl_model* model, const bdl_posterior* posterior,
                                           bdl_matrix x, bdl_matrix_out mean, bdl_matrix_out covariance) {
  const bdl_predict_method method = BDL_LINEARIZED;
  return answer(__func__, {model, posterior, x, method, 0, 0}, [&](const auto& query) {
    check_apart({{"mean", mean}, {"covariance", covariance}}, {{"x", x}});
    predict_output_distribution(query, mean, covariance);
  });
}

bdl_status bdl_predict_leverage(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                bdl_matrix_out leverage, bdl_matrix_out left_out) {
  const bdl_predict_method method = BDL_LINEARIZED;
  return answer(__func__, {model, posterior, x, method, 0, 0}, [&](const auto& query) {
    check_apart({{"leverage", leverage}, {"left_out", left_out}}, {{"x", x}});
    predict_leverage(query, leverage, left_out);
  });
}

bdl_status bdl_predictor_create(const bdl_model* model, const bdl_posterior* posterior,
                                bdl_predict_method method, int64_t samples, uint64_t seed,
                                bdl_predictor** predictor) {
  return create(__func__, {&model, &posterior, 1}, method, {method, samples, seed}, predictor);
}

bdl_status bdl_predictor_create_ensemble(const bdl_model* const* models,
                                         const bdl_posterior* const* posteriors, int64_t count,
                                         bdl_predict_method method, int64_t samples, uint64_t seed,
                                         bdl_predictor** predictor) {
  return create(__func__, {models, posteriors, count}, method, {method, samples, seed}, predictor);
}

void bdl_predictor_free(bdl_predictor* predictor) {
  free_handle(predictor);
}

bdl_status bdl_predictor_moments(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out mean,
                                 bdl_matrix_out epistemic_variance, bdl_matrix_out noise_variance) {
  return ask(__func__, predictor, [&](auto& p) {
    check_apart(
        {{"mean", mean}, {"epistemic_variance", epistemic_variance}, {"noise_variance", noise_variance}},
        {{"x", x}});
    p.moments(x, mean, epistemic_variance, noise_variance);
  });
}

bdl_status bdl_predictor_quantiles(bdl_predictor* predictor, bdl_matrix x, bdl_matrix levels,
                                   bdl_matrix_out quantiles) {
  return ask(__func__, predictor, [&](auto& p) {
    check_apart({{"quantiles", quantiles}}, {{"x", x}, {"levels", levels}});
    p.quantiles(x, levels, quantiles);
  });
}

bdl_status bdl_predictor_interval(bdl_predictor* predictor, bdl_matrix x, double probability,
                                  bdl_matrix_out lower, bdl_matrix_out upper) {
  return ask(__func__, predictor, [&](auto& p) {
    check_apart({{"lower", lower}, {"upper", upper}}, {{"x", x}});
    p.interval(x, probability, lower, upper);
  });
}

bdl_status bdl_predictor_classes(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out probabilities,
                                 bdl_matrix_out entropy, bdl_matrix_out mutual_information) {
  return ask(__func__, predictor, [&](auto& p) {
    check_apart(
        {{"probabilities", probabilities}, {"entropy", entropy}, {"mutual_information", mutual_information}},
        {{"x", x}});
    p.classes(x, probabilities, entropy, mutual_information);
  });
}

bdl_status bdl_predictor_log_density(bdl_predictor* predictor, bdl_matrix x, bdl_matrix y,
                                     bdl_matrix_out log_density) {
  return ask(__func__, predictor, [&](auto& p) {
    check_apart({{"log_density", log_density}}, {{"x", x}, {"y", y}});
    p.log_density(x, y, log_density);
  });
}

bdl_status bdl_predictor_draws(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out draws) {
  return ask(__func__, predictor, [&](auto& p) {
    check_apart({{"draws", draws}}, {{"x", x}});
    p.draws(x, draws);
  });
}

bdl_status bdl_predictor_quantiles_of(bdl_predictor* predictor, bdl_matrix x, bdl_quantity quantity,
                                      bdl_matrix levels, bdl_matrix_out quantiles) {
  return ask(__func__, predictor, [&](auto& p) {
    check_quantity(quantity);
    check_apart({{"quantiles", quantiles}}, {{"x", x}, {"levels", levels}});
    p.quantiles_of(x, quantity, levels, quantiles);
  });
}

bdl_status bdl_predictor_draws_of(bdl_predictor* predictor, bdl_matrix x, bdl_quantity quantity,
                                  bdl_matrix_out draws) {
  return ask(__func__, predictor, [&](auto& p) {
    check_quantity(quantity);
    check_apart({{"draws", draws}}, {{"x", x}});
    p.draws_of(x, quantity, draws);
  });
}

bdl_status bdl_predictor_log_likelihood(bdl_predictor* predictor, bdl_matrix x, bdl_matrix y,
                                        bdl_matrix_out log_likelihood) {
  return ask(__func__, predictor, [&](auto& p) {
    check_apart({{"log_likelihood", log_likelihood}}, {{"x", x}, {"y", y}});
    p.log_likelihood(x, y, log_likelihood);
  });
}

bdl_status bdl_predictor_output_distribution(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out mean,
                                             bdl_matrix_out covariance) {
  return ask(__func__, predictor, [&](auto& p) {
    check_apart({{"mean", mean}, {"covariance", covariance}}, {{"x", x}});
    p.output_distribution(x, mean, covariance);
  });
}

bdl_status bdl_predictor_leverage(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out leverage,
                                  bdl_matrix_out left_out) {
  return ask(__func__, predictor, [&](auto& p) {
    check_apart({{"leverage", leverage}, {"left_out", left_out}}, {{"x", x}});
    p.leverage(x, leverage, left_out);
  });
}
