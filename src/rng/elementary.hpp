// -2 log, sin and cos without branches or tables, for loops that compilers vectorise. The reductions and
// polynomials come from FDLIBM (double log, sin, cos and float log) and Cephes (float sin, cos); errors are
// near one ulp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/simd.hpp"

namespace bdl {

template <class T>
struct Elementary;

template <>
struct Elementary<float> {
  using Bits = std::uint32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr Bits one = 0x3f800000, sqrt_half = 0x3f3504f3;
  static constexpr Bits integer = 0x4b000000;  // 2^23: its last bits hold an integer
  static constexpr float integer_bias = 8388608.0f + 127.0f;
  static constexpr float ln2_high = 6.9313812256e-01f, ln2_low = 9.0580006145e-06f;
  static constexpr float two_pi = 6.28318530717958647692f;
  static constexpr float log[] = {0xf89e26.0p-26f, 0x91e9ee.0p-25f, 0xccce13.0p-25f, 0xaaaaaa.0p-24f};
  static constexpr float sin[] = {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f};
  static constexpr float cos[] = {2.443315711809948e-5f, -1.388731625493765e-3f, 4.166664568298827e-2f};
};

template <>
struct Elementary<double> {
  using Bits = std::uint64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr Bits one = 0x3ff0000000000000, sqrt_half = 0x3fe6a09e667f3bcd;
  static constexpr Bits integer = 0x4330000000000000;  // 2^52
  static constexpr double integer_bias = 4503599627370496.0 + 1023.0;
  static constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
  static constexpr double two_pi = 6.28318530717958647692;
  static constexpr double log[] = {
      1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
      2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01};
  static constexpr double sin[] = {1.58969099521155010221e-10, -2.50507602534068634195e-08,
                                   2.75573137070700676789e-06, -1.98412698298579493134e-04,
                                   8.33333333332248946124e-03, -1.66666666666666324348e-01};
  static constexpr double cos[] = {-1.13596475577881948265e-11, 2.08757232129817482790e-09,
                                   -2.75573143513906633035e-07, 2.48015872894767294178e-05,
                                   -1.38888888888741095749e-03, 4.16666666666666019037e-02};
};

/// Evaluates a polynomial, highest coefficient first, times a power of two.
template <class T, std::size_t count>
BDL_ALWAYS_INLINE T polynomial(T x, const T (&coefficient)[count], T factor = 1) {
  T value = factor * coefficient[0];
  for (std::size_t i = 1; i < count; ++i) value = value * x + factor * coefficient[i];
  return value;
}

/// Returns -2 log u for u = scaled 2^-scale = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)):
/// log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)) with s = f / (2 + f). Powers of two do not round, so the
/// constants contain both factors.
template <int scale, class T>
BDL_ALWAYS_INLINE T minus_two_log(T scaled) {
  using E = Elementary<T>;
  using Bits = typename E::Bits;
  constexpr Bits mantissa = (Bits{1} << E::mantissa_bits) - 1;
  const Bits shifted = std::bit_cast<Bits>(scaled) + (E::one - E::sqrt_half);
  const T k = std::bit_cast<T>(E::integer | (shifted >> E::mantissa_bits)) - (E::integer_bias + scale);
  const T f = std::bit_cast<T>((shifted & mantissa) + E::sqrt_half) - T{1};
  const T s = f / (T{2} + f);
  const T z = s * s;
  const T square = f * f;
  const T tail = s * (square + z * polynomial(z, E::log, T{2})) + k * (2 * E::ln2_low);
  return -(k * (2 * E::ln2_high) - ((square - tail) - (f + f)));
}

template <class T>
struct Direction {
  T cosine, sine;
};

/// Returns (cos, sin) of quadrant pi / 2 + y, |y| <= pi / 4.
template <class T>
BDL_ALWAYS_INLINE Direction<T> direction(std::uint32_t quadrant, T y) {
  using E = Elementary<T>;
  using Bits = typename E::Bits;
  constexpr int sign_shift = 8 * sizeof(Bits) - 2;  // moves bit 1 to the sign
  const T z = y * y;
  const auto sine = std::bit_cast<Bits>(y + y * (z * polynomial(z, E::sin)));
  const auto cosine = std::bit_cast<Bits>(T{1} - (T{0.5} * z - z * z * polynomial(z, E::cos)));
  const Bits q = quadrant;
  const Bits swap = (sine ^ cosine) & (Bits{0} - (q & 1));
  return {std::bit_cast<T>(cosine ^ swap ^ (((q + 1) & 2) << sign_shift)),
          std::bit_cast<T>(sine ^ swap ^ ((q & 2) << sign_shift))};
}

}  // namespace bdl
