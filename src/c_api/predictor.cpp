#include "base/overlap.hpp"
#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "predict/ensemble.hpp"

struct bdl_predictor {
  Either<bdl::Ensemble<float>, bdl::Ensemble<double>> object;
};

namespace bdl {
namespace {

constexpr int64_t most_members = 65536;

/// answer(ensemble) in the arithmetic of the handle.
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

bdl_status bdl_predictor_create(const bdl_model* model, const bdl_posterior* posterior,
                                bdl_predict_method method, int64_t samples, uint64_t seed,
                                bdl_predictor** predictor) {
  return bdl::create("bdl_predictor_create", {&model, &posterior, 1}, method, {method, samples, seed},
                     predictor);
}

bdl_status bdl_predictor_create_ensemble(const bdl_model* const* models,
                                         const bdl_posterior* const* posteriors, int64_t count,
                                         bdl_predict_method method, int64_t samples, uint64_t seed,
                                         bdl_predictor** predictor) {
  return bdl::create("bdl_predictor_create_ensemble", {models, posteriors, count}, method,
                     {method, samples, seed}, predictor);
}

void bdl_predictor_free(bdl_predictor* predictor) {
  delete predictor;
}

bdl_status bdl_predictor_moments(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out mean,
                                 bdl_matrix_out epistemic_variance, bdl_matrix_out noise_variance) {
  return bdl::ask("bdl_predictor_moments", predictor, [&](auto& p) {
    bdl::check_apart(
        {{"mean", mean}, {"epistemic_variance", epistemic_variance}, {"noise_variance", noise_variance}},
        {{"x", x}});
    p.moments(x, mean, epistemic_variance, noise_variance);
  });
}

bdl_status bdl_predictor_quantiles(bdl_predictor* predictor, bdl_matrix x, bdl_matrix levels,
                                   bdl_matrix_out quantiles) {
  return bdl::ask("bdl_predictor_quantiles", predictor, [&](auto& p) {
    bdl::check_apart({{"quantiles", quantiles}}, {{"x", x}, {"levels", levels}});
    p.quantiles(x, levels, quantiles);
  });
}

bdl_status bdl_predictor_interval(bdl_predictor* predictor, bdl_matrix x, double probability,
                                  bdl_matrix_out lower, bdl_matrix_out upper) {
  return bdl::ask("bdl_predictor_interval", predictor, [&](auto& p) {
    bdl::check_apart({{"lower", lower}, {"upper", upper}}, {{"x", x}});
    p.interval(x, probability, lower, upper);
  });
}

bdl_status bdl_predictor_classes(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out probabilities,
                                 bdl_matrix_out entropy, bdl_matrix_out mutual_information) {
  return bdl::ask("bdl_predictor_classes", predictor, [&](auto& p) {
    bdl::check_apart(
        {{"probabilities", probabilities}, {"entropy", entropy}, {"mutual_information", mutual_information}},
        {{"x", x}});
    p.classes(x, probabilities, entropy, mutual_information);
  });
}

bdl_status bdl_predictor_log_density(bdl_predictor* predictor, bdl_matrix x, bdl_matrix y,
                                     bdl_matrix_out log_density) {
  return bdl::ask("bdl_predictor_log_density", predictor, [&](auto& p) {
    bdl::check_apart({{"log_density", log_density}}, {{"x", x}, {"y", y}});
    p.log_density(x, y, log_density);
  });
}

bdl_status bdl_predictor_draws(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out draws) {
  return bdl::ask("bdl_predictor_draws", predictor, [&](auto& p) {
    bdl::check_apart({{"draws", draws}}, {{"x", x}});
    p.draws(x, draws);
  });
}

bdl_status bdl_predictor_output_distribution(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out mean,
                                             bdl_matrix_out covariance) {
  return bdl::ask("bdl_predictor_output_distribution", predictor, [&](auto& p) {
    bdl::check_apart({{"mean", mean}, {"covariance", covariance}}, {{"x", x}});
    p.output_distribution(x, mean, covariance);
  });
}
