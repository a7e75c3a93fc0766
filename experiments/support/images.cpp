#include "support/images.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>

#include "support/table.hpp"

namespace support {
namespace {

using Bytes = std::vector<unsigned char>;

/// One word for the shell, whatever it is made of.
std::string quoted(const std::string& path) {
  std::string word = "'";
  for (const char c : path) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

Bytes read_all(std::FILE* file) {
  Bytes bytes;
  unsigned char part[1 << 16];
  while (const std::size_t count = std::fread(part, 1, sizeof part, file))
    bytes.insert(bytes.end(), part, part + count);
  return bytes;
}

Bytes read_bytes(const std::string& path) {
  const char* tool = path.ends_with(".gz") ? "gzip" : path.ends_with(".xz") ? "xz" : nullptr;
  std::FILE* file = tool ? popen((std::string(tool) + " -dc -- " + quoted(path)).c_str(), "r")
                         : std::fopen(path.c_str(), "rb");
  if (!file) stop("cannot read " + path);
  Bytes bytes = read_all(file);
  if ((tool ? pclose(file) : std::fclose(file)) != 0) stop("cannot read " + path);
  return bytes;
}

/// The sizes of an IDX file of bytes, which begins with 0, 0, 8 and their number.
std::vector<int64_t> idx_sizes(const Bytes& bytes, std::size_t dimensions, const std::string& path) {
  const Bytes head = {0, 0, 8, static_cast<unsigned char>(dimensions)};
  if (bytes.size() < 4 + 4 * dimensions || !std::equal(head.begin(), head.end(), bytes.begin()))
    stop(path + " is no IDX file of bytes with " + std::to_string(dimensions) + " dimensions");
  std::vector<int64_t> sizes(dimensions);
  int64_t numbers = 1;
  for (std::size_t d = 0; d < dimensions; ++d) {
    for (std::size_t b = 0; b < 4; ++b) sizes[d] = 256 * sizes[d] + bytes[4 + 4 * d + b];
    numbers *= sizes[d];
  }
  if (static_cast<std::size_t>(numbers) != bytes.size() - 4 - 4 * dimensions)
    stop(path + " is not as long as it says");
  return sizes;
}

}  // namespace

Images read_idx(const std::string& images, const std::string& labels) {
  const Bytes image_bytes = read_bytes(images), label_bytes = read_bytes(labels);
  const std::vector<int64_t> sizes = idx_sizes(image_bytes, 3, images);
  if (idx_sizes(label_bytes, 1, labels)[0] != sizes[0])
    stop("not one label in " + labels + " for each image in " + images);
  Images found;
  found.rows = sizes[1], found.columns = sizes[2];
  found.pixels.assign(image_bytes.begin() + 16, image_bytes.end());
  found.labels.assign(label_bytes.begin() + 8, label_bytes.end());
  return found;
}

Images read_cifar10(const std::vector<std::string>& paths) {
  Images found;
  found.channels = 3, found.rows = found.columns = 32;
  const auto record = static_cast<std::ptrdiff_t>(1 + found.numbers());
  for (const std::string& path : paths) {
    const Bytes bytes = read_bytes(path);
    if (bytes.empty() || std::ssize(bytes) % record != 0) stop(path + " has no records of CIFAR-10");
    for (auto at = bytes.begin(); at != bytes.end(); at += record) {
      found.labels.push_back(*at);
      found.pixels.insert(found.pixels.end(), at + 1, at + record);
    }
  }
  return found;
}

Images bright_rows(int64_t channels, int64_t side, int64_t count) {
  Images images;
  images.channels = channels;
  images.rows = images.columns = side;
  uint32_t state = 1;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t label = i % 10;
    for (int64_t p = 0; p < images.numbers(); ++p) {
      state = state * 1664525 + 1013904223;
      const bool is_bright = p / side % side == 4 + 2 * label;
      images.pixels.push_back(static_cast<unsigned char>((is_bright ? 150 : 0) + (state >> 26)));
    }
    images.labels.push_back(static_cast<int32_t>(label));
  }
  return images;
}

Split read_split(const std::string& set, const std::string& folder) {
  const std::string files = folder + "/" + set + "/";
  if (set == "cifar10")
    return {read_cifar10({files + "train_00000_04999.bin.xz", files + "train_05000_09999.bin.xz"}),
            read_cifar10({files + "test_0000_0999.bin.xz"})};
  const std::string train = files + (set == "mnist" ? "train" : "train-first10000");
  return {read_idx(train + "-images-idx3-ubyte.gz", train + "-labels-idx1-ubyte.gz"),
          read_idx(files + "t10k-images-idx3-ubyte.gz", files + "t10k-labels-idx1-ubyte.gz")};
}

Split stand_in_split(const std::string& set, int64_t train, int64_t test) {
  const int64_t channels = set == "cifar10" ? 3 : 1, side = set == "cifar10" ? 32 : 28;
  return {bright_rows(channels, side, train), bright_rows(channels, side, test)};
}

}  // namespace support
