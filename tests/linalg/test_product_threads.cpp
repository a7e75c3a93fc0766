// Threads of the host that multiply at the same time have buffers of BLAS of their own. A serial OpenBLAS
// without locks gives one buffer to two of them; some of its kernels (Haswell, Prescott) copy into it
// whatever the size.
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "linalg/blas.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

void products_on_many_threads_are_those_of_one(void**) {
  constexpr Index size = 16;
  constexpr int times = 20000;
  Random random(1);
  const Padded<double> a(random.normal(size, size), 0), b(random.normal(size, size), 0);
  const auto multiply = [&](std::vector<double>& c) {
    gemm(Op::none, Op::none, 1.0, a.get(), b.get(), 0.0, {c.data(), size, size});
  };
  std::vector<double> expected(size * size);
  multiply(expected);
  std::atomic<int> wrong{0};
  std::array<std::thread, 8> threads;
  for (std::thread& thread : threads)
    thread = std::thread([&] {
      std::vector<double> c(size * size);
      for (int i = 0; i < times; ++i) {
        multiply(c);
        wrong += c != expected;
      }
    });
  for (std::thread& thread : threads) thread.join();
  assert_int_equal(wrong.load(), 0);
}

}  // namespace

int test_product_threads() {
  const CMUnitTest tests[] = {cmocka_unit_test(products_on_many_threads_are_those_of_one)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
