// Matrix views and buffers: indices with any leading dimension, memory that only grows.
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

void views_index_columns_with_their_leading_dimension(void**) {
  double data[12];
  for (int k = 0; k < 12; ++k) data[k] = k;
  const MatrixView<double> a(data, 3, 3, 4);
  assert_true(a(2, 1) == 6 && a.column(2)[0] == 8 && a.column(1).size() == 3 && a.size() == 9);
  const auto block = a.block(1, 1, 2, 2);
  assert_true(block(0, 0) == 5 && block(1, 1) == 10 && block.rows == 2 && block.cols == 2 && block.ld == 4);
  const ConstMatrixView<double> columns = a.columns(1, 2);
  assert_true(columns(0, 0) == 4 && columns.cols == 2 && columns.ld == 4);
}

void buffers_only_grow(void**) {
  Buffer<float> buffer;
  assert_true(buffer.data() == nullptr && buffer.capacity() == 0);
  buffer.reserve(0);
  buffer.reserve(10);
  float* const first = buffer.data();
  assert_int_equal(reinterpret_cast<std::uintptr_t>(first) % 64, 0);
  buffer.reserve(4);
  assert_true(buffer.data() == first && buffer.capacity() == 10);
  buffer.reserve(1000);
  assert_int_equal(buffer.capacity(), 1000);
  buffer.first(1000)[999] = 1;
  buffer.matrix(10, 100)(9, 99) = 1;
}

void buffers_are_moved_and_swapped(void**) {
  Buffer<double> a(3), b;
  double* const memory = a.data();
  a.swap(b);
  assert_true(b.data() == memory && b.capacity() == 3 && a.data() == nullptr && a.capacity() == 0);
  Buffer<double> c(std::move(b));
  assert_true(c.data() == memory);
  a = std::move(c);
  assert_true(a.data() == memory && a.capacity() == 3);
}

void sizes_that_do_not_fit_are_refused_and_change_nothing(void**) {
  Buffer<double> buffer(5);
  double* const memory = buffer.data();
  for (const Index size : {std::numeric_limits<Index>::max(), std::numeric_limits<Index>::max() / 8 + 1}) {
    bool refused = false;
    try {
      buffer.reserve(size);
    } catch (const std::bad_alloc&) {
      refused = true;
    }
    assert_true(refused && buffer.data() == memory && buffer.capacity() == 5);
  }
}

}  // namespace

int test_views() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(views_index_columns_with_their_leading_dimension),
      cmocka_unit_test(buffers_only_grow),
      cmocka_unit_test(buffers_are_moved_and_swapped),
      cmocka_unit_test(sizes_that_do_not_fit_are_refused_and_change_nothing),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
