#include "train/scales/linearized_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/error.hpp"
#include "curvature/blocked_rows.hpp"
#include "curvature/seeds.hpp"

namespace bdl {
namespace {

constexpr Index chunk = 256;                      // examples of a forward pass
constexpr Index rows_at_a_time = 64;              // that are written out
constexpr double longest_move = 5;                // largest factor on a scale in a step of the search
constexpr double smallest = 1e-8, largest = 1e8;  // prior precisions
constexpr double most_precise = 1e10;             // noise precision in units of 1 / Var(y)

/// Adds the lower triangle of rows first .. first + n - 1, in double, to a group's Gram matrix.
void add_part(Index group, double scale, ConstMatrixView<double> all, Index first, ConstSpan<double> factors,
              GramEvidence& gram) {
  gram.add(group, scale, all.block(first, first, gram.rows(), gram.rows()), factors);
}

double moved(double from, double to) {
  return std::clamp(to, from / longest_move, from * longest_move);
}

}  // namespace

template <class T>
double LinearizedEvidence<T>::Target::variance() const {
  const double mean = values > 0 ? sum / values : 0, square = values > 0 ? squares / values : 0;
  const double about_mean = square - mean * mean;
  return about_mean > 1e-12 * square ? about_mean : square > 0 ? square : 1;
}

template <class T>
LinearizedEvidence<T>::LinearizedEvidence(const Optimizer<T>& optimizer, const EvidenceSample<T>& sample)
    : optimizer_(optimizer),
      likelihood_(optimizer.model()->likelihood),
      targets_(static_cast<std::size_t>(likelihood_.targets())),
      prior_(optimizer.prior().grouped()),
      gives_means_(prior_.values.size()) {
  add_errors(sample);
  add_rows(sample);
}

/// Adds up log likelihood and errors at the mean.
template <class T>
void LinearizedEvidence<T>::add_errors(const EvidenceSample<T>& sample) {
  const Model<T>& model = *optimizer_.model();
  const Posterior<T>& q = *optimizer_.posterior();
  const double weight = static_cast<double>(sample.data_rows()) / static_cast<double>(sample.rows());
  Scratch scratch;
  Buffer<T> outputs(model.outputs() * std::min(chunk, sample.rows()));
  std::vector<double> errors(targets_.size());
  for (Index first = 0; first < sample.rows(); first += chunk) {
    const Index count = std::min(chunk, sample.rows() - first);
    const auto f = outputs.matrix(model.outputs(), count);
    const auto y = sample.y().columns(first, count);
    model.forward(q.mean(), sample.x().columns(first, count), f, scratch, q.statistics());
    check_outputs_finite<T>(f);
    log_likelihood_ += weight * expected_log_likelihood<T>(likelihood_, f, y);
    sum_squared_errors<T>(likelihood_, f, y, errors);
    for (std::size_t c = 0; c < targets_.size(); ++c) targets_[c].errors += weight * errors[c];
    for (Index i = 0; i < count; ++i)
      for (std::size_t c = 0; c < targets_.size(); ++c) {
        const auto value = static_cast<double>(y(static_cast<Index>(c), i));
        if (std::isnan(value)) continue;
        targets_[c].values += weight;
        targets_[c].sum += weight * value;
        targets_[c].squares += weight * value * value;
      }
  }
}

/// Makes the rows of the curvature and their Gram matrices. Held log noise precisions have none.
template <class T>
void LinearizedEvidence<T>::add_rows(const EvidenceSample<T>& sample) {
  const Model<T>& model = *optimizer_.model();
  const Posterior<T>& q = *optimizer_.posterior();
  curved_ = sample.curved_rows();
  const Index means = likelihood_.means(), others = likelihood_.outputs() - means;
  parts_.resize(others > 0 && likelihood_.log_precision_is_free() ? 2 : 1);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    parts_[p].first = p == 0 ? 0 : means * curved_;
    parts_[p].gram.begin((p == 0 ? means : others) * curved_, prior_.groups());
    parts_[p].factors.assign(static_cast<std::size_t>(parts_[p].gram.rows()), 1.0);
    parts_[p].products.assign(prior_.values.size(), std::vector<double>(parts_[p].factors.size()));
  }
  const auto estimator = make_estimator(model);
  SeedSpec seeds{CurvatureKind::gauss_newton, 1};
  seeds.apart = true;
  seeds.statistics = {q.statistics(), {}};
  const ConstMatrixView<T> mean(q.mean().data(), q.dimension(), 1);
  const Estimate<T> estimate = estimator->estimate(mean, sample.curved_x(), sample.curved_y(), seeds);
  const double weight = static_cast<double>(sample.data_rows()) / static_cast<double>(curved_);
  add_layers(estimate, *estimator->blocks(), weight);
  add_variances(estimate, weight);
}

/// Adds up w b^T Sigma b over the rows b of each target.
template <class T>
void LinearizedEvidence<T>::add_variances(const Estimate<T>& estimate, double weight) {
  const Posterior<T>& q = *optimizer_.posterior();
  Scratch scratch;
  Buffer<T> written(q.dimension() * rows_at_a_time);
  Buffer<double> variances(rows_at_a_time);
  for (std::size_t c = 0; c < targets_.size(); ++c)
    for (Index first = 0; first < curved_; first += rows_at_a_time) {
      const auto rows = written.matrix(q.dimension(), std::min(rows_at_a_time, curved_ - first));
      const Index before = static_cast<Index>(c) * curved_ + first;
      for (Index r = 0; r < rows.cols; ++r) estimate.rows->write_row(before + r, 0, rows.column(r));
      q.variances(rows, variances.first(rows.cols), scratch);
      for (Index r = 0; r < rows.cols; ++r)
        targets_[c].drawn += weight * static_cast<double>(estimate.w[static_cast<std::size_t>(before + r)]) *
                             variances.data()[r];
    }
}

template <class T>
void LinearizedEvidence<T>::add_layers(const Estimate<T>& estimate, const BlockedRows<T>& rows,
                                       double weight) {
  const auto mean = optimizer_.posterior()->mean();
  const Index count = rows.count();
  Buffer<double> all(count * count);
  Buffer<T> products(count);
  std::vector<double> factors(static_cast<std::size_t>(count));
  std::ranges::transform(estimate.w, factors.begin(),
                         [=](T w) { return std::sqrt(weight * static_cast<double>(w)); });
  for (const auto& [layer, offset] : rows.blocks()) {
    const auto gram = all.matrix(count, count);
    layer->gram(false, gram, rows.scratch());
    layer->project({mean.data() + offset, layer->parameters(), 1}, false, products.matrix(1, count),
                   rows.scratch());
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      Part& part = parts_[p];
      const auto of_part =
          ConstSpan<double>(factors).subspan(static_cast<std::size_t>(part.first), part.factors.size());
      // The last layer's parameters of the means come first, and those of log noise precisions last.
      const auto of = static_cast<std::size_t>(p == 0 ? offset : offset + layer->parameters() - 1);
      const auto group = static_cast<std::size_t>(prior_.group[of]);
      if (p == 0) gives_means_[group] = true;
      add_part(prior_.group[of], 1 / prior_.scale[of], gram, part.first, of_part, part.gram);
      for (std::size_t r = 0; r < of_part.size(); ++r)
        part.products[group][r] +=
            of_part[r] * static_cast<double>(products.data()[part.first + static_cast<Index>(r)]);
    }
  }
}

template <class T>
void LinearizedEvidence<T>::evaluate() {
  for (std::size_t c = 0; c < targets_.size(); ++c)
    std::fill_n(parts_[0].factors.begin() + static_cast<Index>(c) * curved_, curved_,
                std::exp(targets_[c].log_change / 2));
  value_ = log_likelihood_;
  for (std::size_t c = 0; c < targets_.size(); ++c) {
    const Target& target = targets_[c];
    const double tau = likelihood_.noise_precision(static_cast<Index>(c));
    value_ += (target.values * target.log_change - std::expm1(target.log_change) * tau * target.errors) / 2;
  }
  const std::vector<double> all = squares();
  for (std::size_t g = 0; g < prior_.values.size(); ++g) value_ -= prior_.values[g] * all[g] / 2;
  for (Part& part : parts_) {
    if (!part.gram.evaluate(prior_.values, part.factors))
      fail(Status::ERROR_DIVERGED, "the evidence by which scales are learned is not finite");
    value_ -= part.gram.log_det() / 2;
  }
}

template <class T>
std::vector<double> LinearizedEvidence<T>::squares() const {
  const auto mean = optimizer_.posterior()->mean();
  std::vector<double> all(prior_.values.size());
  for (std::size_t j = 0; j < mean.size(); ++j)
    if (prior_.group[j] >= 0)
      all[static_cast<std::size_t>(prior_.group[j])] +=
          prior_.scale[j] * std::pow(static_cast<double>(mean[j]), 2);
  return all;
}

/// Of a group that moves means, only what means determine counts.
template <class T>
std::vector<double> LinearizedEvidence<T>::determined_squares() {
  std::vector<double> all = squares();
  for (std::size_t g = 0; g < all.size(); ++g) {
    double square = 0;
    for (Part& part : parts_) {
      square = part.gram.determined_square(static_cast<Index>(g), prior_.values[g], part.factors,
                                           part.products[g]);
      if (square > 0) break;
    }
    if (square > 0) all[g] = std::min(all[g], square);
  }
  return all;
}

/// Returns the parameters that the rows of a target determine.
template <class T>
double LinearizedEvidence<T>::leverage_of(std::size_t target) const {
  double sum = 0;
  for (Index i = 0; i < curved_; ++i)
    sum += parts_[0].gram.leverage(static_cast<Index>(target) * curved_ + i);
  return sum;
}

/// The noise is never larger than that of a constant; where it depends on x, never much larger.
template <class T>
void LinearizedEvidence<T>::move_noise() {
  const bool is_shared = likelihood_.noise_precision().size() == 1;
  const double least_share = parts_.size() > 1 ? 1e-2 : 1;
  Target all;
  double least = 0, leverage = 0;
  for (std::size_t c = 0; c < targets_.size(); ++c) {
    Target& target = targets_[c];
    const double of_target = leverage_of(c), tau = likelihood_.noise_precision(static_cast<Index>(c));
    all.values += target.values;
    all.errors += target.errors;
    leverage += of_target;
    least += target.values * target.variance();
    if (is_shared) continue;
    const double bound = least_share / target.variance();
    const double wanted = std::max(target.values - of_target, smallest) / std::max(target.errors, 1e-300);
    target.log_change = std::log(std::clamp(wanted, bound, most_precise * bound) / tau);
  }
  if (!is_shared) return;
  const double bound = least_share * all.values / least,
               wanted = std::max(all.values - leverage, smallest) / std::max(all.errors, 1e-300);
  const double change =
      std::log(std::clamp(wanted, bound, most_precise * bound) / likelihood_.noise_precision(0));
  for (Target& target : targets_) target.log_change = change;
}

template <class T>
void LinearizedEvidence<T>::move(const MovedScales& moves, const std::vector<double>& all) {
  if (moves.prior)
    for (std::size_t g = 0; g < prior_.values.size(); ++g) {
      double effective = 0;
      for (const Part& part : parts_) effective += part.gram.effective_parameters(static_cast<Index>(g));
      const bool is_free =
          moves.noise_outputs || parts_[0].gram.effective_parameters(static_cast<Index>(g)) > 0;
      if (is_free && effective > 0 && all[g] > 0)
        prior_.values[g] = std::clamp(moved(prior_.values[g], effective / all[g]), smallest, largest);
    }
  if (moves.noise) move_noise();
}

/// Guesses that half of what the rows can determine is determined.
template <class T>
void LinearizedEvidence<T>::begin_afresh() {
  const std::vector<double> all = squares();
  std::vector<double> sizes(all.size());
  for (const Index group : prior_.group)
    if (group >= 0) ++sizes[static_cast<std::size_t>(group)];
  const auto groups = static_cast<double>(all.size());
  for (std::size_t g = 0; g < all.size(); ++g)
    if (all[g] > 0 && gives_means_[g])
      prior_.values[g] = std::min(sizes[g], static_cast<double>(parts_[0].gram.rows()) / groups) / 2 / all[g];
  for (std::size_t c = 0; c < targets_.size(); ++c) {
    const Target& target = targets_[c];
    const double wanted =
        target.values / std::max(target.errors, target.values * target.variance() / most_precise);
    targets_[c].log_change = std::log(wanted / likelihood_.noise_precision(static_cast<Index>(c)));
  }
}

template <class T>
void LinearizedEvidence<T>::search(const MovedScales& moves, int steps) {
  const std::vector<double> all = squares();
  for (int step = 0; step < steps; ++step) {
    evaluate();
    move(moves, all);
  }
}

template <class T>
void LinearizedEvidence<T>::search_determined(const MovedScales& moves, int steps) {
  for (int step = 0; step < steps; ++step) {
    evaluate();
    move(moves, determined_squares());
  }
}

template <class T>
double LinearizedEvidence<T>::of_constant() const {
  double sum = 0;
  for (const Target& target : targets_)
    sum -= target.values * (std::log(2 * std::numbers::pi * target.variance()) + 1) / 2;
  return sum;
}

template <class T>
std::vector<double> LinearizedEvidence<T>::noise() const {
  std::vector<double> all(likelihood_.noise_precision().begin(), likelihood_.noise_precision().end());
  for (std::size_t c = 0; c < all.size(); ++c) all[c] *= std::exp(targets_[c].log_change);
  return all;
}

template <class T>
std::vector<double> LinearizedEvidence<T>::noise_of_constant() const {
  std::vector<double> all(likelihood_.noise_precision().size());
  double values = 0, squares = 0;
  for (std::size_t c = 0; c < targets_.size(); ++c) {
    values += targets_[c].values;
    squares += targets_[c].values * targets_[c].variance();
    if (all.size() > 1) all[c] = 1 / targets_[c].variance();
  }
  if (all.size() == 1) all[0] = values / squares;
  return all;
}

template <class T>
double LinearizedEvidence<T>::value() {
  evaluate();
  return value_;
}

template <class T>
double LinearizedEvidence<T>::draw_scale() {
  evaluate();
  double wanted = 0, drawn = 0;
  for (std::size_t c = 0; c < targets_.size(); ++c) {
    wanted += leverage_of(c);
    drawn += targets_[c].drawn * std::exp(targets_[c].log_change);
  }
  return drawn > wanted ? std::sqrt(wanted / drawn) : 1;
}

template <class T>
double LinearizedEvidence<T>::effective_parameters() const {
  double sum = 0;
  for (const Part& part : parts_)
    for (Index g = 0; g < prior_.groups(); ++g) sum += part.gram.effective_parameters(g);
  return sum;
}

template class LinearizedEvidence<float>;
template class LinearizedEvidence<double>;

}  // namespace bdl
