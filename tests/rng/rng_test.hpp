// Shared by the CMocka programs of this folder. Every statistical assertion rejects a correct generator with
// a probability of 1e-6 (over the choice of the seed, which is fixed).
#pragma once

#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "rng/tile.hpp"

// Last: its macro fail() would break the headers above.
#include <setjmp.h>
extern "C" {
#include <cmocka.h>
}

namespace bdl::testing {

inline constexpr double false_alarm_rate = 1e-6;

/// The instruction sets that can run here.
inline std::vector<Simd> available_simd() {
  std::vector<Simd> sets;
  for (const Simd simd : {Simd::baseline, Simd::avx2, Simd::avx512})
    if (simd <= widest_simd()) sets.push_back(simd);
  return sets;
}

/// The call must fail as an invalid argument, with a message that contains `word`.
template <class Call>
void expect_invalid(const char* word, Call call) {
  try {
    call();
  } catch (const Error& error) {
    if (error.status() == Status::ERROR_INVALID_ARGUMENT && std::strstr(error.what(), word)) return;
    fail_msg("got status %d, '%s'; expected '%s'", static_cast<int>(error.status()), error.what(), word);
  }
  fail_msg("got success, expected '%s'", word);
}

template <class T>
std::vector<T> normals(const StreamKey& key, Index offset, Index count) {
  std::vector<T> out(static_cast<std::size_t>(count), std::numeric_limits<T>::quiet_NaN());
  fill_normal<T>(key, offset, out);
  return out;
}

template <class T>
void assert_same_bits(std::span<const T> got, std::span<const T> expected) {
  assert_int_equal(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    if (std::memcmp(&got[i], &expected[i], sizeof(T)) != 0)
      fail_msg("element %zu is %a, expected %a", i, static_cast<double>(got[i]),
               static_cast<double>(expected[i]));
}

/// z is standard normal for a correct generator.
inline void assert_standard(const char* what, double z) {
  if (!(std::erfc(std::fabs(z) / std::sqrt(2.0)) > false_alarm_rate))
    fail_msg("%s is %g standard errors off", what, z);
}

/// The chi-square statistic of counts against equal expectations.
inline double chi_square(std::span<const std::int64_t> counts) {
  double total = 0, sum = 0;
  for (const auto count : counts) total += static_cast<double>(count);
  const double expected = total / static_cast<double>(counts.size());
  for (const auto count : counts)
    sum += (static_cast<double>(count) - expected) * (static_cast<double>(count) - expected);
  return sum / expected;
}

}  // namespace bdl::testing
