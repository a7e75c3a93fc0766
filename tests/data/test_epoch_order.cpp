// Orders of epochs in blocks: every row once, rows of one window together, and from any place on.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "data/minibatch.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

std::vector<Index> epoch_of(EpochOrder& order, Index epoch, Index first, Index count) {
  std::vector<Index> rows(static_cast<std::size_t>(count), -1);
  order.fill(epoch, first, rows);
  return rows;
}

struct Case {
  Index rows;
  RowBlocks blocks;
};

const Case cases[] = {{1, {1, 1}},   {10, {1, 1}},   {10, {3, 1}},   {10, {3, 2}},
                      {10, {3, 4}},  {100, {7, 3}},  {100, {10, 3}}, {101, {10, 1}},
                      {99, {10, 5}}, {50, {100, 1}}, {50, {7, 100}}, {1000, {64, 4}}};

void every_row_comes_once(void**) {
  for (const auto& [rows, blocks] : cases)
    for (Index epoch = 0; epoch < 40; ++epoch) {
      EpochOrder order(3, rows, blocks);
      std::vector<Index> all = epoch_of(order, epoch, 0, rows);
      std::ranges::sort(all);
      for (Index i = 0; i < rows; ++i) assert_int_equal(all[static_cast<std::size_t>(i)], i);
    }
}

/// A block is open from its first row to its last: at most `window` blocks are open at a time.
void rows_of_a_window_come_together(void**) {
  for (const auto& [rows, blocks] : cases)
    for (Index epoch = 0; epoch < 20; ++epoch) {
      EpochOrder order(5, rows, blocks);
      const std::vector<Index> all = epoch_of(order, epoch, 0, rows);
      std::map<Index, std::pair<Index, Index>> lives;
      for (Index place = 0; place < rows; ++place) {
        const Index block = all[static_cast<std::size_t>(place)] / blocks.rows;
        lives.try_emplace(block, place, place).first->second.second = place;
      }
      for (Index place = 0; place < rows; ++place)
        assert_true(std::ranges::count_if(lives, [&](const auto& life) {
                      return life.second.first <= place && place <= life.second.second;
                    }) <= blocks.window);
    }
}

void any_place_can_come_first(void**) {
  for (const auto& [rows, blocks] : cases) {
    EpochOrder order(3, rows, blocks);
    const std::vector<Index> whole = epoch_of(order, 6, 0, rows);
    for (const Index first : {rows - 1, rows / 2, rows / 3, Index{0}}) {
      EpochOrder resumed(3, rows, blocks);
      assert_true(epoch_of(resumed, 6, first, 1)[0] == whole[static_cast<std::size_t>(first)]);
      assert_true(epoch_of(order, 6, first, 1)[0] == whole[static_cast<std::size_t>(first)]);
    }
    EpochOrder other(4, rows, blocks);
    if (rows > 50) assert_false(epoch_of(order, 7, 0, rows) == whole);
    if (rows > 50) assert_false(epoch_of(other, 6, 0, rows) == whole);
  }
}

/// Notes what it is told.
struct Told final : DataSet {
  std::vector<int> state = std::vector<int>(100, 0);  // of each row: 1 expected, 2 forgotten
  Index rows() const override { return 100; }
  Index inputs() const override { return 1; }
  Index targets() const override { return 0; }
  void fetch(const RowNumbers&, const Standardization&, MatrixView<float>, MatrixView<float>) override {}
  void fetch(const RowNumbers&, const Standardization&, MatrixView<double>, MatrixView<double>) override {}
  void expect(Index first, Index count) override { set(first, count, 1); }
  void forget(Index first, Index count) override { set(first, count, 2); }
  void set(Index first, Index count, int now) {
    for (Index i = first; i < first + count; ++i) {
      assert_int_equal(state.at(static_cast<std::size_t>(i)), now - 1);
      state.at(static_cast<std::size_t>(i)) = now;
    }
  }
};

/// Rows are expected before they come, those of two windows at a time, and forgotten after they have come.
void sources_are_told_what_comes(void**) {
  for (const RowBlocks& blocks : {RowBlocks{7, 3}, RowBlocks{10, 1}, RowBlocks{30, 2}}) {
    Told told;
    EpochOrder order(3, 100, blocks);
    order.tell(told);
    for (Index place = 0; place < 100; ++place) {
      const Index row = epoch_of(order, 2, place, 1)[0];
      assert_int_equal(told.state[static_cast<std::size_t>(row)], 1);
      assert_true(std::ranges::count(told.state, 1) <= 2 * blocks.rows * blocks.window);
    }
  }
}

/// Shards have orders of their own, and tell the data of their own rows: here 40 to 99.
void shards_have_blocks_of_their_own(void**) {
  const RowBlocks blocks{7, 3};
  Told told;
  EpochOrder order(3, 60, blocks, 1), other(3, 60, blocks, 2);
  order.tell(told, 40);
  std::vector<Index> all;
  for (Index place = 0; place < 60; ++place) {
    all.push_back(epoch_of(order, 2, place, 1)[0]);
    assert_int_equal(told.state[static_cast<std::size_t>(40 + all.back())], 1);
  }
  assert_int_equal(std::count(told.state.begin(), told.state.begin() + 40, 0), 40);
  assert_false(epoch_of(other, 2, 0, 60) == all);
  std::ranges::sort(all);
  for (Index i = 0; i < 60; ++i) assert_int_equal(all[static_cast<std::size_t>(i)], i);
}

/// The first row of 20,000 epochs: within 6 standard deviations (false alarms below 2e-8 each).
void blocks_come_in_any_order(void**) {
  constexpr Index rows = 40, epochs = 20000;
  for (const RowBlocks& blocks : {RowBlocks{8, 1}, RowBlocks{8, 2}, RowBlocks{40, 1}}) {
    std::vector<double> counts(rows, 0);
    for (Index epoch = 0; epoch < epochs; ++epoch) {
      EpochOrder order(1, rows, blocks);
      ++counts[static_cast<std::size_t>(epoch_of(order, epoch, 0, 1)[0])];
    }
    const double expected = static_cast<double>(epochs) / rows;
    for (const double count : counts) assert_true(std::abs(count - expected) < 6 * std::sqrt(expected));
  }
}

/// Without blocks, the order is the list of rng, or is computed.
void all_rows_are_shuffled_without_blocks(void**) {
  std::vector<Index> list(500);
  fill_permutation({8, Stream::shuffle, 2, 0}, list);
  EpochOrder order(8, 500, {});
  assert_true(epoch_of(order, 2, 0, 500) == list);
  constexpr Index many = Index{1} << 40;
  EpochOrder large(8, many, {}), in_blocks(8, many, {1 << 20, 2});
  const FeistelPermutation computed({8, Stream::shuffle, 3, 0}, many);
  assert_int_equal(epoch_of(large, 3, many - 7, 1)[0], computed[many - 7]);
  std::set<Index> blocks;
  for (const Index row : epoch_of(in_blocks, 3, Index{1} << 33, 1 << 12)) blocks.insert(row >> 20);
  assert_int_equal(blocks.size(), 2);
}

}  // namespace

int test_epoch_order() {
  const CMUnitTest tests[] = {cmocka_unit_test(every_row_comes_once),
                              cmocka_unit_test(rows_of_a_window_come_together),
                              cmocka_unit_test(any_place_can_come_first),
                              cmocka_unit_test(sources_are_told_what_comes),
                              cmocka_unit_test(shards_have_blocks_of_their_own),
                              cmocka_unit_test(blocks_come_in_any_order),
                              cmocka_unit_test(all_rows_are_shuffled_without_blocks)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
