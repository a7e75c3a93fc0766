#include "train/scales/evidence_rows.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace bdl {

EvidenceRows::EvidenceRows(Index first, Index outputs, Index curved, ConstSpan<double> sizes)
    : first_(first),
      sizes_(sizes.begin(), sizes.end()),
      is_in_(sizes.size()),
      factors_(static_cast<std::size_t>(outputs * curved)),
      once_(factors_.size()),
      products_(sizes.size(), std::vector<double>(factors_.size())) {}

void EvidenceRows::begin() {
  gram_.begin(count(), groups());
  is_in_.assign(is_in_.size(), false);
  std::ranges::fill(factors_, 1.0);
  for (auto& products : products_) std::ranges::fill(products, 0.0);
}

template <class T>
void EvidenceRows::add(Index group, double scale, ConstMatrixView<double> gram, ConstSpan<double> factors,
                       ConstSpan<T> products) {
  gram_.add(group, scale, gram, factors);
  is_in_[static_cast<std::size_t>(group)] = true;
  auto& sums = products_[static_cast<std::size_t>(group)];
  for (std::size_t r = 0; r < sums.size(); ++r) sums[r] += factors[r] * static_cast<double>(products[r]);
}

void EvidenceRows::evaluate_rows(ConstSpan<double> precisions, ConstSpan<double> factors) {
  if (!gram_.evaluate(precisions, factors))
    fail(Status::ERROR_DIVERGED, "the evidence by which scales are learned is not finite");
}

void EvidenceRows::count_once(double weight) {
  for (std::size_t r = 0; r < once_.size(); ++r) once_[r] = factors_[r] / std::sqrt(weight);
}

void EvidenceRows::evaluate_once(ConstSpan<double> precisions, double weight) {
  count_once(weight);
  evaluate_rows(precisions, once_);
}

double EvidenceRows::determined() const {
  double sum = 0;
  for (Index g = 0; g < groups(); ++g) sum += gram_.effective_parameters(g);
  return sum;
}

/// A row that counts for w examples determines as many parameters as w equal ones, never more than one;
/// different ones determine more. Counted once each, half of the rows and all of them tell how the number
/// grows with the rows n, as P n / (n + n_0): P = n_0 = infinity where each row determines one parameter.
double EvidenceRows::determined_by_all(ConstSpan<double> precisions, double weight) {
  count_once(weight);
  const double all = gram_.determined(precisions, once_, 1), half = gram_.determined(precisions, once_, 2);
  if (!(half > 0)) return 0;
  double parameters = 0;
  for (std::size_t g = 0; g < sizes_.size(); ++g) parameters += is_in_[g] ? sizes_[g] : 0;
  const double inverse_limit = std::max(2 / all - 1 / half, 0.0);
  return std::min(1 / (inverse_limit + (1 / all - inverse_limit) / weight), parameters);
}

void EvidenceRows::evaluate(ConstSpan<double> precisions, double weight) {
  const double of_all = weight > 1 ? determined_by_all(precisions, weight) : 0;
  evaluate_rows(precisions, factors_);
  const double of_rows = determined();
  growth_ = of_all > of_rows ? of_all / of_rows : 1;
}

double EvidenceRows::effective_parameters(Index group) const {
  return std::min(growth_ * gram_.effective_parameters(group), sizes_[static_cast<std::size_t>(group)]);
}

double EvidenceRows::determined_square(Index group, double precision) {
  return gram_.determined_square(group, precision, factors_, products_[static_cast<std::size_t>(group)]);
}

double EvidenceRows::output(std::size_t row) const {
  double sum = 0;
  for (const auto& products : products_) sum += once_[row] * products[row];
  return sum;
}

template void EvidenceRows::add<float>(Index, double, ConstMatrixView<double>, ConstSpan<double>,
                                       ConstSpan<float>);
template void EvidenceRows::add<double>(Index, double, ConstMatrixView<double>, ConstSpan<double>,
                                        ConstSpan<double>);

}  // namespace bdl
