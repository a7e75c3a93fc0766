#include "train/memory.hpp"

#include <algorithm>
#include <cmath>

#include "curvature/hessian.hpp"
#include "curvature/seeds.hpp"
#include "evidence/blocks.hpp"
#include "linalg/eigen/eigenpairs.hpp"
#include "linalg/tall/low_rank_projection.hpp"
#include "linalg/tall/tall_blocks.hpp"
#include "methods/schedule.hpp"
#include "network/convolution/patch_rows.hpp"
#include "network/outer_rows.hpp"
#include "posterior/full/dense_step.hpp"
#include "posterior/low_rank/low_rank.hpp"
#include "ranks/tape_numbers.hpp"
#include "steps/first_order.hpp"
#include "train/exact/descent_search.hpp"
#include "train/exact/exact_sums.hpp"
#include "train/sharding.hpp"

namespace bdl {
namespace {

constexpr double wide = sizeof(double);

// Sizes are doubles, which do not overflow.
double real(Index size) {
  return static_cast<double>(size);
}
Index whole(double size) {
  return static_cast<Index>(size);
}
double squared(double size) {
  return size * size;
}

/// Number of sums that the tree over so many shards holds at a time.
double tree_slots(double shards) {
  return shards > 1 ? 1 + std::ceil(std::log2(shards)) : 1;
}

/// Bytes of a pass over a tall matrix of so many columns, beside `others` of another one.
double tall_pass(double rows, double columns, double others) {
  const double block = real(block_rows_for(whole(columns)));
  return real(part_count(whole(rows))) * wide * (block * (1 + columns + others) + columns * others);
}
/// Bytes of passes that project columns of each of two matrices on the other one.
double tall_passes(double rows, double columns, double others) {
  return std::max(tall_pass(rows, columns, others), tall_pass(rows, others, columns));
}

/// Bytes of so many eigenpairs of a matrix, and of finding them by a reduction of the whole matrix, which
/// comes last where few pairs come from a Krylov space first.
double eigenpairs(double size, double count) {
  return wide * (count * (size + 1) + real(largest_eigenpairs_numbers(whole(size), whole(count))));
}

/// Bytes of a posterior: its tensors, and for low ranks the small matrices that invert it.
template <class T>
double bytes_of(const Posterior<T>& q) {
  double bytes = real(tensor_bytes(q));
  if (q.family() == Family::low_rank) bytes += 3 * wide * squared(real(q.rank()));
  if (is_low_rank_moment(q.family()))
    for_each_low_rank_moment(
        q, [&](const auto& member, Index) { bytes += 2 * wide * squared(real(member.rank())); });
  return bytes;
}

/// Bytes for a draw of the posterior, or for a solution with its covariance.
template <class T>
double draw(const Posterior<T>& q, double columns) {
  const double d = real(q.dimension()), some = std::min(real(woodbury_columns), columns);
  if (q.family() == Family::low_rank) return tall_pass(d, real(q.rank()), some);
  if (is_low_rank_moment(q.family()))
    return sizeof(T) * real(q.factor_normals()) * columns + tall_pass(d, real(moment_rank(q)), some);
  if (q.takes_matrix()) return 2 * wide * d * std::min(real(lengths_together), columns);
  return q.family() == Family::kronecker ? 3 * sizeof(T) * d : 0;
}

/// The sizes of an optimizer's steps, and the terms of the sum. Functions return bytes, unless their comment
/// says otherwise.
template <class T>
class StepBytes {
 public:
  StepBytes(const Optimizer<T>& optimizer, Index examples) : o_(optimizer), m_(real(examples)) {
    if (likelihood_) {
      const BatchSize batch = batch_size(options_, examples);
      s_ = real(batch.samples);
      k_ = real(seed_count(*likelihood_, batch));
      outputs_ = real(o_.model()->outputs());
      is_merged_ = is_exact_ || (graph_ && graph_->is_single_index() && !batch.apart);
      guards_ = is_natural_ && is_batch_ && options_.guard > 0 && options_.rule == Rule::blr;
    }
    if (const auto blocks = q_.kind().blocks; !blocks.empty()) largest_ = real(std::ranges::max(blocks));
    n_ = rows_of(m_);
    choose_projection();
  }

  /// Returns the bytes that steps hold.
  double all() const {
    const double groups = real(std::max<Index>(1, options_.sample_groups)),
                 examples = is_batch_ ? std::ceil(m_ / real(planned_shards(o_))) : m_,
                 together = std::ceil(examples / groups);
    const double minibatch = likelihood_ ? t_ * m_ * real(o_.model()->inputs() + likelihood_->columns()) : 0;
    const double draws = (is_sampled(options_.curvature) && !is_noisy_ ? draw(q_, s_) : 0) +
                         (groups > 1 ? t_ * ((s_ + 4) * d_ + point_parameters_) : 0);
    return copies() + averages() + prior() + minibatch + estimator(together) + hessian(examples) +
           gathered_gradients() + shards() + scores() + rows(exchanges_rows(kind_) ? m_ : together) +
           evidence(examples) + std::max({step(), draws, samples(examples)});
  }

  /// Returns the bytes that a fit by exact expectations holds, all in double: a block of rows, with seven
  /// numbers beside the inputs of each, sums over rows, and the larger of natural steps and a descent.
  double exact() {
    const double held = bytes_of(q_), in_double = held * wide / t_, inputs = real(o_.model()->inputs());
    t_ = wide;
    const RowShares shares{o_.data_size(), std::max<Index>(1, options_.shards)};
    const double all_rows = real(shares.rows), parts = real(shares.shards),
                 block = std::min(std::ceil(all_rows / parts), real(ExactSums::most_rows(q_.dimension())));
    const bool has_rows = outputs_ == 1 && ExactSums::has_rows(shares, q_.dimension()),
               matrix = q_.takes_matrix();
    n_ = m_ = has_rows || l_ == 0 ? block : d_;
    choose_projection();
    const double sum = d_ * (matrix || (l_ > 0 && !has_rows) ? 1 + d_ : 2 + l_),
                 sums = sum * (tree_slots(parts) + (block * parts < all_rows ? 1 : 0)),
                 products = matrix ? 2 * d_ * std::min(real(most_outer_rows), block) : (inputs + 1) * block,
                 together = std::clamp(real(exact_numbers_together) / d_, 1.0, block),
                 several = outputs_ > 1 ? SeveralOutputs::numbers(block, d_, outputs_) : 0,
                 numbers = block * (inputs + 7) + together * d_ + sums + products + several + 3 * d_;
    const double steps = wide * 3 * d_ + in_double + (matrix || l_ > 0 ? map() : 0);
    return held + in_double + wide * numbers + draw(q_, real(lengths_together)) +
           (l_ > 0 ? 2 * tall_pass(d_, l_, l_) : 0) + std::max(steps, wide * descent(block));
  }

 private:
  /// Numbers of L-BFGS (x, its gradient, those before, the direction, and pairs of steps), and of the
  /// matrices of the coordinates that it searches in.
  double descent(double block) const {
    const bool matrix = q_.takes_matrix();
    const double variables = matrix ? d_ * (d_ + 3) / 2 : d_ * (l_ + 2),
                 matrices = matrix ? 5 * squared(d_) : d_ * (13 + 6 * l_) + 2 * l_ * block;
    const Index pairs = matrix ? DescentSearch::pairs_for(whole(variables)) : DescentSearch::usual_pairs;
    return variables * (8 + 2 * real(pairs)) + matrices;
  }

  /// Number of curvature rows of so many examples.
  double rows_of(double examples) const {
    return is_merged_ || !likelihood_ ? examples : std::min(examples * s_ * k_, real(INT32_MAX));
  }

  /// Calls visit(layer, wire of its inputs, wire of its outputs) for each dense layer and each convolution.
  template <class Visit>
  void for_each_layer(Visit&& visit) const {
    for (const auto& [number, offset] : graph_->learned()) {
      const auto& node = graph_->nodes()[at(number)];
      if (node.layer->dense() || node.layer->convolution())
        visit(*node.layer, graph_->wire(node.in), graph_->wire(node.out));
    }
  }
  static Index positions_of(const Layer<T>& layer) {
    return layer.convolution() ? layer.convolution()->positions() : 1;
  }
  /// Number of values of so many examples.
  static double numbers_of(const auto& wire, double examples) {
    return real(wire.height * wire.columns(whole(examples)));
  }

  /// Chooses how [U, rows] are projected to L columns, as steps do.
  void choose_projection() {
    if (!is_natural_ || q_.family() != Family::low_rank || l_ == 0) return;
    const Index before = averages_pairs_ ? 0 : q_.rank();
    RowsCost cost = DenseRows<T>::cost(q_.dimension(), whole(n_));
    if (o_.memory.evidence && !is_exact_)
      cost = o_.memory.evidence->estimator().rows().cost(batch_size(options_, whole(m_)));
    cost.product_flops += 2 * d_ * real(before);
    projection_ =
        choose_method({q_.dimension(), before + whole(n_), q_.rank(), cost.gram_flops, cost.product_flops},
                      projection_options(options_));
    vectors_ = projection_ == EigenMethod::outer ? 1 : l_;
    if (projection_ == EigenMethod::randomized) vectors_ += real(options_.eigen_oversampling);
  }

  // Memory that is held from step to step.

  /// Bytes of the posteriors beside the caller's: the next and the last good one; in streams, the filter's.
  double copies() const {
    if (is_batch_) return ((kind_ == StepKind::mean ? 0 : 1) + (likelihood_ ? 1 : 0)) * bytes_of(q_);
    const bool moves = drifts_ || options_.transition != 1 || options_.forgetting != 1,
               widens = drifts_ && q_.family() == Family::full && !q_.keeps_covariance();
    const double count = (moves ? 1 : 0) + (iterates_ ? 2 : 1);
    return count * bytes_of(q_) + (widens ? (count + 1) * wide * squared(d_) : 0);
  }

  /// Bytes of the mean and precision at the start, and of the present and next averages that the kind of step
  /// keeps.
  double averages() const {
    const double each = options_.descent == DescentOption::sgd ? 2 : 4;
    double vectors = 4, bytes = t_ * (3 * d_ + 2 * point_parameters_);
    if (is_natural_) vectors = is_batch_ ? 1 : 0;
    if (kind_ == StepKind::mean) vectors = each + 1;
    if (kind_ == StepKind::diagonal) vectors = 2 * each;
    if (kind_ == StepKind::low_rank_moment) {
      vectors = each * (1 + l_ + (options_.diagonal_part == DiagonalPart::free ? 1 : 0));
      TiedScales<T> tied;
      if (options_.diagonal_part == DiagonalPart::tied) tied.reserve(o_.blocks(), options_.tied_rank);
      bytes += t_ * (each + 4) * real(tied.size());
    }
    // K-FAC's factors are in double, and as large as the eigenvectors, which the posterior has.
    if (kind_ == StepKind::kfac) bytes += 2 * wide * (bytes_of(q_) / t_ - d_);
    return bytes + t_ * vectors * d_;
  }

  /// Bytes of the prior's precisions and, for a posterior as prior, of its copies and of the products of its
  /// columns with the rows.
  double prior() const {
    if (!prior_) return d_ * t_;
    const Posterior<T>* const same = o_.prior().posterior_in_family();
    const double bytes = d_ * t_ + bytes_of(*prior_) + (same && same != prior_ ? bytes_of(*same) : 0);
    if (q_.family() != Family::low_rank || l_ == 0 || prior_rank_ == 0) return bytes;
    return bytes + t_ * (vectors_ * d_ + prior_rank_ * n_) + tall_passes(d_, vectors_, prior_rank_);
  }

  // Memory of the estimator.

  /// Bytes of the tape of a forward and a backward pass: values and sensitivities by places (the outputs
  /// among them), slopes by nodes.
  double tape(double examples, double sections) const {
    double numbers = 0;
    for (Index p = 0; p < graph_->places(); ++p) {
      const auto& wire = graph_->place(p);
      numbers += numbers_of(wire, examples) * (s_ + (wire.is_learned ? sections : 0));
    }
    for (const auto& node : graph_->nodes()) {
      if (!node.layer) continue;
      const auto& out = graph_->wire(node.out);
      numbers += s_ * real(node.layer->kept(out.height) * out.columns(whole(examples))) +
                 s_ * wide / t_ * real(node.layer->kept_of_sample());
    }
    return t_ * numbers;
  }

  /// Number of temporary numbers in sums over a convolution's rows and in products with so many vectors.
  double conv_rows(const ConvShape& conv, bool of_data, double examples, double vectors) const {
    const double rows = rows_of(examples), filters = real(conv.output.channels), repeats = of_data ? 1 : s_;
    const double packets = real(packets_of(whole(examples))), lanes = real(packet_size) * packets * s_ * k_;
    const double sums = 2 * lanes + rows * filters;
    if (vectors <= 1) return sums;
    const PatchRows<T> layer(conv, of_data);
    const double block = real(layer.largest_block(whole(rows))),
                 images = s_ * packets * real(PacketMap{conv.output}.packet_numbers());
    const double numbers = std::max({sums, block * (1 + vectors / rows), is_noisy_ ? 0 : images});
    if (projection_ != EigenMethod::gram) return numbers;
    double gram = squared(rows) + block;
    if (layer.is_gram_factored({whole(examples), whole(s_ * k_), whole(repeats)}))
      gram = (squared(rows) + squared(repeats * examples)) * squared(real(conv.positions())) +
             std::min(real(most_factor_numbers), rows * real(conv.positions()) * filters);
    return std::max(numbers, gram);
  }

  /// Bytes of products of the rows of so many examples with so many vectors, or of their Gram matrix, in the
  /// largest layer.
  double layer_rows(double examples, double vectors) const {
    double most = 0;
    for_each_layer([&](const Layer<T>& layer, const auto& in, const auto& out) {
      const bool of_data = is_merged_ || in.is_data;
      if (const ConvShape* const conv = layer.convolution()) {
        most = std::max(most, conv_rows(*conv, of_data, examples, vectors));
        return;
      }
      const double columns = of_data ? examples : examples * s_, outputs = real(out.size) * columns;
      most = std::max(most, outputs * std::min(vectors, real(columns_together(whole(outputs)))));
      if (gives_rows(options_.curvature)) most = std::max(most, real(in.size) * columns + outputs);
      if (projection_ == EigenMethod::gram)
        most = std::max(most, squared(rows_of(examples)) + squared(columns));
    });
    return t_ * most;
  }

  /// Bytes of the noise of each layer's outputs or weights, and of the gradient by means, W and s.
  double noise(double m) const {
    const double columns = m * s_, learned = options_.diagonal_part == DiagonalPart::fixed ? 1 : 2;
    const bool shared = options_.noise_estimator == NoiseEstimator::shared;
    double scratch = 0,
           numbers = 2 * columns + d_ * (l_ + learned) + l_ * real(block_count(q_)) * (shared ? s_ : columns);
    for_each_layer([&](const Layer<T>& layer, const auto& in, const auto& out) {
      const double a = numbers_of(in, m), e = numbers_of(out, m), parameters = real(layer.parameters());
      const LayerNoise kind = layer_noise(options_.noise_estimator, positions_of(layer));
      if (kind == LayerNoise::local) numbers += e * s_;
      if (kind == LayerNoise::flipout) numbers += s_ * (parameters + (a + e) / real(positions_of(layer)));
      if (kind == LayerNoise::shared) numbers += 2 * parameters * s_;
      const bool is_plain =
          kind == LayerNoise::shared || (kind == LayerNoise::weights && layer.convolution());
      scratch = std::max(scratch, parameters + (is_plain ? 0 : a + 2 * e));
    });
    return t_ * (numbers + scratch) + layer_rows(m, shared ? 1 : std::max(1.0, l_)) + tape(m, s_);
  }

  /// Bytes of exact Hessians: changes of the tape in some directions at a time.
  double hessian(double examples) const {
    if (!has_matrix_ || !graph_ || graph_->dense().empty()) return 0;
    const double m = std::min(examples, real(HessianEstimator<T>::most_examples));
    const double together = real(HessianEstimator<T>::directions(*graph_, whole(m)));
    double changes = 0;  // of values and sensitivities
    for (Index p = 0; p < graph_->places(); ++p) changes += 3 * real(graph_->place_size(p));
    const double units = q_.takes_matrix() ? 2 * together : options_.probes > 0 ? together : 2;
    return t_ * m * changes * together + t_ * (units + 1) * d_ + 2 * tape(m, 1);
  }

  /// Bytes of an estimate from so many examples: coefficients of rows, and a tape, noise or written rows.
  double estimator(double m) const {
    if (!likelihood_) return t_ * d_ * n_;
    const double bytes = wide * real(std::ssize(q_.statistics())), n = m * s_ * k_;
    if (is_exact_) {
      const double together = std::clamp(real(exact_numbers_together) / d_, 1.0, m);
      return bytes + t_ * (4 * m + together * d_) + wide * 2 * m + draw(q_, together);
    }
    if (is_noisy_) return bytes + noise(m);
    if (!graph_) return bytes + t_ * (outputs_ * m * s_ + (2 + outputs_ + d_) * n);
    return bytes + t_ * 2 * n + (graph_->is_single_index() ? t_ * 3 * n : tape(m, s_ * k_));
  }

  /// Bytes of scratch memory in which the rows of so many examples are multiplied, projected or written.
  double rows(double m) const {
    if (is_noisy_) return 0;
    const double n = rows_of(m), some = std::min(real(most_outer_rows), n);
    const bool matrix = q_.takes_matrix() && !has_matrix_ && is_natural_,
               outer = projection_ == EigenMethod::outer,
               projects = projection_ != EigenMethod::automatic && !outer;
    const double written = matrix || outer ? some * largest_ : 0;
    if (graph_) return std::max(layer_rows(m, vectors_), written * (t_ + wide));
    double products = projection_ == EigenMethod::gram ? t_ * squared(n) : 0;
    if (n <= real(most_outer_rows)) products = projects ? tall_passes(d_, n, vectors_) : tall_pass(d_, n, 1);
    return written * wide + products;
  }

  /// Bytes of the gradients that the guard reads, gathered layer by layer, and of products with a few
  /// vectors.
  double gathered_gradients() const {
    if (!guards_ || q_.is_diagonal()) return 0;
    const double count = std::min(real(most_gradients), is_merged_ ? m_ : m_ * s_),
                 few = std::min(real(most_gradient_vectors), l_);
    if (!graph_) return t_ * (1 + count) * d_ + (few > 0 ? tall_pass(d_, few, count) : 0);
    double numbers = 0, products = 0;
    for_each_layer([&](const Layer<T>& layer, const auto& in, const auto& out) {
      const ConvShape* const conv = layer.convolution();
      numbers += numbers_of(in, count) + numbers_of(out, count);
      products = std::max(products, conv ? real(PatchRows<T>(*conv, false).largest_block(whole(count)))
                                         : few * real(out.size) * count);
    });
    return t_ * (numbers + products);
  }

  /// Bytes of the scores of a stream's observations, by derivatives of the outputs.
  double scores() const {
    if (is_batch_ || !likelihood_ || options_.score != ScoreKind::linearized) return 0;
    const double count = outputs_ * m_, rows = graph_ ? tape(m_, outputs_) : t_ * outputs_ * count;
    return wide * count * (2 + outputs_) + t_ * count * (1 + 2 * d_) + rows +
           std::max(draw(q_, count), tall_pass(d_, outputs_, outputs_));
  }

  /// Bytes of sums over shards, of their messages, and of the rows that are joined from these.
  double shards() const {
    const double count = real(planned_shards(o_));
    if (!likelihood_ || count <= 1 || !is_batch_) return 0;
    const double targets = real(likelihood_->targets()),
                 numbers = wide * (targets + real(std::ssize(q_.statistics())));
    if (!exchanges_rows(kind_))
      return tree_slots(count) * (t_ * ((2 + l_) * d_ + point_parameters_) + numbers);
    const auto message = [&](double m) {
      double rest = is_merged_ ? real(o_.model()->inputs()) * m : d_ * rows_of(m);
      if (graph_ && !is_merged_) rest = real(TapeNumbers<T>(*graph_).count(whole(m), whole(s_), whole(k_)));
      return t_ * ((is_exact_ ? 0 : outputs_ * m * s_) + 2 * rows_of(m) + rest);
    };
    const double matrix = !has_matrix_        ? 0
                          : q_.takes_matrix() ? d_ * (d_ + 1) / 2
                                              : d_,
                 products = projection_ != EigenMethod::automatic && graph_ ? vectors_ * n_ : 0,
                 held = guards_ ? wide * m_ * s_ : 0;
    return tree_slots(count) * (t_ * (matrix + products) + numbers + held) +
           count * message(std::ceil(m_ / count)) + message(m_) + t_ * m_ * (2 * targets + 1);
  }

  // Scratch memory of a step.

  /// Bytes of the samples, and of the estimate's gradients and Hessians besides its rows.
  double evidence(double m) const {
    if (!likelihood_) return t_ * n_;
    if (is_exact_ || is_noisy_) return t_ * point_parameters_;
    double numbers = point_parameters_ + d_ * s_;
    if (has_matrix_ && q_.takes_matrix()) numbers += wide / t_ * squared(d_);
    if (has_matrix_ && !q_.takes_matrix()) numbers += (1 + real(options_.probes)) * d_;
    if (options_.sample_groups > 1)
      numbers += 2 * d_ + outputs_ * m * s_;
    else if (options_.curvature == EstimateKind::mc_reparam)
      numbers += 3 * d_;
    const bool has_conv = graph_ && o_.memory.evidence->estimator().rows().has_sums_together();
    if (q_.is_diagonal() && has_conv && gives_rows(options_.curvature)) numbers += 2 * d_;
    return t_ * numbers;
  }

  /// Bytes of the samples that scales are learned from, if the estimate has none.
  double samples(double m) const {
    if (!likelihood_ || !is_batch_) return 0;
    const bool map = options_.rule == Rule::map,
               prior = options_.learn_prior && !o_.prior().is_fixed() && !map,
               noise = options_.learn_noise && likelihood_->has_noise_precision();
    const EstimateKind kind = options_.curvature;
    if (!(prior || noise) || is_noisy_ || is_sampled(kind) || (map && is_linearized(kind))) return 0;
    const double count = real(options_.samples);
    return t_ * count * (d_ + outputs_ * m) + draw(q_, count);
  }

  /// Bytes of the map of [U, rows, the prior's U] to L columns, by the method that projects it.
  double low_rank_map() const {
    const double solve = tall_pass(d_, l_, l_), added = n_ + (iterates_ ? l_ : is_batch_ ? prior_rank_ : 0);
    const bool unprojected = options_.mean_update == MeanUpdateOption::unprojected;
    if (l_ == 0 && (is_plain_ || !unprojected)) return solve;
    if (is_plain_)
      return t_ * d_ * (1 + 2 * (added + l_)) + 2 * wide * squared(l_ + n_) + solve +
             tall_pass(d_, l_ + n_, l_ + n_);
    const double columns = (averages_pairs_ ? 0 : l_) + added, found = std::min(l_ + 1, columns);
    if (!averages_pairs_ && (!is_batch_ || unprojected))
      return t_ * d_ * n_ + wide * (3 * squared(columns) + 2 * columns * l_) +
             std::max({tall_pass(d_, 2 * columns + 1, columns), eigenpairs(columns, found),
                       tall_pass(d_, l_, columns)});
    const double averaged = averages_pairs_ ? t_ * d_ * l_ : 0;
    const double basis = std::min(vectors_, d_);
    double peak = t_ * (2 * d_ + 3 * columns) * basis + tall_passes(d_, l_, basis);  // by the range finder
    if (projection_ == EigenMethod::outer) peak = wide * squared(d_) + eigenpairs(d_, l_);
    if (projection_ == EigenMethod::gram)
      peak = wide * squared(columns) + std::max(eigenpairs(columns, found), solve) + t_ * 2 * columns * l_;
    return averaged + std::max(peak, solve);
  }

  /// Bytes of the map of a full covariance of d parameters: of the whole matrix, or by few columns.
  double full_map(double d) const {
    const bool moments = q_.family() == Family::full_moment, mixes = is_batch_ || iterates_;
    const double settle = wide * (squared(d) + 4 * d) + eigenpairs(d, 1);
    if (mixes || has_matrix_ || !suits_rotations(whole(d), whole(n_), FactorUpdate::automatic)) {
      const double matrices = !moments ? 0 : !is_plain_ ? 2 : has_kl(options_.rule) ? 1 : 0;
      return matrices * wide * squared(d) + settle + t_ * n_;
    }
    const double rest = drifts_ && !is_plain_ ? wide * d * (n_ + 2) : settle;
    return wide * d * (n_ + 6) + std::max(t_ * n_ * (n_ + d), rest + (moments ? wide * d * n_ : 0));
  }

  /// Bytes of the family's map; for a posterior of blocks, of the largest block.
  double map() const {
    if (q_.family() == Family::low_rank) return low_rank_map();
    return q_.takes_matrix() ? full_map(largest_) : 2 * t_ * d_;
  }

  /// Bytes of the guard: leverages and fractions of the examples, and gradients that it may hold back.
  double guard() const {
    const double gradients = is_merged_ ? m_ : m_ * s_, some = std::min(real(most_gradients), gradients);
    double find = (t_ * d_ + wide) * some + draw(q_, some);
    if (q_.family() == Family::low_rank)
      find = t_ * d_ * (1 + std::min(real(most_gradient_vectors), l_)) + (t_ + wide) * l_ * some;
    else if (q_.is_diagonal())
      find = 0;
    return t_ * 2 * n_ + wide * m_ * s_ * (3 + 4 * outputs_) + find;
  }

  /// Bytes of K-FAC's work on the factors of the largest layer: eigenpairs, and gathered patches.
  double kfac_peak() const {
    double most = 0;
    for_each_layer([&](const Layer<T>& layer, const auto& in, const auto& out) {
      const ConvShape* const conv = layer.convolution();
      const double patch = real(conv ? conv->fan_in() : in.size) + 1,
                   filters = real(conv ? conv->output.channels : out.size), side = std::max(patch, filters);
      const auto gathered = [&](double size, double rows) {
        const double numbers = size * real(positions_of(layer));
        return t_ * (squared(size) + std::min(std::max(real(most_factor_numbers), numbers), rows * numbers));
      };
      most = std::max({most, eigenpairs(side, side) + (prior_ ? wide * squared(side) : 0),
                       gathered(patch, m_ * s_), gathered(filters, n_)});
    });
    return most;
  }

  /// Largest number of bytes that a step takes on top of the evidence: gradient, slopes, and a map.
  double step() const {
    const bool has_gradient =
        options_.curvature == EstimateKind::mc_reparam || options_.sample_groups > 1 || is_noisy_;
    const double gradient = has_gradient ? 0 : d_;
    double vectors = 3, peak = prior_ ? 3 * d_ * t_ + draw(*prior_, 1) : 0;
    if (kind_ == StepKind::mean) vectors = 1;
    if (is_natural_) {
      vectors = is_batch_ ? 1 : iterates_ ? 2 : 0;
      peak = std::max(peak, map());
    }
    if (guards_) {
      const bool together = options_.mean_update == MeanUpdateOption::unprojected;
      const double rest = t_ * (n_ + gradient + d_) + std::max(draw(q_, 1), together ? peak : 0);
      return (together ? t_ * d_ : 0) + std::max({peak, guard(), rest});
    }
    if (kind_ == StepKind::low_rank_moment) {
      const double some = std::min(d_, real(rows_together));
      vectors = 2;
      peak = std::max(t_ * d_, t_ * some * l_ + tall_pass(some, l_, l_));
    }
    if (kind_ == StepKind::kfac) {
      vectors = 2;
      peak = std::max(peak, kfac_peak());
    }
    return t_ * (gradient + vectors * d_) + peak;
  }

  const Optimizer<T>& o_;
  const Options& options_ = o_.options();
  const Posterior<T>& q_ = *o_.posterior();
  const Posterior<T>* prior_ = o_.prior().posterior();
  const Graph<T>* graph_ = o_.model() ? o_.model()->graph() : nullptr;  // null for a model of the caller's
  const Likelihood* likelihood_ = o_.model() ? &o_.model()->likelihood : nullptr;
  double prior_rank_ = prior_ && prior_->family() == Family::low_rank ? real(prior_->rank()) : 0;
  bool is_batch_ = o_.method().kind != MethodKind::stream;
  StepKind kind_ = is_batch_ ? o_.step_kind() : StepKind::natural_gradient;
  bool is_natural_ = kind_ == StepKind::natural_gradient;
  bool is_plain_ = descent_of(options_.rule) == Descent::plain;
  bool is_noisy_ = is_noisy(q_.family(), options_.curvature), is_exact_ = is_exact(options_.curvature);
  bool has_matrix_ = options_.curvature == EstimateKind::mc_hess;
  bool is_merged_ = false, guards_ = false;  // one row an example; examples may be held back
  bool averages_pairs_ = is_batch_ && options_.low_rank_update == LowRankUpdate::moving_average;
  // In streams: process noise, and several steps for an observation, with the KL divergence.
  bool drifts_ = options_.process_noise > 0 || !o_.filter.process_noise().empty();
  bool iterates_ = !is_batch_ && has_kl(options_.rule) && options_.iterations > 1;

  double t_ = sizeof(T);  // bytes of a number
  double d_ = real(q_.dimension()), point_parameters_ = real(q_.point_parameters().parameters());
  double l_ = real(is_low_rank_moment(q_.family()) ? moment_rank(q_) : has_rank(q_.family()) ? q_.rank() : 0);
  double m_, s_ = 1, k_ = 1, n_ = 0, outputs_ = 0;   // M, S, K and n
  double largest_ = d_;                              // number of parameters of the posterior's largest block
  EigenMethod projection_ = EigenMethod::automatic;  // if rows are not projected to L columns
  double vectors_ = 1;                               // number of vectors that multiply the rows at a time
};

}  // namespace

template <class T>
Index memory_estimate(const Optimizer<T>& optimizer, Index minibatch) {
  constexpr double small = 4096, more = 1.04;  // for what the terms leave out
  StepBytes<T> bytes(optimizer, std::min<Index>(minibatch, INT32_MAX));
  const double sum = optimizer.method().kind == MethodKind::exact ? bytes.exact() : bytes.all();
  return static_cast<Index>(std::min(small + more * sum, 9e18));
}

template Index memory_estimate(const Optimizer<float>&, Index);
template Index memory_estimate(const Optimizer<double>&, Index);

}  // namespace bdl
