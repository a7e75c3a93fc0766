#include "train/approximate/mode.hpp"

#include <algorithm>

#include "posterior/families.hpp"
#include "posterior/kronecker/kronecker.hpp"

namespace bdl {

template <class T>
bool is_mode(const Optimizer<T>& optimizer) {
  return optimizer.options().rule == Rule::map && !optimizer.options().laplace &&
         optimizer.posterior()->is_gaussian() && optimizer.context().has_matrices &&
         optimizer.context().has_hidden;
}

namespace {

// Factors of wider layers have eigenvectors that cost more than the training between two searches.
constexpr Index widest_side = 1024;

bool is_narrow(const std::vector<MatrixShape>& matrices) {
  return std::ranges::all_of(matrices, [](const MatrixShape& shape) {
    return !shape.is_matrix() || std::max(shape.outputs, shape.columns()) <= widest_side;
  });
}

/// True if the prior has one precision for the parameters of each of these matrices, and the search for it
/// keeps that.
template <class T>
bool is_even(const Prior<T>& prior, PriorGroups groups, const std::vector<MatrixShape>& matrices) {
  if (groups == PriorGroups::inputs || prior.has_normals()) return false;
  auto begin = prior.precision().begin();
  return std::ranges::all_of(matrices, [&](const MatrixShape& shape) {
    const auto end = begin + shape.parameters();
    const bool same = !shape.is_matrix() || std::all_of(begin, end, [&](T value) { return value == *begin; });
    begin = end;
    return same;
  });
}

}  // namespace

template <class T>
std::unique_ptr<Posterior<T>> factors_at(const Optimizer<T>& optimizer) {
  const Posterior<T>& q = *optimizer.posterior();
  PosteriorKind kind{Family::low_rank, q.dimension(), 0};
  auto matrices = matrices_of(*optimizer.model());
  if (is_narrow(matrices) && is_even(optimizer.prior(), optimizer.options().prior_groups, matrices)) {
    kind.family = Family::kronecker;
    kind.matrices = std::move(matrices);
  }
  auto factors = create_posterior<T>(kind);
  factors->adopt(q.point_parameters());
  std::ranges::copy(q.mean(), factors->mean().begin());
  std::ranges::copy(q.statistics(), factors->statistics().begin());
  return factors;
}

#define BDL_INSTANTIATE(T)                    \
  template bool is_mode(const Optimizer<T>&); \
  template std::unique_ptr<Posterior<T>> factors_at(const Optimizer<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
