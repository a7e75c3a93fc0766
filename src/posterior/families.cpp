#include "posterior/families.hpp"

#include <algorithm>
#include <iterator>

#include "posterior/blocks/blocks.hpp"
#include "posterior/diagonal/diagonal_moment.hpp"
#include "posterior/dropout/dropout.hpp"
#include "posterior/full/full.hpp"
#include "posterior/full/full_moment.hpp"
#include "posterior/kronecker/kronecker.hpp"
#include "posterior/low_rank/low_rank.hpp"
#include "posterior/low_rank_moment/low_rank_moment.hpp"

namespace bdl {
namespace {

constexpr const char* words[] = {"low_rank", "full",           "full_moment",     "diagonal_moment",
                                 "dropout",  "layerwise_full", "low_rank_moment", "layerwise_low_rank_moment",
                                 "kronecker"};

template <class T, class CreateMember>
std::unique_ptr<Posterior<T>> create_blocks(const PosteriorKind& kind, CreateMember&& create) {
  std::vector<std::unique_ptr<Posterior<T>>> members;
  for (const Index size : kind.blocks) members.push_back(create(size));
  return std::make_unique<BlocksPosterior<T>>(kind.family, std::move(members));
}

template <class T>
using Create = std::unique_ptr<Posterior<T>> (*)(const PosteriorKind&);

template <class T>
constexpr Create<T> creations[] = {
    [](const PosteriorKind& kind) -> std::unique_ptr<Posterior<T>> {
      return std::make_unique<LowRankPosterior<T>>(kind.dimension, kind.rank);
    },
    [](const PosteriorKind& kind) -> std::unique_ptr<Posterior<T>> {
      return std::make_unique<FullPosterior<T>>(kind.dimension);
    },
    [](const PosteriorKind& kind) -> std::unique_ptr<Posterior<T>> {
      return std::make_unique<FullMomentPosterior<T>>(kind.dimension);
    },
    [](const PosteriorKind& kind) -> std::unique_ptr<Posterior<T>> {
      return std::make_unique<DiagonalMomentPosterior<T>>(kind.dimension);
    },
    [](const PosteriorKind& kind) -> std::unique_ptr<Posterior<T>> {
      return std::make_unique<DropoutPosterior<T>>(*kind.dropout, kind.point_parameters);
    },
    [](const PosteriorKind& kind) -> std::unique_ptr<Posterior<T>> {
      return create_blocks<T>(kind, [](Index size) { return std::make_unique<FullPosterior<T>>(size); });
    },
    [](const PosteriorKind& kind) -> std::unique_ptr<Posterior<T>> {
      return std::make_unique<LowRankMomentPosterior<T>>(kind.dimension, kind.rank);
    },
    [](const PosteriorKind& kind) -> std::unique_ptr<Posterior<T>> {
      return create_blocks<T>(
          kind, [&](Index size) { return std::make_unique<LowRankMomentPosterior<T>>(size, kind.rank); });
    },
    [](const PosteriorKind& kind) -> std::unique_ptr<Posterior<T>> {
      std::vector<std::unique_ptr<Posterior<T>>> members;
      for (const MatrixShape& shape : kind.matrices)
        shape.is_matrix() ? members.push_back(std::make_unique<KroneckerPosterior<T>>(shape))
                          : members.push_back(std::make_unique<DiagonalMomentPosterior<T>>(shape.outputs));
      return std::make_unique<BlocksPosterior<T>>(kind.family, std::move(members));
    }};
static_assert(std::size(words) == std::size(creations<double>));

}  // namespace

std::span<const char* const> family_words() {
  return words;
}

template <class T>
std::unique_ptr<Posterior<T>> create_posterior(const PosteriorKind& kind) {
  auto q = creations<T>[static_cast<std::size_t>(kind.family) - 1](kind);
  q->adopt(kind.point_parameters);
  return q;
}

namespace {

/// Copies mean, statistics, whether q is blank and whether it has a covariance.
template <class T>
void copy_means(const Posterior<T>& from, Posterior<T>& to) {
  to.adopt(from.point_parameters());
  std::ranges::copy(from.statistics(), to.statistics().begin());
  std::ranges::copy(from.mean(), to.mean().begin());
  to.set_blank(from.is_blank());
  to.set_has_covariance(from.has_covariance());
}

}  // namespace

template <class T>
std::unique_ptr<FullMomentPosterior<T>> full_covariance_of(const Posterior<T>& q) {
  const auto wide = converted<double>(q);
  const Index dimension = q.dimension();
  Buffer<double> columns(dimension * dimension);
  const MatrixView<double> covariance = columns.matrix(dimension, dimension);
  for (Index j = 0; j < dimension; ++j)
    for (Index i = 0; i < dimension; ++i) covariance(i, j) = i == j ? 1 : 0;
  Scratch scratch;
  wide->solve(covariance, scratch);
  auto out = std::make_unique<FullMomentPosterior<T>>(dimension);
  out->set_covariance(covariance);
  copy_means(q, *out);
  return out;
}

template <class T>
std::unique_ptr<DiagonalMomentPosterior<T>> marginals_of(const Posterior<T>& q) {
  Buffer<T> variance(q.dimension());
  Scratch scratch;
  q.marginal_variance(variance.first(q.dimension()), scratch);
  auto out = std::make_unique<DiagonalMomentPosterior<T>>(q.dimension());
  out->set_variance(std::as_const(variance).first(q.dimension()));
  copy_means(q, *out);
  return out;
}

#define BDL_INSTANTIATE(T)                                                                  \
  template std::unique_ptr<Posterior<T>> create_posterior(const PosteriorKind&);            \
  template std::unique_ptr<FullMomentPosterior<T>> full_covariance_of(const Posterior<T>&); \
  template std::unique_ptr<DiagonalMomentPosterior<T>> marginals_of(const Posterior<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
