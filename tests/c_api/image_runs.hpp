// Small images as bytes, the same as floats, and networks for them.
#pragma once

#include "handles.hpp"

inline constexpr int64_t image_count = 40, channels = 2, side = 4, pixels = side * side,
                         image_size = channels * pixels;

/// A bright square stands left or right of the middle: the class.
struct Images {
  std::vector<std::uint8_t> bytes;
  std::vector<float> floats;
  Vector labels;
  Images() : bytes(image_count * image_size), labels(image_count) {
    for (int64_t i = 0; i < image_count; ++i) {
      labels[static_cast<std::size_t>(i)] = static_cast<double>(i * 7 % 5 % 2);
      for (int64_t k = 0; k < image_size; ++k) {
        const bool is_left = k % side < side / 2;
        const int64_t light = is_left == (i * 7 % 5 % 2 == 0) ? 120 : 20, noise = (i * 31 + k * k * 17) % 90;
        bytes[static_cast<std::size_t>(i * image_size + k)] =
            static_cast<std::uint8_t>(light + noise + (k < pixels ? 0 : 40));
      }
    }
    floats.assign(bytes.begin(), bytes.end());
  }
  bdl_matrix x(int64_t first = 0, int64_t count = image_count) const {
    return bdl_u8(bytes.data() + first * image_size, count, image_size);
  }
  bdl_matrix x_as_floats(int64_t first = 0, int64_t count = image_count) const {
    return bdl_f32(floats.data() + first * image_size, count, image_size);
  }
  bdl_matrix y(int64_t first = 0, int64_t count = image_count) const {
    return bdl_f64(labels.data() + first, count, 1);
  }
};

inline constexpr const char* image_network = "input 2 4 4; dense 3; tanh; dense 2";

inline Model make_network(bdl_dtype dtype, const char* description = image_network,
                          bdl_likelihood likelihood = BDL_CATEGORICAL) {
  bdl_model* model = nullptr;
  OK(bdl_model_create_network(dtype, description, likelihood, &model));
  return Model(model);
}

/// Standardised by its channels.
inline Learner image_learner(const Images& images, bdl_dtype dtype = BDL_F64,
                             const char* method = "slang-ggn", int64_t rank = 2) {
  Learner l(make_network(dtype), dtype, rank, image_count, method);
  OK(bdl_model_standardize(l.model.get(), images.x(), bdl_none()));
  return l;
}
