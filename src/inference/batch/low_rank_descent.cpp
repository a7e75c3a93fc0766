// Steps of low-rank-moment posteriors (Tomczak et al. 2020): down the gradient of minus the expected log
// likelihood plus the KL divergence by mean, V with W = sqrt(a) V, and what is learned of s.
#include <cmath>
#include <limits>

#include "inference/batch/averages.hpp"
#include "inference/noise/beliefs.hpp"
#include "parallel/parallel.hpp"
#include "posterior/low_rank_moment/kl_gradient.hpp"
#include "posterior/points.hpp"

namespace bdl {
namespace {

/// Rows of W whose gradient is made and used while it is in the cache.
constexpr Index rows_together = 1 << 15;

/// Root of a: Adam with a rate r on V is Adam with the rate sqrt(a) r on W, and with epsilon / sqrt(a). SGD
/// on V is SGD with the rate a r on W.
double low_rank_root(const Options& options, Index rank) {
  return std::sqrt(options.low_rank_scale > 0 ? options.low_rank_scale
                                              : 1 / static_cast<double>(std::max<Index>(1, rank)));
}

/// Returns the index within the block of its first parameter that is not a point; 0 if all are.
Index first_uncertain(const PointLayout& points, Index offset, Index size) {
  Index lead = 0;
  for (const auto& [first, count] : points.ranges)
    if (first <= offset + lead && offset + lead < first + count) lead = first + count - offset;
  return lead < size ? lead : 0;
}

}  // namespace

template <class T>
void FirstOrder<T>::reserve_low_rank(const Posterior<T>& q, const Options& options) {
  Index largest = 0;
  for_each_low_rank_moment(q, [&](const LowRankMomentPosterior<T>& member, Index) {
    largest = std::max(largest, member.dimension());
    reserve_kl_gradient(member, tall_);
  });
  const Index dimension = q.dimension(), rank = moment_rank(q);
  by_w_.reserve(std::min(largest, rows_together) * rank);
  Index scales = 0;
  switch (options.diagonal_part) {
    case DiagonalPart::free:
      scales = dimension;
      break;
    case DiagonalPart::block:
      scales = block_count(q);
      break;
    case DiagonalPart::tied:
      scales = tied_.size();
      break;
    case DiagonalPart::fixed:
      break;
  }
  if (scales > 0) by_log_sigma_.reserve(dimension);
  if (options.diagonal_part == DiagonalPart::tied) scales_.reserve(dimension);
  learned_ = dimension * (1 + rank) + scales;
  reserve_moments(learned_, options);
}

template <class T>
void FirstOrder<T>::move_low_rank(const DescentStep<T>& step, const NoiseGradient<T>& gradient,
                                  const Options& options, Posterior<T>& to) {
  reserve_low_rank(step.from, options);
  const Averages averages = begin(learned_, step, options);
  step_mean(step, averages, options, to.mean());
  const auto move = [&](auto adam) {
    constexpr bool is_adam = decltype(adam)::value;
    step_low_rank<is_adam>(step, averages, gradient, options, to);
    if (options.diagonal_part == DiagonalPart::tied) step_tied<is_adam>(step, averages, to);
  };
  is_adam(options) ? move(std::true_type()) : move(std::false_type());
  check("mean", to.mean(), std::numeric_limits<T>::lowest(), step.number);
  for_each_low_rank_moment(to, [&](LowRankMomentPosterior<T>& member, Index) { member.factorize(tall_); });
}

/// Block by block: W, and s or log sqrt(s)'s gradient for what is tied.
template <class T>
template <bool adam>
void FirstOrder<T>::step_low_rank(const DescentStep<T>& step, const Averages& averages,
                                  const NoiseGradient<T>& gradient, const Options& options,
                                  Posterior<T>& to) {
  const Index dimension = step.from.dimension(), rank = moment_rank(step.from);
  const T root = static_cast<T>(low_rank_root(options, rank));
  const PointLayout& points = step.from.points();
  Averages of_w = averages;
  of_w.length *= adam ? root : root * root;
  of_w.epsilon /= root;
  std::vector<LowRankMomentPosterior<T>*>& targets = targets_;
  targets.clear();
  for_each_low_rank_moment(to, [&](LowRankMomentPosterior<T>& member, Index) { targets.push_back(&member); });
  std::size_t block = 0;
  for_each_low_rank_moment(step.from, [&](const LowRankMomentPosterior<T>& from, Index offset) {
    const Index size = from.dimension();
    const bool has_scales = options.diagonal_part != DiagonalPart::fixed;
    LowRankMomentPosterior<T>& target = *targets[block];
    for (Index row = 0; row < size; row += rows_together)
      step_rows<adam>(step, of_w, gradient, {from, offset, row, std::min(rows_together, size - row)},
                      has_scales, target.w());
    const std::span<T> by_log_sigma =
        has_scales ? by_log_sigma_.first(dimension).subspan(at(offset), at(size)) : std::span<T>();
    const Index first_scale = dimension * (1 + rank), lead = first_uncertain(points, offset, size);
    with_scale(options.scale_parameter, [&](auto scale) {
      using Scale = decltype(scale);
      if (options.diagonal_part == DiagonalPart::free)
        step_free<adam, Scale>(averages, by_log_sigma, first_scale + offset, from.s(), target.s());
      else if (options.diagonal_part == DiagonalPart::block)
        step_common<adam, Scale>(averages, by_log_sigma, first_scale + static_cast<Index>(block),
                                 from.s().subspan(at(lead)), target.s().subspan(at(lead)));
      else
        std::ranges::copy(from.s(), target.s().begin());
    });
    for_each_point(points, offset, size, [&](Index i) { target.s()[at(i)] = 1; });
    ++block;
  });
}

/// W's rows, and the gradient by log sqrt(s) where it has a use.
template <class T>
template <bool adam>
void FirstOrder<T>::step_rows(const DescentStep<T>& step, const Averages& averages,
                              const NoiseGradient<T>& gradient, const LowRankRows& rows, bool has_scales,
                              MatrixView<T> to) {
  const T each = static_cast<T>(1 / step.data_size),
          each_kl = static_cast<T>(step.kl_weight / step.data_size);
  const Index size = rows.from.dimension(), rank = rows.from.rank(), first = rows.offset + rows.row,
              first_of_w = rows.offset * rank + rows.row, dimension = step.from.dimension();
  const MatrixView<T> by_w = by_w_.matrix(rows.count, rank);
  const std::span<T> by_log_sigma =
      has_scales ? by_log_sigma_.first(dimension).subspan(at(first), at(rows.count)) : std::span<T>();
  kl_gradient_from<T>(rows.from, rows.row, {}, step.prior_precision.subspan(at(first), at(rows.count)),
                      {{}, by_w, by_log_sigma}, tall_);
  parallel_blocks(rows.count, 1 << 12, [&](Index begin, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      for (Index k = 0; k < rank; ++k) {
        const T *const w = rows.from.w().column_data(k) + rows.row + begin,
                       *const kl = by_w.column_data(k) + begin,
                       *const g = gradient.w.data() + first_of_w + k * size + begin;
        averages.template move<adam>(
            dimension + first_of_w + k * size + begin, count, w, to.column_data(k) + rows.row + begin,
            [=](Index i) BDL_INLINE_LAMBDA { return each * g[i] + each_kl * kl[i]; });
      }
    });
  });
  T* const both = by_log_sigma.data();
  const T* const of_data = gradient.log_sigma.data() + first;
  for_each_index(std::ssize(by_log_sigma),
                 [=](Index i) BDL_INLINE_LAMBDA { both[i] = each * of_data[i] + each_kl * both[i]; });
}

/// Of each parameter.
template <class T>
template <bool adam, class Scale>
void FirstOrder<T>::step_free(const Averages& averages, ConstSpan<T> by_log_sigma, Index first,
                              ConstSpan<T> from, std::span<T> to) {
  const T *const old = from.data(), *const g = by_log_sigma.data();
  T* const next = to.data();
  for_each_index(std::ssize(from), [=](Index i) BDL_INLINE_LAMBDA {
    const T sigma = std::sqrt(old[i]);
    const T moved =
        Scale::moved(sigma, averages.template shift<adam>(first + i, g[i] / sigma * Scale::slope(sigma)));
    next[i] = moved * moved;
  });
}

/// Moves log sigma of all parameters of a block by the same amount.
template <class T>
template <bool adam, class Scale>
void FirstOrder<T>::step_common(const Averages& averages, ConstSpan<T> by_log_sigma, Index number,
                                ConstSpan<T> from, std::span<T> to) {
  double sum = 0;
  for (const T g : by_log_sigma) sum += static_cast<double>(g);
  const T sigma = std::sqrt(from[0]);
  const T moved = Scale::moved(
      sigma, averages.template shift<adam>(number, static_cast<T>(sum) / sigma * Scale::slope(sigma)));
  const T factor = moved / sigma * (moved / sigma);
  std::ranges::transform(from, to.begin(), [=](T s) { return factor * s; });
}

template <class T>
template <bool adam>
void FirstOrder<T>::step_tied(const DescentStep<T>& step, const Averages& averages, Posterior<T>& to) {
  const Index dimension = step.from.dimension(), first = dimension * (1 + moment_rank(step.from));
  const std::span<T> s = scales_.first(dimension);
  for_each_low_rank_moment(step.from, [&](const LowRankMomentPosterior<T>& member, Index offset) {
    std::ranges::copy(member.s(), s.data() + offset);
  });
  const ConstSpan<T> gradient = tied_.gradient(by_log_sigma_.first(dimension), s);
  const ConstSpan<T> now = tied_.values();
  const std::span<T> next = tied_.next();
  for (std::size_t i = 0; i < next.size(); ++i)
    next[i] = now[i] - averages.template shift<adam>(first + static_cast<Index>(i), gradient[i]);
  tied_.set_moved(true);
  tied_.spread_next(s);
  for_each_low_rank_moment(to, [&](LowRankMomentPosterior<T>& member, Index offset) {
    std::copy_n(s.data() + offset, member.dimension(), member.s().data());
  });
}

#define BDL_INSTANTIATE(T)                                                                                   \
  template void FirstOrder<T>::reserve_low_rank(const Posterior<T>&, const Options&);                        \
  template void FirstOrder<T>::move_low_rank(const DescentStep<T>&, const NoiseGradient<T>&, const Options&, \
                                             Posterior<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
