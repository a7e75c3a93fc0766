// Augmentation of images: in each epoch an image is padded, cropped at a random place, and perhaps mirrored.
#pragma once

#include "data/data_set.hpp"
#include "options/options.hpp"

namespace bdl {

/// Settings for images that are stored as channels of rows x columns.
struct Augmentation {
  Index channels, rows, columns;
  Index crop_rows = rows, crop_columns = columns;  ///< at most as large as the padded image
  Index pad = 0;                                   ///< width of the padding; less than rows and columns
  bool flip = false;
  AugmentFill fill = AugmentFill::zero;

  Index image_size() const { return channels * rows * columns; }
  Index crop_size() const { return channels * crop_rows * crop_columns; }
};

/// True if these options augment images.
inline bool augments(const Options& options) {
  return options.augment_pad > 0 || options.augment_flip;
}

/// First row and column of the crop of a padded image.
struct Crop {
  Index row, column;
  bool is_flipped;
};

/// Returns the crop of an example in an epoch: uniformly random, and a pure function of these arguments.
Crop random_crop(const Augmentation& how, std::uint64_t seed, Index epoch, Index example);
/// Returns the crop that predictions use.
Crop central_crop(const Augmentation& how);

/// Copies the crop of an image (image_size() numbers with mean 0) to `out` (crop_size() numbers).
template <class T>
void cut(const Augmentation& how, const Crop& crop, const T* image, T* out);

/// Other data whose images are standardised, then augmented. It must outlive this.
class AugmentedData final : public DataSet {
 public:
  AugmentedData(DataSet& all, const Augmentation& how, std::uint64_t seed)
      : all_(all), how_(how), seed_(seed) {}
  void begin_epoch(Index epoch) { epoch_ = epoch; }
  Index rows() const override { return all_.rows(); }
  Index inputs() const override { return how_.crop_size(); }
  Index targets() const override { return all_.targets(); }
  void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<float> x,
             MatrixView<float> y) override;
  void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<double> x,
             MatrixView<double> y) override;

 private:
  template <class T>
  void fetch_into(Buffer<T>& image, const RowNumbers& examples, const Standardization& units, MatrixView<T> x,
                  MatrixView<T> y);
  DataSet& all_;
  Augmentation how_;
  std::uint64_t seed_;
  Index epoch_ = 0;
  Buffer<float> float_image_;
  Buffer<double> double_image_;
};

}  // namespace bdl
