#include "prior/prior.hpp"

#include <algorithm>
#include <functional>

#include "base/error.hpp"
#include "parallel/parallel.hpp"
#include "posterior/families.hpp"
#include "posterior/low_rank/low_rank.hpp"
#include "posterior/point_parameters.hpp"

namespace bdl {
namespace {

/// Returns the group of a block, with `index` blocks with a prior and `points` layers of point parameters
/// before it.
std::size_t group_of(const ParameterBlock& block, std::size_t index, Index points, PriorGroups grouping) {
  switch (grouping) {
    case PriorGroups::shared:
      return 0;
    case PriorGroups::weights_biases:
      return block.is_bias ? 1 : 0;
    case PriorGroups::layers:
    case PriorGroups::inputs:
      return static_cast<std::size_t>(block.layer - points);
    default:
      return index;
  }
}

/// Returns the number of groups of single inputs that come before those of layers, less the layers that have
/// no other parameters: the first one, if it has no bias.
Index groups_of_inputs(const std::vector<ParameterBlock>& blocks, PriorGroups grouping) {
  if (grouping != PriorGroups::inputs) return 0;
  const bool has_others = blocks.size() > 1 && blocks[1].layer == blocks[0].layer;
  return blocks[0].cols - (has_others ? 0 : 1);
}

double scale_of(const ParameterBlock& block, PriorScaling scaling) {
  switch (scaling) {
    case PriorScaling::fan_in:
      return static_cast<double>(block.fan_in);
    case PriorScaling::elrg:
      return static_cast<double>(block.units);
    default:
      return 1;
  }
}

/// Fails unless q can be the prior of posteriors of this kind.
template <class T>
void check_posterior(const Posterior<T>& q, const PosteriorKind& learned) {
  if (!q.is_gaussian())
    fail(Status::ERROR_UNSUPPORTED, "the prior is a dropout posterior, expected a Gaussian one");
  if (learned.family == Family::dropout)
    fail(Status::ERROR_UNSUPPORTED, "a dropout posterior takes no posterior as prior, expected precisions");
  if (q.dimension() != learned.dimension)
    fail(Status::ERROR_SHAPE, "the prior has %lld parameters, expected %lld",
         static_cast<long long>(q.dimension()), static_cast<long long>(learned.dimension));
  if (q.point_parameters() != learned.point_parameters)
    fail(Status::ERROR_SHAPE,
         "the prior has other point parameters or running statistics than the posterior");
}

/// Writes factor gradient for point parameters, which have no prior.
template <class T>
void clear_slope(const PointLayout& points, T factor, const T* gradient, T* out) {
  for (const auto& [offset, size] : points.ranges)
    std::transform(gradient + offset, gradient + offset + size, out + offset,
                   [factor](T value) { return factor * value; });
}

[[noreturn]] void fail_no_room() {
  fail(Status::ERROR_UNSUPPORTED,
       "a low-rank posterior needs a low-rank or diagonal prior: use a full, "
       "layerwise-full or diagonal posterior, or rule \"map\"");
}

}  // namespace

template <class T>
Prior<T>::Prior(const std::vector<ParameterBlock>& blocks_of_theta, const Options& options) {
  const PriorGroups grouping = options.prior_groups;
  const bool by_inputs = grouping == PriorGroups::inputs,
             by_layers = by_inputs || grouping == PriorGroups::layers,
             biases_apart = grouping == PriorGroups::weights_biases || grouping == PriorGroups::blocks;
  const auto of_inputs = static_cast<std::size_t>(groups_of_inputs(blocks_of_theta, grouping));
  std::size_t number = 0;  // number of blocks that have a prior
  Index points_before = 0, layer = -1;
  for (const ParameterBlock& block : blocks_of_theta) {
    if (block.is_point) {
      points_.ranges.push_back({block.offset, block.size()});
      dimension_ += block.size();
      if (block.layer != layer) ++points_before;
      layer = block.layer;
      continue;
    }
    const std::size_t group = of_inputs + group_of(block, number++, points_before, grouping);
    const bool is_first = by_inputs && block.layer == blocks_of_theta.front().layer;
    const bool is_apart = block.is_bias && (biases_apart || is_first) &&
                          options.bias_prior_precision >= 1e-30 /* what a float holds */;
    const double precision = is_apart ? options.bias_prior_precision : options.prior_precision,
                 scale = scale_of(block, options.prior_scaling);
    dimension_ += block.size();
    if (is_first && !block.is_bias) {
      add_inputs(block, precision, scale);
      continue;
    }
    const bool splits = by_layers && block.of_means > 0;
    const Index first = splits ? block.of_means : block.size();
    add_range({block.offset, first, group, scale}, precision);
    if (splits) add_range({block.offset + first, block.size() - first, group + 1, scale}, precision);
  }
  fill_point_parameters(points_, T(1), precision_.first(dimension_));
  write_precision();
}

/// Adds weights W (outputs x inputs, row by row): one group for each column.
template <class T>
void Prior<T>::add_inputs(const ParameterBlock& weights, double precision, double scale) {
  for (Index i = 0; i < weights.rows; ++i)
    for (Index j = 0; j < weights.cols; ++j)
      add_range({weights.offset + i * weights.cols + j, 1, static_cast<std::size_t>(j), scale}, precision);
}

template <class T>
void Prior<T>::add_range(const Range& range, double precision) {
  if (range.group >= groups_.size()) groups_.resize(range.group + 1);
  if (range.group >= group_sizes_.size()) group_sizes_.resize(range.group + 1);
  if (group_sizes_[range.group] == 0) groups_[range.group] = precision;
  group_sizes_[range.group] += range.size;
  const auto continues = [&](const Range& last) {
    return last.group == range.group && last.scale == range.scale && last.offset + last.size == range.offset;
  };
  if (!ranges_.empty() && continues(ranges_.back()))
    ranges_.back().size += range.size;
  else
    ranges_.push_back(range);
}

template <class T>
Prior<T> Prior<T>::fixed(ConstSpan<T> precision) {
  Prior prior;
  prior.dimension_ = static_cast<Index>(precision.size());
  prior.fix(precision);
  return prior;
}

template <class T>
void Prior<T>::fix(ConstSpan<T> precision) {
  fixed_ = enters_ = true;
  posterior_.reset();
  in_family_.reset();
  joined_.reset();
  normals_.reset();
  std::ranges::copy(precision, precision_.first(dimension_).begin());
  fill_point_parameters(points_, T(1), precision_.first(dimension_));
}

template <class T>
void Prior<T>::set_groups(ConstSpan<double> values) {
  if (normals_ && normals_->columns > 0) return set_groups_beside_columns(values);
  std::ranges::copy(values.first(std::min(values.size(), groups_.size())), groups_.begin());
  write_precision();
  if (normals_) write_normals();
}

template <class T>
GroupedPrecisions Prior<T>::grouped() const {
  GroupedPrecisions all;
  if (fixed_) {
    all = {std::vector<Index>(at(dimension_)), {precision().begin(), precision().end()}, {1}};
    for (const auto& [offset, size] : points_.ranges) std::fill_n(all.group.begin() + offset, size, -1);
    return all;
  }
  all = {std::vector<Index>(at(dimension_), -1), std::vector<double>(at(dimension_), 1), groups_};
  for (const Range& range : ranges_) {
    std::fill_n(all.group.begin() + range.offset, range.size, static_cast<Index>(range.group));
    std::fill_n(all.scale.begin() + range.offset, range.size, range.scale);
  }
  if (!normals_) return all;
  all.given = all.groups();
  all.values.push_back(1);
  for (std::size_t j = 0; j < all.group.size(); ++j) {
    if (!normals_->given(static_cast<Index>(j))) continue;
    all.group[j] = all.given;
    all.scale[j] = static_cast<double>(precision()[j]);
  }
  return all;
}

template <class T>
void Prior<T>::write_precision() {
  for (const Range& range : ranges_)
    std::fill_n(precision_.data() + range.offset, range.size,
                static_cast<T>(range.scale * groups_[range.group]));
}

template <class T>
void Prior<T>::mean_squares(ConstMatrixView<T> thetas, std::span<double> out) const {
  std::ranges::fill(out, 0.0);
  for (Index s = 0; s < thetas.cols; ++s)
    for (const Range& range : ranges_) {
      double sum = 0;
      const T* theta = thetas.column_data(s) + range.offset;
      for (Index i = 0; i < range.size; ++i)
        sum += static_cast<double>(theta[i]) * static_cast<double>(theta[i]);
      out[range.group] += range.scale * sum;
    }
  for (std::size_t g = 0; g < out.size(); ++g)
    out[g] /= static_cast<double>(group_sizes_[g]) * static_cast<double>(thetas.cols);
}

/// Low-rank posteriors of a rank above 0 use the columns of a low-rank prior, and diagonal ones the
/// diagonal of any prior; other families use a posterior of their own family.
template <class T>
void Prior<T>::fix(std::shared_ptr<const Posterior<T>> posterior, const PosteriorKind& learned) {
  check_posterior(*posterior, learned);
  const bool low_rank = learned.family == Family::low_rank && learned.rank > 0,
             diagonal = learned.family == Family::diagonal_moment ||
                        (learned.family == Family::low_rank && !low_rank);
  std::shared_ptr<const Posterior<T>> same;
  if (!low_rank && !diagonal)
    same = is_of_kind(*posterior, learned) ? posterior : in_family(*posterior, learned);
  set_posterior(std::move(posterior), std::move(same), low_rank);
}

template <class T>
void Prior<T>::fix(const Prior& other) {
  if (!other.posterior_) return fix(other.precision());
  set_posterior(other.posterior_, other.in_family_, other.joined_ || !other.enters_);
}

template <class T>
void Prior<T>::set_posterior(std::shared_ptr<const Posterior<T>> posterior,
                             std::shared_ptr<const Posterior<T>> in_family, bool is_low_rank) {
  const bool has_columns = is_low_rank && posterior->family() == Family::low_rank && posterior->rank() > 0;
  posterior->precision_diagonal(precision_.first(dimension_));
  posterior_ = std::move(posterior);
  in_family_ = std::move(in_family);
  normals_.reset();
  joined_ = has_columns ? std::make_unique<JoinedRows<T>>() : nullptr;
  if (joined_) joined_->set_columns(as_low_rank(*posterior_).u());
  enters_ = !is_low_rank || has_columns || posterior_->is_diagonal();
  fixed_ = true;
}

template <class T>
Prior<double> Prior<T>::widened(const PosteriorKind& learned) const {
  Buffer<double> precision(dimension_);
  std::ranges::copy(this->precision(), precision.data());
  auto prior = Prior<double>::fixed(std::as_const(precision).first(dimension_));
  if (posterior_)
    prior.fix(std::shared_ptr<const Posterior<double>>(converted<double>(*posterior_)), learned);
  return prior;
}

template <class T>
void Prior<T>::check_enters() const {
  if (!enters_) fail_no_room();
}

template <class T>
void Prior<T>::enter_without_rows(PosteriorStep<T>& step) const {
  check_enters();
  if (in_family_)
    step.prior = in_family_.get();
  else
    step.prior_precision = joined_ ? as_low_rank(*posterior_).d() : precision();
}

template <class T>
void Prior<T>::enter(PosteriorStep<T>& step) {
  enter_without_rows(step);
  if (!joined_ || !step.curvature.rows) return;
  joined_->set_rows(*step.curvature.rows);
  const std::span<T> weights = weights_.first(joined_->count());
  const auto rest = std::ranges::copy(step.curvature.w, weights.begin()).out;
  std::fill(rest, weights.end(), T(1));
  step.curvature.rows = joined_.get();
  step.curvature.w = weights;
}

/// Returns mean - mu_0, taken from the scratch.
template <class T>
ConstSpan<T> Prior<T>::shift_from_mean(ConstSpan<T> mean, Scratch& scratch) const {
  const auto shift = scratch.take<T>(dimension_);
  std::ranges::transform(mean, posterior_->mean(), shift.begin(), std::minus<>());
  return shift;
}

/// Returns Lambda_0 shift, taken from the scratch.
template <class T>
ConstSpan<T> Prior<T>::product(ConstSpan<T> shift, Scratch& scratch) const {
  const auto product = scratch.take<T>(dimension_);
  posterior_->multiply_precision(shift, product, scratch);
  return product;
}

template <class T>
void Prior<T>::slope(ConstSpan<T> mean, T factor, ConstSpan<T> gradient, std::span<T> out,
                     Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const T* const from = gradient.data();
  T* const to = out.data();
  if (posterior_) {
    const T* const added = product(shift_from_mean(mean, scratch), scratch).data();
    for_each_index(dimension_, [=](Index i) BDL_INLINE_LAMBDA { to[i] = factor * from[i] + added[i]; });
  } else {
    const T *lambda = precision_.data(), *mu = mean.data();
    for_each_index(dimension_,
                   [=](Index i) BDL_INLINE_LAMBDA { to[i] = factor * from[i] + lambda[i] * mu[i]; });
  }
  clear_slope(points_, factor, from, to);
}

template <class T>
void Prior<T>::slope(ConstSpan<T> mean, ConstSpan<T> gradient, ConstSpan<T> diagonal, std::span<T> out,
                     Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const T* const from = gradient.data();
  T* const to = out.data();
  if (posterior_) {
    const T* const added = product(shift_from_mean(mean, scratch), scratch).data();
    for_each_index(dimension_, [=](Index i) BDL_INLINE_LAMBDA { to[i] = from[i] + added[i]; });
  } else {
    const T *lambda = diagonal.data(), *mu = mean.data();
    for_each_index(dimension_, [=](Index i) BDL_INLINE_LAMBDA { to[i] = from[i] + lambda[i] * mu[i]; });
  }
  clear_slope(points_, T(1), from, to);
}

template <class T>
void Prior<T>::add_slope(ConstSpan<T> mean, std::span<T> out, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  add_product(posterior_ ? shift_from_mean(mean, scratch) : mean, out, scratch);
}

template <class T>
void Prior<T>::add_product(ConstSpan<T> x, std::span<T> out, Scratch& scratch) const {
  if (posterior_) {
    const Scratch::Frame frame(scratch);
    std::ranges::transform(out, product(x, scratch), out.begin(), std::plus<>());
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += precision_.data()[i] * x[i];
}

template <class T>
double Prior<T>::kl(const Posterior<T>& q, Scratch& scratch) const {
  return posterior_ ? bdl::kl(q, *posterior_, scratch) : kl_to_prior(q, precision(), scratch);
}

template class Prior<float>;
template class Prior<double>;

}  // namespace bdl
