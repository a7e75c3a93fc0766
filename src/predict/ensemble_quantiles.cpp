#include <algorithm>
#include <cmath>

#include "predict/ensemble.hpp"
#include "predict/gaussian_outputs.hpp"
#include "predict/overflow.hpp"
#include "predict/result.hpp"

namespace bdl {
namespace {

/// Number of examples whose components are held at a time.
constexpr Index chunk_examples = 256;

/// Components have 0 degrees of freedom where they are normal.
double finite_or_zero(double degrees) {
  return std::isfinite(degrees) ? degrees : 0;
}

/// Adds target c of a mixture as components in the caller's units; log rates have none.
template <class T>
void add_components(const Model<T>& model, const Mixture& mixture, Index c, double weight, Components& found,
                    Components& out) {
  const Likelihood& likelihood = model.likelihood;
  const Standardization& units = model.standardization;
  const bool is_count = likelihood.kind() == BDL_POISSON;
  if (mixture.overflows) {
    out.overflows = true;
    out.overflowed += overflow::mean(mixture, c);
    return;
  }
  if (is_count || likelihood.kind() == BDL_GAUSSIAN) {
    const double noise = is_count ? 0 : 1 / likelihood.noise_precision(c);
    found.list.clear();
    const double degrees = is_count ? 0 : finite_or_zero(degrees_of(likelihood, mixture, c));
    for (Index k = 0; k < mixture.components(); ++k)
      found.list.push_back(
          {mixture.f(c, k), std::sqrt(noise + mixture.variance(c)), mixture.weight(k), degrees});
  } else {
    find_components(likelihood, mixture, c, found);
  }
  for (const Component& component : found.list)
    out.list.push_back(
        overflow::has_log_means(likelihood) && !is_count
            ? Component{component.mean, 0, weight * component.weight, component.degrees}
        : is_count
            ? Component{component.mean, component.deviation, weight * component.weight, 0, likelihood.limit()}
            : Component{units.to_caller(c, component.mean), units.target_scale(c) * component.deviation,
                        weight * component.weight, component.degrees});
}

double quantile_of(const Likelihood& likelihood, const Components& components, Tail tail) {
  if (components.overflows) return overflow::quantile(likelihood, components.overflowed, tail);
  if (likelihood.kind() == BDL_POISSON) return poisson_quantile(components, tail);
  return overflow::has_log_means(likelihood) ? log_mean_quantile(likelihood, components, tail)
                                             : component_quantile(components, tail);
}

}  // namespace

/// Collects the components of all members' predictions for x in mixed_.
template <class T>
void Ensemble<T>::find_components(const Array& x) {
  const Index outputs = model().likelihood.means();
  mixed_.resize(std::max(mixed_.size(), static_cast<std::size_t>(x.rows * outputs)));
  for (Components& components : mixed_) {
    components.list.clear();
    components.overflows = false;
    components.overflowed = 0;
  }
  const double weight = 1 / static_cast<double>(count());
  each(x, [&](Index, const Query<T>& query) {
    visit_mixtures(query, [&](Index i, const Mixture& found) {
      const Mixture mixture = at_nodes(query.model.likelihood, found, *query.memory);
      for (Index c = 0; c < outputs; ++c)
        add_components(query.model, mixture, c, weight, found_,
                       mixed_[static_cast<std::size_t>(i * outputs + c)]);
    });
  });
}

/// Calls write(i, c, k, quantile) for each of tails_. The noise of local passes depends on an example's place
/// in x, which must then stay whole.
template <class T>
template <class Write>
void Ensemble<T>::visit_quantiles(const Array& x, Write&& write) {
  const Index outputs = model().likelihood.means();
  const bool is_local = members_[0]->query(x).spec.method == BDL_LOCAL_MONTE_CARLO;
  const Index chunk = is_local ? x.rows : std::min(x.rows, chunk_examples);
  for (Index first = 0; first < x.rows; first += chunk) {
    const Index rows = std::min(chunk, x.rows - first);
    find_components(rows_of(x, first, rows));
    for (Index i = 0; i < rows; ++i)
      for (Index c = 0; c < outputs; ++c) {
        const Components& components = mixed_[static_cast<std::size_t>(i * outputs + c)];
        for (std::size_t k = 0; k < tails_.size(); ++k)
          write(first + i, c, static_cast<Index>(k), quantile_of(model().likelihood, components, tails_[k]));
      }
  }
}

template <class T>
void Ensemble<T>::quantiles(const Array& x, const Array& levels, const OutArray& quantiles) {
  if (count() == 1) return predict_quantiles(members_[0]->query(x), levels, quantiles);
  check_has_quantiles(model().likelihood);
  check_query(members_[0]->query(x));
  read_levels(levels, tails_);
  Result result(results_[0], quantiles, x.rows, model().likelihood.means() * levels.cols, "quantiles");
  visit_quantiles(x,
                  [&](Index i, Index c, Index k, double value) { result(i, c * levels.cols + k) = value; });
  write_predictions(result);
}

/// Takes the quantiles of all members' draws of means or outputs.
template <class T>
void Ensemble<T>::quantiles_of(const Array& x, bdl_quantity quantity, const Array& levels,
                               const OutArray& quantiles) {
  if (quantity == BDL_QUANTITY_Y) return this->quantiles(x, levels, quantiles);
  if (count() == 1) return predict_quantiles_of(members_[0]->query(x), quantity, levels, quantiles);
  const Query<T> first = members_[0]->query(x);
  check_query(first);
  check_samples(first.spec.samples);
  read_levels(levels, tails_);
  const Index outputs = quantity_count(model().likelihood, quantity), draws = first.spec.samples * count();
  Result result(results_[1], quantiles, x.rows, outputs * levels.cols, "quantiles");
  const bool is_local = first.spec.method == BDL_LOCAL_MONTE_CARLO;
  const Index chunk = is_local ? x.rows : std::min(x.rows, chunk_examples);
  for (Index from = 0; from < x.rows; from += chunk) {
    const Index rows = std::min(chunk, x.rows - from);
    const auto drawn = pooled_.matrix(draws * outputs, rows);
    draws_of(rows_of(x, from, rows), quantity, as_output(drawn));
    for (Index i = 0; i < rows; ++i)
      for (Index c = 0; c < outputs; ++c) {
        const std::span<double> values(drawn.column_data(i) + c * draws, static_cast<std::size_t>(draws));
        std::ranges::sort(values);
        for (std::size_t k = 0; k < tails_.size(); ++k)
          result(from + i, c * levels.cols + static_cast<Index>(k)) = sorted_quantile(values, tails_[k]);
      }
  }
  write_predictions(result);
}

template <class T>
void Ensemble<T>::interval(const Array& x, double probability, const OutArray& lower, const OutArray& upper) {
  if (count() == 1) return predict_interval(members_[0]->query(x), probability, lower, upper);
  check_has_quantiles(model().likelihood);
  check_query(members_[0]->query(x));
  check_probability(probability, "probability");
  const Index outputs = model().likelihood.means();
  Result from(results_[0], lower, x.rows, outputs, "lower"), to(results_[1], upper, x.rows, outputs, "upper");
  const double outside = (1 - probability) / 2;
  tails_.assign({{outside, false}, {outside, true}});
  visit_quantiles(x, [&](Index i, Index c, Index k, double value) { (k == 0 ? from : to)(i, c) = value; });
  write_predictions(from, to);
}

template void Ensemble<float>::quantiles(const Array&, const Array&, const OutArray&);
template void Ensemble<double>::quantiles(const Array&, const Array&, const OutArray&);
template void Ensemble<float>::quantiles_of(const Array&, bdl_quantity, const Array&, const OutArray&);
template void Ensemble<double>::quantiles_of(const Array&, bdl_quantity, const Array&, const OutArray&);
template void Ensemble<float>::interval(const Array&, double, const OutArray&, const OutArray&);
template void Ensemble<double>::interval(const Array&, double, const OutArray&, const OutArray&);

}  // namespace bdl
