#include "posterior/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "base/error.hpp"
#include "base/profile.hpp"
#include "parallel/parallel.hpp"
#include "posterior/point_parameters.hpp"

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
  set_blank(true);
}

template <class T>
void Posterior<T>::swap_base(Posterior& other) noexcept {
  mean_.swap(other.mean_);
  std::swap(mean_at_, other.mean_at_);
  std::swap(blank_, other.blank_);
  std::swap(has_covariance_, other.has_covariance_);
  std::swap(points_, other.points_);
  statistics_.swap(other.statistics_);
  refinement_.reset();
  other.refinement_.reset();
}

template <class T>
void Posterior<T>::copy_base(const Posterior& other) {
  std::ranges::copy(other.mean(), mean().begin());
  blank_ = other.blank_;
  has_covariance_ = other.has_covariance_;
  if (points_ != other.points_) adopt(other.points_);
  std::ranges::copy(other.statistics(), statistics_.data());
  refinement_ = other.refinement_;
}

template <class T>
const std::shared_ptr<const Posterior<T>>& Posterior<T>::refinement() const {
  static const std::shared_ptr<const Posterior<T>> none;
  return refinement_ && std::ranges::equal(refinement_->mean(), mean()) ? refinement_ : none;
}

template <class T>
PosteriorKind Posterior<T>::kind() const {
  PosteriorKind kind = family_kind();
  kind.point_parameters = points_;
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
void sample(const Posterior<T>& q, StreamKey key, MatrixView<T> thetas, Scratch& scratch) {
  const StageTimer timer(Stage::sample);
  const Scratch::Frame frame(scratch);
  const auto more = scratch.matrix<T>(q.factor_normals(), thetas.cols);
  fill_normals(key, 0, thetas);
  fill_normals(key, thetas.rows, more);
  q.color(q.mean(), thetas, more, scratch);
  place_point_parameters(q, thetas);
}

namespace {

/// Returns a - b, and 0 at point parameters, taken from the scratch.
template <class T>
ConstSpan<T> difference(ConstSpan<T> a, ConstSpan<T> b, const PointLayout& points, Scratch& scratch) {
  const auto out = scratch.take<T>(std::ssize(a));
  std::ranges::transform(a, b, out.begin(), std::minus<>());
  fill_point_parameters(points, T(0), out);
  return out;
}

}  // namespace

template <class T>
double log_density(const Posterior<T>& q, ConstSpan<T> theta, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const ConstSpan<T> shift = difference(theta, q.mean(), q.point_parameters(), scratch);
  return -(static_cast<double>(uncertain_parameters(q)) * std::log(2 * std::numbers::pi) +
           q.log_det_covariance() + q.quadratic(shift, scratch)) /
         2;
}

template <class T>
ConstSpan<T> scaled_weights(const Curvature<T>& curvature, double rate, Scratch& scratch) {
  const auto out = scratch.take<T>(curvature.rows->count());
  std::ranges::transform(curvature.w, out.begin(),
                         [factor = static_cast<T>(rate)](T w) { return factor * w; });
  return out;
}

template <class T>
void write_curvature_columns(const Curvature<T>& curvature, double rate, MatrixView<T> out,
                             Scratch& scratch) {
  constexpr Index together = 32;  // columns, by n weights each
  const Index count = curvature.rows->count();
  for (Index first = 0; first < count; first += together) {
    const Scratch::Frame frame(scratch);
    const Index some = std::min(together, count - first);
    const auto weights = scratch.matrix<T>(count, some);
    std::fill_n(weights.data, weights.size(), T(0));
    for (Index r = 0; r < some; ++r) {
      const auto w = static_cast<double>(curvature.w[static_cast<std::size_t>(first + r)]);
      weights(first + r, r) = static_cast<T>(std::sqrt(rate * w));
    }
    curvature.rows->combine(weights, out.columns(first, some));
  }
}

void fail_not_positive(const char* what) {
  fail(Status::ERROR_DIVERGED, "the posterior %s is not finite and positive definite", what);
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
double kl_to_prior(const Posterior<T>& q, ConstSpan<T> precision, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const auto variance = scratch.take<T>(q.dimension());
  q.marginal_variance(variance, scratch);
  double sum = -static_cast<double>(uncertain_parameters(q)) - q.log_det_covariance();
  for_each_uncertain(q.point_parameters(), q.dimension(), [&](Index offset, Index size) {
    for (Index i = offset; i < offset + size; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double lambda = static_cast<double>(precision[k]), mean = static_cast<double>(q.mean()[k]);
      sum += lambda * (static_cast<double>(variance[k]) + mean * mean) - std::log(lambda);
    }
  });
  return sum / 2;
}

template <class T>
double kl(const Posterior<T>& q, const Posterior<T>& p, Scratch& scratch) {
  if (q.point_parameters().ranges != p.point_parameters().ranges)
    fail(Status::ERROR_SHAPE, "the two posteriors have different point parameters");
  const Scratch::Frame frame(scratch);
  const ConstSpan<T> shift = difference(p.mean(), q.mean(), q.point_parameters(), scratch);
  return (p.trace_precision(q, scratch) + p.quadratic(shift, scratch) - static_cast<double>(q.dimension()) +
          p.log_det_covariance() - q.log_det_covariance()) /
         2;
}

template <class T>
void covariance_block(const Posterior<T>& q, ConstSpan<Index> rows, ConstSpan<Index> cols,
                      MatrixView<double> out, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const auto unit = scratch.matrix<T>(q.dimension(), 1);
  for (std::size_t j = 0; j < cols.size(); ++j) {
    std::ranges::fill(unit.column(0), T(0));
    unit(cols[j], 0) = 1;
    read_solution(q, unit, scratch);
    for (std::size_t i = 0; i < rows.size(); ++i)
      out(static_cast<Index>(i), static_cast<Index>(j)) = static_cast<double>(unit(rows[i], 0));
  }
}

template <class T>
void move_mean_by(Posterior<T>& q, const Posterior<T>& from, const Posterior<T>& metric, double rate,
                  ConstSpan<T> m, Scratch& scratch) {
  T* const mean = q.mean().data();
  std::ranges::copy(m, mean);
  metric.solve({mean, q.dimension(), 1}, scratch);
  const T *old = from.mean().data(), length = static_cast<T>(rate);
  for_each_index(q.dimension(), [=](Index i) BDL_INLINE_LAMBDA { mean[i] = old[i] - length * mean[i]; });
}

#define BDL_INSTANTIATE(T)                                                                                  \
  template class Posterior<T>;                                                                              \
  template void sample(const Posterior<T>&, StreamKey, MatrixView<T>, Scratch&);                            \
  template double log_density(const Posterior<T>&, ConstSpan<T>, Scratch&);                                 \
  template double entropy(const Posterior<T>&);                                                             \
  template ConstSpan<T> scaled_weights(const Curvature<T>&, double, Scratch&);                              \
  template void write_curvature_columns(const Curvature<T>&, double, MatrixView<T>, Scratch&);              \
  template double kl_to_prior(const Posterior<T>&, ConstSpan<T>, Scratch&);                                 \
  template double kl(const Posterior<T>&, const Posterior<T>&, Scratch&);                                   \
  template void move_mean_by(Posterior<T>&, const Posterior<T>&, const Posterior<T>&, double, ConstSpan<T>, \
                             Scratch&);                                                                     \
  template void covariance_block(const Posterior<T>&, ConstSpan<Index>, ConstSpan<Index>,                   \
                                 MatrixView<double>, Scratch&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
