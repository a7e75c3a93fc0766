#include "prior/prior.hpp"

#include <algorithm>

#include "posterior/points.hpp"

namespace bdl {
namespace {

/// `index` and `points`: blocks with a prior, and layers of points, before it.
std::size_t group_of(const ParameterBlock& block, std::size_t index, Index points, PriorGroups grouping) {
  switch (grouping) {
    case PriorGroups::shared:
      return 0;
    case PriorGroups::weights_biases:
      return block.is_bias ? 1 : 0;
    case PriorGroups::layers:
      return static_cast<std::size_t>(block.layer - points);
    default:
      return index;
  }
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

}  // namespace

template <class T>
Prior<T>::Prior(const std::vector<ParameterBlock>& blocks_of_theta, const Options& options) {
  const bool biases_apart =
      options.prior_groups == PriorGroups::weights_biases || options.prior_groups == PriorGroups::blocks;
  std::size_t number = 0;  // of a block that has a prior
  Index points_before = 0, layer = -1;
  for (const ParameterBlock& block : blocks_of_theta) {
    if (block.is_point) {
      points_.ranges.push_back({block.offset, block.size()});
      dimension_ += block.size();
      if (block.layer != layer) ++points_before;
      layer = block.layer;
      continue;
    }
    const std::size_t group = group_of(block, number++, points_before, options.prior_groups);
    if (group >= groups_.size()) groups_.resize(group + 1);
    if (group >= group_sizes_.size()) group_sizes_.resize(group + 1);
    const bool own =
        block.is_bias && biases_apart && options.bias_prior_precision >= 1e-30 /* what a float holds */;
    if (group_sizes_[group] == 0)
      groups_[group] = own ? options.bias_prior_precision : options.prior_precision;
    group_sizes_[group] += block.size();
    parts_.push_back({block.offset, block.size(), group, scale_of(block, options.prior_scaling)});
    dimension_ += block.size();
  }
  precision_.reserve(dimension_);
  fill_points(points_, T(1), precision_.first(dimension_));
  spread_groups();
}

template <class T>
Prior<T> Prior<T>::fixed(ConstSpan<T> precision) {
  Prior prior;
  prior.dimension_ = static_cast<Index>(precision.size());
  prior.precision_.reserve(prior.dimension_);
  prior.fix(precision);
  return prior;
}

template <class T>
void Prior<T>::fix(ConstSpan<T> precision) {
  fixed_ = enters_ = true;
  belief_.reset();
  in_family_.reset();
  is_joined_ = false;
  scratch_ = {};
  std::ranges::copy(precision, precision_.data());
  fill_points(points_, T(1), precision_.first(dimension_));
}

template <class T>
void Prior<T>::set_groups(ConstSpan<double> values) {
  std::ranges::copy(values, groups_.begin());
  spread_groups();
}

template <class T>
void Prior<T>::spread_groups() {
  for (const Part& part : parts_)
    std::fill_n(precision_.data() + part.offset, part.size, static_cast<T>(part.scale * groups_[part.group]));
}

template <class T>
void Prior<T>::mean_squares(ConstMatrixView<T> thetas, std::span<double> out) const {
  std::ranges::fill(out, 0.0);
  for (Index s = 0; s < thetas.cols; ++s)
    for (const Part& part : parts_) {
      double sum = 0;
      const T* theta = thetas.column_data(s) + part.offset;
      for (Index i = 0; i < part.size; ++i)
        sum += static_cast<double>(theta[i]) * static_cast<double>(theta[i]);
      out[part.group] += part.scale * sum;
    }
  for (std::size_t g = 0; g < out.size(); ++g)
    out[g] /= static_cast<double>(group_sizes_[g]) * static_cast<double>(thetas.cols);
}

template class Prior<float>;
template class Prior<double>;

}  // namespace bdl
