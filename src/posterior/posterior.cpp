#include "posterior/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "base/error.hpp"
#include "base/profile.hpp"
#include "linalg/tall/tall_ranks.hpp"
#include "parallel/parallel.hpp"
#include "posterior/points.hpp"

namespace bdl {

template <class T>
Posterior<T>::Posterior(Index dimension) : dimension_(dimension), mean_(dimension), mean_at_(mean_.data()) {
  std::ranges::fill(mean(), T(0));
}

template <class T>
void Posterior<T>::place_mean(T* memory) {
  std::ranges::copy(mean(), memory);
  mean_at_ = memory;
  Buffer<T>().swap(mean_);
}

template <class T>
void Posterior<T>::reset() {
  set_isotropic(1);
  std::ranges::fill(mean(), T(0));
  reset_statistics();
  blank_ = true;
}

template <class T>
void Posterior<T>::swap_base(Posterior& other) noexcept {
  mean_.swap(other.mean_);
  std::swap(mean_at_, other.mean_at_);
  std::swap(blank_, other.blank_);
  std::swap(points_, other.points_);
  statistics_.swap(other.statistics_);
}

template <class T>
void Posterior<T>::copy_base(const Posterior& other) {
  std::ranges::copy(other.mean(), mean().begin());
  blank_ = other.blank_;
  if (points_ != other.points_) adopt(other.points_);
  std::ranges::copy(other.statistics(), statistics_.data());
}

template <class T>
PosteriorKind Posterior<T>::kind() const {
  PosteriorKind kind = family_kind();
  kind.points = points_;
  return kind;
}

template <class T>
void Posterior<T>::adopt(PointLayout points) {
  Buffer<double> statistics(points.statistics);
  points_ = std::move(points);
  statistics_.swap(statistics);
  reset_statistics();
}

template <class T>
void Posterior<T>::reset_statistics() {
  const Index half = points_.statistics / 2;
  std::fill_n(statistics_.data(), half, 0.0);
  std::fill_n(statistics_.data() + half, half, 1.0);
}

template <class T>
void Posterior<T>::visit_mean(const TensorVisitor<T>& visit) {
  visit(vector_tensor<T>("mean", TensorRole::mean, mean()));
  if (points_.statistics == 0) return;
  const Index half = points_.statistics / 2;
  visit({"running_mean", TensorRole::statistic, true, {}, {statistics_.data(), 1, half, 1}});
  visit({"running_variance", TensorRole::variance, true, {}, {statistics_.data() + half, 1, half, 1}});
}

/// Column s holds normals of the stream key.sample + s, from number `begin` on.
template <class T>
void fill_normals(const StreamKey& key, Index begin, MatrixView<T> out) {
  constexpr Index grain = 1 << 14;
  for (Index s = 0; s < out.cols; ++s) {
    StreamKey stream = key;
    stream.sample += static_cast<std::uint32_t>(s);
    check_normals<T>(stream, begin + out.rows);
    parallel_blocks(out.rows, grain, [&](Index first, Index count) noexcept {
      fill_normal(stream, begin + first,
                  std::span<T>(out.column_data(s) + first, static_cast<std::size_t>(count)));
    });
  }
}

template <class T>
void sample(const Posterior<T>& q, StreamKey key, MatrixView<T> thetas, PosteriorScratch<T>& scratch) {
  const StageTimer timer(Stage::sample);
  const Index more = q.factor_normals();
  scratch.coefficients.reserve(more * thetas.cols);
  const MatrixView<T> of_factor = scratch.coefficients.matrix(more, thetas.cols);
  const ShardRange own = own_rows(thetas.rows, scratch.tall);  // color() gets the others from their ranks
  fill_normals(key, own.first, thetas.block(own.first, 0, own.count(), thetas.cols));
  fill_normals(key, thetas.rows, of_factor);
  q.color(q.mean(), thetas, of_factor, scratch);
  place_points(q, thetas);
}

template <class T>
double log_density(const Posterior<T>& q, ConstSpan<T> theta, PosteriorScratch<T>& scratch) {
  Buffer<T> shift(q.dimension());
  std::ranges::transform(theta, q.mean(), shift.data(), std::minus<>());
  fill_points(q.points(), T(0), shift.first(q.dimension()));
  return -(static_cast<double>(uncertain_parameters(q)) * std::log(2 * std::numbers::pi) +
           q.log_det_covariance() + q.quadratic(shift.first(q.dimension()), scratch)) /
         2;
}

template <class T>
StepSize size_of(const PosteriorStep<T>& step) {
  StepSize size;
  size.has_rows = step.curvature.rows != nullptr;
  if (size.has_rows) size.rows = step.curvature.rows->cost();
  size.descent = step.descent;
  size.mean_update = step.mean_update;
  size.low_rank_update = step.low_rank_update;
  size.leaves_prior = step.leaves_prior();
  size.has_prior = step.prior != nullptr;
  size.prior_rank = step.prior ? step.prior->rank() : 0;
  size.most_rate = step.curvature_rate;
  size.goes_on = step.goes_on;
  size.projection = step.projection;
  return size;
}

template <class T>
ConstSpan<T> scaled_weights(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace) {
  const Index count = step.curvature.rows->count();
  const T rate = static_cast<T>(step.curvature_rate);
  std::ranges::transform(step.curvature.w, workspace.weights.data(), [rate](T w) { return rate * w; });
  return workspace.weights.first(count);
}

template <class T>
MatrixView<T> curvature_columns(const Curvature<T>& curvature, double rate, UpdateWorkspace<T>& workspace) {
  const Index count = curvature.rows->count(), dimension = curvature.rows->dimension();
  const auto columns = workspace.factor.matrix(dimension, count);
  for (Index first = 0; first < count; first += most_columns_together) {
    const Index some = std::min(most_columns_together, count - first);
    const auto weights = workspace.mixing.matrix(count, some);
    std::fill_n(weights.data, weights.size(), T(0));
    for (Index r = 0; r < some; ++r) {
      const auto w = static_cast<double>(curvature.w[static_cast<std::size_t>(first + r)]);
      weights(first + r, r) = static_cast<T>(std::sqrt(rate * w));
    }
    curvature.rows->combine(weights, columns.columns(first, some));
  }
  return columns;
}

double shortened(double kept, bool may_shorten) {
  if (kept > least_kept) return 1;
  if (!std::isfinite(kept)) fail(Status::ERROR_DIVERGED, "the step is not finite");
  if (!may_shorten)
    fail(Status::ERROR_DIVERGED,
         "the step would leave %g times the former precision or covariance in some direction", kept);
  return (1 - shortened_to) / (1 - kept);
}

template <class T>
double entropy(const Posterior<T>& q) {
  return (static_cast<double>(uncertain_parameters(q)) * (1 + std::log(2 * std::numbers::pi)) +
          q.log_det_covariance()) /
         2;
}

template <class T>
double kl_to_prior(const Posterior<T>& q, ConstSpan<T> precision, PosteriorScratch<T>& scratch) {
  Buffer<T> variance(q.dimension());
  q.marginal_variance(variance.first(q.dimension()), scratch);
  double sum = -static_cast<double>(uncertain_parameters(q)) - q.log_det_covariance();
  for_each_uncertain(q.points(), q.dimension(), [&](Index offset, Index size) {
    for (Index i = offset; i < offset + size; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double lambda = static_cast<double>(precision[k]), mean = static_cast<double>(q.mean()[k]);
      sum += lambda * (static_cast<double>(variance.data()[i]) + mean * mean) - std::log(lambda);
    }
  });
  return sum / 2;
}

template <class T>
double kl(const Posterior<T>& q, const Posterior<T>& p, PosteriorScratch<T>& scratch) {
  if (q.points().ranges != p.points().ranges)
    fail(Status::ERROR_SHAPE, "the two posteriors have different point parameters");
  Buffer<T> shift(q.dimension());
  std::ranges::transform(p.mean(), q.mean(), shift.data(), std::minus<>());
  fill_points(q.points(), T(0), shift.first(q.dimension()));
  return (p.trace_precision(q, scratch) + p.quadratic(shift.first(q.dimension()), scratch) -
          static_cast<double>(q.dimension()) + p.log_det_covariance() - q.log_det_covariance()) /
         2;
}

template <class T>
void covariance_block(const Posterior<T>& q, ConstSpan<Index> rows, ConstSpan<Index> cols,
                      MatrixView<double> out, PosteriorScratch<T>& scratch) {
  Buffer<T> column(q.dimension());
  const auto unit = column.matrix(q.dimension(), 1);
  for (std::size_t j = 0; j < cols.size(); ++j) {
    std::ranges::fill(unit.column(0), T(0));
    unit(cols[j], 0) = 1;
    read_solution(q, unit, scratch);
    for (std::size_t i = 0; i < rows.size(); ++i)
      out(static_cast<Index>(i), static_cast<Index>(j)) = static_cast<double>(unit(rows[i], 0));
  }
}

#define BDL_INSTANTIATE(T)                                                                    \
  template class Posterior<T>;                                                                \
  template void sample(const Posterior<T>&, StreamKey, MatrixView<T>, PosteriorScratch<T>&);  \
  template double log_density(const Posterior<T>&, ConstSpan<T>, PosteriorScratch<T>&);       \
  template double entropy(const Posterior<T>&);                                               \
  template StepSize size_of(const PosteriorStep<T>&);                                         \
  template ConstSpan<T> scaled_weights(const PosteriorStep<T>&, UpdateWorkspace<T>&);         \
  template MatrixView<T> curvature_columns(const Curvature<T>&, double, UpdateWorkspace<T>&); \
  template double kl_to_prior(const Posterior<T>&, ConstSpan<T>, PosteriorScratch<T>&);       \
  template double kl(const Posterior<T>&, const Posterior<T>&, PosteriorScratch<T>&);         \
  template void covariance_block(const Posterior<T>&, ConstSpan<Index>, ConstSpan<Index>,     \
                                 MatrixView<double>, PosteriorScratch<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
