// Handwritten digits in the IDX files of MNIST.
#ifndef SLANG_MNIST_DIGITS_HPP
#define SLANG_MNIST_DIGITS_HPP

#include <bdl/bdl.h>

#include <string>
#include <vector>

namespace mnist {

inline constexpr int64_t pixels = 784, classes = 10;

struct Digits {
  std::vector<float> images;  ///< one example per row, grey values in [0, 1]
  std::vector<int32_t> labels;

  int64_t rows() const { return static_cast<int64_t>(labels.size()); }
  bdl_matrix x(int64_t first, int64_t count) const {
    return bdl_f32(images.data() + first * pixels, count, pixels);
  }
  bdl_matrix y(int64_t first, int64_t count) const { return bdl_i32(labels.data() + first, count, 1); }
};

/// FOLDER/PART-images and FOLDER/PART-labels; at most so many of them.
Digits read_digits(const std::string& folder, const std::string& part, int64_t at_most);

}  // namespace mnist

#endif
