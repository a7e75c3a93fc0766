#include "base/overlap.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

#include "bdl/matrix.h"

namespace bdl {
namespace {

/// Returns the bytes of an element, 0 for unknown types.
Index element_size(std::int32_t dtype) {
  switch (dtype) {
    case BDL_F32:
    case BDL_I32:
      return 4;
    case BDL_F64:
      return 8;
    case BDL_U8:
      return 1;
    default:
      return 0;
  }
}

/// `count` elements that are `step` bytes apart; step > 0, or count is 1.
struct Line {
  Index step = 1, count = 1;
  Index length() const { return step * (count - 1); }
};

/// Bytes of an array: `outer.count` runs of `inner.count` elements of `width` bytes, from `first` on.
struct Lattice {
  std::uint64_t first = 0;
  Line outer, inner;
  Index width = 1;
  Index run() const { return inner.length() + width; }
};

/// Returns stride * width * (count - 1), or nothing if it overflows.
std::optional<Index> length_of(Index stride, Index count, Index width) {
  Index length = 0;
  if (count > 1 &&
      (__builtin_mul_overflow(stride, width, &length) || __builtin_mul_overflow(length, count - 1, &length)))
    return std::nullopt;
  return length;
}

/// Returns the lowest address, or nothing if the array exceeds the addresses from 1 to the largest Index.
std::optional<std::uint64_t> first_byte(const Array& array) {
  const Index width = element_size(array.dtype);
  const auto rows = length_of(array.row_stride, array.rows, width),
             cols = length_of(array.col_stride, array.cols, width);
  if (!rows || !cols) return std::nullopt;
  Index first = static_cast<Index>(reinterpret_cast<std::uintptr_t>(array.data)), last = first;
  for (const Index length : {*rows, *cols})
    if (__builtin_add_overflow(length < 0 ? first : last, length, length < 0 ? &first : &last))
      return std::nullopt;
  if (first <= 0 || __builtin_add_overflow(last, width, &last)) return std::nullopt;
  return static_cast<std::uint64_t>(first);
}

Line line_of(Index stride, Index count, Index width) {
  if (count == 1 || stride == 0) return {};
  return {std::abs(stride) * width, count};
}

/// Joins runs that are adjacent or overlap in step.
Lattice joined(Lattice lattice) {
  Line &outer = lattice.outer, &inner = lattice.inner;
  if (outer.count > 1 && (inner.count == 1 || outer.step < inner.step)) std::swap(outer, inner);
  const bool in_step = outer.count > 1 && outer.step % inner.step == 0;
  if (in_step && outer.step / inner.step <= inner.count) {
    inner.count += outer.length() / inner.step;
    outer = {};
  }
  return lattice;
}

std::optional<Lattice> lattice_of(const Array& array) {
  const Index width = element_size(array.dtype);
  if (!array.data || array.rows < 1 || array.cols < 1 || width == 0) return std::nullopt;
  const auto first = first_byte(array);
  if (!first) return std::nullopt;
  return joined({*first, line_of(array.row_stride, array.rows, width),
                 line_of(array.col_stride, array.cols, width), width});
}

Index floor_divided(Index a, Index b) {
  return a / b - (a % b < 0 ? 1 : 0);
}
Index ceil_divided(Index a, Index b) {
  return -floor_divided(-a, b);
}

/// Returns x in [0, b) with a x = g (mod b) for g = gcd(a, b).
Index inverse(Index a, Index b) {
  Index x = 1, next = 0, r = a, rest = b;
  while (rest != 0) {
    const Index q = r / rest;
    std::swap(r -= q * rest, rest);
    std::swap(x -= q * next, next);
  }
  return (x % b + b) % b;
}

/// Returns a b modulo m, without overflow.
Index product_modulo(Index a, Index b, Index m) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<Index>(static_cast<Wide>(a) * static_cast<Wide>(b) % static_cast<Wide>(m));
}

/// True if some j within [low, high] has a j = v modulo b.
bool has_multiple(Index a, Index b, Index v, Index low, Index high) {
  const Index g = std::gcd(a, b), modulus = b / g;
  if (low > high || v % g != 0) return false;
  const Index rest = (v / g % modulus + modulus) % modulus;
  const Index j = product_modulo(rest, inverse(a / g, modulus), modulus);
  return low + ((j - low) % modulus + modulus) % modulus <= high;
}

/// True if j a.step - l b.step = v for some j and l of the lines.
bool meet_at(const Line& a, const Line& b, Index v) {
  return has_multiple(a.step, b.step, v, std::max<Index>(0, ceil_divided(v, a.step)),
                      std::min(a.count - 1, floor_divided(v + b.length(), a.step)));
}

/// True if a run of a and a run of b that starts `ahead` bytes after it share a byte.
bool runs_meet(const Lattice& a, const Lattice& b, Index ahead) {
  if (ahead >= a.run() || -ahead >= b.run()) return false;
  if (a.inner.step <= a.width && b.inner.step <= b.width) return true;
  for (Index v = ahead - a.width + 1; v < ahead + b.width; ++v)
    if (meet_at(a.inner, b.inner, v)) return true;
  return false;
}

/// Compares views with equal strides: i outer + j inner = v for distances i of runs and j of elements within
/// them.
bool in_step_meet(const Lattice& a, const Lattice& b, Index ahead) {
  const Index outer = a.outer.step, inner = a.inner.step;
  for (Index v = ahead - a.width + 1; v < ahead + b.width; ++v) {
    const Index least = std::max(1 - b.outer.count, ceil_divided(v - a.inner.length(), outer));
    const Index most = std::min(a.outer.count - 1, floor_divided(v + b.inner.length(), outer));
    if (has_multiple(outer, inner, v, least, most)) return true;
  }
  return false;
}

/// Compares each run of a with the runs of b within its bytes.
bool any_runs_meet(const Lattice& a, const Lattice& b, Index ahead) {
  Index left = Index{1} << 20;  // comparisons that are left
  for (Index i = 0; i < a.outer.count; ++i) {
    const Index begin = ahead - i * a.outer.step;  // start of b's first run, relative to this run
    const Index least = std::max<Index>(0, floor_divided(-b.run() - begin, b.outer.step) + 1);
    const Index most = std::min(b.outer.count - 1, ceil_divided(a.run() - begin, b.outer.step) - 1);
    for (Index k = least; k <= most; ++k) {
      if (runs_meet(a, b, begin + k * b.outer.step)) return true;
      if (--left < 0) return true;
    }
    if (--left < 0) return true;
  }
  return false;
}

/// Splits a line into runs of one element if one of the distances of these and of the other lattice's runs is
/// a multiple of the other.
Lattice in_runs_like(Lattice lattice, const Lattice& other) {
  const Index step = lattice.inner.step, other_step = other.outer.step;
  if (lattice.outer.count > 1 || (step % other_step != 0 && other_step % step != 0)) return lattice;
  lattice.outer = lattice.inner;
  lattice.inner = {other.inner.step, 1};
  return lattice;
}

/// Returns every count-th run, from run `first` on.
Lattice every(Index count, Index first, Lattice lattice) {
  lattice.first += static_cast<std::uint64_t>(first * lattice.outer.step);
  lattice.outer = {lattice.outer.step * count, (lattice.outer.count - first + count - 1) / count};
  return lattice;
}

/// Compares runs whose distances have a small common multiple, after splitting both into lattices whose runs
/// are that far apart. Returns nothing if there is no small multiple.
std::optional<bool> commensurate_meet(const Lattice& a, const Lattice& b) {
  constexpr Index most_pieces = 8;
  const Index g = std::gcd(a.outer.step, b.outer.step), of_a = b.outer.step / g, of_b = a.outer.step / g;
  if (a.inner.step != b.inner.step || of_a > most_pieces || of_b > most_pieces) return std::nullopt;
  for (Index i = 0; i < std::min(of_a, a.outer.count); ++i)
    for (Index k = 0; k < std::min(of_b, b.outer.count); ++k) {
      const Lattice one = every(of_a, i, a), other = every(of_b, k, b);
      if (in_step_meet(one, other, static_cast<Index>(other.first - one.first))) return true;
    }
  return false;
}

bool lattices_meet(Lattice a, Lattice b) {
  const Index ahead = static_cast<Index>(b.first - a.first);
  if (ahead >= a.outer.length() + a.run() || -ahead >= b.outer.length() + b.run()) return false;
  if (a.outer.count > 1) b = in_runs_like(b, a);
  if (b.outer.count > 1) a = in_runs_like(a, b);
  if (a.outer.count > 1 && b.outer.count > 1)
    if (const auto meet = commensurate_meet(a, b)) return *meet;
  return a.outer.count <= b.outer.count ? any_runs_meet(a, b, ahead) : any_runs_meet(b, a, -ahead);
}

bool is_same(const Array& a, const Array& b) {
  return a.data == b.data && a.dtype == b.dtype && a.rows == b.rows && a.cols == b.cols &&
         (a.rows == 1 || a.row_stride == b.row_stride) && (a.cols == 1 || a.col_stride == b.col_stride);
}

}  // namespace

void check_extent(const Array& array, const char* name) {
  if (first_byte(array)) return;
  fail(Status::ERROR_SHAPE,
       "%s is %lld x %lld with strides %lld and %lld: some elements lie outside of the address space", name,
       static_cast<long long>(array.rows), static_cast<long long>(array.cols),
       static_cast<long long>(array.row_stride), static_cast<long long>(array.col_stride));
}

bool overlaps_itself(const Array& array) {
  const Index row = array.rows == 1 ? 0 : std::abs(array.row_stride),
              col = array.cols == 1 ? 0 : std::abs(array.col_stride), g = std::gcd(row, col);
  if (g == 0) return array.rows > 1 || array.cols > 1;
  if (array.rows == 1 || array.cols == 1) return false;
  return array.rows > col / g && array.cols > row / g;
}

bool share_memory(const Array& a, const Array& b) {
  const auto one = lattice_of(a), other = lattice_of(b);
  return one && other && lattices_meet(*one, *other);
}

void check_apart(std::initializer_list<NamedArray> outputs, std::initializer_list<NamedArray> inputs) {
  for (auto out = outputs.begin(); out != outputs.end(); ++out) {
    for (auto other = outputs.begin(); other != out; ++other)
      if (share_memory(out->view, other->view))
        fail(Status::ERROR_SHAPE, "%s and %s are outputs that overlap in memory, expected separate memory",
             other->name, out->name);
    for (const NamedArray& input : inputs)
      if (!is_same(out->view, input.view) && share_memory(out->view, input.view))
        fail(Status::ERROR_SHAPE,
             "%s is an output that overlaps %s in memory, expected separate memory (or exactly that of the "
             "input, element for element)",
             out->name, input.name);
  }
}

}  // namespace bdl
