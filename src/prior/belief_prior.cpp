// A posterior as prior: how it gets into the steps of each family, and the products with its precision, which
// for the other priors is a diagonal.
#include <algorithm>
#include <functional>

#include "base/error.hpp"
#include "parallel/parallel.hpp"
#include "posterior/families.hpp"
#include "posterior/low_rank/low_rank.hpp"
#include "prior/prior.hpp"

namespace bdl {
namespace {

/// Fails unless it can be the prior of posteriors like those.
template <class T>
void check_belief(const Posterior<T>& belief, const PosteriorKind& learned) {
  if (!belief.is_gaussian())
    fail(Status::ERROR_UNSUPPORTED, "the prior is a dropout posterior, expected a Gaussian one");
  if (learned.family == Family::dropout)
    fail(Status::ERROR_UNSUPPORTED,
         "a dropout posterior takes no posterior as prior: bdl_optimizer_set_prior() gives it precisions");
  if (belief.dimension() != learned.dimension)
    fail(Status::ERROR_SHAPE, "the prior has %lld parameters, expected %lld",
         static_cast<long long>(belief.dimension()), static_cast<long long>(learned.dimension));
  if (belief.points() != learned.points)
    fail(Status::ERROR_SHAPE,
         "the prior has other point parameters or running statistics than the posterior");
}

/// Points have no prior.
template <class T>
void clear_slope(const PointLayout& points, T factor, const T* gradient, T* out) {
  for (const auto& [offset, size] : points.ranges)
    std::transform(gradient + offset, gradient + offset + size, out + offset,
                   [factor](T value) { return factor * value; });
}

[[noreturn]] void fail_no_room() {
  fail(Status::ERROR_UNSUPPORTED,
       "a low-rank posterior needs a low-rank or diagonal prior, which this is not: use a full, "
       "layerwise-full "
       "or diagonal posterior, or rule \"map\"");
}

}  // namespace

template <class T>
void Prior<T>::fix(std::shared_ptr<const Posterior<T>> belief, const PosteriorKind& learned) {
  check_belief(*belief, learned);
  const bool low_rank = learned.family == Family::low_rank && learned.rank > 0,
             diagonal = learned.family == Family::diagonal_moment ||
                        (learned.family == Family::low_rank && !low_rank);
  std::shared_ptr<const Posterior<T>> taken;
  if (!low_rank && !diagonal) taken = is_of_kind(*belief, learned) ? belief : in_family(*belief, learned);
  take_belief(std::move(belief), std::move(taken), low_rank);
}

template <class T>
void Prior<T>::fix(const Prior& other) {
  if (!other.belief_) return fix(other.precision());
  take_belief(other.belief_, other.in_family_, other.is_joined_ || !other.enters_);
}

template <class T>
void Prior<T>::take_belief(std::shared_ptr<const Posterior<T>> belief,
                           std::shared_ptr<const Posterior<T>> in_family, bool is_low_rank) {
  const bool has_columns = is_low_rank && belief->family() == Family::low_rank && belief->rank() > 0;
  belief->precision_diagonal(precision_.first(dimension_));
  belief_ = std::move(belief);
  in_family_ = std::move(in_family);
  is_joined_ = has_columns;
  scratch_ = {};
  if (is_joined_) scratch_.joined.set_columns(as_low_rank(*belief_).u());
  enters_ = !is_low_rank || has_columns || belief_->is_diagonal();
  fixed_ = true;
}

template <class T>
Prior<double> Prior<T>::widened(const PosteriorKind& learned) const {
  Buffer<double> precision(dimension_);
  std::ranges::copy(this->precision(), precision.data());
  auto prior = Prior<double>::fixed(std::as_const(precision).first(dimension_));
  if (belief_) prior.fix(std::shared_ptr<const Posterior<double>>(converted<double>(*belief_)), learned);
  return prior;
}

template <class T>
void Prior<T>::check_enters() const {
  if (!enters_) fail_no_room();
}

template <class T>
void Prior<T>::enter(PosteriorStep<T>& step) {
  check_enters();
  if (in_family_) {
    step.prior = in_family_.get();
    return;
  }
  step.prior_precision = is_joined_ ? as_low_rank(*belief_).d() : precision();
  if (!is_joined_ || !step.curvature.rows) return;
  JoinedRows<T>& joined = scratch_.joined;
  joined.set_rows(*step.curvature.rows);
  scratch_.weights.reserve(joined.count());
  T* const weights = scratch_.weights.data();
  std::ranges::copy(step.curvature.w, weights);
  std::fill(weights + step.curvature.w.size(), weights + joined.count(), T(1));
  step.curvature.rows = &joined;
  step.curvature.w = scratch_.weights.first(joined.count());
}

template <class T>
void Prior<T>::enter(StepSize& step) const {
  step.leaves_prior = true;
  step.has_prior = in_family_ != nullptr;
  step.prior_rank = in_family_ ? in_family_->rank() : 0;
  if (is_joined_) step.rows = JoinedRows<T>::joined(step.rows, dimension_, belief_->rank());
}

template <class T>
Index Prior<T>::bytes() const {
  Index sum = precision_.bytes();
  if (belief_) sum += belief_->bytes();
  if (in_family_ && in_family_ != belief_) sum += in_family_->bytes();
  return sum;
}

template <class T>
void Prior<T>::reserve(Scratch& scratch) const {
  if (!belief_) return;
  scratch.shift.reserve(dimension_);
  scratch.product.reserve(dimension_);
  belief_->reserve(1, scratch.posterior);
}

template <class T>
void Prior<T>::reserve_step(const StepSize& step, const RowsUse& use, Scratch& scratch) const {
  reserve(scratch);
  if (!is_joined_ || !step.has_rows) return;
  const Index columns = belief_->rank();
  scratch.weights.reserve(step.rows.count);
  scratch.joined.reserve(dimension_, columns, step.rows.count - columns, use);
}

template <class T>
ConstSpan<T> Prior<T>::shift_from_mean(ConstSpan<T> mean) {
  reserve(scratch_);
  std::ranges::transform(mean, belief_->mean(), scratch_.shift.data(), std::minus<>());
  return scratch_.shift.first(dimension_);
}

template <class T>
ConstSpan<T> Prior<T>::product(ConstSpan<T> shift) {
  reserve(scratch_);
  belief_->multiply_precision(shift, scratch_.product.first(dimension_), scratch_.posterior);
  return scratch_.product.first(dimension_);
}

template <class T>
void Prior<T>::slope(ConstSpan<T> mean, T factor, ConstSpan<T> gradient, std::span<T> out) {
  const T* const from = gradient.data();
  T* const to = out.data();
  if (belief_) {
    const T* const added = product(shift_from_mean(mean)).data();
    for_each_index(dimension_, [=](Index i) BDL_INLINE_LAMBDA { to[i] = factor * from[i] + added[i]; });
  } else {
    const T *lambda = precision_.data(), *mu = mean.data();
    for_each_index(dimension_,
                   [=](Index i) BDL_INLINE_LAMBDA { to[i] = factor * from[i] + lambda[i] * mu[i]; });
  }
  clear_slope(points_, factor, from, to);
}

template <class T>
void Prior<T>::slope(ConstSpan<T> mean, ConstSpan<T> gradient, ConstSpan<T> diagonal, std::span<T> out) {
  const T* const from = gradient.data();
  T* const to = out.data();
  if (belief_) {
    const T* const added = product(shift_from_mean(mean)).data();
    for_each_index(dimension_, [=](Index i) BDL_INLINE_LAMBDA { to[i] = from[i] + added[i]; });
  } else {
    const T *lambda = diagonal.data(), *mu = mean.data();
    for_each_index(dimension_, [=](Index i) BDL_INLINE_LAMBDA { to[i] = from[i] + lambda[i] * mu[i]; });
  }
  clear_slope(points_, T(1), from, to);
}

template <class T>
void Prior<T>::add_slope(ConstSpan<T> mean, std::span<T> out) {
  add_product(belief_ ? shift_from_mean(mean) : mean, out);
}

template <class T>
void Prior<T>::add_product(ConstSpan<T> x, std::span<T> out) {
  if (belief_) {
    std::ranges::transform(out, product(x), out.begin(), std::plus<>());
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += precision_.data()[i] * x[i];
}

template <class T>
double Prior<T>::kl(const Posterior<T>& q, PosteriorScratch<T>& scratch) const {
  return belief_ ? bdl::kl(q, *belief_, scratch) : kl_to_prior(q, precision(), scratch);
}

#define BDL_INSTANTIATE(T)                                                                \
  template void Prior<T>::fix(std::shared_ptr<const Posterior<T>>, const PosteriorKind&); \
  template void Prior<T>::fix(const Prior&);                                              \
  template Prior<double> Prior<T>::widened(const PosteriorKind&) const;                   \
  template void Prior<T>::check_enters() const;                                           \
  template void Prior<T>::enter(PosteriorStep<T>&);                                       \
  template void Prior<T>::enter(StepSize&) const;                                         \
  template Index Prior<T>::bytes() const;                                                 \
  template void Prior<T>::reserve(Scratch&) const;                                        \
  template void Prior<T>::reserve_step(const StepSize&, const RowsUse&, Scratch&) const;  \
  template void Prior<T>::slope(ConstSpan<T>, T, ConstSpan<T>, std::span<T>);             \
  template void Prior<T>::slope(ConstSpan<T>, ConstSpan<T>, ConstSpan<T>, std::span<T>);  \
  template void Prior<T>::add_slope(ConstSpan<T>, std::span<T>);                          \
  template void Prior<T>::add_product(ConstSpan<T>, std::span<T>);                        \
  template double Prior<T>::kl(const Posterior<T>&, PosteriorScratch<T>&) const;
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
