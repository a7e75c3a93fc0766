#include "linalg/eigen/divide_and_conquer.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/interrupt.hpp"
#include "linalg/blas/blas.hpp"
#include "linalg/eigen/secular.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr Index leaf_size = 32;     // up to here eigenvectors are formed
constexpr Index block_rows = 128;   // of a division's vectors, formed at a time
constexpr Index shared_size = 256;  // up to here threads share out divisions, above their insides
constexpr Index level_arrays = 5, level_lists = 3, row_arrays = 5;

/// Levels below the whole until divisions have at most `most` rows.
Index levels_to(Index size, Index most) {
  Index levels = 0;
  while ((size + (Index{1} << levels) - 1) >> levels > most) ++levels;
  return levels;
}

/// Runs body(i) for the groups of lanes of 0 .. size - 1, on threads where there is enough to do.
template <class Body>
void for_each_group(Index size, Index work, const Body& body) {
  const Index grain = (task_grain(work) + lane_count - 1) / lane_count * lane_count;
  parallel_blocks(size, grain, [&](Index first, Index count) noexcept {
    for (Index i = first; i < first + count; i += lane_count) body(i);
  });
}

struct FindRoots {
  const Secular& s;
  Index first;
  bool& found;
  template <int W>
  BDL_ALWAYS_INLINE void run() const {
    found = find_roots<W>(s, first);
  }
};

struct FindWeights {
  const Secular& s;
  Index first;
  double* out;
  template <int W>
  BDL_ALWAYS_INLINE void run() const {
    find_weights<W>(s, first, out);
  }
};

struct FindScales {
  const Secular& s;
  Index first;
  const double *row_a, *row_b;
  double *a, *b;
  template <int W>
  BDL_ALWAYS_INLINE void run() const {
    find_scales<W>(s, first, row_a, row_b, a, b);
  }
};

struct WriteVector {
  const Secular& s;
  Index i, from, count;
  double* out;
  template <int W>
  BDL_ALWAYS_INLINE void run() const {
    write_vector<W>(s, i, from, count, out);
  }
};

template <class T>
Secular secular_of(const T& d, double rho) {
  return {*d.active, rho, 0, d.poles, d.weights, d.bases, d.shifts, d.scales};
}

/// By ascending value; the list nearly does so before.
void insertion_sort(int* list, Index count, const double* values) {
  for (Index i = 1; i < count; ++i) {
    const int item = list[i];
    Index j = i;
    for (; j > 0 && values[list[j - 1]] > values[item]; --j) list[j] = list[j - 1];
    list[j] = item;
  }
}

}  // namespace

void DivideAndConquer::reserve(Index size) {
  const Index levels = levels_to(size, 1), half = (size + 1) / 2;
  level_numbers_.reserve(levels * level_arrays * size);
  level_integers_.reserve(levels * level_lists * size);
  rotations_.reserve(levels * size);
  numbers_.reserve(row_arrays * size);
  integers_.reserve(2 * size);
  block_.reserve(std::min(block_rows, half) * half);
  leaves_.reserve(size <= leaf_size ? 0 : leaf_size * size);
}

DivideAndConquer::Division DivideAndConquer::division(Index level, Index q) {
  const Index begin = (size_ * q) >> level, end = (size_ * (q + 1)) >> level;
  const Index middle = (size_ * (2 * q + 1)) >> (level + 1);
  double* const numbers = level_numbers_.data() + level * level_arrays * size_ + begin;
  int* const lists = level_integers_.data() + level * level_lists * size_ + begin;
  return {begin,
          end - begin,
          middle - begin,
          lists,
          lists + size_,
          lists + 2 * size_,
          rotations_.data() + level * size_ + begin,
          numbers,
          numbers + size_,
          numbers + 2 * size_,
          numbers + 3 * size_,
          numbers + 4 * size_};
}

/// Every element beside the diagonal is a division's; the rest of T is diagonal.
void DivideAndConquer::tear(const double* diagonal, const double* beside) {
  for (Index i = 0; i < size_; ++i) {
    const double before = i > 0 ? std::abs(beside[i - 1]) : 0,
                 after = i + 1 < size_ ? std::abs(beside[i]) : 0;
    values_[i] = diagonal[i] - before - after;
    first_[i] = last_[i] = 1;
    order_[i] = 0;
  }
}

bool DivideAndConquer::conquer(Index level, Index q, const double* beside, Simd simd) {
  const Division d = division(level, q);
  if (d.size == 0) return true;
  *d.active = *d.turns = 0;
  int* const sorted = sorted_ + d.begin;
  sort_halves(d, sorted);
  double rho = 0, tolerance = 0;
  if (d.left > 0 && d.left < d.size) {
    const double e = beside[d.begin + d.left - 1];
    rho = 2 * std::abs(e);
    tolerance = 8 * epsilon * couple(d, e);
  }
  deflate(d, sorted, rho, tolerance);
  const bool good = combine(d, rho, simd);
  order(d);
  return good;
}

/// The coordinates of both halves' bases by ascending eigenvalue.
void DivideAndConquer::sort_halves(const Division& d, int* sorted) const {
  const double* const values = values_ + d.begin;
  const int* const order = order_ + d.begin;
  const int left = static_cast<int>(d.left), size = static_cast<int>(d.size);
  for (int t = 0, i = 0, j = left; t < size; ++t) {
    const bool low = j == size || (i < left && values[order[i]] <= values[left + order[j]]);
    sorted[t] = low ? order[i++] : left + order[j++];
  }
}

/// z of the coupling rho z z^T with |z| = 1; what is large here.
double DivideAndConquer::couple(const Division& d, double beside) {
  const double root = std::sqrt(0.5), sign = std::copysign(root, beside);
  double largest = 0;
  for (Index c = d.begin; c < d.begin + d.size; ++c) {
    const bool low = c < d.begin + d.left;
    coupling_[c] = low ? root * last_[c] : sign * first_[c];
    (low ? last_[c] : first_[c]) = 0;
    largest = std::max({largest, std::abs(coupling_[c]), std::abs(values_[c])});
  }
  return largest;
}

/// Turns two basis vectors in their plane so that the first is not coupled.
void DivideAndConquer::turn(const Division& d, int first, int second) {
  double *const z = coupling_ + d.begin, *const values = values_ + d.begin;
  const double length = std::hypot(z[first], z[second]);
  const double cosine = z[second] / length, sine = -z[first] / length;
  z[second] = length;
  z[first] = 0;
  for (double* const row : {first_ + d.begin, last_ + d.begin}) {
    const double x = row[first], y = row[second];
    row[first] = cosine * x + sine * y;
    row[second] = cosine * y - sine * x;
  }
  const double x = values[first], y = values[second];
  values[first] = x * cosine * cosine + y * sine * sine;
  values[second] = x * sine * sine + y * cosine * cosine;
  d.rotations[(*d.turns)++] = {first, second, cosine, sine};
}

/// Lists the coordinates that are coupled with eigenvalues apart, then the others.
void DivideAndConquer::deflate(const Division& d, const int* sorted, double rho, double tolerance) {
  const double *const z = coupling_ + d.begin, *const values = values_ + d.begin;
  int active = 0, last = -1;
  Index free = d.size;
  for (Index t = 0; t < d.size; ++t) {
    const int c = sorted[t];
    if (rho == 0 || rho * std::abs(z[c]) <= tolerance) {
      d.places[--free] = c;
      continue;
    }
    if (last >= 0) {
      const double square = z[c] * z[c] + z[last] * z[last];
      if (std::abs((values[c] - values[last]) * z[c] * z[last]) <= tolerance * square) {
        turn(d, last, c);
        d.places[--free] = last;
      } else {
        d.places[active++] = last;
      }
    }
    last = c;
  }
  if (last >= 0) d.places[active++] = last;
  *d.active = active;
  std::reverse(d.places + free, d.places + d.size);
  insertion_sort(d.places + free, d.size - free, values);
}

/// Eigenvalues and rows in the order of the basis, before the secular equation.
void DivideAndConquer::gather(const Division& d) {
  double* const spare = spare_ + d.begin;
  for (double* const row : {values_ + d.begin, first_ + d.begin, last_ + d.begin, coupling_ + d.begin}) {
    std::copy_n(row, d.size, spare);
    for (Index t = 0; t < d.size; ++t) row[t] = spare[d.places[t]];
  }
}

bool DivideAndConquer::combine(const Division& d, double rho, Simd simd) {
  gather(d);
  const Index active = *d.active;
  if (active == 0) return true;
  double *const values = values_ + d.begin, *const rows = first_ + d.begin, *const ends = last_ + d.begin;
  std::copy_n(values, active, d.poles);
  std::copy_n(coupling_ + d.begin, active, d.weights);
  Secular s = secular_of(d, rho);
  for (Index t = 0; t < active; ++t) s.total += d.weights[t] * d.weights[t];
  std::atomic<bool> good{true};
  constexpr Index usual_steps = 6;
  for_each_group(active, usual_steps * active, [&](Index i) noexcept {
    bool found = false;
    run_in_lanes(simd, FindRoots{s, i, found});
    if (!found) good = false;
  });
  double *const exact = spare_ + d.begin, *const first = exact, *const last = coupling_ + d.begin;
  for_each_group(active, active, [&](Index i) noexcept { run_in_lanes(simd, FindWeights{s, i, exact}); });
  std::copy_n(exact, active, d.weights);
  for_each_group(active, active, [&](Index i) noexcept {
    run_in_lanes(simd, FindScales{s, i, rows, ends, first, last});
  });
  std::copy_n(first, active, rows);
  std::copy_n(last, active, ends);
  for (Index t = 0; t < active; ++t) values[t] = d.bases[t] + d.shifts[t];
  return good;
}

/// Merges the roots and the rest, each of which ascends.
void DivideAndConquer::order(const Division& d) {
  const double* const values = values_ + d.begin;
  int* const order = order_ + d.begin;
  const int active = *d.active, size = static_cast<int>(d.size);
  for (int t = 0, i = 0, j = active; t < size; ++t) {
    const bool low = j == size || (i < active && values[i] <= values[j]);
    order[t] = low ? i++ : j++;
  }
}

/// All divisions of one of the leaf level, and their eigenvectors.
bool DivideAndConquer::solve_leaf(Index q, const double* beside, Simd simd) {
  for (Index level = levels_ - 1; level >= leaf_level_; --level) {
    const Index below = level - leaf_level_;
    for (Index p = q << below; p < (q + 1) << below; ++p)
      if (!conquer(level, p, beside, simd)) return false;
  }
  if (leaf_level_ == 0) return true;
  double other[leaf_size * leaf_size], block[leaf_size * leaf_size];
  const Division leaf = division(leaf_level_, q);
  const MatrixView<double> x{leaves_.data() + leaf.begin * leaf_size, leaf.size, leaf.size};
  std::fill_n(x.data, x.size(), 0.0);
  for (Index i = 0; i < leaf.size; ++i) x(i, i) = 1;
  for (Index level = leaf_level_; level < levels_; ++level)
    for (Index p = q << (level - leaf_level_); p < (q + 1) << (level - leaf_level_); ++p) {
      const Division d = division(level, p);
      const Index from = d.begin - leaf.begin;
      expand(d, x.block(from, 0, d.size, x.cols), {other, d.size, x.cols}, block, simd);
    }
  return true;
}

/// Coordinates in the order of the basis become those of the halves' bases.
void DivideAndConquer::place(const Division& d, const double* from, double* to) const {
  for (Index t = 0; t < d.size; ++t) to[d.places[t]] = from[t];
  for (int r = *d.turns - 1; r >= 0; --r) {
    const Rotation& g = d.rotations[r];
    const double x = to[g.first], y = to[g.second];
    to[g.first] = g.cosine * x - g.sine * y;
    to[g.second] = g.sine * x + g.cosine * y;
  }
}

/// X = (the division's vectors in its halves' bases) X.
void DivideAndConquer::expand(const Division& d, MatrixView<double> x, MatrixView<double> y, double* block,
                              Simd simd) {
  const Index active = *d.active;
  if (d.size <= 1) return;
  const Secular s = secular_of(d, 0);
  for (Index from = 0; from < active; from += block_rows) {
    const MatrixView<double> vectors{block, std::min(block_rows, active - from), active};
    for_each_group(active, vectors.rows, [&](Index first) noexcept {
      for (Index i = first; i < std::min(first + lane_count, active); ++i)
        run_in_lanes(simd, WriteVector{s, i, from, vectors.rows, vectors.column_data(i)});
    });
    gemm(Op::none, Op::none, 1.0, vectors, x.block(0, 0, active, x.cols), 0.0,
         y.block(from, 0, vectors.rows, x.cols));
  }
  parallel_blocks(x.cols, task_grain(4 * d.size), [&](Index first, Index count) noexcept {
    for (Index j = first; j < first + count; ++j) {
      std::copy(x.column_data(j) + active, x.column_data(j) + d.size, y.column_data(j) + active);
      place(d, y.column_data(j), x.column_data(j));
    }
  });
}

void DivideAndConquer::expand_leaves(MatrixView<double> x, MatrixView<double> y) {
  for (Index q = 0; q < Index{1} << leaf_level_; ++q) {
    const Division d = division(leaf_level_, q);
    if (d.size == 0) continue;
    const MatrixView<double> leaf{leaves_.data() + d.begin * leaf_size, d.size, d.size};
    gemm(Op::none, Op::none, 1.0, leaf, x.block(d.begin, 0, d.size, x.cols), 0.0,
         y.block(d.begin, 0, d.size, x.cols));
  }
  parallel_blocks(x.cols, task_grain(x.rows), [&](Index first, Index count) noexcept {
    for (Index j = first; j < first + count; ++j) std::copy_n(y.column_data(j), x.rows, x.column_data(j));
  });
}

/// The largest eigenvalues, and their vectors in the bases of the whole's halves.
void DivideAndConquer::start_vectors(double* values, MatrixView<double> x, MatrixView<double> y, Simd simd) {
  const Division d = division(0, 0);
  const Secular s = secular_of(d, 0);
  parallel_blocks(x.cols, task_grain(8 * d.size), [&](Index first, Index count) noexcept {
    for (Index k = first; k < first + count; ++k) {
      const Index t = order_[d.size - 1 - k], active = *d.active;
      double* const column = y.column_data(k);
      std::fill_n(column, d.size, 0.0);
      if (t < active)
        run_in_lanes(simd, WriteVector{s, t, 0, active, column});
      else
        column[t] = 1;
      place(d, column, x.column_data(k));
      values[k] = values_[t];
    }
  });
}

/// Finds all eigenvalues, from single rows up.
bool DivideAndConquer::conquer_all(const double* beside, Simd simd) {
  std::atomic<bool> good{true};
  parallel_for(Index{1} << leaf_level_, [&](Index q) noexcept {
    if (!solve_leaf(q, beside, simd)) good = false;
  });
  for (Index level = leaf_level_ - 1; level >= 0; --level) {
    const auto solve = [&](Index q) {
      if (!conquer(level, q, beside, simd)) good = false;
    };
    if (size_ >> level <= shared_size)
      parallel_for(Index{1} << level, [&](Index q) noexcept { solve(q); });
    else
      for (Index q = 0; q < Index{1} << level; ++q) solve(q);
  }
  return good;
}

void DivideAndConquer::divide_memory(Index size) {
  reserve(size);
  size_ = size;
  levels_ = levels_to(size, 1);
  leaf_level_ = levels_to(size, leaf_size);
  double* numbers = numbers_.data();
  for (double** const row : {&values_, &first_, &last_, &coupling_, &spare_}) {
    *row = numbers;
    numbers += size;
  }
  order_ = integers_.data();
  sorted_ = order_ + size;
}

bool DivideAndConquer::compute(Index size, const double* diagonal, const double* beside, double* values,
                               MatrixView<double> vectors, double* work, Simd simd) {
  if (size == 1) {
    values[0] = diagonal[0];
    vectors(0, 0) = 1;
    return true;
  }
  divide_memory(size);
  tear(diagonal, beside);
  if (!conquer_all(beside, simd)) return false;
  const MatrixView<double> spare{work, size, vectors.cols};
  start_vectors(values, vectors, spare, simd);
  const Index last = leaf_level_ > 0 ? leaf_level_ : levels_;
  for (Index level = 1; level < last; ++level)
    for (Index q = 0; q < Index{1} << level; ++q) {
      const Division d = division(level, q);
      expand(d, vectors.block(d.begin, 0, d.size, vectors.cols), spare.block(d.begin, 0, d.size, spare.cols),
             block_.data(), simd);
    }
  if (leaf_level_ > 0) expand_leaves(vectors, spare);
  return true;
}

}  // namespace bdl
