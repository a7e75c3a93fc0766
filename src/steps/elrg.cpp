// ELRG-VI (Tomczak et al. 2020, section 3): variational inference with Sigma = W W^T + diag(s), in the paper
// alpha V V^T + diag(sigma^2), so W = sqrt(alpha) V and s = sigma^2. Adam or SGD goes down the gradient of
//
//   L = -E_q[log p(y | x, theta)] + w KL(q || N(0, diag(1 / lambda)))
//
// by mu, by V, and by the learned values of s: none if s is fixed, all, one a block, or tied ones. Gradients
// of the expected log likelihood are estimated with noise that each example draws
// (docs/theory/noise.md): NoisyLayer::gradient() of network/noise/noisy_layer.cpp computes them layer by
// layer. Those of the divergence are exact (posterior/low_rank_moment/low_rank_moment.hpp):
//
//   d KL / dW = lambda W - diag(1 / s) W C^-1,    C = I + W^T diag(1 / s) W
#include <cmath>
#include <limits>

#include "evidence/blocks.hpp"
#include "posterior/low_rank_moment/low_rank_moment.hpp"
#include "posterior/point_parameters.hpp"
#include "steps/first_order.hpp"

namespace bdl {
namespace {

/// Returns sqrt(alpha). Adam on V with rate r and epsilon is Adam on W with rate sqrt(alpha) r and epsilon /
/// sqrt(alpha); SGD on V with rate r is SGD on W with rate alpha r.
double low_rank_root(const Options& options, Index rank) {
  return std::sqrt(options.low_rank_scale > 0 ? options.low_rank_scale
                                              : 1 / static_cast<double>(std::max<Index>(1, rank)));
}

/// Returns the position in the block of its first parameter that is not a point parameter; 0 if all are.
Index first_uncertain(const PointLayout& points, Index offset, Index size) {
  Index lead = 0;
  for (const auto& [first, count] : points.ranges)
    if (first <= offset + lead && offset + lead < first + count) lead = first + count - offset;
  return lead < size ? lead : 0;
}

/// Number of learned values of s.
template <class T>
Index scale_count(const Posterior<T>& q, const Options& options, const TiedScales<T>& tied) {
  switch (options.diagonal_part) {
    case DiagonalPart::free:
      return q.dimension();
    case DiagonalPart::block:
      return block_count(q);
    case DiagonalPart::tied:
      return tied.size();
    default:
      return 0;
  }
}

/// Moves W and s; move_mean() moves the mean.
template <class T, bool adam>
class LowRankMomentStep {
 public:
  LowRankMomentStep(const StepInput<T>& in, const NoiseGradient<T>& gradient, double kl_weight,
                    const AdamTerms<T>& terms)
      : in_(in),
        gradient_(gradient),
        kl_weight_(kl_weight),
        terms_(terms),
        of_w_(terms),
        first_scale_(in.dimension() * (1 + moment_rank(in.q))) {
    const T root = static_cast<T>(low_rank_root(in.options, moment_rank(in.q)));
    of_w_.length *= adam ? root : root * root;
    of_w_.epsilon /= root;
    if (in.options.diagonal_part != DiagonalPart::fixed)
      gradient_by_log_sigma_ = in.scratch.template take<T>(in.dimension());
  }

  /// Moves W and s block by block. Tied s stays: only its gradient by log sqrt(s) is computed.
  void move(Posterior<T>& next) {
    Index block = 0;
    for_each_low_rank_moment(in_.q, [&](const LowRankMomentPosterior<T>& from, Index offset) {
      LowRankMomentPosterior<T>& to = low_rank_moment_block(next, block);
      for (Index row = 0; row < from.dimension(); row += rows_together)
        move_rows(from, offset, row, std::min(rows_together, from.dimension() - row), to.w());
      move_scales(from, offset, block, to.s());
      for_each_point_parameter(in_.q.point_parameters(), offset, from.dimension(),
                               [&](Index i) { to.s()[at(i)] = 1; });
      ++block;
    });
  }

  /// Moves the factors of tied standard deviations, and sets s to their squares.
  void move_tied(TiedScales<T>& tied, Posterior<T>& next) {
    const auto s = in_.scratch.template take<T>(in_.dimension());
    for_each_low_rank_moment(in_.q, [&](const LowRankMomentPosterior<T>& member, Index offset) {
      std::ranges::copy(member.s(), s.data() + offset);
    });
    const ConstSpan<T> gradient = tied.gradient(gradient_by_log_sigma_, s), now = tied.values();
    const std::span<T> moved = tied.next();
    for (std::size_t i = 0; i < moved.size(); ++i)
      moved[i] = now[i] - terms_.template shift<adam>(first_scale_ + static_cast<Index>(i), gradient[i]);
    tied.set_moved(true);
    tied.write_next(s);
    for_each_low_rank_moment(next, [&](LowRankMomentPosterior<T>& member, Index offset) {
      std::copy_n(s.data() + offset, member.dimension(), member.s().data());
    });
  }

 private:
  /// Moves rows row .. row + count - 1 of W in the block that begins at parameter `offset`. Writes their
  /// gradient by log sqrt(s) if s is learned.
  void move_rows(const LowRankMomentPosterior<T>& from, Index offset, Index row, Index count,
                 MatrixView<T> to) {
    const Scratch::Frame frame(in_.scratch);
    const T each = static_cast<T>(1 / in_.data_size), each_kl = static_cast<T>(kl_weight_ / in_.data_size);
    const Index size = from.dimension(), rank = from.rank(), first = offset + row,
                first_of_w = offset * rank + row, dimension = in_.dimension();
    const auto by_w = in_.scratch.template matrix<T>(count, rank);
    const std::span<T> by_log_sigma = gradient_by_log_sigma_.empty()
                                          ? gradient_by_log_sigma_
                                          : gradient_by_log_sigma_.subspan(at(first), at(count));
    kl_gradient_from<T>(from, row, {}, in_.prior.precision().subspan(at(first), at(count)),
                        {{}, by_w, by_log_sigma}, in_.scratch);
    parallel_blocks(count, 1 << 12, [&](Index begin, Index some) noexcept {
      with_simd([&](auto) BDL_INLINE_LAMBDA {
        for (Index k = 0; k < rank; ++k) {
          const T *const w = from.w().column_data(k) + row + begin, *const kl = by_w.column_data(k) + begin,
                         *const g = gradient_.w.data() + first_of_w + k * size + begin;
          of_w_.template move<adam>(dimension + first_of_w + k * size + begin, some, w,
                                    to.column_data(k) + row + begin,
                                    [=](Index i) BDL_INLINE_LAMBDA { return each * g[i] + each_kl * kl[i]; });
        }
      });
    });
    T* const both = by_log_sigma.data();
    const T* const of_data = gradient_.log_sigma.data() + first;
    for_each_index(std::ssize(by_log_sigma),
                   [=](Index i) BDL_INLINE_LAMBDA { both[i] = each * of_data[i] + each_kl * both[i]; });
  }

  void move_scales(const LowRankMomentPosterior<T>& from, Index offset, Index block, std::span<T> to) {
    const DiagonalPart learned = in_.options.diagonal_part;
    with_scale(in_.options.scale_parameter, [&](auto scale) {
      using Scale = decltype(scale);
      if (learned == DiagonalPart::free)
        move_each<Scale>(offset, from.s(), to);
      else if (learned == DiagonalPart::block)
        move_common<Scale>(first_scale_ + block, offset, from.s(), to);
      else
        std::ranges::copy(from.s(), to.begin());
    });
  }

  template <class Scale>
  void move_each(Index offset, ConstSpan<T> from, std::span<T> to) {
    const T *const old = from.data(), *const g = gradient_by_log_sigma_.data() + offset;
    const Index first = first_scale_ + offset;
    const AdamTerms<T>& terms = terms_;
    T* const next = to.data();
    for_each_index(std::ssize(from), [=](Index i) BDL_INLINE_LAMBDA {
      const T sigma = std::sqrt(old[i]);
      const T moved =
          Scale::moved(sigma, terms.template shift<adam>(first + i, g[i] / sigma * Scale::slope(sigma)));
      next[i] = moved * moved;
    });
  }

  /// Moves the common standard deviation of a block, and scales its s by the same factor.
  template <class Scale>
  void move_common(Index number, Index offset, ConstSpan<T> from, std::span<T> to) {
    double sum = 0;
    for (const T g : gradient_by_log_sigma_.subspan(at(offset), from.size())) sum += static_cast<double>(g);
    const std::size_t lead = at(first_uncertain(in_.q.point_parameters(), offset, std::ssize(from)));
    const T sigma = std::sqrt(from[lead]);
    const T moved = Scale::moved(
        sigma, terms_.template shift<adam>(number, static_cast<T>(sum) / sigma * Scale::slope(sigma)));
    const T factor = moved / sigma * (moved / sigma);
    std::transform(from.begin() + static_cast<Index>(lead), from.end(), to.begin() + static_cast<Index>(lead),
                   [=](T s) { return factor * s; });
  }

  const StepInput<T>& in_;
  const NoiseGradient<T>& gradient_;
  double kl_weight_;
  const AdamTerms<T>& terms_;
  AdamTerms<T> of_w_;
  Index first_scale_;
  std::span<T> gradient_by_log_sigma_;
};

}  // namespace

template <class T>
StepResult low_rank_moment_step(const StepInput<T>& in, const Evidence<T>& evidence, Averages<T>& averages,
                                Posterior<T>& next) {
  TiedScales<T>& tied = averages.tied;
  tied.set_moved(false);
  const Index size = in.dimension() * (1 + moment_rank(in.q)) + scale_count(in.q, in.options, tied);
  const PenalizedGradient<T> gradient = penalized(in, evidence);
  const AdamTerms<T> terms = averages.moments.begin(size, in.rates.mean, in.options);
  move_mean(in, gradient, terms, next.mean());
  const auto move = [&](auto adam) {
    LowRankMomentStep<T, decltype(adam)::value> step(in, *evidence.noise, gradient.weight, terms);
    step.move(next);
    if (in.options.diagonal_part == DiagonalPart::tied) step.move_tied(tied, next);
  };
  is_adam(in.options) ? move(std::true_type()) : move(std::false_type());
  averages.moments.check("mean", next.mean(), std::numeric_limits<T>::lowest(), in.number);
  for_each_low_rank_moment(next,
                           [&](LowRankMomentPosterior<T>& member, Index) { member.factorize(in.scratch); });
  return {};
}

template StepResult low_rank_moment_step(const StepInput<float>&, const Evidence<float>&, Averages<float>&,
                                         Posterior<float>&);
template StepResult low_rank_moment_step(const StepInput<double>&, const Evidence<double>&, Averages<double>&,
                                         Posterior<double>&);

}  // namespace bdl
