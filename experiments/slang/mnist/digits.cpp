#include "digits.hpp"

#include <algorithm>

#include "support/images.hpp"
#include "support/table.hpp"

namespace mnist {

Digits read_digits(const std::string& folder, const std::string& part, int64_t at_most) {
  const support::Images images =
      support::read_idx(folder + "/" + part + "-images", folder + "/" + part + "-labels");
  if (images.numbers() != pixels) support::stop("images of another size than MNIST's in " + folder);
  const std::size_t count = static_cast<std::size_t>(std::min(images.count(), at_most));
  Digits digits;
  digits.labels.assign(images.labels.begin(), images.labels.begin() + static_cast<std::ptrdiff_t>(count));
  digits.images.reserve(count * pixels);
  for (std::size_t i = 0; i < count * pixels; ++i)
    digits.images.push_back(static_cast<float>(images.pixels[i]) / 255);
  return digits;
}

}  // namespace mnist
