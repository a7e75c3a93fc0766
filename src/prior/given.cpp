// Normal priors of some parameters beside the groups of the others: the two together are a posterior that is
// the prior, and that follows the groups.
#include <algorithm>

#include "base/error.hpp"
#include "posterior/families.hpp"
#include "posterior/low_rank/low_rank.hpp"
#include "prior/prior.hpp"

namespace bdl {

template <class T>
void Prior<T>::give(ParameterNormals normals, const PosteriorKind& learned) {
  if (std::ranges::none_of(normals.precision, [](double precision) { return precision > 0; })) return;
  if (learned.family == Family::dropout)
    fail(Status::ERROR_UNSUPPORTED, "a dropout posterior takes no normal prior of its parameters");
  auto own = std::make_unique<LowRankPosterior<T>>(dimension_, normals.columns);
  own->adopt(learned.point_parameters);
  own->set_blank(false);
  for (const auto& [offset, size] : points_.ranges) {
    std::fill_n(normals.precision.begin() + offset, size, 0.0);
    std::fill_n(normals.mean.begin() + offset, size, 0.0);
  }
  std::ranges::transform(normals.mean, own->mean().begin(), [](double m) { return static_cast<T>(m); });
  auto given = std::make_unique<const ParameterNormals>(std::move(normals));
  own_ = std::move(own);
  normals_ = std::move(given);
  leave_to_normals();
  write_precision();
  write_normals();
  auto kept = std::move(normals_);  // fix() begins anew
  const bool is_fixed = groups_.empty();
  fix(std::shared_ptr<const Posterior<T>>(own_), learned);
  fixed_ = is_fixed;
  normals_ = std::move(kept);
  own_in_family_ = nullptr;
  if (in_family_ && in_family_ != posterior_) in_family_ = own_in_family_ = in_family_->clone();
}

/// Takes the given parameters out of the groups, and leaves out groups that have no others.
template <class T>
void Prior<T>::leave_to_normals() {
  const std::vector<Range> all = std::exchange(ranges_, {});
  const std::vector<double> values = std::exchange(groups_, {});
  group_sizes_.clear();
  std::vector<Index> number(values.size(), -1);
  for (const Range& range : all)
    for (Index j = range.offset; j < range.offset + range.size; ++j) {
      if (normals_->given(j)) continue;
      Index& group = number[range.group];
      if (group < 0) group = std::ssize(groups_);
      add_range({j, 1, static_cast<std::size_t>(group), range.scale}, values[range.group]);
    }
}

/// Sets the groups, or changes nothing if memory is short.
template <class T>
void Prior<T>::set_groups_beside_columns(ConstSpan<double> values) {
  std::vector<double> before = groups_;
  const auto own = own_->clone(), in_family = own_in_family_ ? own_in_family_->clone() : nullptr;
  Buffer<T> precision(dimension_);
  std::ranges::copy(this->precision(), precision.data());
  try {
    std::ranges::copy(values.first(std::min(values.size(), groups_.size())), groups_.begin());
    write_precision();
    write_normals();
  } catch (...) {
    groups_ = std::move(before);
    std::copy_n(precision.data(), dimension_, precision_.data());
    own_->swap(*own);
    if (in_family) own_in_family_->swap(*in_family);
    throw;
  }
}

/// Writes the precisions to the posterior that the prior is. Without columns it allocates nothing.
template <class T>
void Prior<T>::write_normals() {
  for (std::size_t j = 0; j < normals_->precision.size(); ++j)
    if (normals_->precision[j] > 0) precision_.data()[j] = static_cast<T>(normals_->precision[j]);
  if (normals_->columns == 0) {
    own_->set_diagonal(precision(), {});
    if (own_in_family_) own_in_family_->set_diagonal(precision(), {});
    return;
  }
  std::vector<T> u(normals_->u.size());
  std::ranges::transform(normals_->u, u.begin(), [](double value) { return static_cast<T>(value); });
  dynamic_cast<LowRankPosterior<T>&>(*own_).set_precision({u.data(), dimension_, normals_->columns},
                                                          precision());
  own_->precision_diagonal(precision_.first(dimension_));
  if (own_in_family_) own_in_family_->assign(*in_family(*posterior_, own_in_family_->kind()));
}

#define BDL_INSTANTIATE(T)                                                      \
  template void Prior<T>::give(ParameterNormals, const PosteriorKind& learned); \
  template void Prior<T>::leave_to_normals();                                   \
  template void Prior<T>::set_groups_beside_columns(ConstSpan<double>);         \
  template void Prior<T>::write_normals();
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
