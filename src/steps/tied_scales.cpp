#include "steps/tied_scales.hpp"

#include <algorithm>
#include <cmath>

namespace bdl {
namespace {

constexpr double start_deviation = 0.1;

}  // namespace

template <class T>
void TiedScales<T>::reserve(const std::vector<ParameterBlock>& blocks, Index rank) {
  const Index size_before = size_, rank_before = rank_;
  parts_.clear();
  rank_ = rank;
  size_ = 0;
  for (const ParameterBlock& block : blocks) {
    if (block.is_point) continue;
    parts_.push_back(
        {block.offset, block.is_bias ? block.size() : block.rows, block.is_bias ? 0 : block.cols, size_});
    size_ += block.is_bias ? block.size() : (block.rows + block.cols) * rank;
  }
  for (Buffer<T>* buffer : {&now_, &next_, &gradient_, &exponentials_}) buffer->reserve(size_);
  if (size_ != size_before || rank_ != rank_before) has_values_ = is_moved_ = false;
}

template <class T>
void TiedScales<T>::restore(ConstSpan<T> values) {
  std::ranges::copy(values, now_.data());
  has_values_ = true;
}

template <class T>
void TiedScales<T>::start(double sigma, std::uint64_t seed) {
  const StreamKey key{seed, Stream::initialization, 2, 0};
  fill_normal(key, 0, now_.first(size_));
  const double centre = (std::log(sigma) - std::log(static_cast<double>(rank_))) / 2;
  for (const Part& part : parts_)
    for (Index i = 0; i < (part.cols > 0 ? (part.rows + part.cols) * rank_ : part.rows); ++i) {
      T& value = now_.data()[part.first + i];
      value = static_cast<T>(part.cols > 0 ? centre + start_deviation * static_cast<double>(value)
                                           : std::log(sigma));
    }
  has_values_ = true;
}

/// Approximates log sigma_oj by the mean of its row plus that of its column minus that of all.
template <class T>
void TiedScales<T>::start(ConstSpan<T> s, std::uint64_t seed) {
  start(1, seed);
  for (const Part& part : parts_) {
    const T* const from = s.data() + part.offset;
    T* const values = now_.data();
    if (part.cols == 0) {
      for (Index i = 0; i < part.rows; ++i) values[part.first + i] = std::log(from[i]) / 2;
      continue;
    }
    double all = 0;
    const auto mean_of = [&](Index count, auto&& at_index) {
      double sum = 0;
      for (Index i = 0; i < count; ++i) sum += std::log(static_cast<double>(at_index(i))) / 2;
      return sum / static_cast<double>(count);
    };
    for (Index o = 0; o < part.rows; ++o)
      all += mean_of(part.cols, [&](Index j) { return from[o * part.cols + j]; });
    all /= static_cast<double>(part.rows);
    for (Index o = 0; o < part.rows; ++o) {
      const double row = mean_of(part.cols, [&](Index j) { return from[o * part.cols + j]; });
      for (Index l = 0; l < rank_; ++l) values[part.u(o, l)] += static_cast<T>(row - all / 2);
    }
    for (Index j = 0; j < part.cols; ++j) {
      const double column = mean_of(part.rows, [&](Index o) { return from[o * part.cols + j]; });
      for (Index l = 0; l < rank_; ++l) values[part.t(j, l, rank_)] += static_cast<T>(column - all / 2);
    }
  }
}

template <class T>
void TiedScales<T>::write(const T* values, std::span<T> s) const {
  T* const e = exponentials_.data();
  std::transform(values, values + size_, e, [](T value) { return std::exp(value); });
  for (const Part& part : parts_) {
    T* const to = s.data() + part.offset;
    if (part.cols == 0) {
      std::transform(e + part.first, e + part.first + part.rows, to, [](T sigma) { return sigma * sigma; });
      continue;
    }
    for (Index o = 0; o < part.rows; ++o) {
      T* const row = to + o * part.cols;
      for (Index l = 0; l < rank_; ++l) {
        const T u = e[part.u(o, l)];
        const T* const t = e + part.t(0, l, rank_);
        for (Index j = 0; j < part.cols; ++j) row[j] = (l == 0 ? T(0) : row[j]) + u * t[j];
      }
      for (Index j = 0; j < part.cols; ++j) row[j] *= row[j];
    }
  }
}

/// The derivative by u_ol is sum_j (dL / dlog sigma_oj) exp(u_ol + t_jl) / sigma_oj; by t_jl it sums over
/// o.
template <class T>
ConstSpan<T> TiedScales<T>::gradient(ConstSpan<T> by_log_sigma, ConstSpan<T> s) {
  T *const e = exponentials_.data(), *const out = gradient_.data();
  std::transform(now_.data(), now_.data() + size_, e, [](T value) { return std::exp(value); });
  std::fill_n(out, size_, T(0));
  for (const Part& part : parts_) {
    const T *const g = by_log_sigma.data() + part.offset, *const variance = s.data() + part.offset;
    if (part.cols == 0) {
      std::copy_n(g, part.rows, out + part.first);
      continue;
    }
    for (Index o = 0; o < part.rows; ++o)
      for (Index l = 0; l < rank_; ++l) {
        const T u = e[part.u(o, l)];
        const T* const t = e + part.t(0, l, rank_);
        T* const by_t = out + part.t(0, l, rank_);
        double by_u = 0;
        for (Index j = 0; j < part.cols; ++j) {
          const T share = g[o * part.cols + j] / std::sqrt(variance[o * part.cols + j]) * u * t[j];
          by_u += static_cast<double>(share);
          by_t[j] += share;
        }
        out[part.u(o, l)] = static_cast<T>(by_u);
      }
  }
  return gradient_.first(size_);
}

template class TiedScales<float>;
template class TiedScales<double>;

}  // namespace bdl
