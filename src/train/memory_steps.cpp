#include "evidence/blocks.hpp"
#include "posterior/low_rank_moment/members.hpp"
#include "train/memory_terms.hpp"

namespace bdl {

/// Bytes of scratch memory for `columns` draws from a posterior, or products with its covariance.
template <class T>
double StepBytes<T>::draw(const Posterior<T>& q, double columns) const {
  const auto rank = static_cast<double>(q.rank());
  const Index d = q.dimension();
  if (q.family() == Family::low_rank)
    return 2 * wide * rank * std::min(8.0, columns) +
           tall_pass(d, rank, std::min(8.0, columns), rank * std::min(8.0, columns));
  if (is_low_rank_moment(q.family()))
    return static_cast<double>(q.factor_normals()) * columns * t_ +
           tall_pass(d, static_cast<double>(moment_rank(q)), 8, 8 * static_cast<double>(moment_rank(q)));
  if (q.takes_matrix()) return 2 * wide * static_cast<double>(d) * std::min(32.0, columns);
  if (q.family() == Family::kronecker) return 3 * t_ * static_cast<double>(d);
  return 0;
}

/// Bytes of the samples, and of the estimate's gradients and Hessians besides its rows.
template <class T>
double StepBytes<T>::evidence(Index examples) const {
  if (!likelihood_) return t_ * static_cast<double>(n_);
  const double m = static_cast<double>(examples), samples = static_cast<double>(options_.samples);
  const auto* const dropout = find_dropout(q_);
  double numbers = points_, bytes = 1024;
  if (!is_exact_ && !is_noisy_) numbers += (d_ + (dropout ? static_cast<double>(dropout->units()) : 0)) * s_;
  if (options_.curvature == EstimateKind::mc_reparam && !is_noisy_) numbers += (dropout ? 2 : 3) * d_;
  if (has_matrix_ && q_.takes_matrix()) bytes += wide * squared(d_);
  if (has_matrix_ && !q_.takes_matrix()) numbers += (1 + static_cast<double>(options_.probes)) * d_;
  if (options_.sample_groups > 1) numbers += 2 * d_ + outputs_ * m * samples;
  const bool has_conv = graph_ && o_.memory.evidence->estimator().rows().has_sums_together();
  if (is_batch() && q_.is_diagonal() && has_conv && gives_rows(options_.curvature)) numbers += 2 * d_;
  return bytes + t_ * numbers;
}

/// Bytes of the samples that scales are learned from, if the estimate has none.
template <class T>
double StepBytes<T>::samples(Index examples) const {
  if (!likelihood_ || !is_batch()) return 0;
  const bool map = options_.rule == Rule::map;
  const bool prior = options_.learn_prior && !o_.prior().is_fixed() && !map,
             noise = options_.learn_noise && likelihood_->has_noise_precision();
  if (is_noisy_) return prior ? 2 * t_ * d_ : 0;
  if (!(prior || noise) || is_sampled(options_.curvature) || (map && is_linearized(options_.curvature)))
    return 0;
  return t_ * static_cast<double>(options_.samples) * (d_ + outputs_ * static_cast<double>(examples)) +
         draw(q_, static_cast<double>(options_.samples));
}

/// Returns the method by which [U, rows] are projected to L columns.
template <class T>
EigenMethod StepBytes<T>::projection(Index dimension, Index rank, Index n) const {
  const double d = static_cast<double>(dimension), count = static_cast<double>(n);
  const Index u = averages_pairs() ? 0 : rank;
  double flops = squared(count) * d, products = 2 * count * d;
  if (o_.memory.evidence && !is_exact_) {
    const RowsCost cost =
        o_.memory.evidence->estimator().rows().cost(batch_size(options_, static_cast<Index>(m_)));
    flops = cost.gram_flops, products = cost.product_flops;
  }
  return choose_method({dimension, u + n, rank, flops, products + 2 * d * static_cast<double>(u)},
                       projection_options(options_));
}

/// Bytes of the projection of [U, rows] to L columns.
template <class T>
double StepBytes<T>::low_rank_update(Index dimension, Index rank, Index n) const {
  const double d = static_cast<double>(dimension), l = static_cast<double>(rank),
               count = static_cast<double>(n);
  if (rank == 0 && descent_of(options_.rule) == Descent::plain) return tall_pass(dimension, 0, 0, 0);
  const double solve = wide * l + tall_pass(dimension, l, l, squared(l));
  double prior_rank = 0;  // rank of a prior whose columns come after the rows
  if (is_batch() && prior_ && prior_->family() == Family::low_rank)
    prior_rank = static_cast<double>(prior_->rank());
  if (!is_batch() && has_kl(options_.rule) && options_.iterations > 1) prior_rank = l;
  if (descent_of(options_.rule) == Descent::plain)
    return t_ * (2 * (count + prior_rank + l) * d + 32 * count + d) + 2 * wide * squared(l + count) + solve +
           tall_pass(dimension, l + count, l + count, 0);
  const bool average = averages_pairs();
  const bool columns = !is_batch() ? options_.mean_update != MeanUpdateOption::projected
                                   : !average && options_.mean_update == MeanUpdateOption::unprojected;
  const double cols = (average ? 0 : l) + count + prior_rank;
  const auto size = static_cast<Index>(cols);
  if (rank == 0 && !(columns && options_.mean_update == MeanUpdateOption::unprojected))
    return tall_pass(dimension, 0, 0, 0);
  if (columns || (!is_batch() && !average)) {
    const bool mixes = is_batch() || prior_rank > 0;
    const double found = cols <= l + 1 ? cols : l;
    const double spare = mixes ? wide * squared(cols) : 0;
    const double first = mixes ? tall_pass(dimension, 2 * cols + 1, 0, squared(cols) + squared(cols + 1))
                               : wide * cols * (2 * count + 1) +
                                     tall_pass(dimension, cols, 2 * count + 1, cols * (2 * count + 1));
    const double rows_of_block = static_cast<double>(block_rows_for(rank));
    const double last = static_cast<double>(part_count(dimension)) * wide *
                        (rows_of_block * (2 + cols + l) + 2 * squared(l) + 8);
    return spare + t_ * (d + 32) * count + wide * (2 * squared(cols) + cols * (l + 1) + squared(l)) +
           std::max(first,
                    wide * found * (cols + 1) + std::max(eigenpairs(size, static_cast<Index>(found)), last));
  }
  double peak = 0;
  switch (projection(dimension, rank, n)) {
    case EigenMethod::gram: {
      const double found = std::min(l, cols);
      peak = wide * (squared(cols) + found * (cols + 1)) +
             std::max({eigenpairs(size, static_cast<Index>(found)),
                       t_ * (2 * cols * l + squared(l)) + tall_pass(dimension, l, l, 0),
                       t_ * l * count + tall_pass(dimension, l, 0, squared(l)) - wide * found * cols});
      break;
    }
    case EigenMethod::outer:
      peak = wide * (squared(d) + l * (d + 1)) + eigenpairs(dimension, rank);
      break;
    default: {
      const double b = std::min(l + static_cast<double>(options_.eigen_oversampling), d);
      peak =
          2 * t_ * (d + cols) * b +
          std::max({wide * (squared(b) + b * (l + 1)) + eigenpairs(static_cast<Index>(b), rank) + t_ * b * l,
                    t_ * (l + count) * b + tall_pass(dimension, l, b, 0),
                    wide * b * l + tall_pass(dimension, b, l, b * l)});
    }
  }
  return t_ * 2 * (count + prior_rank) + std::max(peak, solve) +
         (average ? t_ * d * l + wide * squared(l) : 0);
}

/// Bytes of an update of a full covariance: of the whole matrix, or by few columns.
template <class T>
double StepBytes<T>::full_update(const Posterior<T>& q, Index n) const {
  const double d = static_cast<double>(q.dimension()), count = static_cast<double>(n);
  const bool moments = q.family() == Family::full_moment;
  const double settle = wide * squared(d) + wide * d + direct_eigenpairs(d, 1), weights = t_ * count;
  const bool mixes = is_batch() || (has_kl(options_.rule) && options_.iterations > 1),
             plain = descent_of(options_.rule) == Descent::plain;
  if (mixes || has_matrix_ || 12 * count >= d)
    return (moments ? (plain ? (has_kl(options_.rule) ? 1 : 0) : 2) * wide * squared(d) : 0) + settle +
           weights + 3 * wide * d;
  const bool drifts = options_.process_noise > 0 || !o_.filter.process_noise().empty();
  const double columns = wide * d * (count + 2) + 4 * wide * d, made = columns + t_ * count * (count + d),
               settled = columns + wide * (squared(count) + (moments ? d * count : 0)) +
                         (drifts && !plain ? wide * d * (count + 2) : settle);
  return std::max(made, settled);
}

/// Bytes of the family's update; for a posterior of blocks, of the block that needs most.
template <class T>
double StepBytes<T>::update(const Posterior<T>& q, Index n) const {
  if (const auto* const blocks = dynamic_cast<const BlocksPosterior<T>*>(&q)) {
    double most = 0;
    for (Index k = 0; k < blocks->block_count(); ++k) most = std::max(most, update(blocks->member(k), n));
    return most;
  }
  if (q.family() == Family::low_rank) return low_rank_update(q.dimension(), q.rank(), n);
  if (q.takes_matrix()) return full_update(q, n);
  return 2 * t_ * static_cast<double>(q.dimension());
}

/// Bytes of the guard: leverages and fractions of the examples, and gradients that it may hold back.
template <class T>
double StepBytes<T>::guard() const {
  if (!guards_) return 0;
  const double n = static_cast<double>(n_), pairs = is_exact_ ? m_ : m_ * s_,
               gradients = is_merged_ ? m_ : m_ * s_, some = std::min(64.0, gradients),
               l = static_cast<double>(q_.rank());
  double find = 0;
  if (q_.family() == Family::low_rank)
    find = t_ * d_ * (1 + std::min(4.0, l)) + (t_ + wide) * l * some;
  else if (q_.family() != Family::diagonal_moment)
    find = (t_ * d_ + wide) * some + draw(q_, some);
  return t_ * 2 * n + wide * (2 * gradients + (1 + 4 * outputs_) * pairs) + find;
}

/// Largest number of bytes that a step takes on top of the evidence.
template <class T>
double StepBytes<T>::step() const {
  const double gradient = gives_gradient_ || is_noisy_ ? 0 : d_, solve = draw(q_, 1);
  switch (kind_) {
    case StepKind::natural_gradient: {
      const double map = update(q_, n_);
      if (!is_batch())
        return t_ * (gradient + (has_kl(options_.rule) && options_.iterations > 1 ? 2 * d_ : 0)) + map;
      if (!guards_) return t_ * (gradient + d_) + std::max(slope(), map);
      const bool together = options_.mean_update == MeanUpdateOption::unprojected;
      const double zeros = together ? t_ * d_ : 0;
      const double rest = t_ * (static_cast<double>(n_) + gradient + d_);
      return zeros + std::max({map, guard(), rest + std::max({slope(), solve, together ? map : 0})});
    }
    case StepKind::mean:
      return t_ * (gradient + d_) + slope();
    case StepKind::diagonal:
      return t_ * (gradient + 3 * d_) + slope();
    case StepKind::low_rank_moment: {
      const double rank = static_cast<double>(moment_rank(q_)), some = std::min(d_, 32768.0);
      const bool tied = options_.diagonal_part == DiagonalPart::tied;
      return t_ * ((options_.diagonal_part == DiagonalPart::fixed ? 1 : 2) * d_ +
                   std::max(tied ? d_ : 0, some * rank)) +
             2 * wide * squared(rank) + tall_pass(static_cast<Index>(some), rank, 0, squared(rank));
    }
    case StepKind::vogn:
    case StepKind::ivon:
      return t_ * (gradient + 3 * d_) + slope();
    case StepKind::kfac: {
      double most = 0;
      for (const MatrixShape& shape : q_.kind().matrices) {
        if (!shape.is_matrix()) continue;
        const auto in = static_cast<double>(shape.columns()), out = static_cast<double>(shape.outputs),
                   side = std::max(in, out);
        most = std::max({most,
                         direct_eigenpairs(side, side) + (prior_ ? wide * (2 * squared(side) + in + out) : 0),
                         t_ * (squared(in) + squared(out) + 2 * in * out),
                         t_ * (squared(side) + side * std::min(262144 / side, static_cast<double>(n_)))});
      }
      for (const auto& [node, offset] : graph_->learned()) {
        const ConvShape* const conv = graph_->nodes()[at(node)].layer->convolution();
        if (!conv) continue;
        const double patch = static_cast<double>(conv->fan_in() + 1),
                     filters = static_cast<double>(conv->output.channels),
                     positions = static_cast<double>(conv->positions()), n = static_cast<double>(n_);
        const auto gathered = [&](double columns, double count) {
          const double together = std::max(1.0, std::floor(262144 / (columns * positions)));
          return t_ * (squared(columns) + std::min(together, count) * positions * columns);
        };
        most = std::max({most, gathered(patch, m_ * s_), gathered(filters, n)});
      }
      return t_ * (gradient + 2 * d_) + std::max(most, slope());
    }
  }
  return 0;
}

template class StepBytes<float>;
template class StepBytes<double>;

}  // namespace bdl
