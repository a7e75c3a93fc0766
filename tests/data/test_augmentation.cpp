// Augmented images: what is drawn is known and uniform, what is cut out is what plain loops over padded
// images give.
#include <array>

#include "data/augmentation.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// Crops that another implementation of Philox4x32-10 gives, with the counter that rng/philox.hpp documents.
void known_examples_have_known_crops(void**) {
  const Augmentation padded{.channels = 3, .rows = 32, .columns = 32, .pad = 4, .flip = true};
  const Augmentation smaller{
      .channels = 1, .rows = 40, .columns = 30, .crop_rows = 28, .crop_columns = 24, .pad = 2, .flip = true};
  struct Known {
    std::int64_t seed;
    Index epoch, example;
    Crop padded, smaller;
  };
  for (const Known& known :
       {Known{1, 0, 0, {6, 8, true}, {11, 9, true}}, Known{17, 3, 41, {4, 3, true}, {9, 4, true}},
        Known{-5, 120, 5000000000, {2, 1, false}, {4, 1, false}}}) {
    const auto seed = static_cast<std::uint64_t>(known.seed);
    const Crop a = random_crop(padded, seed, known.epoch, known.example),
               b = random_crop(smaller, seed, known.epoch, known.example);
    assert_true(a.row == known.padded.row && a.column == known.padded.column);
    assert_true(b.row == known.smaller.row && b.column == known.smaller.column);
    assert_true(a.is_flipped == known.padded.is_flipped && b.is_flipped == known.smaller.is_flipped);
  }
}

/// An image whose numbers all differ, none of them 0.
template <class T>
std::vector<T> numbered(Index size) {
  std::vector<T> image(static_cast<std::size_t>(size));
  for (std::size_t k = 0; k < image.size(); ++k) image[k] = static_cast<T>(k + 1);
  return image;
}

template <class T>
std::vector<T> cut_out(const Augmentation& how, const Crop& crop, const std::vector<T>& image) {
  std::vector<T> out(static_cast<std::size_t>(how.crop_size()), T(-7));
  cut(how, crop, image.data(), out.data());
  return out;
}

template <class T>
void without_pad_and_flip_images_stay(void**) {
  const Augmentation how{.channels = 2, .rows = 5, .columns = 3};
  const std::vector<T> image = numbered<T>(30);
  for (Index example = 0; example < 100; ++example)
    assert_true(cut_out(how, random_crop(how, 3, example % 7, example), image) == image);
  assert_true(cut_out(how, central_crop(how), image) == image);
}

/// All places and both ways, over examples and over epochs.
void outcomes_are_uniform(void**) {
  constexpr Index pad = 2, places = 2 * pad + 1, draws = 100000;
  const Augmentation how{.channels = 1, .rows = 8, .columns = 6, .pad = pad, .flip = true};
  for (const bool over_epochs : {false, true}) {
    std::array<Index, places * places * 2> counts{};
    for (Index k = 0; k < draws; ++k) {
      const Crop crop = random_crop(how, 11, over_epochs ? k : 5, over_epochs ? 5 : k);
      assert_true(crop.row >= 0 && crop.row < places && crop.column >= 0 && crop.column < places);
      ++counts[static_cast<std::size_t>((crop.row * places + crop.column) * 2 + crop.is_flipped)];
    }
    const double expected = static_cast<double>(draws) / static_cast<double>(counts.size());
    double chi_square = 0;
    for (const Index count : counts) {
      const double excess = static_cast<double>(count) - expected;
      chi_square += excess * excess / expected;
    }
    assert_true(chi_square < 111.2);  // 49 degrees of freedom: one seed in a million fails
  }
}

/// The padded image's number at (row, column), counted from the image's own corner.
double padded(const Augmentation& how, const double* channel, Index row, Index column) {
  const auto inside = [&](Index i, Index size) {
    if (how.fill == AugmentFill::zero) return i;
    while (i < 0 || i >= size) i = i < 0 ? -i : 2 * size - 2 - i;
    return i;
  };
  const Index r = inside(row, how.rows), c = inside(column, how.columns);
  const bool is_outside = r < 0 || c < 0 || r >= how.rows || c >= how.columns;
  return is_outside ? 0 : channel[r * how.columns + c];
}

void assert_is_plain(const Augmentation& how, const Crop& crop, const std::vector<double>& image) {
  const std::vector<double> got = cut_out(how, crop, image);
  const double* next = got.data();
  for (Index k = 0; k < how.channels; ++k)
    for (Index y = 0; y < how.crop_rows; ++y)
      for (Index x = 0; x < how.crop_columns; ++x) {
        const Index from = crop.is_flipped ? how.crop_columns - 1 - x : x;
        assert_true(*next++ == padded(how, image.data() + k * how.rows * how.columns, crop.row + y - how.pad,
                                      crop.column + from - how.pad));
      }
}

/// Every place of every crop, of both fills.
void crops_are_those_of_plain_loops(void**) {
  for (const AugmentFill fill : {AugmentFill::zero, AugmentFill::reflect})
    for (const auto& [rows, columns] : {std::pair<Index, Index>{5, 4}, {4, 7}, {2, 2}, {1, 6}})
      for (Index pad = 0; pad < std::min(rows, columns); ++pad)
        for (Index smaller = 0; smaller < std::min(rows, columns); ++smaller) {
          const Augmentation how{.channels = 2,
                                 .rows = rows,
                                 .columns = columns,
                                 .crop_rows = rows - smaller,
                                 .crop_columns = columns - smaller,
                                 .pad = pad,
                                 .flip = true,
                                 .fill = fill};
          const std::vector<double> image = numbered<double>(how.image_size());
          for (Index row = 0; row <= 2 * pad + smaller; ++row)
            for (Index column = 0; column <= 2 * pad + smaller; ++column)
              for (const bool is_flipped : {false, true})
                assert_is_plain(how, {row, column, is_flipped}, image);
        }
}

void central_crops_lie_in_the_middle(void**) {
  for (const Index pad : {0, 3}) {
    const Augmentation how{
        .channels = 1, .rows = 6, .columns = 7, .crop_rows = 4, .crop_columns = 4, .pad = pad, .flip = true};
    const Crop crop = central_crop(how);
    assert_true(crop.row == pad + 1 && crop.column == pad + 1 && !crop.is_flipped);
  }
}

/// Rows of 2 x 3 x 4 bytes.
struct Images {
  static constexpr Index count = 9, size = 24;
  std::vector<std::uint8_t> bytes;
  std::vector<double> y;
  Images() : bytes(static_cast<std::size_t>(count * size)), y(count) {
    for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::uint8_t>(k * 37 % 256);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<double>(i);
  }
  ArrayData data() const { return {bdl_u8(bytes.data(), count, size), bdl_f64(y.data(), count, 1)}; }
};

/// Standardised first: what lies outside is the mean. The same example is the same whatever else is fetched.
template <class T>
void data_are_standardised_then_augmented(void**) {
  const Images images;
  ArrayData all = images.data();
  const std::vector<double> mean(Images::size, 100), scale(Images::size, 50);
  const Standardization units({mean, scale}, {{2}, {3}});
  const Augmentation how{.channels = 2, .rows = 3, .columns = 4, .pad = 1, .flip = true};
  AugmentedData augmented(all, how, 5);
  assert_true(augmented.rows() == Images::count && augmented.inputs() == Images::size);
  assert_int_equal(augmented.targets(), 1);
  const std::vector<Index> some{7, 0, 3, 7};
  for (const Index epoch : {0, 4}) {
    Padded<T> plain(poison(Images::size, Images::count)), x(poison(Images::size, 4), 3), y(poison(1, 4)),
        range(poison(Images::size, 2));
    all.fetch({0, Images::count}, units, plain.view(), MatrixView<T>());
    augmented.begin_epoch(epoch);
    augmented.fetch(ConstSpan<Index>(some), units, x.view(), y.view());
    augmented.fetch({6, 2}, units, range.view(), MatrixView<T>());
    for (Index j = 0; j < 4; ++j) {
      const Index example = some[static_cast<std::size_t>(j)];
      std::vector<T> expected(Images::size);
      cut(how, random_crop(how, 5, epoch, example), plain.get().column_data(example), expected.data());
      assert_memory_equal(x.get().column_data(j), expected.data(), expected.size() * sizeof(T));
      assert_true(y.get()(0, j) == static_cast<T>((static_cast<double>(example) - 2) / 3));
    }
    assert_memory_equal(range.get().column_data(1), x.get().column_data(0), Images::size * sizeof(T));
  }
}

}  // namespace

int test_augmentation() {
  const CMUnitTest tests[] = {cmocka_unit_test(known_examples_have_known_crops),
                              cmocka_unit_test(without_pad_and_flip_images_stay<float>),
                              cmocka_unit_test(without_pad_and_flip_images_stay<double>),
                              cmocka_unit_test(outcomes_are_uniform),
                              cmocka_unit_test(crops_are_those_of_plain_loops),
                              cmocka_unit_test(central_crops_lie_in_the_middle),
                              cmocka_unit_test(data_are_standardised_then_augmented<float>),
                              cmocka_unit_test(data_are_standardised_then_augmented<double>)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
