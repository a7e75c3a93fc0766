#include "posterior/point_parameters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "network/graph.hpp"

namespace bdl {
namespace {

/// Calls visit(number, its value) for the rows, and of square matrices the columns, of point parameters.
template <class View, class Visit>
void visit_matrix(TensorRole role, Index first, const PointLayout& points, const View& values,
                  Visit&& visit) {
  const bool is_square = role == TensorRole::matrix || role == TensorRole::factor;
  for_each_point_parameter(points, first, values.rows, [&](Index j) {
    for (Index k = 0; k < values.cols; ++k) visit(values(j, k), is_square && j == k ? 1 : 0);
    for (Index i = 0; is_square && i < values.rows; ++i)
      if (i != j) visit(values(i, j), 0);
  });
}

template <class T>
bool has_parameters(const PosteriorTensor<T>& tensor) {
  return tensor.role != TensorRole::mean && tensor.role != TensorRole::statistic &&
         tensor.role != TensorRole::variance;
}

/// Calls visit(number, its value) for the numbers of a tensor that stand for point parameters.
template <class T, class Visit>
void visit_point_numbers(const PosteriorTensor<T>& tensor, const PointLayout& points, Visit&& visit) {
  if (points.ranges.empty() || !has_parameters(tensor)) return;
  tensor.with([&](const auto& values) {
    if (!tensor.is_vector) return visit_matrix(tensor.role, tensor.first, points, values, visit);
    for_each_point_parameter(points, tensor.first, values.cols, [&](Index j) { visit(values(0, j), 1); });
  });
}

}  // namespace

Index PointLayout::parameters() const {
  Index sum = 0;
  for (const ParameterRange& range : ranges) sum += range.size;
  return sum;
}

template <class T>
void fill_point_parameters(const PointLayout& points, T value, std::span<T> values) {
  for (const auto& [offset, size] : points.ranges) std::fill_n(values.data() + offset, size, value);
}

template <class T>
void place_point_parameters(const Posterior<T>& q, MatrixView<T> thetas) {
  for (const auto& [offset, size] : q.point_parameters().ranges)
    for (Index s = 0; s < thetas.cols; ++s)
      std::copy_n(q.mean().data() + offset, size, thetas.column_data(s) + offset);
}

template <class T>
void isolate_point_parameters(const PosteriorTensor<T>& tensor, const PointLayout& points) {
  visit_point_numbers(tensor, points, []<class S>(S& number, int value) { number = static_cast<S>(value); });
}

template <class T>
bool has_isolated_point_parameters(const PosteriorTensor<T>& tensor, const PointLayout& points) {
  constexpr double rounding = 1e-4;
  bool all = true;
  visit_point_numbers(tensor, points, [&](const auto& number, int value) {
    all = all && std::abs(static_cast<double>(number) - value) <= rounding;
  });
  return all;
}

template <class T>
void isolate_point_parameters(Posterior<T>& q) {
  if (q.point_parameters().ranges.empty()) return;
  write_tensors<T>(q, [&](const PosteriorTensor<T>& tensor) {
    if (tensor.role == TensorRole::factor) return false;
    isolate_point_parameters(tensor, q.point_parameters());
    return has_parameters(tensor);
  });
}

template <class T>
void read_marginal_variance(const Posterior<T>& q, std::span<T> out, Scratch& scratch) {
  q.marginal_variance(out, scratch);
  fill_point_parameters(q.point_parameters(), T(0), out);
}

template <class T>
void read_precision_diagonal(const Posterior<T>& q, std::span<T> out) {
  q.precision_diagonal(out);
  fill_point_parameters(q.point_parameters(), std::numeric_limits<T>::infinity(), out);
}

template <class T>
void read_solution(const Posterior<T>& q, MatrixView<T> x, Scratch& scratch) {
  q.solve(x, scratch);
  for (Index j = 0; j < x.cols; ++j) fill_point_parameters(q.point_parameters(), T(0), x.column(j));
}

template <class T>
PointLayout point_parameters_of(const Model<T>& model) {
  PointLayout points;
  if (!model.graph()) return points;
  points.statistics = model.graph()->statistics_size();
  for (const ParameterBlock& block : model.blocks()) {
    if (!block.is_point) continue;
    const bool goes_on =
        !points.ranges.empty() && points.ranges.back().offset + points.ranges.back().size == block.offset;
    if (goes_on)
      points.ranges.back().size += block.size();
    else
      points.ranges.push_back({block.offset, block.size()});
  }
  return points;
}

template <class T>
void check_adopts(const Posterior<T>& q, const Model<T>* model) {
  const PointLayout points = model ? point_parameters_of(*model) : PointLayout();
  if (q.point_parameters() == points || (q.is_blank() && q.point_parameters().is_empty() && q.is_gaussian()))
    return;
  if (points.is_empty())
    fail(Status::ERROR_SHAPE,
         "posterior holds point parameters or running statistics of a network, which this model does not "
         "have");
  fail(Status::ERROR_SHAPE,
       "posterior is not one of the network, whose %s has point parameters or running statistics: expected a "
       "new posterior, or one that an optimizer of such a network has had",
       model->graph()->first_without(Need::separate_examples).c_str());
}

template <class T>
void check_point_parameters_fit(const Posterior<T>& q, const Model<T>& model) {
  const PointLayout points = point_parameters_of(model);
  if (q.point_parameters() == points) return;
  if (points.is_empty()) return check_adopts(q, &model);
  fail(Status::ERROR_SHAPE,
       "posterior does not hold the point parameters or running statistics of the network's %s: an optimizer "
       "gives them to a new posterior when it is created",
       model.graph()->first_without(Need::separate_examples).c_str());
}

#define BDL_INSTANTIATE(T)                                                                    \
  template void fill_point_parameters(const PointLayout&, T, std::span<T>);                   \
  template void place_point_parameters(const Posterior<T>&, MatrixView<T>);                   \
  template void isolate_point_parameters(const PosteriorTensor<T>&, const PointLayout&);      \
  template bool has_isolated_point_parameters(const PosteriorTensor<T>&, const PointLayout&); \
  template void isolate_point_parameters(Posterior<T>&);                                      \
  template void read_marginal_variance(const Posterior<T>&, std::span<T>, Scratch&);          \
  template void read_precision_diagonal(const Posterior<T>&, std::span<T>);                   \
  template void read_solution(const Posterior<T>&, MatrixView<T>, Scratch&);                  \
  template PointLayout point_parameters_of(const Model<T>&);                                  \
  template void check_adopts(const Posterior<T>&, const Model<T>*);                           \
  template void check_point_parameters_fit(const Posterior<T>&, const Model<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
