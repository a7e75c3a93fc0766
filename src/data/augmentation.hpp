// Images seen anew in each epoch: cut out of themselves, padded, at a place drawn at random, and perhaps
// mirrored.
#pragma once

#include "data/data_set.hpp"
#include "options/options.hpp"

namespace bdl {

/// How images are augmented, channels of rows x columns one after the other.
struct Augmentation {
  Index channels, rows, columns;
  Index crop_rows = rows, crop_columns = columns;  ///< at most as large as the padded image
  Index pad = 0;                                   ///< on every side; less than rows and columns
  bool flip = false;
  AugmentFill fill = AugmentFill::zero;

  Index image_size() const { return channels * rows * columns; }
  Index crop_size() const { return channels * crop_rows * crop_columns; }
};

/// Do these options augment at all?
inline bool augments(const Options& options) {
  return options.augment_pad > 0 || options.augment_flip;
}

/// What is cut out of the padded image, from its row and column on.
struct Crop {
  Index row, column;
  bool is_flipped;
};

/// Of an example in an epoch: a pure function of these numbers, and uniform.
Crop random_crop(const Augmentation& how, std::uint64_t seed, Index epoch, Index example);
/// Of a prediction.
Crop central_crop(const Augmentation& how);

/// Cuts it out of an image of image_size() numbers, whose mean is 0, into crop_size() others.
template <class T>
void cut(const Augmentation& how, const Crop& crop, const T* image, T* out);

/// Other data with its images augmented, after they are standardised. It must outlive this.
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
