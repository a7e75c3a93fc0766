// Means and scales of images: one of each channel, from all its pixels.
#include <cmath>

#include "support/column_moments.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index channels = 3, pixels = 20, columns = channels * pixels;

/// n x columns bytes; channel 1 is constant.
std::vector<std::uint8_t> images(Index n) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(n * columns));
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    const std::size_t channel = k % columns / pixels;
    bytes[k] = static_cast<std::uint8_t>(channel == 1 ? 77 : (k * k * 31 + k * 7 + channel * 90) % 251);
  }
  return bytes;
}

template <class Value>
void assert_is_plain(const ColumnMoments& got, const std::vector<Value>& values, Index channel) {
  double count = 0, sum = 0, square = 0;
  const auto each = [&](const auto& visit) {
    for (std::size_t k = 0; k < values.size(); ++k)
      if (static_cast<Index>(k) % columns / pixels == channel && !std::isnan(static_cast<double>(values[k])))
        visit(static_cast<double>(values[k]));
  };
  each([&](double value) { ++count, sum += value; });
  each([&](double value) { square += (value - sum / count) * (value - sum / count); });
  const double scale = square > 0 ? std::sqrt(square / count) : 1;
  for (Index c = channel * pixels; c < (channel + 1) * pixels; ++c) {
    assert_near("mean", got.mean[static_cast<std::size_t>(c)], sum / count, 1e-13);
    assert_near("scale", got.scale[static_cast<std::size_t>(c)], scale, 1e-13);
  }
}

/// Also beyond the rows that are converted at a time.
void moments_are_those_of_plain_loops(void**) {
  for (const Index n : {1, 2, 255, 700}) {
    const std::vector<std::uint8_t> bytes = images(n);
    std::vector<double> numbers(bytes.begin(), bytes.end());
    const ColumnMoments of_bytes = moments_of_columns(bdl_u8(bytes.data(), n, columns), pixels),
                        of_numbers = moments_of_columns(bdl_f64(numbers.data(), n, columns), pixels);
    assert_int_equal(of_bytes.mean.size(), columns);
    assert_true(of_bytes.mean == of_numbers.mean && of_bytes.scale == of_numbers.scale);
    for (Index channel = 0; channel < channels; ++channel) assert_is_plain(of_bytes, bytes, channel);
    assert_true(of_bytes.mean[pixels] == 77 && of_bytes.scale[pixels] == 1);  // exactly
    numbers[0] = not_a_number;
    assert_is_plain(moments_of_columns(bdl_f64(numbers.data(), n, columns), pixels), numbers, 0);
  }
}

void nothing_but_missing_numbers_has_mean_zero(void**) {
  const std::vector<double> missing(columns, not_a_number);
  const ColumnMoments moments = moments_of_columns(bdl_f64(missing.data(), 1, columns), pixels);
  for (std::size_t c = 0; c < missing.size(); ++c) assert_true(moments.mean[c] == 0 && moments.scale[c] == 1);
}

/// Columns that share nothing are as ever.
void one_column_is_a_group_of_its_own(void**) {
  const std::vector<std::uint8_t> bytes = images(300);
  const Array all = bdl_u8(bytes.data(), 300, columns);
  const ColumnMoments moments = moments_of_columns(all);
  for (Index c = 0; c < columns; ++c) {
    const ColumnMoments alone = moments_of_columns(bdl_strided(bytes.data() + c, BDL_U8, 300, 1, columns, 1));
    assert_true(moments.mean[static_cast<std::size_t>(c)] == alone.mean[0]);
    assert_true(moments.scale[static_cast<std::size_t>(c)] == alone.scale[0]);
  }
}

}  // namespace

int test_channel_moments() {
  const CMUnitTest tests[] = {cmocka_unit_test(moments_are_those_of_plain_loops),
                              cmocka_unit_test(nothing_but_missing_numbers_has_mean_zero),
                              cmocka_unit_test(one_column_is_a_group_of_its_own)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
