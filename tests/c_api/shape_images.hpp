// Small images of shapes at any place, the same on every machine, and a network with convolutions for them.
#pragma once

#include <cmath>
#include <cstring>
#include <string>

#include "handles.hpp"

inline constexpr int64_t shape_side = 8, shape_size = shape_side * shape_side, shape_count = 200,
                         shape_kinds = 3;

/// Kind 0: a bar across; 1: a bar down; 2: a diagonal; light noise.
struct ShapeImages {
  Vector images, kinds;
  ShapeImages() : images(shape_count * shape_size), kinds(shape_count) {
    for (int64_t i = 0; i < shape_count; ++i) {
      const int64_t kind = i * 7 % 5 % shape_kinds, row = i * 5 % 6, column = i * 11 % 7 % 6;
      kinds[static_cast<std::size_t>(i)] = static_cast<double>(kind);
      double* const image = &images[static_cast<std::size_t>(i * shape_size)];
      for (int64_t k = 0; k < shape_size; ++k)
        image[k] = 0.2 * std::sin(static_cast<double>(i * 37 + k * k * 5));
      for (int64_t k = 0; k < 4; ++k) {
        const int64_t y = kind == 0 ? row : row % 4 + k, x = kind == 1 ? column : column % 4 + k;
        image[y * shape_side + x] += 3;
      }
    }
  }
  bdl_matrix x(int64_t count = shape_count) const { return bdl_f64(images.data(), count, shape_size); }
  bdl_matrix y(int64_t count = shape_count) const { return bdl_f64(kinds.data(), count, 1); }
};

/// 119 parameters, which every method learns in a few epochs; and 169, for what need not be learned well.
inline constexpr const char *easy_network = "input 1 8 8; conv 4 4 stride 2 pad 1; tanh; maxpool 2; dense 3",
                            *shape_network =
                                "input 1 8 8; conv 4 3 stride 2 pad 1; tanh; conv 6 2 groups 2; relu; "
                                "maxpool 2 stride 1; dense 3";

inline Model shape_model(bdl_dtype dtype, const char* description) {
  bdl_model* model = nullptr;
  OK(bdl_model_create_network(dtype, description, BDL_CATEGORICAL, &model));
  return Model(model);
}

inline Posterior posterior_of(bdl_dtype dtype, const Model& model, const std::string& family,
                              int64_t rank = 2) {
  const int64_t d = bdl_model_parameters(model.get());
  bdl_posterior* q = nullptr;
  if (family == "low_rank") OK(bdl_posterior_create_low_rank(dtype, d, rank, &q));
  if (family == "diagonal") OK(bdl_posterior_create_low_rank(dtype, d, 0, &q));
  if (family == "full") OK(bdl_posterior_create_full(dtype, d, &q));
  if (family == "full_moment") OK(bdl_posterior_create_full_moment(dtype, d, &q));
  if (family == "diagonal_moment") OK(bdl_posterior_create_diagonal_moment(dtype, d, &q));
  if (family == "layerwise_full") OK(bdl_posterior_create_layerwise_full(model.get(), &q));
  if (family == "dropout") OK(bdl_posterior_create_dropout(model.get(), 0.05, 0.1, &q));
  assert_non_null(q);
  return Posterior(q);
}

/// The numbers of all tensors.
inline Vector numbers_of(const Posterior& q) {
  Vector all;
  for (int64_t t = 0; t < bdl_posterior_tensor_count(q.get()); ++t) {
    int64_t height = 0, width = 0;
    OK(bdl_posterior_tensor_describe(q.get(), t, nullptr, &height, &width, nullptr));
    Vector values(static_cast<std::size_t>(height * width));
    if (!values.empty()) OK(bdl_posterior_get_tensor(q.get(), t, bdl_f64_out(values.data(), height, width)));
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}
