#include "train/approximate/laplace/dense_curvature.hpp"

#include <algorithm>
#include <cmath>

#include "curvature/data_rows.hpp"
#include "linalg/dense/cholesky.hpp"
#include "network/shape.hpp"
#include "posterior/blocks/blocks.hpp"

namespace bdl {
namespace {

template <class T>
std::vector<IndexRange> blocks_of(const Posterior<T>& q) {
  if (q.family() == Family::full) return {{0, q.dimension()}};
  std::vector<IndexRange> blocks;
  const auto& all = as_blocks(q);
  for (Index k = 0; k < all.block_count(); ++k)
    blocks.push_back({all.offset(k), all.offset(k) + all.member(k).dimension()});
  return blocks;
}

/// Adds the sums over K = A^-1 of the parameters from `first` on, by groups unless it is negative. A = I + s
/// B is overwritten.
void add_block(MatrixView<double> a, MatrixView<double> k, const GroupedPrecisions& prior, Index first,
               EvidenceSums& out) {
  if (!cholesky(a)) fail_not_positive("precision");
  out.log_det += log_det_from_cholesky(a);
  cholesky_inverse(a, k);
  for (Index j = 0; j < k.cols; ++j) {
    out.effective += 1 - k(j, j);  // points have K_jj = 1
    if (first < 0) continue;
    const Index* const group = prior.group.data() + first;
    if (group[j] < 0) continue;
    out.traces[at(group[j])] += 1 - k(j, j);
    double* const squares = &out.square(group[j], 0);
    const double* const column = k.column_data(j);
    for (Index i = 0; i < k.rows; ++i)
      if (group[i] >= 0) squares[group[i]] += column[i] * column[i];
  }
}

}  // namespace

template <class T>
DenseCurvature<T>::DenseCurvature(const Model<T>& model, const Posterior<T>& q, const CurvatureForm& form,
                                  const SharedData& shared)
    : blocks_(blocks_of(q)) {
  Index numbers = 0;
  for (const IndexRange& block : blocks_) numbers += block.count() * block.count();
  sums_.reserve(shared.team.rank(), shared.team.size(), shared.shards, numbers, 0);
  add_up(shared.team, sums_, [&](Index shard, std::span<double> out) {
    const ShardRange examples = part_of(shard, shared.shards, shared.data.rows());
    std::ranges::fill(out, 0.0);
    if (examples.count() == 0) return;
    RowRange own(shared.data, examples.first, examples.count());
    DataRows<T> rows(model, q.mean(), own, curvature_seeds(form, q, shared.weight(), examples.first));
    double* to = out.data();
    for (const IndexRange& block : blocks_) {
      const MatrixView<double> matrix(to, block.count(), block.count());
      if (blocks_.size() == 1)
        rows.add_outer(rows.weights(), matrix);
      else
        rows.add_block(block, rows.weights(), matrix);
      to += matrix.size();
    }
  });
}

template <class T>
void DenseCurvature<T>::sums(const GroupedPrecisions& prior, double s, bool by_groups,
                             EvidenceSums& out) const {
  out.clear(by_groups ? prior.groups() : 0);
  const double* from = sums_.values().data();
  Buffer<double> precision, inverse;
  for (const IndexRange& block : blocks_) {
    const Index size = block.count();
    const MatrixView<double> work = precision.matrix(size, size);
    std::vector<double> root(static_cast<std::size_t>(size));
    for (Index j = 0; j < size; ++j)
      root[static_cast<std::size_t>(j)] = 1 / std::sqrt(prior.at(static_cast<std::size_t>(block.first + j)));
    for (Index j = 0; j < size; ++j) {
      const double factor = s * root[static_cast<std::size_t>(j)];
      for (Index i = j; i < size; ++i)
        work(i, j) = factor * root[static_cast<std::size_t>(i)] * from[j * size + i] + (i == j ? 1 : 0);
    }
    add_block(work, inverse.matrix(size, size), prior, by_groups ? block.first : -1, out);
    from += size * size;
  }
}

template <class T>
void DenseCurvature<T>::write(const Prior<T>& prior, double s, Posterior<T>& q) const {
  ConstSpan<double> values = sums_.values();
  Buffer<double> scaled;
  if (s != 1) {
    std::ranges::transform(values, scaled.first(std::ssize(values)).begin(),
                           [s](double value) { return s * value; });
    values = std::as_const(scaled).first(std::ssize(values));
  }
  Curvature<T> curvature;
  if (blocks_.size() == 1)
    curvature.matrix = {values.data(), q.dimension(), q.dimension()};
  else
    curvature.blocks = values;
  step_from_prior(prior, curvature, q);
}

template class DenseCurvature<float>;
template class DenseCurvature<double>;

}  // namespace bdl
