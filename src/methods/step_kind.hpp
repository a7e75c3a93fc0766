// The kinds of steps in batches. The kind is chosen once, when options are set.
#pragma once

#include "options/options.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

/// Kinds of steps, which are in these files of steps/: slang.cpp, first_order.cpp (mean and diagonal),
/// elrg.cpp, vogn.cpp, ivon.cpp, kfac.cpp.
enum class StepKind { natural_gradient, mean, diagonal, low_rank_moment, vogn, ivon, kfac };

/// Returns the kind of step that these options mean for posteriors like q.
template <class T>
StepKind step_kind(const Options& options, const Posterior<T>& q) {
  const bool learns_noise = is_low_rank_moment(q.family()) && options.curvature == EstimateKind::mc_reparam;
  switch (options.rule) {
    case Rule::map:
      return StepKind::mean;
    case Rule::bbb:
      if (learns_noise) return StepKind::low_rank_moment;
      return q.is_diagonal() ? StepKind::diagonal : StepKind::natural_gradient;
    case Rule::blr:
      if (options.descent == DescentOption::vogn) return StepKind::vogn;
      if (options.descent == DescentOption::ivon) return StepKind::ivon;
      if (options.descent == DescentOption::kfac) return StepKind::kfac;
      return StepKind::natural_gradient;
    default:
      return StepKind::natural_gradient;
  }
}

}  // namespace bdl
