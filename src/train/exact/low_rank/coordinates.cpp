#include "train/exact/low_rank/coordinates.hpp"

#include <algorithm>
#include <cmath>

#include "rng/philox.hpp"

namespace bdl {
namespace {

/// Returns the bounds of d, relative to a typical diagonal of the precision: below them diag(Sigma) would
/// keep too few digits, and d is as good as 0.
std::vector<double> least_diagonal(std::vector<double> typical) {
  for (double& value : typical) value *= 1e-6;
  return typical;
}

std::vector<double> copy_of(ConstSpan<double> values) {
  return {values.begin(), values.end()};
}

/// Moves q away from U = 0 and from d at its bound, which are stationary in the chart whatever the ELBO is.
/// (A search may end with a d at its bound, where U has the precision of that parameter.)
void leave_saddle(LowRankPosterior<double>& q, ConstSpan<double> typical) {
  constexpr double low = 1e-5, raised = 1e-2, length = 0.1;
  const Index dimension = q.dimension(), size = q.u().size();
  Buffer<double> u(size), d(dimension), diagonal(dimension);
  std::ranges::copy(q.d(), d.data());
  q.precision_diagonal(diagonal.first(dimension));
  bool moved = false;
  for (Index i = 0; i < dimension; ++i) {
    const double usual = typical[static_cast<std::size_t>(i)];
    if (diagonal.data()[i] > low * usual) continue;
    d.data()[i] = raised * usual;
    moved = true;
  }
  std::copy_n(q.u().data, size, u.data());
  if (size > 0 && std::all_of(u.data(), u.data() + size, [](double value) { return value == 0; })) {
    fill_normal({1, Stream::initialization, 0, 0}, 0, u.first(size));
    for (Index k = 0; k < size; ++k)
      u.data()[k] *= length * std::sqrt(d.data()[k % dimension] / static_cast<double>(dimension));
    moved = true;
  }
  if (moved) q.set_precision(u.matrix(dimension, q.rank()), d.first(dimension));
}

}  // namespace

LowRankCoordinates::LowRankCoordinates(ExactElbo& elbo, LowRankPosterior<double>& q)
    : LowRankCoordinates(elbo, q, copy_of(elbo.typical_precision())) {}

LowRankCoordinates::LowRankCoordinates(ExactElbo& elbo, LowRankPosterior<double>& q,
                                       std::vector<double> typical)
    : elbo_(elbo), q_(q), chart_(q.rank(), least_diagonal(typical)) {
  leave_saddle(q, typical);
}

ExactElbo::Value LowRankCoordinates::differentiate(std::span<double> gradient) {
  const ExactElbo::Value value = gradient_.compute(elbo_, q_);
  chart_.pull_back(gradient_.mean(), gradient_.u(), gradient_.d(), gradient);
  return value;
}

}  // namespace bdl
