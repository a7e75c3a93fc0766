// Converts a posterior that is a prior to another family, for steps and streams of that family.
#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "posterior/families.hpp"
#include "posterior/low_rank/low_rank.hpp"
#include "prior/prior.hpp"

namespace bdl {
namespace {

[[noreturn]] void fail_rank(Index rank) {
  fail(Status::ERROR_UNSUPPORTED,
       "a stream of a rank %lld posterior cannot begin with this prior, expected a diagonal prior or a "
       "low-rank one of no larger rank: use a full posterior, or one of the prior's family and rank",
       static_cast<long long>(rank));
}

/// True if posteriors of this family can be made only from their own kind and from diagonal precisions.
bool holds_diagonals(Family family) {
  return family == Family::low_rank_moment || family == Family::layerwise_low_rank_moment ||
         family == Family::kronecker;
}

[[noreturn]] void fail_covariance(Family family) {
  fail(Status::ERROR_UNSUPPORTED,
       "a %s posterior cannot begin with this prior, expected a diagonal one or one of its family and kind",
       family_word(family));
}

/// Calls visit(j, column j of Sigma^-1) for the parameters j = first .. first + size - 1.
template <class Visit>
void for_each_column(const Posterior<double>& q, Index first, Index size, Visit&& visit) {
  Buffer<double> unit(q.dimension()), column(q.dimension());
  std::fill_n(unit.data(), q.dimension(), 0.0);
  Scratch scratch;
  for (Index j = first; j < first + size; ++j) {
    unit.data()[j] = 1;
    q.multiply_precision(std::as_const(unit).first(q.dimension()), column.first(q.dimension()), scratch);
    unit.data()[j] = 0;
    visit(j, std::as_const(column).first(q.dimension()));
  }
}

/// Returns the block of Sigma^-1 (size x size) of the parameters from `first` on.
Buffer<double> precision_block(const Posterior<double>& q, Index first, Index size) {
  Buffer<double> block(size * size);
  for_each_column(q, first, size, [&](Index j, ConstSpan<double> column) {
    std::copy_n(column.data() + first, size, block.data() + (j - first) * size);
  });
  return block;
}

template <class T>
void write_low_rank(const Posterior<T>& prior, LowRankPosterior<T>& out) {
  const Index dimension = prior.dimension();
  Buffer<T> d(dimension);
  if (prior.is_diagonal()) {
    prior.precision_diagonal(d.first(dimension));
    return out.set_precision({}, std::as_const(d).first(dimension));
  }
  if (prior.family() != Family::low_rank || prior.rank() > out.rank()) fail_rank(out.rank());
  const LowRankPosterior<T>& low_rank = as_low_rank(prior);
  out.set_precision(low_rank.u(), low_rank.d());
}

/// Writes the matrices of full families: blocks of the prior's precision, or the inverse of each.
template <class T>
void write_matrices(const Posterior<T>& prior, Posterior<T>& out) {
  const auto wide = converted<double>(prior);
  Index first = 0;
  write_tensors<T>(out, [&](const PosteriorTensor<T>& tensor) {
    if (tensor.role != TensorRole::matrix) return false;
    const Index size = tensor.rows();
    Buffer<double> block = precision_block(*wide, first, size);
    first += size;
    const auto precision = block.matrix(size, size);
    if (!out.moves_by_former_covariance()) {
      std::copy_n(precision.data, precision.size(), tensor.wide.data);
    } else if (cholesky(precision)) {
      cholesky_inverse(precision, tensor.wide);
      mirror_lower(tensor.wide);
    } else {
      fail(Status::ERROR_DIVERGED, "the prior's precision is not positive definite");
    }
    return true;
  });
}

}  // namespace

template <class T>
bool is_of_kind(const Posterior<T>& prior, const PosteriorKind& kind) {
  const PosteriorKind has = prior.kind();
  return has.family == kind.family && has.rank == kind.rank && has.blocks == kind.blocks &&
         has.matrices == kind.matrices;
}

template <class T>
std::unique_ptr<Posterior<T>> in_family(const Posterior<T>& prior, const PosteriorKind& kind) {
  auto out = create_posterior<T>(kind);
  if (is_of_kind(prior, kind)) {
    out->assign(prior);
  } else if (out->takes_matrix()) {
    write_matrices(prior, *out);
  } else if (out->is_diagonal() || holds_diagonals(kind.family)) {
    if (!out->is_diagonal() && !prior.is_diagonal()) fail_covariance(kind.family);
    Buffer<T> diagonal(kind.dimension);
    prior.precision_diagonal(diagonal.first(kind.dimension));
    out->set_diagonal(std::as_const(diagonal).first(kind.dimension), {});
  } else {
    write_low_rank(prior, static_cast<LowRankPosterior<T>&>(*out));
  }
  std::ranges::copy(prior.mean(), out->mean().begin());
  return out;
}

template <class T>
void check_holds(const Posterior<T>& q, const Posterior<T>& prior) {
  if (!q.is_diagonal() && q.family() != Family::layerwise_full) return;  // in_family() has checked these
  if (q.is_diagonal() && prior.is_diagonal()) return;
  const PosteriorKind kind = q.kind();
  if (prior.family() == kind.family && prior.rank() <= q.rank() && prior.kind().blocks == kind.blocks) return;
  std::vector<Index> ends(
      kind.blocks.empty() ? std::vector<Index>(static_cast<std::size_t>(kind.dimension), 1) : kind.blocks);
  for (std::size_t k = 1; k < ends.size(); ++k) ends[k] += ends[k - 1];
  for_each_column(*converted<double>(prior), 0, kind.dimension, [&](Index j, ConstSpan<double> column) {
    const auto end = std::ranges::upper_bound(ends, j);
    const Index from = end == ends.begin() ? 0 : end[-1];
    for (Index i = 0; i < kind.dimension; ++i)
      if ((i < from || i >= *end) && column[static_cast<std::size_t>(i)] != 0)
        fail(Status::ERROR_UNSUPPORTED,
             "the prior's precision joins parameters %lld and %lld (counting from 0), which a %s posterior "
             "cannot begin a stream with: use a full posterior, or one of the prior's family",
             static_cast<long long>(j), static_cast<long long>(i),
             q.is_diagonal() ? "diagonal" : family_word(kind.family));
  });
}

#define BDL_INSTANTIATE(T)                                                                     \
  template bool is_of_kind(const Posterior<T>&, const PosteriorKind&);                         \
  template std::unique_ptr<Posterior<T>> in_family(const Posterior<T>&, const PosteriorKind&); \
  template void check_holds(const Posterior<T>&, const Posterior<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
