// Point parameters: a posterior holds them as independent N(mu_j, 1), with a prior that is the same, so that
// every family's steps, divergences and determinants are those of the other parameters alone. These functions
// keep them so, and show others a mean without any variance.
#pragma once

#include "model/model.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

/// Writes `value` at the point parameters.
template <class T>
void fill_point_parameters(const PointLayout& points, T value, std::span<T> values);

/// Writes the mean at the point parameters of draws, one a column.
template <class T>
void place_point_parameters(const Posterior<T>& q, MatrixView<T> thetas);

/// Calls visit(offset, size) for the ranges between point parameters, in order.
template <class Visit>
void for_each_uncertain(const PointLayout& points, Index dimension, Visit&& visit) {
  Index begin = 0;
  for (const auto& [offset, size] : points.ranges) {
    if (offset > begin) visit(begin, offset - begin);
    begin = offset + size;
  }
  if (dimension > begin) visit(begin, dimension - begin);
}

/// Calls visit(j) for each point parameter among `size` parameters from `first` on, counted from there.
template <class Visit>
void for_each_point_parameter(const PointLayout& points, Index first, Index size, Visit&& visit) {
  for (const ParameterRange& range : points.ranges) {
    const Index begin = std::max(range.offset, first),
                end = std::min(range.offset + range.size, first + size);
    for (Index j = begin; j < end; ++j) visit(j - first);
  }
}

/// Calls visit(j) for each point parameter of a step.
template <class T, class Visit>
void for_each_point_parameter(const PosteriorStep<T>& step, Visit&& visit) {
  for_each_point_parameter(step.point_parameters ? *step.point_parameters : step.from.point_parameters(),
                           step.first_parameter, step.from.dimension(), visit);
}

/// Returns the number of parameters that have a density.
template <class T>
Index uncertain_parameters(const Posterior<T>& q) {
  return q.dimension() - q.point_parameters().parameters();
}

/// Writes the numbers of a tensor that stand for point parameters, N(mu_j, 1).
template <class T>
void isolate_point_parameters(const PosteriorTensor<T>& tensor, const PointLayout& points);
/// True if they are those numbers already, up to rounding.
template <class T>
bool has_isolated_point_parameters(const PosteriorTensor<T>& tensor, const PointLayout& points);
/// Makes the point parameters N(mu_j, 1) again, whatever was written to the tensors of q.
template <class T>
void isolate_point_parameters(Posterior<T>& q);

/// Reads diag(Sigma), diag(Sigma^-1) and X = Sigma X for users: for point parameters 0, and infinite
/// precisions.
template <class T>
void read_marginal_variance(const Posterior<T>& q, std::span<T> out, Scratch& scratch);
template <class T>
void read_precision_diagonal(const Posterior<T>& q, std::span<T> out);
template <class T>
void read_solution(const Posterior<T>& q, MatrixView<T> x, Scratch& scratch);

/// Returns the point parameters and statistics of a model.
template <class T>
PointLayout point_parameters_of(const Model<T>& model);

/// Fails with ERROR_SHAPE unless q, or what it becomes by adopt(), holds the point parameters of the model,
/// which may be null.
template <class T>
void check_adopts(const Posterior<T>& q, const Model<T>* model);
/// Fails with ERROR_SHAPE unless q holds the point parameters of the model already.
template <class T>
void check_point_parameters_fit(const Posterior<T>& q, const Model<T>& model);

}  // namespace bdl
