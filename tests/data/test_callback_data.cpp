// Rows from a function: the numbers it is asked for, in calls of bounded size, and results identical
// to those of arrays.
#include <cmath>
#include <numeric>
#include <string>

#include "base/callback.hpp"
#include "data/callback_data.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index rows = 10'000;

double x_of(Index row, Index column) {
  return std::sin(static_cast<double>(7 * row + column));
}
double y_of(Index row) {
  return std::cos(static_cast<double>(row));
}

/// The rows that were asked for, and the answer to give.
struct Source {
  Index calls = 0, most = 0;
  std::vector<Index> asked;
  std::int32_t answer = 0;
  const char* message = nullptr;
  Index unwritten = -1;
  int destroyed = 0;

  static std::int32_t read(void* user_data, const Index* numbers, Index count, OutArray x, OutArray y) {
    Source& source = *static_cast<Source*>(user_data);
    ++source.calls;
    source.most = std::max(source.most, count);
    source.asked.insert(source.asked.end(), numbers, numbers + count);
    auto* const to_x = static_cast<double*>(x.data);
    auto* const to_y = static_cast<double*>(y.data);
    for (Index i = 0; i < count; ++i) {
      if (numbers[i] == source.unwritten) continue;
      for (Index c = 0; c < 3 && to_x; ++c) to_x[i * 3 + c] = x_of(numbers[i], c);
      if (to_y) to_y[i] = y_of(numbers[i]);
    }
    set_callback_message(source.message);
    return source.answer;
  }
  static void destroy(void* user_data) { ++static_cast<Source*>(user_data)->destroyed; }
  RowReader reader() { return {read, this, destroy}; }
};

struct Arrays {
  std::vector<double> x, y;
  Arrays() {
    for (Index i = 0; i < rows; ++i) {
      for (Index c = 0; c < 3; ++c) x.push_back(x_of(i, c));
      y.push_back(y_of(i));
    }
  }
  ArrayData data() const { return {bdl_f64(x.data(), rows, 3), bdl_f64(y.data(), rows, 1)}; }
};

template <class T>
void rows_have_the_bits_of_arrays(void**) {
  const Arrays arrays;
  ArrayData expected = arrays.data();
  Source source;
  CallbackData data(rows, 3, 1, source.reader());
  assert_true(data.rows() == rows && data.inputs() == 3 && data.targets() == 1);
  const std::vector<Index> list{9999, 3, 3, 0, 512};
  std::vector<Index> long_list(9000);
  for (Index i = 0; i < 9000; ++i) long_list[static_cast<std::size_t>(i)] = (i * 37) % rows;
  for (const Standardization& units :
       {Standardization(), Standardization({{1, 2, 3}, {0.1, 0.7, 3}}, {{-2}, {0.3}})})
    for (const RowNumbers& wanted :
         {RowNumbers(ConstSpan<Index>(list)), RowNumbers(ConstSpan<Index>(long_list)), RowNumbers(5, 4097),
          RowNumbers(17, 1)}) {
      Padded<T> x(poison(3, wanted.count()), 2), y(poison(1, wanted.count()), 1), same_x = x, same_y = y;
      data.fetch(wanted, units, x.view(), y.view());
      expected.fetch(wanted, units, same_x.view(), same_y.view());
      for (Index j = 0; j < wanted.count(); ++j) {
        for (Index c = 0; c < 3; ++c) assert_true(x.get()(c, j) == same_x.get()(c, j));
        assert_true(y.get()(0, j) == same_y.get()(0, j));
      }
    }
  assert_int_equal(source.most, 4096);
}

void what_is_not_wanted_is_not_asked_for(void**) {
  Source source;
  CallbackData data(rows, 3, 1, source.reader());
  Padded<double> x(poison(3, 2)), y(poison(1, 2));
  data.fetch({3, 2}, {}, MatrixView<double>(), y.view());
  assert_true(y.get()(0, 1) == y_of(4));
  data.fetch({3, 2}, {}, x.view(), MatrixView<double>());
  assert_true(x.get()(2, 0) == x_of(3, 2));
  data.fetch({3, 2}, {}, MatrixView<double>(), MatrixView<double>());
  assert_int_equal(source.calls, 2);
}

void failures_come_with_their_message(void**) {
  Source source;
  source.answer = 5;
  Buffer<double> y(2);
  {
    CallbackData data(rows, 3, 1, source.reader());
    const auto fetch = [&] { data.fetch({0, 2}, {}, MatrixView<double>(), y.matrix(1, 2)); };
    expect_error(Status::ERROR_CALLBACK, "the data set's read callback returned 5, expected 0", fetch);
    source.message = "the disk is gone";
    expect_error(Status::ERROR_CALLBACK, "returned 5, expected 0: the disk is gone", fetch);
    source.answer = 0;  // a callback that succeeds after all has reported nothing
    fetch();
    source.answer = 1;
    source.message = nullptr;
    expect_error(Status::ERROR_CALLBACK, "returned 1, expected 0", fetch);
    source.answer = 0;
    source.unwritten = 1;  // is found out
    fetch();
    assert_true(std::isnan(y.data()[1]) && y.data()[0] == y_of(0));
    assert_int_equal(source.destroyed, 0);
  }
  assert_int_equal(source.destroyed, 1);
}

/// Cut at 200 bytes, and not within a character.
void long_messages_are_cut(void**) {
  std::string text(199, 'a');
  text += "\xC3\xA4 and more";
  set_callback_message(text.c_str());
  try {
    check_callback("x", [] { return 1; });
    fail_msg("%s", "did not fail");
  } catch (const Error& error) {
    const std::string message = error.what();
    assert_true(message.ends_with(": " + std::string(199, 'a')));
  }
}

}  // namespace

int test_callback_data() {
  const CMUnitTest tests[] = {cmocka_unit_test(rows_have_the_bits_of_arrays<float>),
                              cmocka_unit_test(rows_have_the_bits_of_arrays<double>),
                              cmocka_unit_test(what_is_not_wanted_is_not_asked_for),
                              cmocka_unit_test(failures_come_with_their_message),
                              cmocka_unit_test(long_messages_are_cut)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
