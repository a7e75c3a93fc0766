// The public API as the cases use it: errors end the process, handles free themselves, data are any numbers.
#pragma once

#include <bdl/bdl.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace bench {

inline void check(bdl_status status) {
  if (status == BDL_OK) return;
  std::fprintf(stderr, "bdl_bench: %s\n", bdl_last_error());
  std::exit(1);
}

struct FreeHandle {
  void operator()(bdl_model* handle) const { bdl_model_free(handle); }
  void operator()(bdl_posterior* handle) const { bdl_posterior_free(handle); }
  void operator()(bdl_optimizer* handle) const { bdl_optimizer_free(handle); }
  void operator()(bdl_predictor* handle) const { bdl_predictor_free(handle); }
};
using Model = std::unique_ptr<bdl_model, FreeHandle>;
using Posterior = std::unique_ptr<bdl_posterior, FreeHandle>;
using Optimizer = std::unique_ptr<bdl_optimizer, FreeHandle>;
using Predictor = std::unique_ptr<bdl_predictor, FreeHandle>;

template <class T>
constexpr bdl_dtype dtype_of = std::is_same_v<T, float> ? BDL_F32 : BDL_F64;

inline Model make_model(bdl_dtype dtype, const std::vector<int64_t>& sizes, bdl_likelihood likelihood,
                        bdl_activation activation = BDL_RELU) {
  bdl_model* model = nullptr;
  check(bdl_model_create_mlp(dtype, sizes.data(), static_cast<int32_t>(sizes.size()), activation, 1,
                             likelihood, &model));
  return Model(model);
}

/// A network by name, for images of the size that it was published for, of ten classes. In float.
inline Model published_network(const std::string& name) {
  const bool is_gray = name == "lenet5";
  const int64_t channels = is_gray ? 1 : 3, side = is_gray ? 28 : 32;
  const char* text = nullptr;
  bdl_model* model = nullptr;
  check(bdl_network_description(name.c_str(), channels, side, side, 10, &text));
  check(bdl_model_create_network(BDL_F32, text, BDL_CATEGORICAL, &model));
  return Model(model);
}

inline Posterior make_posterior(bdl_dtype dtype, int64_t dimension, int64_t rank) {
  bdl_posterior* posterior = nullptr;
  check(bdl_posterior_create_low_rank(dtype, dimension, rank, &posterior));
  return Posterior(posterior);
}

/// Makes a predictor by BDL_MONTE_CARLO.
inline Predictor make_predictor(const Model& model, const Posterior& posterior, int64_t samples) {
  bdl_predictor* predictor = nullptr;
  check(bdl_predictor_create(model.get(), posterior.get(), BDL_MONTE_CARLO, samples, 1, &predictor));
  return Predictor(predictor);
}

inline Optimizer make_optimizer(const Model& model, const Posterior& posterior, int64_t data_size) {
  bdl_optimizer* optimizer = nullptr;
  check(bdl_optimizer_create(model.get(), posterior.get(), "slang", data_size, &optimizer));
  return Optimizer(optimizer);
}

/// Uniform numbers of (-scale, scale).
template <class T>
std::vector<T> uniform(int64_t count, T scale) {
  std::vector<T> values(static_cast<std::size_t>(count));
  uint32_t state = 1;
  for (T& value : values) {
    state = state * 1664525 + 1013904223;
    value = scale * (static_cast<T>(state >> 8) / T(8388608) - T(1));
  }
  return values;
}

/// Row-major.
template <class T>
bdl_matrix matrix(const std::vector<T>& values, int64_t rows, int64_t cols) {
  return bdl_strided(values.data(), dtype_of<T>, rows, cols, cols, 1);
}

template <class T>
bdl_matrix_out matrix_out(std::vector<T>& values, int64_t rows, int64_t cols) {
  return bdl_strided_out(values.data(), dtype_of<T>, rows, cols, cols, 1);
}

/// Random mean, U and d.
template <class T>
Posterior random_posterior(int64_t dimension, int64_t rank, T precision) {
  Posterior posterior = make_posterior(dtype_of<T>, dimension, rank);
  check(bdl_posterior_set_low_rank(
      posterior.get(), matrix(uniform<T>(dimension, T(0.05)), 1, dimension),
      matrix(uniform<T>(dimension * rank, T(0.1)), dimension, rank),
      matrix(std::vector<T>(static_cast<std::size_t>(dimension), precision), 1, dimension)));
  return posterior;
}

}  // namespace bench
