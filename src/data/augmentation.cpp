#include "data/augmentation.hpp"

#include <algorithm>

#include "rng/philox.hpp"

namespace bdl {
namespace {

/// Returns a place in 0 .. places - 1, uniform up to places / 2^32.
Index place_of(std::uint32_t word, Index places) {
  return static_cast<Index>((static_cast<std::uint64_t>(word) * static_cast<std::uint64_t>(places)) >> 32);
}

/// Returns the place in 0 .. size - 1 whose mirror image in an edge is `i`; the edge itself is not repeated.
Index reflected(Index i, Index size) {
  return i < 0 ? -i : i < size ? i : 2 * (size - 1) - i;
}

/// Cuts columns of one row; `first` is the first column of the crop, which may lie outside the image.
template <class T>
void cut_row(AugmentFill fill, const T* row, Index columns, Index first, std::span<T> out) {
  const auto width = static_cast<Index>(out.size());
  const Index begin = std::clamp<Index>(-first, 0, width), end = std::clamp(columns - first, begin, width);
  const auto outside = [&](Index x) {
    return fill == AugmentFill::zero ? T(0) : row[reflected(first + x, columns)];
  };
  for (Index x = 0; x < begin; ++x) out[static_cast<std::size_t>(x)] = outside(x);
  std::copy_n(row + std::clamp<Index>(first, 0, columns), end - begin, out.begin() + begin);
  for (Index x = end; x < width; ++x) out[static_cast<std::size_t>(x)] = outside(x);
}

}  // namespace

Crop random_crop(const Augmentation& how, std::uint64_t seed, Index epoch, Index example) {
  const auto number = static_cast<std::uint64_t>(example);
  const StreamKey key{seed, Stream::augmentation, static_cast<std::uint64_t>(epoch),
                      static_cast<std::uint32_t>(number >> 32)};
  const auto words = philox_block(stream_counter(key, static_cast<std::uint32_t>(number)),
                                  {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return {place_of(words[0], how.rows + 2 * how.pad - how.crop_rows + 1),
          place_of(words[1], how.columns + 2 * how.pad - how.crop_columns + 1),
          how.flip && (words[2] >> 31) != 0};
}

Crop central_crop(const Augmentation& how) {
  return {how.pad + (how.rows - how.crop_rows) / 2, how.pad + (how.columns - how.crop_columns) / 2, false};
}

template <class T>
void cut(const Augmentation& how, const Crop& crop, const T* image, T* out) {
  const auto width = static_cast<std::size_t>(how.crop_columns);
  for (Index channel = 0; channel < how.channels; ++channel, image += how.rows * how.columns)
    for (Index y = 0; y < how.crop_rows; ++y, out += width) {
      const Index row = crop.row + y - how.pad;
      const bool is_blank = how.fill == AugmentFill::zero && (row < 0 || row >= how.rows);
      if (is_blank)
        std::fill_n(out, width, T(0));
      else
        cut_row(how.fill, image + reflected(row, how.rows) * how.columns, how.columns, crop.column - how.pad,
                std::span<T>(out, width));
      if (crop.is_flipped) std::reverse(out, out + width);
    }
}

template <class T>
void AugmentedData::fetch_into(Buffer<T>& image, const RowNumbers& examples, const Standardization& units,
                               MatrixView<T> x, MatrixView<T> y) {
  const Index size = how_.image_size();
  const bool in_place = how_.crop_size() == size;
  if (y.data || in_place) all_.fetch(examples, units, in_place ? x : MatrixView<T>(), y);
  if (!x.data) return;
  const auto whole = image.matrix(size, 1);
  for (Index j = 0; j < examples.count(); ++j) {
    if (in_place)
      std::copy_n(x.column_data(j), size, whole.data);  // offsets stay where they are
    else
      all_.fetch({examples[j], 1}, units, whole, MatrixView<T>());
    cut(how_, random_crop(how_, seed_, epoch_, examples[j]), static_cast<const T*>(whole.data),
        x.column_data(j));
  }
}

void AugmentedData::fetch(const RowNumbers& examples, const Standardization& units, MatrixView<float> x,
                          MatrixView<float> y) {
  fetch_into(float_image_, examples, units, x, y);
}

void AugmentedData::fetch(const RowNumbers& examples, const Standardization& units, MatrixView<double> x,
                          MatrixView<double> y) {
  fetch_into(double_image_, examples, units, x, y);
}

template void cut(const Augmentation&, const Crop&, const float*, float*);
template void cut(const Augmentation&, const Crop&, const double*, double*);

}  // namespace bdl
