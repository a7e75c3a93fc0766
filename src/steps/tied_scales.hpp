// Standard deviations of weights as sums of k products of a factor of their row and one of their column,
// sigma_oj = sum_l exp(u_ol + t_jl) (k-tied normal, Swiatkowski et al. 2020); biases have rho = log sigma.
#pragma once

#include <vector>

#include "network/shape.hpp"
#include "rng/philox.hpp"

namespace bdl {

template <class T>
class TiedScales {
 public:
  /// Of a network's parameters, points left out.
  void reserve(const std::vector<ParameterBlock>& blocks, Index rank);
  /// Numbers u, t and rho, in the order of the blocks.
  Index size() const { return size_; }
  bool has_values() const { return has_values_; }
  ConstSpan<T> values() const { return now_.first(size_); }
  void restore(ConstSpan<T> values);
  void forget() noexcept { has_values_ = false; }
  /// Standard deviations near sigma, u and t spread by a tenth so that the k products differ.
  void start(double sigma, std::uint64_t seed);
  /// The same near those of s, in each row and column.
  void start(ConstSpan<T> s, std::uint64_t seed);
  /// By u, t and rho, of the gradient by the logarithm of each standard deviation; s is that of the values.
  ConstSpan<T> gradient(ConstSpan<T> by_log_sigma, ConstSpan<T> s);
  /// Where the step writes the next values.
  std::span<T> next() { return next_.first(size_); }
  /// s = sigma^2 of the next values, or of the present ones.
  void write_next(std::span<T> s) const { write(next_.data(), s); }
  void write_now(std::span<T> s) const { write(now_.data(), s); }
  void commit() noexcept {
    if (is_moved_) now_.swap(next_);
    is_moved_ = false;
  }
  void set_moved(bool moved) { is_moved_ = moved; }

 private:
  struct Part {
    Index offset, rows, cols;  ///< of theta; cols 0: biases, alone
    Index first;               ///< of the values: u by l, then t by l
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
