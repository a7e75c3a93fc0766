// Tied standard deviations: each weight's is a sum of k products of a factor of its row and one of its
// column, sigma_oj = sum_l exp(u_ol + t_jl) (k-tied normal, Swiatkowski et al. 2020). Biases have rho = log
// sigma.
#pragma once

#include <vector>

#include "network/shape.hpp"
#include "rng/philox.hpp"

namespace bdl {

template <class T>
class TiedScales {
 public:
  /// Sets the layout for these parameters, without point parameters, and `rank` = k. Values of another size
  /// end.
  void reserve(const std::vector<ParameterBlock>& blocks, Index rank);
  /// Number of values u, t and rho, which are in the order of the blocks.
  Index size() const { return size_; }
  bool has_values() const { return has_values_; }
  ConstSpan<T> values() const { return now_.first(size_); }
  void restore(ConstSpan<T> values);
  void forget() noexcept { has_values_ = false; }
  /// Starts near sigma. Adds random numbers of about 0.1 to u and t, so that the k products differ.
  void start(double sigma, std::uint64_t seed);
  /// Starts near sqrt(s): log sigma has the row means and column means of log sqrt(s).
  void start(ConstSpan<T> s, std::uint64_t seed);
  /// Returns the gradient by u, t and rho from the gradient by the logarithm of each standard deviation; s
  /// holds the present sigma^2.
  ConstSpan<T> gradient(ConstSpan<T> by_log_sigma, ConstSpan<T> s);
  /// Returns the memory of the next values, which the step writes.
  std::span<T> next() { return next_.first(size_); }
  /// Writes s = sigma^2 of the next values.
  void write_next(std::span<T> s) const { write(next_.data(), s); }
  /// Writes s = sigma^2 of the present values.
  void write_now(std::span<T> s) const { write(now_.data(), s); }
  void commit() noexcept {
    if (is_moved_) now_.swap(next_);
    is_moved_ = false;
  }
  /// Tells commit() whether the step has written next().
  void set_moved(bool moved) { is_moved_ = moved; }

 private:
  struct Part {
    Index offset, rows, cols;  ///< position in theta, and shape; cols is 0 for biases
    Index first;               ///< position in the values: u for each l, then t for each l
    Index u(Index o, Index l) const { return first + l * rows + o; }
    Index t(Index j, Index l, Index rank) const { return first + rank * rows + l * cols + j; }
  };
  void write(const T* values, std::span<T> s) const;
  std::vector<Part> parts_;
  Index rank_ = 0, size_ = 0;
  bool has_values_ = false, is_moved_ = false;
  Buffer<T> now_, next_, gradient_;
  mutable Buffer<T> exponentials_;
};

}  // namespace bdl
