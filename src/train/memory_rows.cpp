#include "curvature/seeds.hpp"
#include "evidence/blocks.hpp"
#include "network/convolution/factor_sums.hpp"
#include "posterior/low_rank_moment/members.hpp"
#include "ranks/tape_numbers.hpp"
#include "train/memory_terms.hpp"
#include "train/sharding.hpp"

namespace bdl {

/// Bytes of the tape of a forward and a backward pass: values and sensitivities by places, slopes by nodes.
template <class T>
double StepBytes<T>::tape(double examples, double sections) const {
  const auto count = static_cast<Index>(examples);
  std::vector<double> values(static_cast<std::size_t>(graph_->places())),
      sensitivities(static_cast<std::size_t>(graph_->places()));
  const auto output = graph_->wire(graph_->output()).place;
  for (std::size_t w = 1; w < graph_->wires(); ++w) {
    const auto& wire = graph_->wire(static_cast<Index>(w));
    const double one = static_cast<double>(wire.height * wire.columns(count));
    auto& value = values[at(wire.place)];
    if (wire.place != output) value = std::max(value, one * (wire.is_data ? 1 : s_));
    auto& sensitivity = sensitivities[at(wire.place)];
    if (wire.is_learned) sensitivity = std::max(sensitivity, one * sections);
  }
  double numbers = 0, of_samples = 0;
  for (const double value : values) numbers += value;
  for (const double sensitivity : sensitivities) numbers += sensitivity;
  for (const auto& node : graph_->nodes()) {
    if (!node.layer) continue;
    const auto& out = graph_->wire(node.out);
    numbers += static_cast<double>(node.layer->kept(out.height) * out.columns(count)) * s_;
    of_samples += static_cast<double>(node.layer->kept_of_sample()) * s_;
  }
  return t_ * numbers + wide * of_samples;
}

/// Bytes of an estimate from so many examples: outputs, coefficients of rows, and a tape or written rows.
template <class T>
double StepBytes<T>::estimator(Index examples) const {
  if (!likelihood_) return t_ * d_ * static_cast<double>(n_);
  const auto m = static_cast<double>(examples);
  double bytes = wide * static_cast<double>(q_.statistics().size());
  if (is_exact_) {
    const double together = std::clamp(65536 / d_, 1.0, m);
    return bytes + t_ * (4 * m + together * d_) + wide * 2 * m + draw(q_, together) + 1024;
  }
  if (is_noisy_) return bytes + noise(m);
  const double columns = m * s_, n = columns * k_;
  bytes += t_ * (outputs_ * columns + 2 * n);
  if (!graph_) return bytes + t_ * (outputs_ + d_) * n;
  if (graph_->is_single_index()) return bytes + t_ * (n + (is_merged_ ? m : 0));
  return bytes + tape(m, s_ * k_);
}

/// Bytes of the noise of each layer's outputs or weights, and of the gradient by means, W and s.
template <class T>
double StepBytes<T>::noise(double m) const {
  const double rank = static_cast<double>(moment_rank(q_)), columns = m * s_,
               learned = options_.diagonal_part == DiagonalPart::fixed ? 1 : 2;
  double numbers = outputs_ * columns + 2 * columns + d_ * (rank + learned), scratch = 0;
  const bool shared = options_.noise_estimator == NoiseEstimator::shared;
  const auto rows = static_cast<Index>(columns);
  const double of_one = layer_rows(m, rows, 1, false) / t_,
               of_all = rank > 0 ? layer_rows(m, rows, moment_rank(q_), false) / t_ : 0;
  numbers += rank * static_cast<double>(block_count(q_)) * (shared ? s_ : columns) + 16;
  for (const auto& [node, offset] : graph_->learned()) {
    const auto& of = graph_->nodes()[at(node)];
    if (!of.layer->dense() && !of.layer->convolution()) continue;
    const auto &in = graph_->wire(of.in), &out = graph_->wire(of.out);
    const auto count = static_cast<Index>(m);
    const double a = static_cast<double>(in.height * in.columns(count)),
                 z = static_cast<double>(out.height * out.columns(count)),
                 parameters = static_cast<double>(of.layer->parameters());
    const ConvShape* const conv = of.layer->convolution();
    const double positions = conv ? static_cast<double>(conv->positions()) : 1,
                 in_positions = conv ? static_cast<double>(conv->input.rows * conv->input.columns) : 1;
    NoiseEstimator kind = options_.noise_estimator;
    if (kind == NoiseEstimator::automatic)
      kind = positions == 1    ? NoiseEstimator::local
             : positions >= 30 ? NoiseEstimator::weights
                               : NoiseEstimator::flipout;
    if (kind == NoiseEstimator::local)
      numbers += z * s_ + parameters / std::max(1.0, z / m / positions);
    else if (kind == NoiseEstimator::flipout)
      numbers += parameters * s_ + (a / in_positions + z / positions) * s_;
    else if (kind == NoiseEstimator::shared)
      numbers += 2 * parameters * s_;
    const bool packs = kind == NoiseEstimator::weights && !conv;
    const double rounded = packs ? 16 * std::ceil(m / 16) / m : 1;
    const bool is_plain = kind == NoiseEstimator::shared || (kind == NoiseEstimator::weights && conv);
    const double of_sums = parameters + (is_plain ? 0 : rounded * (a + z)) + of_one;
    scratch = std::max({scratch, is_plain ? 0 : rounded * (a + z) + z, of_sums, columns * rank + of_all});
  }
  return t_ * (numbers + scratch) + tape(m, s_);
}

/// Bytes of exact Hessians: changes of the tape in some directions at a time.
template <class T>
double StepBytes<T>::hessian(Index examples) const {
  if (!has_matrix_ || !graph_) return 0;
  const double m = std::min(static_cast<double>(examples), 1024.0);
  if (graph_->is_linear() && q_.takes_matrix()) {
    const auto inputs = static_cast<double>(graph_->inputs());
    return wide * m * (2 * inputs + outputs_ * (outputs_ + 1) / 2) + t_ * m * outputs_;
  }
  double widest = 0, shape = 0, changes = 0, in = 0;
  for (const DenseShape& layer : graph_->dense()) {
    widest = std::max(widest, static_cast<double>(layer.outputs));
    in = std::max(in, static_cast<double>(layer.inputs));
    shape = std::max(shape, static_cast<double>(layer.parameters()));
  }
  const double fit = std::floor(std::min(131072 / (widest * m), 524288 / d_)),
               together = std::clamp(fit, 1.0, std::min(32.0, d_));
  for (std::size_t w = 0; w < graph_->wires(); ++w)
    if (const auto& wire = graph_->wire(static_cast<Index>(w)); wire.is_learned)
      changes += static_cast<double>(wire.size);
  for (Index p = 0; p < graph_->places(); ++p) changes += static_cast<double>(graph_->place_size(p));
  const double vectors = q_.takes_matrix() ? 2 * together : options_.probes > 0 ? together : 0;
  const double one_sample = tape(m, 1) + t_ * outputs_ * m;
  return t_ * (changes * m * together + (in + widest) * m + shape + vectors * d_) +
         wide * (outputs_ * m + (q_.takes_matrix() ? 0 : d_)) + 2 * one_sample;
}

/// Bytes of products of rows with so many vectors at a time, or of a Gram matrix, in the largest layer.
template <class T>
double StepBytes<T>::layer_rows(double m, Index n, Index vectors, bool grams) const {
  const auto count = static_cast<double>(n);
  double most = 0;
  for (const auto& [node, offset] : graph_->learned()) {
    const auto& of = graph_->nodes()[at(node)];
    if (const DenseShape* const layer = of.layer->dense()) {
      const double in = static_cast<double>(layer->inputs), out = static_cast<double>(layer->outputs),
                   all = is_merged_ || graph_->wire(of.in).is_data ? m : m * s_,
                   a = options_.curvature == EstimateKind::mc_reparam && !is_noisy_ ? m : all,
                   together = std::clamp(524288 / (out * a), 2.0, 16.0);
      most = std::max({most, out * a * std::min(together, static_cast<double>(vectors)),
                       has_squares() ? (in + out) * a : 0, grams ? squared(count) + squared(a) : 0});
    } else if (const ConvShape* const conv = of.layer->convolution()) {
      const auto packets = static_cast<double>(packets_of(static_cast<Index>(m)));
      const double lanes = 16 * packets * s_ * k_, positions = static_cast<double>(conv->positions()),
                   weights = static_cast<double>(conv->weights()),
                   filters = static_cast<double>(conv->output.channels),
                   z = static_cast<double>(PacketMap{conv->output}.packet_numbers());
      double sums = count * filters;
      if (suits_factors(*conv)) {
        const FactorPlan plan(*conv, true);
        sums = lanes * (static_cast<double>(conv->channels()) * static_cast<double>(plan.in().size()) +
                        filters * static_cast<double>(plan.e().size())) +
               static_cast<double>(conv->channels()) * 64 * static_cast<double>(conv->taps());
      }
      most = std::max(most, 2 * lanes + sums);
      if (vectors <= 1) continue;
      if (!is_noisy_) most = std::max(most, z * packets * s_);
      const double block =
          count *
          std::max(std::min(std::max(131072 / count, 4.0 * static_cast<double>(conv->taps())), weights),
                   filters);
      const double inputs = graph_->wire(of.in).is_data ? m : m * s_;
      const double pairs = squared(count * positions) + squared(inputs * positions);
      const GramSize size{static_cast<Index>(m), static_cast<Index>(s_ * k_), static_cast<Index>(inputs / m)};
      const double products = 2 * count * static_cast<double>(conv->filters() * conv->input.channels) *
                                  static_cast<double>(conv->valid_products()) +
                              squared(count) * weights;
      const bool factored = grams && factored_gram_flops(*conv, size) < products;
      most = std::max({most, block + 16 * block / count, grams ? squared(count) + block : 0,
                       factored ? pairs + std::min(262144.0, count * positions * filters) : 0});
    }
  }
  return t_ * most;
}

/// Number of vectors that rows are multiplied with at a time, which depends on how rows are projected.
template <class T>
Index StepBytes<T>::vectors(Index n) const {
  if (!projects()) return 1;
  const EigenMethod method = projection(q_.dimension(), q_.rank(), n);
  if (method == EigenMethod::outer) return 1;
  return q_.rank() + (method == EigenMethod::randomized ? options_.eigen_oversampling : 0);
}

/// Bytes of scratch memory in which rows are multiplied, projected or written.
template <class T>
double StepBytes<T>::rows(double m) const {
  const Index n = static_cast<Index>(std::min(is_merged_ || !likelihood_ ? m : m * s_ * k_, 2147483647.0));
  const EigenMethod method = projects() ? projection(q_.dimension(), q_.rank(), n) : EigenMethod::automatic;
  const bool grams = method == EigenMethod::gram;
  const Index together = vectors(n);
  const auto count = static_cast<double>(n), some = std::min(64.0, count), l = static_cast<double>(q_.rank());
  const bool outer = (q_.takes_matrix() && !has_matrix_ && kind_ == StepKind::natural_gradient) ||
                     method == EigenMethod::outer;
  const double written = outer ? some * static_cast<double>(largest_block(q_)) : 0;
  if (graph_) {
    const double guarded = projects() && guards_ ? t_ * widest() * some * std::min(4.0, l) : 0;
    return std::max(layer_rows(m, n, together, grams), written * (t_ + wide)) + guarded;
  }
  const Index d = q_.dimension();
  const double k = static_cast<double>(together);
  double bytes = written * wide;
  if (projects() && method != EigenMethod::outer && count <= 64)
    bytes += std::max({grams ? tall_pass(d, count, 0, squared(count)) : 0, tall_pass(d, k, count, k * count),
                       tall_pass(d, count, k, 0)}) +
             wide * k * count;
  else
    bytes += projects() && grams ? t_ * squared(count) : count <= 64 ? tall_pass(d, count, 1, 0) : 0;
  if (!guards_) return bytes;
  const double columns = std::min(64.0, m * s_), few = std::min(4.0, l);
  if (projects()) bytes += tall_pass(d, few, columns, few * columns) + wide * few * columns;
  return bytes + t_ * d_;
}

template <class T>
Index StepBytes<T>::largest_block(const Posterior<T>& q) const {
  const auto* const blocks = dynamic_cast<const BlocksPosterior<T>*>(&q);
  if (!blocks) return q.dimension();
  Index largest = 0;
  for (Index k = 0; k < blocks->block_count(); ++k)
    largest = std::max(largest, blocks->member(k).dimension());
  return largest;
}

/// Number of outputs of the widest layer.
template <class T>
double StepBytes<T>::widest() const {
  Index widest = 0;
  for (const auto& [node, offset] : graph_->learned())
    widest = std::max(widest, graph_->wire(graph_->nodes()[at(node)].out).size);
  return static_cast<double>(widest);
}

/// Bytes of the examples' gradients that the guard reads, gathered layer by layer.
template <class T>
double StepBytes<T>::gathered_gradients() const {
  const bool exact =
      q_.family() == Family::diagonal_moment || (q_.family() == Family::low_rank && q_.rank() == 0);
  if (!guards_ || exact) return 0;
  const double count = std::min(64.0, is_merged_ ? m_ : m_ * s_);
  if (!graph_) return t_ * count * d_;
  double numbers = 0;
  for (const auto& [node, offset] : graph_->learned()) {
    const auto& of = graph_->nodes()[at(node)];
    const auto &in = graph_->wire(of.in), &out = graph_->wire(of.out);
    const auto c = static_cast<Index>(count);
    numbers += static_cast<double>(in.height * in.columns(c) + out.height * out.columns(c));
  }
  return t_ * numbers;
}

/// Bytes of the scores of a stream's observations, computed before the posterior learns from these.
template <class T>
double StepBytes<T>::scores() const {
  if (is_batch() || !likelihood_ || options_.score == ScoreKind::none) return 0;
  const double count = outputs_ * m_;
  if (options_.score == ScoreKind::plug_in) return wide * (count + 3 * outputs_) + 2 * t_ * count;
  const double rows = graph_ ? tape(m_, outputs_) / (s_ > 1 ? 1 : 1) : t_ * outputs_ * count;
  return wide * (2 * count + count * outputs_ + 2 * outputs_ + 4 * squared(outputs_)) + t_ * count +
         2 * t_ * d_ * count + rows +
         std::max(draw(q_, count), tall_pass(q_.dimension(), outputs_, outputs_, squared(outputs_)));
}

/// Bytes of a shard's message: the numbers that the rows of so many examples are computed from.
template <class T>
double StepBytes<T>::message(Index examples) const {
  const auto m = static_cast<double>(examples);
  const double rows = is_merged_ ? m : m * s_ * k_;
  double rest = is_merged_ ? static_cast<double>(o_.model()->inputs()) * m : d_ * rows;
  if (graph_ && !is_merged_)
    rest = static_cast<double>(
        TapeNumbers<T>(*graph_).count(examples, static_cast<Index>(s_), static_cast<Index>(k_)));
  return t_ * ((is_exact_ ? 0 : outputs_ * m * s_) + 2 * rows + rest);
}

/// Bytes of sums over shards, of their messages, and of the rows that are joined from these.
template <class T>
double StepBytes<T>::shards() const {
  const auto count = static_cast<double>(planned_shards(o_));
  if (!likelihood_ || count <= 1 || !is_batch()) return 0;
  const double slots = 1 + std::ceil(std::log2(count));
  double values = d_;
  const bool exchanges = exchanges_rows(kind_);
  if (exchanges)
    values = !has_matrix_ ? 0 : q_.takes_matrix() ? d_ * (d_ + 1) / 2 : d_;
  else if (kind_ == StepKind::low_rank_moment)
    values = d_ * (2 + static_cast<double>(moment_rank(q_)));
  else if (kind_ != StepKind::mean)
    values = 2 * d_ + points_;
  const double numbers = 16 + static_cast<double>(likelihood_->targets() + std::ssize(o_.prior().groups()) +
                                                  std::ssize(q_.statistics()));
  double bytes = slots * (t_ * values + wide * numbers) + wide * numbers;
  if (!exchanges) return bytes;
  const double targets = static_cast<double>(likelihood_->targets()), one = std::ceil(m_ / count);
  bytes += count * message(static_cast<Index>(one)) + message(static_cast<Index>(m_)) +
           t_ * m_ * (2 * targets + 1);
  if (q_.family() == Family::low_rank && q_.rank() > 0 && graph_)
    bytes += slots * t_ * static_cast<double>(vectors(n_)) * static_cast<double>(n_);
  return bytes + (guards_ ? slots * wide * m_ * s_ : 0);
}

template class StepBytes<float>;
template class StepBytes<double>;

}  // namespace bdl
