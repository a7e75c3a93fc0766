#include "train/scales/linearized_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "curvature/blocked_rows.hpp"
#include "curvature/seeds.hpp"

namespace bdl {
namespace {

constexpr Index rows_at_a_time = 64;              // that are written out
constexpr double longest_move = 5;                // largest factor on a precision in a step of the search
constexpr double smallest = 1e-8, largest = 1e8;  // prior precisions
// Parameters of which the data determine less than one have no weaker prior than usual: they would wander.
constexpr double fewest = 1, usual = 1;

}  // namespace

template <class T>
LinearizedEvidence<T>::LinearizedEvidence(const Optimizer<T>& optimizer, const EvidenceSample<T>& sample)
    : optimizer_(optimizer),
      sample_(sample),
      noise_(optimizer, sample),
      estimator_(make_estimator(*optimizer.model())),
      prior_(optimizer.prior().grouped()),
      gives_means_(prior_.values.size()),
      sizes_(prior_.values.size()),
      squares_(prior_.values.size()),
      determined_squares_(prior_.values.size()),
      determined_(noise_.targets()),
      drawn_(noise_.targets()) {
  for (const Index group : prior_.group)
    if (group >= 0) ++sizes_[at(group)];
  hold_parts();
  compute();
}

/// Makes the parts. Log noise precisions that are held have none.
template <class T>
void LinearizedEvidence<T>::hold_parts() {
  const Likelihood& likelihood = optimizer_.model()->likelihood;
  const Index means = likelihood.means(), others = likelihood.outputs() - means,
              curved = sample_.curved_rows();
  row_factors_.resize(at((means + others) * curved));
  errors_.resize(noise_.targets() * at(curved));
  z_.resize(errors_.size());
  times_.assign(errors_.size(), 1.0);
  parts_.emplace_back(0, means, curved, sizes_);
  if (others > 0) parts_.emplace_back(means * curved, others, curved, sizes_);
}

template <class T>
void LinearizedEvidence<T>::compute() {
  const Posterior<T>& q = *optimizer_.posterior();
  is_evaluated_ = false;
  noise_.compute();
  std::ranges::copy(optimizer_.prior().groups(), prior_.values.begin());
  compute_squares();
  for (EvidenceRows& part : parts_) part.begin();
  SeedSpec seeds{CurvatureKind::gauss_newton, 1};
  seeds.apart = true;
  seeds.statistics = {q.statistics(), {}};
  const ConstMatrixView<T> mean(q.mean().data(), q.dimension(), 1);
  const Estimate<T> estimate = estimator_->estimate(mean, sample_.curved_x(), sample_.curved_y(), seeds);
  add_layers(estimate);
  compute_errors();
  add_variances(estimate);
}

/// Returns for how many examples a row counts.
template <class T>
double LinearizedEvidence<T>::weight() const {
  return static_cast<double>(sample_.data_rows()) / static_cast<double>(sample_.curved_rows());
}

/// Writes errors in units of the noise of a row that counts once; a row that does not count is as if missing.
template <class T>
void LinearizedEvidence<T>::compute_errors() {
  if (errors_.empty()) return;
  const Model<T>& model = *optimizer_.model();
  const Posterior<T>& q = *optimizer_.posterior();
  const Index curved = sample_.curved_rows();
  const auto f = outputs_.matrix(model.outputs(), curved);
  model.forward(q.mean(), sample_.curved_x(), f, scratch_, q.statistics());
  const auto y = sample_.curved_y();
  for (std::size_t r = 0; r < errors_.size(); ++r) {
    const Index c = static_cast<Index>(r) / curved, i = static_cast<Index>(r) % curved;
    const double weight = model.likelihood.weight(y.column_data(i));
    times_[r] = weight == 0 ? 1 : weight;
    errors_[r] =
        weight == 0 ? NAN : std::sqrt(weight) * (static_cast<double>(y(c, i)) - static_cast<double>(f(c, i)));
  }
}

template <class T>
void LinearizedEvidence<T>::compute_squares() {
  const auto mean = optimizer_.posterior()->mean();
  std::ranges::fill(squares_, 0.0);
  for (std::size_t j = 0; j < mean.size(); ++j)
    if (prior_.group[j] >= 0)
      squares_[at(prior_.group[j])] += prior_.scale[j] * std::pow(static_cast<double>(mean[j]), 2);
}

template <class T>
void LinearizedEvidence<T>::add_layers(const Estimate<T>& estimate) {
  const BlockedRows<T>& rows = *estimator_->blocks();
  const auto mean = optimizer_.posterior()->mean();
  const Index count = rows.count();
  const auto gram = gram_.matrix(count, count);
  std::ranges::transform(estimate.w, row_factors_.begin(),
                         [factor = weight()](T w) { return std::sqrt(factor * static_cast<double>(w)); });
  for (const auto& [layer, offset] : rows.blocks()) {
    layer->gram(false, gram, rows.scratch());
    layer->project({mean.data() + offset, layer->parameters(), 1}, false, products_.matrix(1, count),
                   rows.scratch());
    if (const auto* dense = dynamic_cast<const OuterRows<T>*>(layer);
        dense && has_inputs_apart(*dense, offset)) {
      add_inputs(*dense, offset);
      continue;
    }
    // The last layer's parameters of the means come first, and those of log noise precisions last.
    gives_means_[at(prior_.group[at(offset)])] = true;
    add_layer(0, offset, gram);
    if (parts().size() > 1) add_layer(1, offset + layer->parameters() - 1, gram);
  }
}

/// True if each input of the layer has a group of weights.
template <class T>
bool LinearizedEvidence<T>::has_inputs_apart(const OuterRows<T>& rows, Index offset) const {
  return optimizer_.options().prior_groups == PriorGroups::inputs && offset == 0 && rows.layer().inputs > 0;
}

/// Adds the rows e_r a_r^T of a dense layer, a column of a at a time, and e_r of its bias: their Gram
/// matrices are e_r^T e_s a_jr a_js, and their products with the parameters a_jr sum_o e_or w_oj.
template <class T>
void LinearizedEvidence<T>::add_inputs(const OuterRows<T>& rows, Index offset) {
  const ConstMatrixView<T> a = rows.inputs(), e = rows.sensitivities();
  const Index count = e.cols, inputs = rows.layer().inputs;
  const T* const w = optimizer_.posterior()->mean().data() + offset;
  const auto gram = gram_.matrix(count, count), of_outputs = gram_of_outputs_.matrix(count, count);
  const auto products = products_.first(count);
  for (Index s = 0; s < count; ++s)
    for (Index r = s; r < count; ++r) {
      double sum = 0;
      for (Index o = 0; o < e.rows; ++o) sum += static_cast<double>(e(o, r)) * static_cast<double>(e(o, s));
      of_outputs(r, s) = sum;
    }
  const auto add = [&](Index parameter, auto&& input, auto&& weight) {
    for (Index s = 0; s < count; ++s) {
      for (Index r = s; r < count; ++r) gram(r, s) = of_outputs(r, s) * input(r) * input(s);
      double sum = 0;
      for (Index o = 0; o < e.rows; ++o) sum += static_cast<double>(e(o, s)) * weight(o);
      products[at(s)] = static_cast<T>(input(s) * sum);
    }
    gives_means_[at(prior_.group[at(parameter)])] = true;
    for (std::size_t part = 0; part < parts().size(); ++part) add_layer(part, parameter, gram);
  };
  for (Index j = 0; j < inputs; ++j)
    add(
        offset + j, [&](Index r) { return static_cast<double>(a(j, r % a.cols)); },
        [&](Index o) { return static_cast<double>(w[o * inputs + j]); });
  if (!rows.layer().has_bias()) return;
  add(
      offset + rows.layer().weights(), [](Index) { return 1.0; },
      [&](Index o) { return static_cast<double>(w[rows.layer().weights() + o]); });
}

/// Adds the rows of a part in a layer to the group of this parameter of the layer.
template <class T>
void LinearizedEvidence<T>::add_layer(std::size_t number, Index parameter, ConstMatrixView<double> gram) {
  EvidenceRows& part = parts_[number];
  const Index first = part.first(), count = part.count();
  part.add(prior_.group[at(parameter)], 1 / prior_.scale[at(parameter)],
           gram.block(first, first, count, count),
           ConstSpan<double>(row_factors_).subspan(at(first), at(count)),
           ConstSpan<T>(products_.first(first + count).subspan(at(first))));
}

/// Adds up w b^T Sigma b over the rows b of each target.
template <class T>
void LinearizedEvidence<T>::add_variances(const Estimate<T>& estimate) {
  const Posterior<T>& q = *optimizer_.posterior();
  const Index curved = sample_.curved_rows();
  for (std::size_t c = 0; c < drawn_.size(); ++c) {
    drawn_[c] = 0;
    for (Index first = 0; first < curved; first += rows_at_a_time) {
      const auto rows = written_.matrix(q.dimension(), std::min(rows_at_a_time, curved - first));
      const auto variances = variances_.first(rows.cols);
      const Index before = static_cast<Index>(c) * curved + first;
      for (Index r = 0; r < rows.cols; ++r) estimate.rows->write_row(before + r, 0, rows.column(r));
      q.variances(rows, variances, scratch_);
      for (Index r = 0; r < rows.cols; ++r)
        drawn_[c] += weight() * static_cast<double>(estimate.w[at(before + r)]) * variances[at(r)];
    }
  }
}

template <class T>
std::span<EvidenceRows> LinearizedEvidence<T>::parts() {
  return std::span(parts_).first(optimizer_.model()->likelihood.log_precision_is_free() ? parts_.size() : 1);
}

template <class T>
void LinearizedEvidence<T>::evaluate() {
  if (is_evaluated_) return;
  const Index curved = sample_.curved_rows();
  for (std::size_t c = 0; c < noise_.targets(); ++c)
    std::ranges::fill(parts_[0].factors().subspan(c * at(curved), at(curved)), std::sqrt(noise_.factor(c)));
  value_ = noise_.log_likelihood();
  for (std::size_t g = 0; g < squares_.size(); ++g) value_ -= prior_.values[g] * squares_[g] / 2;
  for (EvidenceRows& part : parts()) {
    part.evaluate(prior_.values, weight());
    value_ -= part.log_det() / 2;
  }
  for (std::size_t c = 0; c < determined_.size(); ++c) {
    determined_[c] = 0;
    for (Index i = 0; i < curved; ++i)
      determined_[c] += parts_[0].leverage(static_cast<Index>(c) * curved + i);
  }
  is_evaluated_ = true;
}

/// A group that moves means counts only by what means determine.
template <class T>
void LinearizedEvidence<T>::find_determined() {
  std::ranges::copy(squares_, determined_squares_.begin());
  for (std::size_t g = 0; g < squares_.size(); ++g)
    for (EvidenceRows& part : parts()) {
      const double square = part.determined_square(static_cast<Index>(g), prior_.values[g]);
      if (square == 0) continue;
      determined_squares_[g] = std::min(squares_[g], square);
      break;
    }
}

template <class T>
void LinearizedEvidence<T>::move(const MovedScales& moves, ConstSpan<double> squares) {
  if (moves.prior)
    for (std::size_t g = 0; g < squares.size(); ++g) {
      double effective = 0;
      for (const EvidenceRows& part : parts()) effective += part.effective_parameters(static_cast<Index>(g));
      const bool is_free = moves.noise_outputs || gives_means_[g];
      if (!is_free || squares[g] <= 0) continue;
      const double from = prior_.values[g], found = effective / squares[g],
                   wanted = effective < fewest ? std::max(found, usual) : found,
                   to = std::clamp(wanted, from / longest_move, from * longest_move);
      prior_.values[g] = std::clamp(to, smallest, largest);
    }
  if (moves.noise) noise_.move(determined_, parts().size() > 1);
  is_evaluated_ = false;
}

/// Guesses that half of what the rows can determine is determined.
template <class T>
void LinearizedEvidence<T>::begin_afresh() {
  const Likelihood& likelihood = optimizer_.model()->likelihood;
  const double rows = sum_weights(likelihood, sample_.curved_y()) * static_cast<double>(likelihood.means()),
               each = rows / static_cast<double>(squares_.size());
  for (std::size_t g = 0; g < squares_.size(); ++g)
    if (squares_[g] > 0 && gives_means_[g]) prior_.values[g] = std::min(sizes_[g], each) / 2 / squares_[g];
  noise_.begin_afresh();
  is_evaluated_ = false;
}

template <class T>
void LinearizedEvidence<T>::suppose_noise(double times) {
  noise_.suppose(times);
  is_evaluated_ = false;
}

template <class T>
void LinearizedEvidence<T>::search(const MovedScales& moves, int steps) {
  for (int step = 0; step < steps; ++step) {
    evaluate();
    move(moves, squares_);
  }
}

template <class T>
void LinearizedEvidence<T>::search_determined(const MovedScales& moves, int steps) {
  for (int step = 0; step < steps; ++step) {
    evaluate();
    find_determined();
    move(moves, determined_squares_);
  }
}

template <class T>
double LinearizedEvidence<T>::value() {
  evaluate();
  return value_;
}

template <class T>
bool LinearizedEvidence<T>::knows_left_out() const {
  const Likelihood& likelihood = optimizer_.model()->likelihood;
  return likelihood.kind() == BDL_GAUSSIAN ||
         (likelihood.kind() == BDL_HETEROSCEDASTIC && !likelihood.log_precision_is_free());
}

/// A target is its error plus what the mean contributes to its linearised output, in units of the noise.
template <class T>
double LinearizedEvidence<T>::left_out() {
  EvidenceRows& part = parts_[0];
  evaluate();
  part.evaluate_once(prior_.values, weight());
  is_evaluated_ = false;
  const auto curved = static_cast<std::size_t>(sample_.curved_rows());
  double sum = 0;
  for (std::size_t r = 0; r < z_.size(); ++r) {
    z_[r] = 0;
    if (std::isnan(errors_[r])) {
      sum += std::log(2 * std::numbers::pi) / 2;  // which the row of a missing target takes away
      times_[r] = 1;
      continue;
    }
    const double precision = noise_.precision(r / curved);
    z_[r] = std::sqrt(precision) * errors_[r] + part.output(r);
    sum += times_[r] * std::log(precision) / 2;
  }
  return weight() * (sum + part.left_out_log_density(z_, times_));
}

template <class T>
double LinearizedEvidence<T>::draw_scale() {
  evaluate();
  double wanted = 0, drawn = 0;
  for (std::size_t c = 0; c < drawn_.size(); ++c) {
    wanted += determined_[c];
    drawn += drawn_[c] * noise_.factor(c);
  }
  return drawn > wanted ? std::sqrt(wanted / drawn) : 1;
}

template <class T>
double LinearizedEvidence<T>::effective_parameters() {
  evaluate();
  double sum = 0;
  for (Index g = 0; g < prior_.groups(); ++g) sum += parts_[0].effective_parameters(g);
  return sum;
}

template class LinearizedEvidence<float>;
template class LinearizedEvidence<double>;

}  // namespace bdl
