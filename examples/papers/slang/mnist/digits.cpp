#include "digits.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "support/table.hpp"

namespace mnist {
namespace {

/// What follows the header of an IDX file of unsigned bytes.
std::vector<unsigned char> read_idx(const std::string& path, std::size_t header) {
  std::ifstream file(path, std::ios::binary);
  std::vector<unsigned char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (bytes.size() <= header) support::stop("cannot read " + path);
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header));
  return bytes;
}

}  // namespace

Digits read_digits(const std::string& folder, const std::string& part, int64_t at_most) {
  const std::vector<unsigned char> images = read_idx(folder + "/" + part + "-images", 16);
  const std::vector<unsigned char> labels = read_idx(folder + "/" + part + "-labels", 8);
  if (images.size() != labels.size() * pixels) support::stop("not one image for each label in " + folder);
  const std::size_t count = std::min(labels.size(), static_cast<std::size_t>(at_most));
  Digits digits;
  digits.labels.assign(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(count));
  digits.images.reserve(count * pixels);
  for (std::size_t i = 0; i < count * pixels; ++i)
    digits.images.push_back(static_cast<float>(images[i]) / 255);
  return digits;
}

}  // namespace mnist
