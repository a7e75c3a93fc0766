// For C API tests written in C++: owned handles, and their contents as vectors.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "c_api_test.h"

struct FreeHandle {
  void operator()(bdl_model* handle) const { bdl_model_free(handle); }
  void operator()(bdl_posterior* handle) const { bdl_posterior_free(handle); }
  void operator()(bdl_optimizer* handle) const { bdl_optimizer_free(handle); }
  void operator()(bdl_search* handle) const { bdl_search_free(handle); }
  void operator()(bdl_dataset* handle) const { bdl_dataset_free(handle); }
};
using Model = std::unique_ptr<bdl_model, FreeHandle>;
using Posterior = std::unique_ptr<bdl_posterior, FreeHandle>;
using Optimizer = std::unique_ptr<bdl_optimizer, FreeHandle>;
using Search = std::unique_ptr<bdl_search, FreeHandle>;
using Dataset = std::unique_ptr<bdl_dataset, FreeHandle>;
using Vector = std::vector<double>;

inline Model make_mlp(bdl_dtype dtype, std::initializer_list<int64_t> sizes, bdl_likelihood likelihood,
                      bool bias = true, bdl_activation activation = BDL_TANH) {
  bdl_model* model = nullptr;
  OK(bdl_model_create_mlp(dtype, sizes.begin(), static_cast<int32_t>(sizes.size()), activation, bias ? 1 : 0,
                          likelihood, &model));
  return Model(model);
}

inline Posterior make_posterior(bdl_dtype dtype, int64_t dimension, int64_t rank) {
  bdl_posterior* posterior = nullptr;
  if (rank == FULL)
    OK(bdl_posterior_create_full(dtype, dimension, &posterior));
  else
    OK(bdl_posterior_create_low_rank(dtype, dimension, rank, &posterior));
  return Posterior(posterior);
}

inline Optimizer make_optimizer(const Model& model, const Posterior& posterior, int64_t data_size,
                                const char* method = "slang-ggn") {
  bdl_optimizer* optimizer = nullptr;
  OK(bdl_optimizer_create(model.get(), posterior.get(), method, data_size, &optimizer));
  return Optimizer(optimizer);
}

/// A model with its posterior and its optimizer.
struct Learner {
  Model model;
  Posterior posterior;
  Optimizer optimizer;

  Learner(Model m, bdl_dtype dtype, int64_t rank, int64_t data_size, const char* method = "slang-ggn")
      : model(std::move(m)),
        posterior(make_posterior(dtype, bdl_model_parameters(model.get()), rank)),
        optimizer(make_optimizer(model, posterior, data_size, method)) {}

  Learner(Model m, Posterior q, Optimizer o)
      : model(std::move(m)), posterior(std::move(q)), optimizer(std::move(o)) {}

  void set(const char* name, double value) { OK(bdl_optimizer_set_double(optimizer.get(), name, value)); }
  /// Sets an option, such as "samples=2", of methods that read it; others refuse it.
  void set_if_read(const char* text) {
    const bdl_status status = bdl_optimizer_set_text(optimizer.get(), text);
    if (status != BDL_ERROR_UNSUPPORTED || !strstr(bdl_last_error(), "does not read it here")) OK(status);
  }
  void set(const char* name, int64_t value) { OK(bdl_optimizer_set_int(optimizer.get(), name, value)); }
  void set(const char* name, int value) { set(name, static_cast<int64_t>(value)); }
  void set(const char* name, const char* value) {
    OK(bdl_optimizer_set_choice(optimizer.get(), name, value));
  }
  void fit(bdl_matrix x, bdl_matrix y, int64_t epochs) {
    OK(bdl_optimizer_fit(optimizer.get(), x, y, epochs, nullptr, nullptr));
  }
};

inline Vector mean_of(const Posterior& q) {
  Vector mean(static_cast<std::size_t>(bdl_posterior_dimension(q.get())));
  OK(bdl_posterior_mean(q.get(), bdl_f64_out(mean.data(), 1, bdl_posterior_dimension(q.get()))));
  return mean;
}

inline Vector variance_of(const Posterior& q) {
  Vector variance(static_cast<std::size_t>(bdl_posterior_dimension(q.get())));
  OK(bdl_posterior_marginal_variance(q.get(),
                                     bdl_f64_out(variance.data(), 1, bdl_posterior_dimension(q.get()))));
  return variance;
}

/// Returns the mean and, if there are any, marginal variances, which tests compare exactly.
inline Vector moments_of(const Posterior& q) {
  Vector all = mean_of(q);
  const Vector variance = bdl_posterior_has_covariance(q.get()) ? variance_of(q) : Vector();
  all.insert(all.end(), variance.begin(), variance.end());
  return all;
}

inline void assert_close(double got, double expected, double tolerance, const char* what) {
  if (!(std::fabs(got - expected) <= tolerance))
    fail_msg("%s is %.17g, expected %.17g within %g", what, got, expected, tolerance);
}
