#include "likelihood/shape.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "likelihood/formulas.hpp"
#include "linalg/dense/cholesky.hpp"

namespace bdl {
namespace {

constexpr double least_shape = 1e-6, most_shape = 1e6, largest_cut = 40, least_gap = 1e-6;
constexpr double longest_step = 1;  // in log shapes, and of cut points

template <class Act>
void with_shape(const Likelihood& likelihood, Act&& act) {
  with_formulas(likelihood, [&](auto formulas) {
    if constexpr (requires(ShapeTerms & terms) {
                    formulas.add_shape_information(likelihood, 0.0, 1.0, terms);
                  })
      act(formulas);
  });
}

template <class Act>
void with_coupling(const Likelihood& likelihood, Act&& act) {
  with_formulas(likelihood, [&](auto formulas) {
    if constexpr (requires(std::span<double> row) {
                    formulas.add_shape_coupling(likelihood, 0.0, 0.0, 0.0, 1.0, row);
                  })
      act(formulas);
  });
}

/// Solves I d = g with a little added to the diagonal of I.
std::vector<double> solve(ConstMatrixView<double> information, ConstSpan<double> gradient) {
  std::vector<double> d(gradient.begin(), gradient.end());
  Buffer<double> memory;
  const auto factor = memory.matrix(information.rows, information.cols);
  std::copy_n(information.data, information.size(), factor.data);
  for (Index k = 0; k < factor.rows; ++k) factor(k, k) = factor(k, k) * (1 + 1e-12) + 1e-12;
  if (!cholesky(factor)) return std::vector<double>(d.size(), 0.0);
  cholesky_solve(factor, {d.data(), factor.rows, 1});
  return d;
}

/// Takes a part of the step, shorter if cut points would not ascend.
std::vector<double> moved_cuts(ConstSpan<double> cuts, ConstSpan<double> step, double part) {
  for (std::size_t k = 1; k < cuts.size(); ++k) {
    const double gap = cuts[k] - cuts[k - 1], change = part * (step[k] - step[k - 1]);
    if (gap + change < 0.1 * gap) part *= 0.9 * gap / -change;
  }
  std::vector<double> next;
  for (std::size_t k = 0; k < cuts.size(); ++k) {
    const double least = k == 0 ? -largest_cut : next[k - 1] + least_gap;
    next.push_back(std::clamp(cuts[k] + part * step[k], least, std::max(least, largest_cut)));
  }
  return next;
}

/// Numbers the cut points that move together: those at the two sides of a level that no row has meet.
std::vector<Index> groups_of_cuts(const Likelihood& likelihood, const ShapeTerms& terms) {
  std::vector<Index> group(likelihood.shape().size(), 0);
  for (std::size_t k = 1; k < group.size(); ++k) {
    const auto cut = static_cast<Index>(k);
    const bool have_met = likelihood.shape(cut) - likelihood.shape(cut - 1) <= 2 * least_gap;
    group[k] = group[k - 1] + (have_met && terms.matrix(cut, cut - 1) == 0 ? 0 : 1);
  }
  return group;
}

/// Eliminates an intercept with this prior from the equations C d = g of cut points with a fixed mean:
/// outputs depend on their differences from it only. The last term of C does not matter to such d, and keeps
/// C regular.
void eliminate_intercept(const InterceptPrior& prior, ConstSpan<double> sizes, MatrixView<double> c,
                         std::span<double> g) {
  std::vector<double> couplings(sizes.size());
  double of_intercept = 0, slope = prior.slope, count = 0;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    for (std::size_t j = 0; j < sizes.size(); ++j)
      couplings[k] += c(static_cast<Index>(std::max(j, k)), static_cast<Index>(std::min(j, k))) * sizes[j];
    of_intercept += sizes[k] * couplings[k];
    slope += g[k];
    count += sizes[k];
  }
  if (!(of_intercept > 0)) return;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const double share = couplings[k] / (of_intercept + prior.precision);
    g[k] -= share * slope;
    for (std::size_t j = 0; j <= k; ++j)
      c(static_cast<Index>(k), static_cast<Index>(j)) +=
          of_intercept / (count * count) * sizes[k] * sizes[j] - share * couplings[j];
  }
}

/// Returns B g, where B is C^-1 for cut points that may move alone or, if `holds_location`, C^-1 - u u^T /
/// (1^T u) with u = C^-1 1, which keeps their mean.
std::vector<double> best_change(const Likelihood& likelihood, const ShapeTerms& terms, ConstSpan<double> g,
                                bool holds_location, const InterceptPrior* prior = nullptr) {
  const std::vector<Index> group = groups_of_cuts(likelihood, terms);
  const Index groups = group.back() + 1;
  Buffer<double> memory;
  const auto information = memory.matrix(groups, groups);
  std::fill_n(information.data, information.size(), 0.0);
  std::vector<double> of_groups(static_cast<std::size_t>(groups)), sizes(of_groups);
  for (std::size_t k = 0; k < group.size(); ++k) {
    const auto at = static_cast<std::size_t>(group[k]);
    of_groups[at] += g[k];
    sizes[at] += 1;
    for (std::size_t j = 0; j <= k; ++j)
      information(group[k], group[j]) += terms.matrix(static_cast<Index>(k), static_cast<Index>(j));
  }
  if (prior) eliminate_intercept(*prior, sizes, information, of_groups);
  std::vector<double> change = solve(information, of_groups);
  if (holds_location) {
    const std::vector<double> common = solve(information, sizes);
    const double sum = std::inner_product(change.begin(), change.end(), sizes.begin(), 0.0),
                 of_common = std::inner_product(common.begin(), common.end(), sizes.begin(), 0.0);
    for (std::size_t c = 0; c < change.size(); ++c)
      change[c] -= of_common > 0 ? sum / of_common * common[c] : 0;
  }
  std::vector<double> out(group.size());
  std::ranges::transform(group, out.begin(), [&](Index at) { return change[static_cast<std::size_t>(at)]; });
  return out;
}

ShapeStep cut_step(const Likelihood& likelihood, const ShapeTerms& terms, double part, bool holds_location,
                   const InterceptPrior* prior) {
  const ConstSpan<double> gradient = terms.gradient;
  const std::size_t size = gradient.size();
  const std::vector<double> step = best_change(likelihood, terms, gradient, holds_location, prior);
  double largest = 0, square = 0;
  for (std::size_t k = 0; k < size; ++k) {
    largest = std::max(largest, std::abs(step[k]));
    square += step[k] * gradient[k];
  }
  if (part * largest > longest_step) part = longest_step / largest;
  return {moved_cuts(likelihood.shape(), step, part), std::sqrt(std::max(0.0, square))};
}

ShapeStep log_step(const Likelihood& likelihood, const ShapeTerms& terms, double part) {
  const double gradient = terms.gradient[0], now = std::log(likelihood.shape(0));
  const double information = std::max(terms.information[0], 1e-12 + 1e-3 * std::abs(gradient));
  const double whole = gradient / information;
  const double next = std::clamp(now + std::clamp(part * whole, -longest_step, longest_step),
                                 std::log(least_shape), std::log(most_shape));
  const bool is_at_limit = next == now;
  return {{std::exp(next)},
          is_at_limit ? 0 : std::min(std::abs(whole), longest_step) * std::sqrt(information)};
}

double logit_of_share(double below, double all) {
  const double share = (below + 0.5) / (all + 1);
  return std::log(share / (1 - share));
}

}  // namespace

ShapeTerms shape_terms(const Likelihood& likelihood, std::span<double> sums) {
  const Index size = std::ssize(likelihood.shape());
  const auto count = static_cast<std::size_t>(size);
  return {sums.first(count), {sums.data() + size, size, size}, sums.subspan(count)};
}

template <class T>
void add_shape_terms(const Likelihood& likelihood, const T* f, const T* y, double weight,
                     std::span<double> sums) {
  ShapeTerms terms = shape_terms(likelihood, sums);
  with_shape(likelihood, [&](auto formulas) {
    for (Index c = 0; c < likelihood.targets() && weight > 0; ++c) {
      if (std::isnan(y[c])) continue;
      const auto output = static_cast<double>(f[c]);
      formulas.add_shape_gradient(likelihood, output, static_cast<double>(y[c]), weight, terms);
      formulas.add_shape_information(likelihood, output, weight, terms);
    }
  });
}

void add_expected_shape_terms(const Likelihood& likelihood, double m, double v, double y, double weight,
                              std::span<double> sums) {
  if (std::isnan(y) || weight == 0) return;
  ShapeTerms terms = shape_terms(likelihood, sums);
  with_shape(likelihood,
             [&](auto formulas) { formulas.add_expected_shape_terms(likelihood, m, v, y, weight, terms); });
}

bool has_coupled_shape(const Likelihood& likelihood) {
  bool has = false;
  with_coupling(likelihood, [&](auto) { has = true; });
  return has;
}

void add_shape_couplings(const Likelihood& likelihood, double m, double v, double y, double weight,
                         std::span<double> sums) {
  if (std::isnan(y) || weight == 0) return;
  with_coupling(likelihood,
                [&](auto formulas) { formulas.add_shape_coupling(likelihood, m, v, y, weight, sums); });
}

void shape_covariance(const Likelihood& likelihood, ConstSpan<double> sums, bool holds_location,
                      MatrixView<double> out) {
  std::vector<double> copy(sums.begin(), sums.end());
  const ShapeTerms terms = shape_terms(likelihood, copy);
  for (Index k = 0; k < out.cols; ++k) {
    std::vector<double> unit(static_cast<std::size_t>(out.rows));
    unit[static_cast<std::size_t>(k)] = 1;
    std::ranges::copy(best_change(likelihood, terms, unit, holds_location), out.column(k).begin());
  }
}

ShapeStep shape_step(const Likelihood& likelihood, ConstSpan<double> sums, double part, bool holds_location,
                     const InterceptPrior* prior) {
  std::vector<double> copy(sums.begin(), sums.end());
  const ShapeTerms terms = shape_terms(likelihood, copy);
  return likelihood.target_kind() == TargetKind::level
             ? cut_step(likelihood, terms, part, holds_location, prior)
             : log_step(likelihood, terms, part);
}

std::vector<double> learned_numbers(const Likelihood& likelihood, ConstSpan<double> shape) {
  if (likelihood.target_kind() != TargetKind::level) return {std::log(shape[0])};
  return {shape.begin(), shape.end()};
}

std::vector<double> shape_of(const Likelihood& likelihood, ConstSpan<double> numbers) {
  if (likelihood.target_kind() != TargetKind::level) return {std::exp(numbers[0])};
  return {numbers.begin(), numbers.end()};
}

bool are_learned_numbers(const Likelihood& likelihood, ConstSpan<double> numbers) {
  if (likelihood.target_kind() != TargetKind::level)
    return numbers[0] >= std::log(least_shape) && numbers[0] <= std::log(most_shape);
  for (std::size_t k = 0; k < numbers.size(); ++k)
    if (!(std::abs(numbers[k]) <= largest_cut) || (k > 0 && !(numbers[k] >= numbers[k - 1] + least_gap)))
      return false;
  return true;
}

Index target_sum_count(const Likelihood& likelihood) {
  return likelihood.target_kind() == TargetKind::level ? likelihood.levels() : 3;
}

template <class T>
void add_target(const Likelihood& likelihood, ConstSpan<T> y, double weight, std::span<double> sums) {
  for (const T target : y) {
    const auto value = static_cast<double>(target);
    if (std::isnan(value)) continue;
    if (likelihood.target_kind() == TargetKind::level) {
      sums[static_cast<std::size_t>(value)] += weight;
      continue;
    }
    sums[0] += weight;
    sums[1] += weight * value;
    sums[2] += weight * value * value;
  }
}

std::vector<double> first_shape(const Likelihood& likelihood, ConstSpan<double> sums) {
  if (likelihood.target_kind() == TargetKind::level) {
    double all = 0, below = 0;
    for (const double count : sums) all += count;
    std::vector<double> cuts;
    for (std::size_t k = 0; k + 1 < sums.size(); ++k) {
      below += sums[k];
      const double cut = logit_of_share(below, all);
      cuts.push_back(k == 0 ? cut : std::max(cut, cuts.back() + 1e-3));
    }
    return cuts;
  }
  const double rows = sums[0] > 0 ? sums[0] : 1, mean = sums[1] / rows,
               variance = std::max(0.0, sums[2] / rows - mean * mean),
               beyond = likelihood.target_kind() == TargetKind::count ? variance - mean : variance;
  constexpr double least = 0.1, most = 100;
  return {beyond > 0 ? std::clamp(mean * mean / beyond, least, most) : most};
}

template void add_shape_terms(const Likelihood&, const float*, const float*, double, std::span<double>);
template void add_shape_terms(const Likelihood&, const double*, const double*, double, std::span<double>);
template void add_target(const Likelihood&, ConstSpan<float>, double, std::span<double>);
template void add_target(const Likelihood&, ConstSpan<double>, double, std::span<double>);

}  // namespace bdl
