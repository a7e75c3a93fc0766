// Every function that reads a model, a posterior or an optimizer: those of the headers whose first argument
// is a const handle.
#pragma once

#include "asked.hpp"
#include "handles.hpp"

namespace getters {

using asked::any_matrix;
using asked::matrix;
using asked::number;

/// Data for those that want some.
struct Sizes {
  int64_t parameters, inputs, outputs, targets;
  bdl_matrix x, y;
};

constexpr int64_t examples = 2, samples = 2;

/// ask(where a new handle goes), which is freed at once.
template <class Handle, class Ask>
void with_new(Ask&& ask) {
  Handle* made = nullptr;
  ask(&made);
  FreeHandle()(made);
}

/// Each as what it is; and one at a time as what it is not, too.
inline void ask_options(const bdl_optimizer* o) {
  static int64_t next = 0;
  const int64_t count = bdl_option_count(), other = next++ % count;
  for (int64_t i = 0; i < count; ++i) {
    const char *name = nullptr, *word = nullptr;
    bdl_option_type type;
    int64_t integer = 0;
    double real = 0;
    OK(bdl_option_describe(i, &name, &type, nullptr, nullptr, nullptr));
    const auto ask = [&](bdl_option_type as, auto&& read) {
      if (as != type && i != other) return;
      if ((read() == BDL_OK) != (as == type)) fail_msg("%s: type of option %s", asked::where.c_str(), name);
    };
    ask(BDL_OPTION_DOUBLE, [&] { return ASK(bdl_optimizer_get_double, o, name, &real); });
    ask(BDL_OPTION_INT, [&] { return ASK(bdl_optimizer_get_int, o, name, &integer); });
    ask(BDL_OPTION_CHOICE, [&] { return ASK(bdl_optimizer_get_choice, o, name, &word); });
  }
}

/// Estimates for minibatches of any size; as option "minibatch" says it, always.
inline void ask_memory(const bdl_optimizer* o) {
  int64_t bytes = -1;
  for (const int64_t minibatch : {1, 6, 1000, -1}) ASK(bdl_optimizer_memory, o, minibatch, &bytes);
  const bdl_status usual = ASK(bdl_optimizer_memory, o, int64_t{0}, &bytes);
  if (usual == BDL_OK && bytes < 0) fail_msg("%s: %lld bytes", asked::where.c_str(), (long long)bytes);
}

/// Calls the getters that cost little. Shifts are infinite after steps that lose all precision, and scores of
/// nothing are NaN.
inline void ask_state(const bdl_optimizer* o, const Sizes& sizes) {
  const char* text = nullptr;
  int64_t steps = 0, planned = 0, count = 0;
  int32_t is_exact = 0;
  double shift = 0, other = 0;
  ASK(bdl_optimizer_method, o);
  ASK(bdl_optimizer_data_size, o);
  ASK(bdl_optimizer_guarded_steps, o);
  ASK(bdl_optimizer_shortened_steps, o);
  ASK(bdl_optimizer_minibatch, o, &count);
  bdl_likelihood noise = BDL_GAUSSIAN;
  ASK(bdl_noise_suggest, o, 0, int64_t{0}, bdl_none(), &noise, number());
  ASK(bdl_optimizer_progress, o, &steps, &planned, number());
  ASK(bdl_optimizer_running_elbo, o, number(), number());
  ASK(bdl_optimizer_diagnose, o, &shift, &other, &text);
  ASK(bdl_optimizer_evidence, o, bdl_none(), bdl_none(), number(), number(), number());
  ASK(bdl_optimizer_noise, o, &is_exact, &text);
  ASK(bdl_optimizer_get_prior, o, matrix(1, sizes.parameters));
  ASK(bdl_optimizer_get_prior_coefficients, o, matrix(1, sizes.parameters), matrix(1, sizes.parameters));
  ASK(bdl_optimizer_prequential, o, &count, &shift, &other);
  ask_memory(o);
}

inline void ask_optimizer(const bdl_optimizer* o, const Sizes& sizes) {
  ask_state(o, sizes);
  ask_options(o);
  for (const int64_t s : {int64_t{0}, samples})
    ASK(bdl_optimizer_elbo, o, sizes.x, sizes.y, s, uint64_t{1}, number(), number());
  ASK(bdl_optimizer_mode_gap, o, sizes.x, sizes.y, number());
  const char* text = nullptr;
  double spread = 0;  // infinite where it says nothing
  ASK(bdl_optimizer_diagnose_answers, o, sizes.x, sizes.y, &spread, &text);
  bdl_dataset* made = nullptr;
  OK(bdl_dataset_from_arrays(sizes.x, sizes.y, &made));
  const Dataset data(made);
  ASK(bdl_optimizer_elbo_dataset, o, made, samples, uint64_t{1}, number(), number());
  with_new<bdl_search>([&](bdl_search** search) {
    ASK(bdl_search_create, o, int64_t{2}, int64_t{1}, BDL_MONTE_CARLO, samples, uint64_t{1}, search);
  });
}

inline void ask_tensors(const bdl_posterior* q) {
  for (int64_t i = 0; i < ASK(bdl_posterior_tensor_count, q); ++i) {
    const char* name = nullptr;
    int64_t rows = 0, cols = 0;
    int32_t dtype = 0;
    if (ASK(bdl_posterior_tensor_describe, q, i, &name, &rows, &cols, &dtype) == BDL_OK)
      ASK(bdl_posterior_get_tensor, q, i, matrix(rows, cols));
  }
}

inline void ask_posterior(const bdl_posterior* q, const Sizes& sizes) {
  const int64_t d = sizes.parameters, rank = ASK(bdl_posterior_rank, q), first[] = {0, d - 1};
  const Vector ones(static_cast<size_t>(2 * d), 1.0);
  const bdl_matrix one = bdl_f64(ones.data(), 1, d), two = bdl_f64(ones.data(), 2, d);
  double rate = 0, other = 0;
  ASK(bdl_posterior_dimension, q);
  ASK(bdl_posterior_family, q);
  ASK(bdl_posterior_dtype, q);
  ASK(bdl_posterior_is_blank, q);
  ASK(bdl_posterior_has_covariance, q);
  ASK(bdl_posterior_dropout_rates, q, &rate, &other);
  ASK(bdl_posterior_mean, q, matrix(1, d));
  ASK(bdl_posterior_get_low_rank, q, rank > 0 ? matrix(d, rank) : bdl_none_out(), matrix(1, d));
  ASK(bdl_posterior_precision_diagonal, q, any_matrix(1, d));  // of a point infinite
  ASK(bdl_posterior_marginal_variance, q, matrix(1, d));
  ASK(bdl_posterior_covariance, q, first, int64_t{2}, first, int64_t{2}, matrix(2, 2));
  ASK(bdl_posterior_solve, q, two, matrix(2, d));
  ASK(bdl_posterior_sample, q, uint64_t{1}, int64_t{0}, matrix(2, d));
  ASK(bdl_posterior_log_density, q, two, any_matrix(2, 1));  // perhaps minus infinity
  ASK(bdl_posterior_log_det_covariance, q, number());
  ASK(bdl_posterior_entropy, q, number());
  ASK(bdl_posterior_kl_prior, q, one, number());
  ASK(bdl_posterior_kl, q, q, number());
  ask_tensors(q);
  with_new<bdl_posterior>([&](bdl_posterior** made) { ASK(bdl_posterior_copy, q, made); });
  with_new<bdl_posterior>([&](bdl_posterior** made) { ASK(bdl_posterior_as_full, q, made); });
  with_new<bdl_posterior>([&](bdl_posterior** made) { ASK(bdl_posterior_as_diagonal, q, made); });
}

inline void ask_creators(const bdl_model* m) {
  const auto make = [](auto&& ask) { with_new<bdl_posterior>(ask); };
  make([&](bdl_posterior** q) { ASK(bdl_posterior_create_dropout, m, 0.1, 0.1, q); });
  make([&](bdl_posterior** q) { ASK(bdl_posterior_create_layerwise_full, m, q); });
  make([&](bdl_posterior** q) { ASK(bdl_posterior_create_layerwise_low_rank_moment, m, int64_t{1}, q); });
  make([&](bdl_posterior** q) { ASK(bdl_posterior_create_kronecker, m, q); });
  with_new<bdl_model>([&](bdl_model** copy) { ASK(bdl_model_copy, m, copy); });
}

inline void ask_units(const bdl_model* m, const Sizes& sizes) {
  const int64_t targets = sizes.targets,
                shared = bdl_model_likelihood(m) == BDL_CATEGORICAL ? sizes.outputs : targets;
  ASK(bdl_model_get_noise_precision, m, matrix(1, targets));
  ASK(bdl_model_get_noise_precision, m, matrix(1, 1));
  ASK(bdl_model_get_noise_covariance, m, matrix(targets, targets));
  ASK(bdl_model_get_noise_degrees_of_freedom, m, matrix(1, targets));
  ASK(bdl_model_get_degrees_of_freedom, m, number());
  ASK(bdl_model_get_shape, m, number());
  const int64_t levels = ASK(bdl_model_levels, m);
  ASK(bdl_model_get_cut_points, m, matrix(1, levels > 0 ? levels - 1 : 1));
  ASK(bdl_model_get_standardization, m, matrix(1, sizes.inputs), matrix(1, sizes.inputs), matrix(1, shared),
      matrix(1, shared));
  ASK(bdl_model_row_weights, m);
  ASK(bdl_model_offsets, m);
  const int64_t classes = ASK(bdl_model_class_count, m);
  ASK(bdl_model_get_classes, m, matrix(1, classes > 0 ? classes : sizes.outputs));
}

inline void ask_blocks(const bdl_model* m) {
  for (int64_t i = 0; i <= ASK(bdl_model_block_count, m); ++i) {
    const char* name = nullptr;
    int64_t offset = 0, rows = 0, cols = 0;
    ASK(bdl_model_block, m, i, &name, &offset, &rows, &cols);
  }
}

/// One of each kind is out of range.
inline void ask_names(const bdl_model* m, const Sizes& sizes) {
  const char* name = nullptr;
  int32_t type = 0;
  for (const bdl_named what : {BDL_INPUT, BDL_TARGET, BDL_CLASS})
    for (const int64_t index : {int64_t{0}, sizes.inputs + sizes.outputs + 2})
      ASK(bdl_model_get_name, m, what, index, &name);
  ASK(bdl_model_get_class_type, m, &type);
}

inline void ask_model(const bdl_model* m, const Sizes& sizes) {
  const int64_t d = sizes.parameters, n = examples;
  const Vector numbers(static_cast<size_t>(d), 0.25);
  const bdl_matrix theta = bdl_f64(numbers.data(), 1, d), x = sizes.x, y = sizes.y;
  const char *text = nullptr, *family = nullptr, *options = nullptr;
  int64_t rank = 0;
  ASK(bdl_model_parameters, m);
  ASK(bdl_model_inputs, m);
  ASK(bdl_model_outputs, m);
  ASK(bdl_model_targets, m);
  ASK(bdl_model_dtype, m);
  ASK(bdl_model_likelihood, m);
  ASK(bdl_model_activation, m);
  ASK(bdl_model_description, m, &text);
  ask_blocks(m);
  ask_names(m, sizes);
  ask_units(m, sizes);
  ask_creators(m);
  ASK(bdl_model_initialize, m, BDL_INIT_XAVIER, uint64_t{1}, matrix(1, d));
  ASK(bdl_model_evaluate, m, theta, x, matrix(n, sizes.outputs));
  const int64_t count = ASK(bdl_model_coefficient_count, m, int64_t{-1});
  ASK(bdl_model_coefficients, m, int64_t{-1}, theta, matrix(1, count));
  ASK(bdl_model_log_likelihood, m, theta, x, y, matrix(n, 1));
  ASK(bdl_model_gradient_rows, m, theta, x, y, matrix(n, d));
  ASK(bdl_model_jacobian, m, theta, x, matrix(n * sizes.outputs, d));
  ASK(bdl_model_hessian_vector_product, m, theta, x, y, theta, matrix(1, d));
  ASK(bdl_model_hessian, m, theta, x, y, matrix(d, d));
  ASK(bdl_training_suggest, m, int64_t{100}, 0, "auto", "auto", &text, &family, &rank, &options);
}

inline void ask_predictions(const bdl_model* m, const bdl_posterior* q, const Sizes& sizes,
                            bdl_predict_method method) {
  const int64_t n = examples,
                c = bdl_model_likelihood(m) == BDL_HETEROSCEDASTIC ? sizes.targets : sizes.outputs;
  const bdl_matrix x = sizes.x, y = sizes.y;
  const double levels[] = {0.1, 0.9};
  const uint64_t seed = 1;
  ASK(bdl_predict, m, q, x, method, samples, seed, matrix(n, c), matrix(n, c), matrix(n, c));
  ASK(bdl_predict_quantiles, m, q, x, method, samples, seed, bdl_f64(levels, 1, 2), matrix(n, 2 * c));
  ASK(bdl_predict_interval, m, q, x, method, samples, seed, 0.9, matrix(n, c), matrix(n, c));
  const bool has_mutual = method != BDL_LINEARIZED;
  ASK(bdl_predict_classes, m, q, x, method, samples, seed, matrix(n, c), matrix(n, 1),
      has_mutual ? matrix(n, 1) : bdl_none_out());
  ASK(bdl_predict_log_density, m, q, x, y, method, samples, seed, matrix(n, 1));
  ASK(bdl_predict_draws, m, q, x, samples, seed, matrix(n, sizes.targets * samples));
  ASK(bdl_predict_draws_by, m, q, x, method, samples, seed, matrix(n, sizes.targets * samples));
  ASK(bdl_predict_quantiles_of, m, q, x, method, samples, seed, BDL_QUANTITY_LINK, bdl_f64(levels, 1, 2),
      matrix(n, 2 * c));
  ASK(bdl_predict_draws_of, m, q, x, method, samples, seed, BDL_QUANTITY_MEAN, matrix(n, c * samples));
  ASK(bdl_predict_log_likelihood, m, q, x, y, method, samples, seed, any_matrix(samples, n));
  ASK(bdl_posterior_coefficients, q, m, int64_t{-1}, bdl_none_out(), bdl_none_out());
  ASK(bdl_predict_output_distribution, m, q, x, matrix(n, sizes.outputs),
      matrix(n, sizes.outputs * sizes.outputs));
  ASK(bdl_predict_leverage, m, q, x, matrix(n, 1), matrix(n, 1));
  bdl_predictor* predictor = nullptr;
  ASK(bdl_predictor_create, m, q, method, samples, seed, &predictor);
  bdl_predictor_free(predictor);
  const char* name = nullptr;
  ASK(bdl_method_suggest, m, q, 0, &name);
}

}  // namespace getters
