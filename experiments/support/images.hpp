// Readers of the files that image data are published in. Packed ones (.gz, .xz) are unpacked by gzip and xz.
#ifndef SUPPORT_IMAGES_HPP
#define SUPPORT_IMAGES_HPP

#include <bdl/bdl.h>

#include <string>
#include <vector>

namespace support {

/// One image per row: channel by channel, row by row.
struct Images {
  int64_t channels = 1, rows = 0, columns = 0;
  std::vector<unsigned char> pixels;
  std::vector<int32_t> labels;

  int64_t count() const { return static_cast<int64_t>(labels.size()); }
  int64_t numbers() const { return channels * rows * columns; }
  bdl_matrix x(int64_t first, int64_t n) const { return bdl_u8(&pixels[offset(first)], n, numbers()); }
  bdl_matrix y(int64_t first, int64_t n) const { return bdl_i32(labels.data() + first, n, 1); }

 private:
  std::size_t offset(int64_t image) const { return static_cast<std::size_t>(image * numbers()); }
};

/// The files of MNIST and its relatives. All readers end the program with a message if they cannot do it.
Images read_idx(const std::string& images, const std::string& labels);

/// In place of data: grey noise with a bright row that tells one of ten classes.
Images bright_rows(int64_t channels, int64_t side, int64_t count);

/// Files of CIFAR-10's binary format, one after the other.
Images read_cifar10(const std::vector<std::string>& paths);

struct Split {
  Images train, test;
};

/// "mnist", "fashion-mnist" or "cifar10" in a folder of data: MNIST whole, of the others the first 10,000
/// images (and 1,000 of CIFAR-10 to test).
Split read_split(const std::string& set, const std::string& folder);

/// Bright rows of the set's shape.
Split stand_in_split(const std::string& set, int64_t train, int64_t test);

}  // namespace support

#endif
