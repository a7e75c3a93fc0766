#include "train/memory.hpp"

#include "curvature/seeds.hpp"
#include "evidence/blocks.hpp"
#include "posterior/low_rank/low_rank.hpp"
#include "train/exact/descent_search.hpp"
#include "train/memory_terms.hpp"
#include "train/sharding.hpp"

namespace bdl {

template <class T>
StepBytes<T>::StepBytes(const Optimizer<T>& optimizer, Index examples)
    : o_(optimizer),
      options_(optimizer.options()),
      q_(*optimizer.posterior()),
      prior_(optimizer.prior().posterior()),
      graph_(optimizer.model() ? optimizer.model()->graph() : nullptr),
      likelihood_(optimizer.model() ? &optimizer.model()->likelihood : nullptr),
      kind_(optimizer.method().kind == MethodKind::stream ? StepKind::natural_gradient
                                                          : optimizer.step_kind()),
      d_(static_cast<double>(q_.dimension())),
      m_(static_cast<double>(examples)),
      points_(static_cast<double>(q_.point_parameters().parameters())),
      n_(examples) {
  const EstimateKind estimate = options_.curvature;
  is_exact_ = is_exact(estimate);
  is_noisy_ = is_noisy(q_.family(), estimate);
  has_matrix_ = estimate == EstimateKind::mc_hess;
  gives_gradient_ = estimate == EstimateKind::mc_reparam || options_.sample_groups > 1;
  const BatchSize size = batch_size(options_, 1);
  s_ = static_cast<double>(is_noisy_ ? options_.samples : is_exact_ ? 1 : size.samples);
  is_merged_ = is_exact_ || (graph_ && graph_->is_single_index() && !size.apart && !is_noisy_);
  guards_ = likelihood_ && kind_ == StepKind::natural_gradient && options_.guard > 0 &&
            options_.rule == Rule::blr && is_batch();
  if (!likelihood_) {
    s_ = 1;
    return;
  }
  outputs_ = static_cast<double>(optimizer.model()->outputs());
  k_ = is_noisy_ || is_exact_ ? 1 : static_cast<double>(seed_count(*likelihood_, size));
  if (!is_merged_) n_ = static_cast<Index>(std::min(m_ * s_ * k_, 2147483647.0));
}

/// Bytes of a posterior: its tensors, and the small matrices of low ranks with which it is inverted.
template <class T>
double StepBytes<T>::posterior(const Posterior<T>& q) const {
  double bytes = static_cast<double>(tensor_bytes(q));
  if (q.family() == Family::low_rank) bytes += 3 * wide * squared(static_cast<double>(q.rank()));
  if (is_low_rank_moment(q.family()))
    for_each_low_rank_moment(q, [&](const auto& member, Index) {
      bytes += 2 * wide * squared(static_cast<double>(member.rank()));
    });
  return bytes;
}

/// Bytes of the posteriors beside the caller's: the next and the last good one; in streams, the filter's.
template <class T>
double StepBytes<T>::copies() const {
  if (is_batch()) return ((kind_ == StepKind::mean ? 0 : 1) + (likelihood_ ? 1 : 0)) * posterior(q_);
  const bool drifts = options_.process_noise > 0 || !o_.filter.process_noise().empty();
  const bool moves = drifts || options_.transition != 1 || options_.forgetting != 1;
  const double count = (moves ? 1 : 0) + (has_kl(options_.rule) && options_.iterations > 1 ? 2 : 1);
  const bool widens = drifts && q_.family() == Family::full && !q_.keeps_covariance();
  return count * posterior(q_) + (widens ? (count + 1) * wide * squared(d_) : 0);
}

/// Bytes of the moments at the start, and of the present and next averages that the kind of step keeps.
template <class T>
double StepBytes<T>::averages() const {
  const double start = 3 * d_ * t_;
  const double moments = options_.descent == DescentOption::sgd ? 2 : 4;
  double bytes = 0;
  switch (kind_) {
    case StepKind::natural_gradient:
      return start + (is_batch() ? d_ * t_ + (options_.rule == Rule::blr ? 2 * points_ * t_ : 0) : 0);
    case StepKind::mean:
      return start + (moments + 1) * d_ * t_;
    case StepKind::diagonal:
      return start + 2 * moments * d_ * t_;
    case StepKind::low_rank_moment: {
      double scales = 0, tied = 0;
      if (options_.diagonal_part == DiagonalPart::free) scales = d_;
      if (options_.diagonal_part == DiagonalPart::block) scales = static_cast<double>(block_count(q_));
      if (options_.diagonal_part == DiagonalPart::tied) {
        for (const ParameterBlock& block : o_.blocks())
          if (!block.is_point)
            tied += static_cast<double>(block.is_bias ? block.size()
                                                      : (block.rows + block.cols) * options_.tied_rank);
        scales = tied;
      }
      return start + (moments * (d_ * (1 + static_cast<double>(moment_rank(q_))) + scales) + 4 * tied) * t_;
    }
    case StepKind::vogn:
    case StepKind::ivon:
      return start + 4 * d_ * t_;
    case StepKind::kfac: {
      double largest = 0;
      for (const MatrixShape& shape : q_.kind().matrices) {
        const auto in = static_cast<double>(shape.columns()), out = static_cast<double>(shape.outputs);
        if (!shape.is_matrix()) continue;
        bytes += 2 * wide * (squared(in) + squared(out) + in + out);
        largest = std::max({largest, in, out});
      }
      return start + bytes + wide * (squared(largest) + 3 * largest) +
             2 * t_ * (d_ + points_ + (prior_ ? d_ : 0));
    }
  }
  return start;
}

/// Bytes of the prior's precisions and, for a posterior as prior, of its copies (also in the family of the
/// learned posterior) and of its columns after the curvature's rows.
template <class T>
double StepBytes<T>::prior() const {
  double bytes = d_ * t_;
  if (!prior_) return bytes;
  bytes += posterior(*prior_);
  const Posterior<T>* const same = o_.prior().posterior_in_family();
  if (same && same != prior_) bytes += posterior(*same);
  if (q_.family() != Family::low_rank || q_.rank() == 0 || prior_->family() != Family::low_rank ||
      prior_->rank() == 0)
    return bytes;
  const auto rank = static_cast<double>(prior_->rank()), n = static_cast<double>(n_);
  const double l = static_cast<double>(vectors(n_ + prior_->rank()));
  return bytes + t_ * (n + rank + l * d_ + rank * n) +
         std::max(tall_pass(q_.dimension(), l, rank, l * rank), tall_pass(q_.dimension(), rank, l, 0)) +
         wide * rank * l;
}

template <class T>
double StepBytes<T>::all() const {
  double bytes = copies() + averages() + prior();
  if (likelihood_) bytes += t_ * m_ * static_cast<double>(o_.model()->inputs() + likelihood_->targets());
  const double all_shards = static_cast<double>(planned_shards(o_));
  const double groups = static_cast<double>(std::max<Index>(1, options_.sample_groups));
  const auto examples = static_cast<Index>(is_batch() ? std::ceil(m_ / all_shards) : m_),
             together = static_cast<Index>(std::ceil(static_cast<double>(examples) / groups));
  bytes += estimator(together) + hessian(examples) + gathered_gradients() + shards() +
           (is_noisy_ ? 0 : rows(exchanges_rows(kind_) ? m_ : static_cast<double>(together)));
  const double found = evidence(examples);
  const double draws = (is_sampled(options_.curvature) && !is_noisy_ ? draw(q_, s_) : 0) +
                       (groups > 1 ? t_ * ((s_ + 4) * d_ + points_) : 0);
  return bytes + found + std::max({step(), draws, samples(examples)}) + scores() + 512;
}

/// Bytes of a search of the methods exact-*, all in double: rows, a block at a time, their sums, and the
/// larger of natural steps and a descent.
template <class T>
double StepBytes<T>::exact() {
  const double of_result = posterior(q_);
  const double grown = wide / t_;
  t_ = wide;
  const double all_rows = static_cast<double>(o_.data_size()),
               shards = static_cast<double>(std::max<Index>(1, o_.options().shards)),
               l = q_.family() == Family::low_rank ? static_cast<double>(q_.rank()) : 0,
               block = std::min(std::ceil(all_rows / shards), std::max(d_, std::floor(262144 / d_)));
  const bool has_rows = shards == 1 && block >= all_rows, matrix = q_.takes_matrix();
  n_ = static_cast<Index>(m_ = has_rows ? block : l > 0 ? d_ : block);
  const double sum = d_ * (matrix || (l > 0 && !has_rows) ? 1 + d_ : 2);
  const double slots = shards == 1 ? 1 : 1 + std::ceil(std::log2(shards));
  const double inputs = static_cast<double>(o_.model()->inputs());
  const double some = std::min(64.0, block), together = std::clamp(65536 / d_, 1.0, block);
  double numbers = block * (inputs + 7) + together * d_ + slots * std::max(sum, d_ * (2 + l)) +
                   (block * shards < all_rows ? sum : 0) + 2 * d_;
  numbers += matrix ? 2 * some * d_ : (inputs + 1) * block;
  if (!has_rows && l > 0) numbers += d_;
  const double passes =
      matrix ? draw(q_, 32) : draw(q_, 8) + (l > 0 ? 2 * tall_pass(q_.dimension(), l, l, squared(l)) : 0);
  const double steps = wide * 3 * d_ + of_result * grown + (matrix || l > 0 ? update(q_, n_) : 0);
  double descent = 0;
  if (matrix) {
    const auto variables = static_cast<Index>(d_ * (d_ + 3) / 2);
    descent = wide * (2 * d_ + 5 * squared(d_) + 3 * static_cast<double>(variables)) +
              l_bfgs(variables, DescentSearch::pairs_for(variables));
  } else {
    const double variables = d_ * (l + 2);
    descent = wide * (13 * d_ + 6 * d_ * l + 8 * squared(l) + 2 * l * block + 3 * variables) +
              l_bfgs(static_cast<Index>(variables), DescentSearch::usual_pairs);
  }
  return 4096 + wide * numbers + of_result * (1 + grown) + std::max(steps, descent) + passes;
}

template <class T>
Index memory_estimate(const Optimizer<T>& optimizer, Index minibatch) {
  constexpr Index most_rows = INT32_MAX;       // largest number of rows of a step
  constexpr double spare = 2048, more = 1.04;  // bytes, and a factor, for small arrays that are not counted
  StepBytes<T> bytes(optimizer, std::min(minibatch, most_rows));
  const double sum = optimizer.method().kind == MethodKind::exact ? bytes.exact() : bytes.all();
  return static_cast<Index>(std::min(spare + more * sum, 9e18));
}

template Index memory_estimate(const Optimizer<float>&, Index);
template Index memory_estimate(const Optimizer<double>&, Index);

}  // namespace bdl
