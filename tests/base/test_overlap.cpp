// Whether arrays lie in the address space and share memory, against their addresses written out one by one.
#include <array>
#include <bitset>
#include <limits>
#include <set>

#include "base/overlap.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index middle = 256;  // where element (0, 0) stands
using Bytes = std::bitset<2 * middle>;

struct Layout {
  Array array;
  Bytes bytes;
  bool has_equal_places = false;
};

std::int32_t dtype_of(Index width) {
  return width == 1 ? BDL_U8 : width == 4 ? BDL_F32 : BDL_F64;
}

/// Addresses are only compared, never read.
Array array_at(Index address, Index width, Index rows, Index cols, Index row_stride, Index col_stride) {
  return {reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address)),
          dtype_of(width),
          0,
          rows,
          cols,
          row_stride,
          col_stride};
}

Layout layout_of(Index width, Index rows, Index cols, Index row_stride, Index col_stride) {
  Layout layout{array_at(1 << 20, width, rows, cols, row_stride, col_stride), {}};
  std::set<Index> places;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      const Index place = i * row_stride + j * col_stride;
      layout.has_equal_places = !places.insert(place).second || layout.has_equal_places;
      for (Index k = 0; k < width; ++k)
        layout.bytes.set(static_cast<std::size_t>(middle + place * width + k));
    }
  return layout;
}

/// Sizes 1 to 3 and all strides from -3 to 5: contiguous, transposed, reversed, broadcast, with gaps,
/// entangled.
std::vector<Layout> layouts(Index width, Index most_stride) {
  std::vector<Layout> all;
  for (Index rows = 1; rows <= 3; ++rows)
    for (Index cols = 1; cols <= 3; ++cols)
      for (Index row = -3; row <= most_stride; ++row)
        for (Index col = -3; col <= most_stride; ++col) all.push_back(layout_of(width, rows, cols, row, col));
  return all;
}

void equal_places_are_found(void**) {
  for (const Index width : {1, 4, 8})
    for (const Layout& layout : layouts(width, 5))
      assert_true(overlaps_itself(layout.array) == layout.has_equal_places);
}

/// Each layout with each, at all distances at which some bytes can meet.
void shared_memory_is_found_exactly(void**) {
  for (const auto& [one, other, step] : {std::array<Index, 3>{1, 1, 1}, {4, 8, 4}, {8, 8, 8}, {1, 4, 1}}) {
    const auto first = layouts(one, one == 1 && other == 1 ? 5 : 3), second = layouts(other, 2);
    for (const Layout& a : first)
      for (std::size_t b = 0; b < second.size(); b += 3)
        for (Index ahead = -40; ahead <= 40; ahead += step) {
          Array moved = second[b].array;
          moved.data = static_cast<const char*>(moved.data) + ahead;
          const Bytes bytes = ahead < 0 ? second[b].bytes >> static_cast<std::size_t>(-ahead)
                                        : second[b].bytes << static_cast<std::size_t>(ahead);
          const bool expected = (a.bytes & bytes).any();
          if (share_memory(a.array, moved) != expected)
            fail_msg(
                "%d x %d of %d bytes and strides %d, %d against %d x %d of %d bytes and strides %d, %d, %d "
                "bytes ahead: expected %d",
                static_cast<int>(a.array.rows), static_cast<int>(a.array.cols), static_cast<int>(one),
                static_cast<int>(a.array.row_stride), static_cast<int>(a.array.col_stride),
                static_cast<int>(moved.rows), static_cast<int>(moved.cols), static_cast<int>(other),
                static_cast<int>(moved.row_stride), static_cast<int>(moved.col_stride),
                static_cast<int>(ahead), expected);
        }
  }
}

/// Ten million rows: columns of one buffer, windows, blocks of rows.
void large_arrays_are_told_apart_at_once(void**) {
  constexpr Index n = 10'000'000, start = 1 << 20;
  const auto columns = [&](Index first, Index count) {
    return array_at(start + 8 * first, 8, n, count, 5, 1);
  };
  assert_false(share_memory(columns(0, 3), columns(3, 2)));
  assert_false(share_memory(columns(0, 3), columns(4, 1)));
  assert_true(share_memory(columns(0, 3), columns(2, 2)));
  assert_true(share_memory(columns(0, 3), columns(2, 1)));
  assert_false(share_memory(columns(1, 1), columns(2, 1)));
  const Array windows = array_at(start, 8, n, 50, 1, 1);
  assert_true(share_memory(windows, array_at(start + 8 * (n + 48), 8, n, 1, 1, 1)));
  assert_false(share_memory(windows, array_at(start + 8 * (n + 49), 8, n, 1, 1, 1)));
  assert_false(share_memory(array_at(start, 8, n, 3, 3, 1), array_at(start + 24 * n, 8, n, 3, 3, 1)));
  assert_true(share_memory(array_at(start, 8, n, 3, 3, 1), array_at(start + 24 * n - 8, 8, n, 3, 3, 1)));
  const auto every_other_row = [&](Index first, Index count) {
    return array_at(start + 8 * first, 8, n / 2, count, 10, 1);
  };
  assert_false(share_memory(every_other_row(0, 2), columns(2, 3)));
  assert_false(share_memory(every_other_row(0, 1), columns(2, 3)));
  assert_false(share_memory(every_other_row(5, 3), columns(3, 2)));
  assert_true(share_memory(every_other_row(5, 4), columns(3, 2)));
  assert_true(share_memory(columns(3, 1), every_other_row(5, 4)));
  assert_false(share_memory(every_other_row(0, 3), every_other_row(5, 3)));
  constexpr Index more = Index{1} << 40;  // rows of entangled strides
  assert_true(share_memory(array_at(start, 8, more, 10, 3, 2), array_at(start + 8, 8, more, 10, 3, 2)));
}

void arrays_lie_in_the_address_space(void**) {
  constexpr Index most = std::numeric_limits<Index>::max(), least = std::numeric_limits<Index>::min();
  const double value = 0;
  const auto check = [&](Index rows, Index cols, Index row, Index col) {
    check_shape(bdl_strided(&value, BDL_F64, rows, cols, row, col), -1, -1, "x");
  };
  check(1, 1, most, least);  // strides that are not taken
  check(3, 2, 0, 0);         // one number for all
  for (const auto& s : std::vector<std::array<Index, 4>>{{2, 1, most, 1},
                                                         {2, 1, least, 1},
                                                         {60, 1, most / 2, 1},
                                                         {60, 3, 1, most / 2},
                                                         {2, 2, most / 16, most / 16},
                                                         {most, 2, 1, 1},
                                                         {most / 8, 1, 1, 1},
                                                         {most / 16, 2, -1, 1},
                                                         {2, 3, most / 8, 1}})
    expect_error(Status::ERROR_SHAPE, "some elements lie outside of the address space",
                 [&] { check(s[0], s[1], s[2], s[3]); });
  // The last byte may be the last address.
  const auto at_end = [](Index rows) { check_extent(array_at(most - 16, 8, rows, 1, 1, 1), "x"); };
  at_end(2);
  expect_error(Status::ERROR_SHAPE, "x is 3 x 1 with strides 1 and 1", [&] { at_end(3); });
  check_extent(array_at(17, 8, 3, 1, -1, 1), "x");
  expect_error(Status::ERROR_SHAPE, "address space", [] { check_extent(array_at(16, 8, 3, 1, -1, 1), "x"); });
}

void outputs_have_places_of_their_own(void**) {
  double memory[30] = {};
  const auto part = [&](Index first, Index rows, Index cols, Index row_stride) {
    return bdl_strided_out(memory + first, BDL_F64, rows, cols, row_stride, 1);
  };
  check_apart({{"a", part(0, 5, 2, 6)}, {"b", part(2, 5, 2, 6)}, {"c", part(4, 5, 2, 6)}});
  check_apart({{"a", part(0, 2, 3, 3)}, {"b", bdl_none_out()}, {"c", bdl_none_out()}},
              {{"x", bdl_f64(memory + 6, 2, 3)}, {"y", bdl_none()}});
  check_apart({{"a", part(0, 5, 2, 6)}}, {{"x", bdl_as_input(part(0, 5, 2, 6))}});  // in place
  expect_error(Status::ERROR_SHAPE, "a and c are outputs that overlap in memory, expected separate memory",
               [&] {
                 check_apart({{"a", part(0, 5, 2, 6)}, {"b", part(2, 5, 2, 6)}, {"c", part(1, 5, 1, 6)}});
               });
  expect_error(Status::ERROR_SHAPE, "a and b are outputs", [&] {
    check_apart({{"a", part(0, 2, 2, 2)}, {"b", part(0, 2, 2, 2)}});
  });
  expect_error(Status::ERROR_SHAPE, "b is an output that overlaps x in memory", [&] {
    check_apart({{"a", part(20, 1, 1, 1)}, {"b", part(1, 2, 2, 2)}}, {{"x", bdl_f64(memory, 2, 2)}});
  });
}

}  // namespace

int test_overlap() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(equal_places_are_found),
      cmocka_unit_test(shared_memory_is_found_exactly),
      cmocka_unit_test(large_arrays_are_told_apart_at_once),
      cmocka_unit_test(arrays_lie_in_the_address_space),
      cmocka_unit_test(outputs_have_places_of_their_own),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
