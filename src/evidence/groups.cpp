// Minibatches divided into groups of examples with different posterior samples: a step gets more draws at
// the same cost (docs/theory/vogn.md, "Groups").
#include <algorithm>

#include "evidence/evidence.hpp"
#include "parallel/parallel.hpp"
#include "posterior/diagonal/diagonal_step.hpp"

namespace bdl {
namespace {

/// Adds `from` to `to`, or copies it if this is the first group.
template <class T>
void accumulate(ConstSpan<T> from, bool is_first, std::span<T> to) {
  const T* const added = from.data();
  T* const sum = to.data();
  for_each_index(std::ssize(from),
                 [=](Index i) BDL_INLINE_LAMBDA { sum[i] = is_first ? added[i] : sum[i] + added[i]; });
}

/// Copies a group's outputs (column s n + i) to the places of its examples in the minibatch.
template <class T>
void place_outputs(ConstMatrixView<T> outputs, Index first, Index count, Index examples, MatrixView<T> all) {
  for (Index s = 0; s * count < outputs.cols; ++s)
    for (Index i = 0; i < count; ++i)
      std::ranges::copy(outputs.column(s * count + i), all.column_data(s * examples + first + i));
}

}  // namespace

/// Adds up gradients and diagonal curvatures of the groups. Running statistics are averaged, weighted by the
/// groups' numbers of examples; thetas are those of the last group.
template <class T>
Evidence<T> EvidenceEstimator<T>::estimate_groups(const Posterior<T>& q, const Minibatch<T>& batch,
                                                  const Options& options, DrawSource<T>& draws,
                                                  Scratch& scratch) {
  const Index examples = batch.x.cols, groups = std::min<Index>(options.sample_groups, examples);
  const auto gradient = scratch.take<T>(dimension_), diagonal = scratch.take<T>(dimension_),
             point_squares = scratch.take<T>(q.point_parameters().parameters());
  const auto statistics = scratch.take<double>(std::ssize(q.statistics()));
  const auto outputs = scratch.matrix<T>(model_.outputs(), examples * options.samples);
  const auto last_thetas = scratch.matrix<T>(dimension_, options.samples);
  Evidence<T> all;
  for (Index g = 0; g < groups; ++g) {
    const Scratch::Frame frame(scratch);
    const Index first = g * examples / groups, count = (g + 1) * examples / groups - first;
    const DrawPlace place{batch.place.step, batch.place.iteration + g, batch.place.shard};
    const Samples<T> samples = draw(q, options, draws, place, scratch);
    Evidence<T> group = estimate(q, batch.part(first, count, place), samples, options, draws, scratch);
    sum_rows(q, options, scratch, group);
    accumulate(gradient_of(group, scratch), g == 0, gradient);
    const auto squares = scratch.take<T>(dimension_);
    curvature_diagonal(group.curvature, squares);
    accumulate<T>(squares, g == 0, diagonal);
    accumulate(group.point_squares, g == 0, point_squares);
    place_outputs(group.outputs, first, count, examples,
                  outputs.columns(0, group.outputs.cols / count * examples));
    const double fraction = static_cast<double>(count) / static_cast<double>(examples);
    for (std::size_t j = 0; j < statistics.size(); ++j)
      statistics[j] = (g == 0 ? 0 : statistics[j]) + fraction * group.statistics[j];
    all.expected_log_likelihood += group.expected_log_likelihood;
    all.thetas = last_thetas.columns(0, samples.thetas.cols);
    std::copy_n(samples.thetas.data, samples.thetas.size(), last_thetas.data);
    all.outputs = outputs.columns(0, samples.thetas.cols * examples);
  }
  all.gradient = gradient;
  all.curvature = {nullptr, {}, {}, diagonal};
  all.point_squares = point_squares;
  all.statistics = statistics;
  all.y = batch.y;
  all.weight = batch.weight;
  return all;
}

#define BDL_INSTANTIATE(T)                                                                             \
  template Evidence<T> EvidenceEstimator<T>::estimate_groups(const Posterior<T>&, const Minibatch<T>&, \
                                                             const Options&, DrawSource<T>&, Scratch&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
