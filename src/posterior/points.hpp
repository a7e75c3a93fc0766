// Point parameters: a posterior holds them as independent N(mu_j, 1), with a prior that is the same, so that
// every family's steps, divergences and determinants are those of the other parameters alone. Here is what
// keeps them so, and what others see of them: a mean without any variance.
#pragma once

#include "model/model.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

/// values = value at the points.
template <class T>
void fill_points(const PointLayout& points, T value, std::span<T> values);

/// Columns of draws, however they were made, have the mean at the points.
template <class T>
void place_points(const Posterior<T>& q, MatrixView<T> thetas);

/// visit(offset, size) of the parameters between points, in order.
template <class Visit>
void for_each_uncertain(const PointLayout& points, Index dimension, Visit&& visit) {
  Index begin = 0;
  for (const auto& [offset, size] : points.ranges) {
    if (offset > begin) visit(begin, offset - begin);
    begin = offset + size;
  }
  if (dimension > begin) visit(begin, dimension - begin);
}

/// visit(j) for each point j of `size` parameters from `first` on, counted from there.
template <class Visit>
void for_each_point(const PointLayout& points, Index first, Index size, Visit&& visit) {
  for (const ParameterRange& range : points.ranges) {
    const Index begin = std::max(range.offset, first),
                end = std::min(range.offset + range.size, first + size);
    for (Index j = begin; j < end; ++j) visit(j - first);
  }
}

/// for_each_point() over the parameters of a step.
template <class T, class Visit>
void for_each_point(const PosteriorStep<T>& step, Visit&& visit) {
  for_each_point(step.points ? *step.points : step.from.points(), step.first_parameter, step.from.dimension(),
                 visit);
}

/// How many parameters have a density.
template <class T>
Index uncertain_parameters(const Posterior<T>& q) {
  return q.dimension() - q.points().parameters();
}

/// The numbers of a tensor, as they stand for points.
template <class T>
void isolate_points(const PosteriorTensor<T>& tensor, const PointLayout& points);
/// Do they stand so already, up to rounding?
template <class T>
bool has_isolated_points(const PosteriorTensor<T>& tensor, const PointLayout& points);
/// Of all of them: whatever was written, points are N(mu_j, 1) again.
template <class T>
void isolate_points(Posterior<T>& q);

/// What somebody reads: 0 for points, where Sigma^-1 is infinite.
template <class T>
void read_marginal_variance(const Posterior<T>& q, std::span<T> out, PosteriorScratch<T>& scratch);
template <class T>
void read_precision_diagonal(const Posterior<T>& q, std::span<T> out);
/// X = Sigma X.
template <class T>
void read_solution(const Posterior<T>& q, MatrixView<T> x, PosteriorScratch<T>& scratch);

template <class T>
PointLayout points_of(const Model<T>& model);

/// Fails with ERROR_SHAPE unless q, or what it becomes by adopt(), holds the points of the model, which may
/// be null.
template <class T>
void check_adopts(const Posterior<T>& q, const Model<T>* model);
/// Fails with ERROR_SHAPE unless it holds them already.
template <class T>
void check_points_fit(const Posterior<T>& q, const Model<T>& model);

}  // namespace bdl
