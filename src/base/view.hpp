// Matrices of the core: column-major (as BLAS), one D-vector or one example per column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace bdl {

using Index = std::int64_t;

/// A column-major matrix somebody else owns; element (i, j) is data[i + j * ld].
template <class T>
struct MatrixView {
  T* data = nullptr;
  Index rows = 0, cols = 0, ld = 0;

  MatrixView() = default;
  MatrixView(T* data_, Index rows_, Index cols_) : MatrixView(data_, rows_, cols_, rows_) {}
  MatrixView(T* data_, Index rows_, Index cols_, Index ld_)
      : data(data_), rows(rows_), cols(cols_), ld(ld_) {}

  T& operator()(Index i, Index j) const { return data[i + j * ld]; }
  T* column_data(Index j) const { return data + j * ld; }
  std::span<T> column(Index j) const { return {column_data(j), static_cast<std::size_t>(rows)}; }
  MatrixView columns(Index first, Index count) const { return {column_data(first), rows, count, ld}; }
  MatrixView block(Index row, Index col, Index row_count, Index col_count) const {
    const bool empty = row_count == 0 || col_count == 0;  // perhaps without memory to point into
    return {empty ? data : data + row + col * ld, row_count, col_count, ld};
  }
  Index size() const { return rows * cols; }

  operator MatrixView<const T>() const requires(!std::is_const_v<T>) { return {data, rows, cols, ld}; }
};

/// Consecutive numbers first .. end - 1.
struct IndexRange {
  Index first = 0, end = 0;
  Index count() const { return end - first; }
};

template <class T>
using ConstMatrixView = MatrixView<const T>;
template <class T>
using ConstSpan = std::span<const T>;

/// Grow-only 64-byte aligned memory for numbers that outlive a call (others: base/scratch.hpp). first() and
/// matrix() grow it; its contents are unspecified then.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(Index size) { reserve(size); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { release(); }

  void reserve(Index size) {
    if (size <= capacity_) return;
    if (size > PTRDIFF_MAX / static_cast<Index>(sizeof(T))) throw std::bad_alloc();
    const auto bytes = static_cast<std::size_t>(size) * sizeof(T);
    T* grown = static_cast<T*>(::operator new(bytes, alignment));
    release();
    data_ = grown;
    capacity_ = size;
  }
  T* data() { return data_; }
  const T* data() const { return data_; }
  Index capacity() const { return capacity_; }
  Index bytes() const { return capacity_ * static_cast<Index>(sizeof(T)); }
  std::span<T> first(Index count) {
    reserve(count);
    return {data_, static_cast<std::size_t>(count)};
  }
  ConstSpan<T> first(Index count) const { return {data_, static_cast<std::size_t>(count)}; }
  MatrixView<T> matrix(Index rows, Index cols) {
    Index size = 0;
    if (__builtin_mul_overflow(rows, cols, &size)) throw std::bad_alloc();
    reserve(size);
    return {data_, rows, cols};
  }
  ConstMatrixView<T> matrix(Index rows, Index cols) const { return {data_, rows, cols}; }
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  static constexpr std::align_val_t alignment{64};
  void release() {
    if (data_) ::operator delete(data_, alignment);
    data_ = nullptr;
    capacity_ = 0;
  }
  T* data_ = nullptr;
  Index capacity_ = 0;
};

}  // namespace bdl
