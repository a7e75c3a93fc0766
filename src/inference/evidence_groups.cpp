// Minibatches in groups that have posterior samples of their own: as many more draws a step at the same cost
// (docs/mathematics/vogn.md, "Groups").
#include <algorithm>

#include "inference/evidence.hpp"
#include "parallel/parallel.hpp"
#include "posterior/diagonal/diagonal_step.hpp"

namespace bdl {
namespace {

template <class T>
void add(Index size, const T* from, bool is_first, T* to) {
  for_each_index(size, [=](Index i) BDL_INLINE_LAMBDA { to[i] = is_first ? from[i] : to[i] + from[i]; });
}

}  // namespace

template <class T>
void EvidenceEstimator<T>::reserve_groups(const Posterior<T>& q, const Options& options, Index examples) {
  for (Buffer<T>* sum : {&groups_.gradient, &groups_.diagonal, &groups_.part}) sum->reserve(dimension_);
  groups_.outputs.reserve(model_.outputs() * examples * batch_size(options, examples).samples);
  for (Buffer<T>* of_points : {&groups_.point_squares, &groups_.point_part})
    of_points->reserve(q.points().parameters());
  groups_.statistics.reserve(std::ssize(q.statistics()));
}

template <class T>
Evidence<T> EvidenceEstimator<T>::prepare_groups(const Posterior<T>& q, ConstMatrixView<T> x,
                                                 ConstMatrixView<T> y, const Options& options, double weight,
                                                 DrawSource<T>& draws, DrawPlace place,
                                                 PosteriorScratch<T>& scratch) {
  const Index groups = std::min<Index>(options.sample_groups, x.cols);
  double expected_log_likelihood = 0;
  for (Index g = 0; g < groups; ++g) {
    const Index first = g * x.cols / groups, count = (g + 1) * x.cols / groups - first;
    Evidence<T> part = prepare(q, x.columns(first, count), y.columns(first, count), options, weight, draws,
                               {place.step, place.iteration + g, place.shard}, scratch);
    if (part.gradient.empty()) part.gradient = gradient();
    add_group(part, q, first, count, x.cols);
    expected_log_likelihood += part.expected_log_likelihood;
  }
  outputs_ = groups_.outputs.matrix(model_.outputs(), x.cols * samples_);
  std::copy_n(groups_.statistics.data(), statistics_size_, statistics_.data());
  groups_.are_last = true;
  return {groups_.gradient.first(dimension_),
          {nullptr, {}, {}, groups_.diagonal.first(dimension_)},
          expected_log_likelihood};
}

/// Running statistics are averages over the examples' groups, as they are over draws.
template <class T>
void EvidenceEstimator<T>::add_group(const Evidence<T>& part, const Posterior<T>& q, Index first, Index count,
                                     Index examples) {
  const bool is_first = first == 0;
  add(dimension_, part.gradient.data(), is_first, groups_.gradient.data());
  const auto diagonal = groups_.part.first(dimension_);
  curvature_diagonal(part.curvature, diagonal);
  add<T>(dimension_, diagonal.data(), is_first, groups_.diagonal.data());
  const auto all = groups_.outputs.matrix(model_.outputs(), examples * samples_);
  for (Index s = 0; s < samples_; ++s)
    for (Index i = 0; i < count; ++i)
      std::ranges::copy(outputs_.column(s * count + i), all.column_data(s * examples + first + i));
  if (const Index points = q.points().parameters(); points > 0) {
    const auto squares = groups_.point_part.first(points);
    rows_->point_squares(estimate_.w, squares);
    add<T>(points, squares.data(), is_first, groups_.point_squares.data());
  }
  const double share = static_cast<double>(count) / static_cast<double>(examples);
  double* const mean = groups_.statistics.data();
  for (Index j = 0; j < statistics_size_; ++j)
    mean[j] = (is_first ? 0 : mean[j]) + share * statistics_.data()[j];
}

#define BDL_INSTANTIATE(T)                                                                                 \
  template void EvidenceEstimator<T>::reserve_groups(const Posterior<T>&, const Options&, Index);          \
  template Evidence<T> EvidenceEstimator<T>::prepare_groups(                                               \
      const Posterior<T>&, ConstMatrixView<T>, ConstMatrixView<T>, const Options&, double, DrawSource<T>&, \
      DrawPlace, PosteriorScratch<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
