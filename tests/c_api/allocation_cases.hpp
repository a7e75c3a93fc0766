// Calls of the whole API, each of which is to meet failing allocations.
#pragma once

#include <initializer_list>

#include "c_api_test.h"

namespace {

double scratch[8192];  // where results go
double ones[1024];
char path[] = "/tmp/bdl-allocation-XXXXXX";

/// The outputs of one call lie apart.
bdl_matrix_out out(int64_t rows, int64_t cols) {
  static int64_t next = 0;
  if (next + rows * cols > static_cast<int64_t>(std::size(scratch))) next = 0;
  const int64_t first = next;
  next += rows * cols;
  return bdl_f64_out(scratch + first, rows, cols);
}
bdl_matrix in(int64_t rows, int64_t cols) {
  return bdl_f64(ones, rows, cols);
}

/// One call; function is the name that its messages begin with.
struct Case {
  const char* function;
  bdl_status (*call)(trained&);
  bool needs_mean = false;  ///< blank posteriors are refused
};

/// A new handle is freed at once; a failed call must not have touched the pointer.
template <class Handle, class Create>
bdl_status created(void (*release)(Handle*), Create create) {
  Handle* handle = nullptr;
  const bdl_status status = create(&handle);
  assert_int_equal(handle != nullptr, status == BDL_OK);
  release(handle);
  return status;
}

int32_t no_outputs(void*, bdl_matrix, bdl_matrix, bdl_matrix_out) {
  return 0;
}

int32_t no_draws(void*, bdl_draw_kind, int64_t, int64_t, const bdl_posterior*, bdl_matrix_out) {
  return 1;
}

int32_t rows_of_ones(void*, const int64_t*, int64_t count, bdl_matrix_out x, bdl_matrix_out y) {
  for (const bdl_matrix_out& to : {x, y})
    for (int64_t k = 0; k < count * to.cols; ++k) static_cast<double*>(to.data)[k] = 1;
  return 0;
}

/// Made before allocations fail, and never freed; it has read as many rows as it ever will at a time.
bdl_dataset* shared_rows() {
  static bdl_dataset* const rows = [] {
    bdl_dataset* data = nullptr;
    int64_t all[ROWS];
    for (int64_t i = 0; i < ROWS; ++i) all[i] = i;
    OK(bdl_dataset_from_callback(ROWS, 2, 2, rows_of_ones, nullptr, nullptr, &data));
    OK(bdl_dataset_read(data, all, ROWS, out(ROWS, 2), out(ROWS, 2)));
    return data;
  }();
  return rows;
}
bdl_dataset* const rows_made_first = shared_rows();

constexpr int64_t sizes[] = {2, 3, 1};
constexpr int64_t indices[] = {0, 5, 2};

const Case creations[] = {
    {"bdl_option_describe",
     [](trained&) { return bdl_option_describe(2, nullptr, nullptr, nullptr, nullptr, nullptr); }},
    {"bdl_model_create_mlp",
     [](trained&) {
       return created<bdl_model>(bdl_model_free, [](bdl_model** model) {
         return bdl_model_create_mlp(BDL_F32, sizes, 3, BDL_RELU, 1, BDL_GAUSSIAN, model);
       });
     }},
    {"bdl_model_create_user",
     [](trained&) {
       static int destroyed;  // by freeing the handle; not if creation fails
       destroyed = 0;
       const bdl_status status = created<bdl_model>(bdl_model_free, [](bdl_model** model) {
         const auto count = [](void* user_data) { ++*static_cast<int*>(user_data); };
         return create_user(BDL_F64, 1, 1, 2, BDL_POISSON, no_outputs, nullptr, &destroyed, count, model);
       });
       assert_int_equal(destroyed, status == BDL_OK ? 1 : 0);
       return status;
     }},
    {"bdl_dataset_from_arrays",
     [](trained& t) {
       return created<bdl_dataset>(bdl_dataset_free, [&t](bdl_dataset** data) {
         return bdl_dataset_from_arrays(x_of(&t.data), y_of(&t.data), data);
       });
     }},
    {"bdl_dataset_from_callback",
     [](trained&) {
       static int destroyed;  // by freeing the handle; not if creation fails
       destroyed = 0;
       const bdl_status status = created<bdl_dataset>(bdl_dataset_free, [](bdl_dataset** data) {
         const auto count = [](void* user_data) { ++*static_cast<int*>(user_data); };
         return bdl_dataset_from_callback(9, 2, 2, rows_of_ones, &destroyed, count, data);
       });
       assert_int_equal(destroyed, status == BDL_OK ? 1 : 0);
       return status;
     }},
    {"bdl_model_copy",
     [](trained& t) {
       return created<bdl_model>(bdl_model_free,
                                 [&t](bdl_model** copy) { return bdl_model_copy(t.model, copy); });
     }},
    {"bdl_posterior_create_low_rank",
     [](trained&) {
       return created<bdl_posterior>(bdl_posterior_free, [](bdl_posterior** q) {
         return bdl_posterior_create_low_rank(BDL_F32, 9, 3, q);
       });
     }},
    {"bdl_posterior_create_full",
     [](trained&) {
       return created<bdl_posterior>(
           bdl_posterior_free, [](bdl_posterior** q) { return bdl_posterior_create_full(BDL_F64, 9, q); });
     }},
    {"bdl_posterior_create_full_moment",
     [](trained&) {
       return created<bdl_posterior>(bdl_posterior_free, [](bdl_posterior** q) {
         return bdl_posterior_create_full_moment(BDL_F64, 9, q);
       });
     }},
    {"bdl_posterior_create_diagonal_moment",
     [](trained&) {
       return created<bdl_posterior>(bdl_posterior_free, [](bdl_posterior** q) {
         return bdl_posterior_create_diagonal_moment(BDL_F64, 9, q);
       });
     }},
    {"bdl_posterior_copy",
     [](trained& t) {
       return created<bdl_posterior>(bdl_posterior_free,
                                     [&](bdl_posterior** q) { return bdl_posterior_copy(t.posterior, q); });
     }},
    {"bdl_predictor_create",
     [](trained& t) {
       return created<bdl_predictor>(bdl_predictor_free, [&](bdl_predictor** p) {
         return bdl_predictor_create(t.model, t.posterior, BDL_MONTE_CARLO, 3, 1, p);
       });
     }},
    {"bdl_model_create_network",
     [](trained&) {
       return created<bdl_model>(bdl_model_free, [](bdl_model** model) {
         return bdl_model_create_network(BDL_F32, "input 1 4 4; conv 2 3; batchnorm; relu; dense 2",
                                         BDL_CATEGORICAL, model);
       });
     }},
    {"bdl_posterior_create_layerwise_full",
     [](trained& t) {
       return created<bdl_posterior>(bdl_posterior_free, [&](bdl_posterior** q) {
         return bdl_posterior_create_layerwise_full(t.model, q);
       });
     }},
    {"bdl_posterior_create_blockwise_full",
     [](trained&) {
       return created<bdl_posterior>(bdl_posterior_free, [](bdl_posterior** q) {
         return bdl_posterior_create_blockwise_full(BDL_F64, sizes, 3, q);
       });
     }},
    {"bdl_posterior_create_low_rank_moment",
     [](trained&) {
       return created<bdl_posterior>(bdl_posterior_free, [](bdl_posterior** q) {
         return bdl_posterior_create_low_rank_moment(BDL_F32, 9, 3, q);
       });
     }},
    {"bdl_posterior_create_layerwise_low_rank_moment",
     [](trained& t) {
       return created<bdl_posterior>(bdl_posterior_free, [&](bdl_posterior** q) {
         return bdl_posterior_create_layerwise_low_rank_moment(t.model, 2, q);
       });
     }},
    {"bdl_posterior_create_kronecker",
     [](trained& t) {
       return created<bdl_posterior>(
           bdl_posterior_free, [&](bdl_posterior** q) { return bdl_posterior_create_kronecker(t.model, q); });
     }},
    {"bdl_posterior_as_full",
     [](trained& t) {
       return created<bdl_posterior>(
           bdl_posterior_free, [&](bdl_posterior** q) { return bdl_posterior_as_full(t.posterior, q); });
     }},
    {"bdl_posterior_as_diagonal",
     [](trained& t) {
       return created<bdl_posterior>(
           bdl_posterior_free, [&](bdl_posterior** q) { return bdl_posterior_as_diagonal(t.posterior, q); });
     }},
    {"bdl_predictor_create_ensemble",
     [](trained& t) {
       return created<bdl_predictor>(bdl_predictor_free, [&](bdl_predictor** p) {
         const bdl_model* models[] = {t.model, t.model};
         const bdl_posterior* members[] = {t.posterior, t.posterior};
         return bdl_predictor_create_ensemble(models, members, 2, BDL_MONTE_CARLO, 3, 1, p);
       });
     }},
    {"bdl_optimizer_create",
     [](trained& t) {
       return created<bdl_optimizer>(bdl_optimizer_free, [&](bdl_optimizer** o) {
         return bdl_optimizer_create(t.model, t.posterior, "slang", 9, o);
       });
     }},
};

const Case readings[] = {
    {"bdl_model_block",
     [](trained& t) { return bdl_model_block(t.model, 1, nullptr, nullptr, nullptr, nullptr); }},
    {"bdl_model_get_noise_precision",
     [](trained& t) { return bdl_model_get_noise_precision(t.model, out(1, 1)); }},
    {"bdl_model_get_standardization",
     [](trained& t) {
       return bdl_model_get_standardization(t.model, out(1, 2), bdl_none_out(), bdl_none_out(), out(1, 2));
     }},
    {"bdl_model_initialize",
     [](trained& t) { return bdl_model_initialize(t.model, BDL_INIT_HE, 1, out(1, t.parameters)); }},
    {"bdl_model_evaluate",
     [](trained& t) { return bdl_model_evaluate(t.model, in(1, t.parameters), in(4, 2), out(4, 2)); }},
    {"bdl_model_log_likelihood",
     [](trained& t) {
       return bdl_model_log_likelihood(t.model, in(1, t.parameters), in(4, 2), in(4, 2), out(4, 1));
     }},
    {"bdl_model_gradient_rows",
     [](trained& t) {
       return bdl_model_gradient_rows(t.model, in(1, t.parameters), in(4, 2), in(4, 2), out(4, t.parameters));
     }},
    {"bdl_model_get_noise_covariance",
     [](trained& t) { return bdl_model_get_noise_covariance(t.model, out(2, 2)); }},
    {"bdl_model_jacobian",
     [](trained& t) {
       return bdl_model_jacobian(t.model, in(1, t.parameters), in(4, 2), out(8, t.parameters));
     }},
    {"bdl_model_hessian_vector_product",
     [](trained& t) {
       return bdl_model_hessian_vector_product(t.model, in(1, t.parameters), in(4, 2), in(4, 2),
                                               in(3, t.parameters), out(3, t.parameters));
     }},
    {"bdl_model_hessian",
     [](trained& t) {
       return bdl_model_hessian(t.model, in(1, t.parameters), in(4, 2), in(4, 2),
                                out(t.parameters, t.parameters));
     }},
    {"bdl_posterior_mean", [](trained& t) { return bdl_posterior_mean(t.posterior, out(1, t.parameters)); }},
    {"bdl_posterior_precision_diagonal",
     [](trained& t) { return bdl_posterior_precision_diagonal(t.posterior, out(1, t.parameters)); }},
    {"bdl_posterior_marginal_variance",
     [](trained& t) { return bdl_posterior_marginal_variance(t.posterior, out(1, t.parameters)); }},
    {"bdl_posterior_covariance",
     [](trained& t) { return bdl_posterior_covariance(t.posterior, indices, 3, indices, 2, out(3, 2)); }},
    {"bdl_posterior_solve",
     [](trained& t) { return bdl_posterior_solve(t.posterior, in(3, t.parameters), out(3, t.parameters)); }},
    {"bdl_posterior_sample",
     [](trained& t) { return bdl_posterior_sample(t.posterior, 1, 0, out(3, t.parameters)); }},
    {"bdl_posterior_log_density",
     [](trained& t) { return bdl_posterior_log_density(t.posterior, in(3, t.parameters), out(3, 1)); }},
    {"bdl_posterior_log_det_covariance",
     [](trained& t) { return bdl_posterior_log_det_covariance(t.posterior, scratch); }},
    {"bdl_posterior_entropy", [](trained& t) { return bdl_posterior_entropy(t.posterior, scratch); }},
    {"bdl_posterior_kl_prior",
     [](trained& t) { return bdl_posterior_kl_prior(t.posterior, in(1, 1), scratch); }},
    {"bdl_posterior_kl", [](trained& t) { return bdl_posterior_kl(t.posterior, t.posterior, scratch); }},
    {"bdl_optimizer_get_prior",
     [](trained& t) { return bdl_optimizer_get_prior(t.optimizer, out(1, t.parameters)); }},
    {"bdl_dataset_read",
     [](trained&) { return bdl_dataset_read(shared_rows(), indices, 3, out(3, 2), bdl_none_out()); }},
    {"bdl_optimizer_elbo_dataset",
     [](trained& t) {
       return bdl_optimizer_elbo_dataset(t.optimizer, shared_rows(), 3, 1, scratch, scratch + 1);
     }},
    {"bdl_optimizer_elbo",
     [](trained& t) {
       return bdl_optimizer_elbo(t.optimizer, in(4, 2), in(4, 2), 3, 1, scratch, scratch + 1);
     }},
    {"bdl_optimizer_memory",
     [](trained& t) {
       int64_t bytes;
       return bdl_optimizer_memory(t.optimizer, 4, &bytes);
     }},
    {"bdl_optimizer_diagnose_answers",
     [](trained& t) {
       return bdl_optimizer_diagnose_answers(t.optimizer, x_of(&t.data), y_of(&t.data), scratch, nullptr);
     }},
    {"bdl_optimizer_diagnose",
     [](trained& t) { return bdl_optimizer_diagnose(t.optimizer, scratch, scratch + 1, nullptr); }},
    {"bdl_predict",
     [](trained& t) {
       return bdl_predict(t.model, t.posterior, in(4, 2), BDL_MONTE_CARLO, 3, 1, out(4, 2), out(4, 2),
                          out(4, 2));
     }},
    {"bdl_predict",
     [](trained& t) {
       return bdl_predict(t.model, t.posterior, in(4, 2), BDL_PLUG_IN, 1, 1, out(4, 2), bdl_none_out(),
                          bdl_none_out());
     }},
    {"bdl_predict_quantiles",
     [](trained& t) {
       static const double levels[] = {0.1, 0.9};
       return bdl_predict_quantiles(t.model, t.posterior, in(4, 2), BDL_MONTE_CARLO, 3, 1,
                                    bdl_f64(levels, 1, 2), out(4, 4));
     }},
    {"bdl_predict_interval",
     [](trained& t) {
       return bdl_predict_interval(t.model, t.posterior, in(4, 2), BDL_MONTE_CARLO, 3, 1, 0.9, out(4, 2),
                                   out(4, 2));
     }},
    {"bdl_predict_log_density",
     [](trained& t) {
       return bdl_predict_log_density(t.model, t.posterior, in(4, 2), in(4, 2), BDL_MONTE_CARLO, 3, 1,
                                      out(4, 1));
     }},
    {"bdl_predict_draws",
     [](trained& t) { return bdl_predict_draws(t.model, t.posterior, in(4, 2), 3, 1, out(4, 6)); }},
    {"bdl_predict_draws_by",
     [](trained& t) {
       return bdl_predict_draws_by(t.model, t.posterior, in(4, 2), BDL_LINEARIZED_MONTE_CARLO, 3, 1,
                                   out(4, 6));
     }},
    {"bdl_predict_log_density",
     [](trained& t) {
       return bdl_predict_log_density(t.model, t.posterior, in(4, 2), in(4, 2), BDL_LINEARIZED, 0, 1,
                                      out(4, 1));
     }},
    {"bdl_predict_quantiles_of",
     [](trained& t) {
       static const double levels[] = {0.1, 0.9};
       return bdl_predict_quantiles_of(t.model, t.posterior, in(4, 2), BDL_LINEARIZED, 0, 1,
                                       BDL_QUANTITY_MEAN, bdl_f64(levels, 1, 2), out(4, 4));
     }},
    {"bdl_predict_draws_of",
     [](trained& t) {
       return bdl_predict_draws_of(t.model, t.posterior, in(4, 2), BDL_MONTE_CARLO, 3, 1, BDL_QUANTITY_LINK,
                                   out(4, 6));
     }},
    {"bdl_predict_log_likelihood",
     [](trained& t) {
       return bdl_predict_log_likelihood(t.model, t.posterior, in(4, 2), in(4, 2), BDL_MONTE_CARLO, 3, 1,
                                         out(3, 4));
     }},
    {"bdl_metric_waic",
     [](trained&) { return bdl_metric_waic(in(4, 2), out(2, 2), scratch, nullptr, nullptr); }},
    {"bdl_metric_loo",
     [](trained&) { return bdl_metric_loo(in(4, 2), out(2, 3), scratch, nullptr, nullptr); }},
    {"bdl_predict_output_distribution",
     [](trained& t) {
       return bdl_predict_output_distribution(t.model, t.posterior, in(4, 2), out(4, 2), out(4, 4));
     }},
    {"bdl_predict_leverage",
     [](trained& t) {
       return bdl_predict_leverage(t.model, t.posterior, in(4, 2), out(4, 1), bdl_none_out());
     }},
    {"bdl_metric_rmse", [](trained&) { return bdl_metric_rmse(in(4, 2), in(4, 2), scratch); }},
    {"bdl_metric_ece", [](trained&) { return bdl_metric_ece(in(4, 1), in(4, 1), 15, scratch); }},
    {"bdl_metric_calibration_curve",
     [](trained&) { return bdl_metric_calibration_curve(in(4, 1), in(4, 1), out(10, 3)); }},
    {"bdl_metric_entropy", [](trained&) { return bdl_metric_entropy(in(4, 1), out(4, 1)); }},
    {"bdl_metric_entropy_histogram",
     [](trained&) { return bdl_metric_entropy_histogram(in(4, 1), out(10, 1)); }},
    {"bdl_metric_auroc", [](trained&) { return bdl_metric_auroc(in(4, 1), in(5, 1), scratch); }},
    {"bdl_metric_roc_curve", [](trained&) { return bdl_metric_roc_curve(in(4, 1), in(5, 1), out(10, 3)); }},
    {"bdl_metric_auroc_correct",
     [](trained&) {
       static const double labels[] = {0, 1, 1, 0};
       return bdl_metric_auroc_correct(in(4, 1), bdl_f64(labels, 4, 1), BDL_SCORE_ENTROPY, scratch);
     }},
    {"bdl_metric_ood",
     [](trained&) {
       bdl_ood_report report{};
       report.struct_size = sizeof report;
       return bdl_metric_ood(in(4, 1), in(5, 1), BDL_SCORE_CONFIDENCE, &report);
     }},
    {"bdl_temperature_apply", [](trained&) { return bdl_temperature_apply(in(4, 3), 2, out(4, 3)); }},
    {"bdl_metric_crps", [](trained&) { return bdl_metric_crps(in(4, 5), in(4, 1), scratch); }},
    {"bdl_metric_accuracy", [](trained&) { return bdl_metric_accuracy(in(4, 1), in(4, 1), scratch); }},
    {"bdl_metric_brier", [](trained&) { return bdl_metric_brier(in(4, 1), in(4, 1), scratch); }},
    {"bdl_metric_nll", [](trained&) { return bdl_metric_nll(in(4, 1), in(4, 1), scratch); }},
    {"bdl_metric_aupr", [](trained&) { return bdl_metric_aupr(in(4, 1), in(5, 1), scratch); }},
    {"bdl_metric_fpr", [](trained&) { return bdl_metric_fpr(in(4, 1), in(5, 1), 0.9, scratch, nullptr); }},
    {"bdl_metric_detection_error",
     [](trained&) { return bdl_metric_detection_error(in(4, 1), in(5, 1), scratch); }},
    {"bdl_temperature_fit", [](trained&) { return bdl_temperature_fit(in(4, 3), in(4, 1), scratch); }},
    {"bdl_save_bytes",
     [](trained& t) {
       int64_t size = 0;
       return bdl_save_bytes(nullptr, nullptr, t.optimizer, nullptr, 0, &size);
     }},
    {"bdl_posterior_get_tensor",
     [](trained& t) { return bdl_posterior_get_tensor(t.posterior, 0, out(1, t.parameters)); }},
    {"bdl_optimizer_minibatch",
     [](trained& t) {
       int64_t size = 0;
       return bdl_optimizer_minibatch(t.optimizer, &size);
     }},
    {"bdl_save", [](trained& t) { return bdl_save(path, nullptr, nullptr, t.optimizer); }},
};

/// Precision 1 in the family that the posterior has.
bdl_status set_posterior(trained& t) {
  static double identity[MOST_PARAMETERS * MOST_PARAMETERS];
  const int64_t d = t.parameters;
  for (int64_t i = 0; i < d; ++i) identity[i * d + i] = 1;
  if (bdl_posterior_rank(t.posterior) == d)
    return bdl_posterior_set_full(t.posterior, in(1, d), bdl_f64(identity, d, d));
  const int64_t rank = bdl_posterior_rank(t.posterior);
  return bdl_posterior_set_low_rank(t.posterior, in(1, d), rank > 0 ? in(d, rank) : bdl_none(), in(1, d));
}

const Case changes[] = {
    {"bdl_model_set_noise_precision",
     [](trained& t) { return bdl_model_set_noise_precision(t.model, in(1, 2)); }},
    {"bdl_model_set_noise_covariance",
     [](trained& t) {
       static const double covariance[] = {2, 1, 1, 2};
       return bdl_model_set_noise_covariance(t.model, bdl_f64(covariance, 2, 2));
     }},
    {"bdl_model_set_standardization",
     [](trained& t) {
       static const double scale[] = {2, 3};
       return bdl_model_set_standardization(t.model, in(1, 2), bdl_none(), bdl_none(), bdl_f64(scale, 1, 2));
     }},
    {"bdl_model_standardize",
     [](trained& t) { return bdl_model_standardize(t.model, x_of(&t.data), y_of(&t.data)); }},
    {"bdl_posterior_set_", set_posterior},
    {"bdl_posterior_update",
     [](trained& t) {
       return bdl_posterior_update(t.posterior, in(3, t.parameters), 2, 0.1, 0.1, in(1, 1));
     }},
    {"bdl_optimizer_set_double",
     [](trained& t) { return bdl_optimizer_set_double(t.optimizer, "prior_precision", 3); }},
    {"bdl_optimizer_set_int",
     [](trained& t) { return bdl_optimizer_set_int(t.optimizer, "total_steps", 300); }},
    {"bdl_optimizer_set_text",
     [](trained& t) { return bdl_optimizer_set_text(t.optimizer, "samples=7 prior_groups=layers"); }},
    {"bdl_optimizer_start_noise",
     [](trained& t) { return bdl_optimizer_start_noise(t.optimizer, in(20, 2)); }},
    {"bdl_optimizer_set_choice",
     [](trained& t) { return bdl_optimizer_set_choice(t.optimizer, "prior_groups", "blocks"); }},
    {"bdl_optimizer_set_prior_normal",
     [](trained& t) {
       return bdl_optimizer_set_prior_normal(t.optimizer, in(1, t.parameters), in(1, t.parameters));
     }},
    {"bdl_optimizer_set_prior",
     [](trained& t) { return bdl_optimizer_set_prior(t.optimizer, in(1, t.parameters)); }},
    {"bdl_optimizer_initialize", [](trained& t) { return bdl_optimizer_initialize(t.optimizer); }},
    {"bdl_optimizer_step", [](trained& t) { return bdl_optimizer_step(t.optimizer, in(20, 2), in(20, 2)); }},
    {"bdl_optimizer_laplace",
     [](trained& t) { return bdl_optimizer_laplace(t.optimizer, in(20, 2), in(20, 2)); }, true},
    {"bdl_optimizer_laplace_dataset",
     [](trained& t) { return bdl_optimizer_laplace_dataset(t.optimizer, shared_rows()); }, true},
    {"bdl_model_standardize_dataset",
     [](trained& t) { return bdl_model_standardize_dataset(t.model, shared_rows()); }},
    {"bdl_optimizer_fit_dataset",  // one step
     [](trained& t) {
       bdl_optimizer_request_stop(t.optimizer);
       const bdl_status status = bdl_optimizer_fit_dataset(t.optimizer, shared_rows(), 1, nullptr, nullptr);
       return status == BDL_STOPPED ? BDL_OK : status;
     }},
    {"bdl_optimizer_step_rows",
     [](trained& t) { return bdl_optimizer_step_rows(t.optimizer, in(20, t.parameters)); }},
    {"bdl_optimizer_fit",  // one step
     [](trained& t) {
       bdl_optimizer_request_stop(t.optimizer);
       const bdl_status status =
           bdl_optimizer_fit(t.optimizer, x_of(&t.data), y_of(&t.data), 1, nullptr, nullptr);
       return status == BDL_STOPPED ? BDL_OK : status;
     }},
    {"bdl_optimizer_observe",
     [](trained& t) { return bdl_optimizer_observe(t.optimizer, in(1, 2), in(1, 2), out(1, 1)); }},
    {"bdl_optimizer_forecast", [](trained& t) { return bdl_optimizer_forecast(t.optimizer, 2); }},
    {"bdl_optimizer_set_process_noise",
     [](trained& t) { return bdl_optimizer_set_process_noise(t.optimizer, in(1, t.parameters)); }},
    {"bdl_optimizer_set_draws",
     [](trained& t) { return bdl_optimizer_set_draws(t.optimizer, no_draws, nullptr, nullptr); }},
    {"bdl_load",
     [](trained&) {
       bdl_model* model = nullptr;
       bdl_posterior* q = nullptr;
       bdl_optimizer* o = nullptr;
       const bdl_status status = bdl_load(path, nullptr, &model, &q, &o);
       assert_int_equal(model && q && o, status == BDL_OK);
       assert_int_equal(model || q || o, status == BDL_OK);
       bdl_optimizer_free(o);
       bdl_posterior_free(q);
       bdl_model_free(model);
       return status;
     }},
};

}  // namespace
