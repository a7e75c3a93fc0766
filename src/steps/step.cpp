#include "steps/step.hpp"

#include <cmath>

#include "linalg/dot.hpp"
#include "steps/averages.hpp"

namespace bdl {

template <class T>
StepKind step_kind(const Options& options, const Posterior<T>& q) {
  switch (options.rule) {
    case Rule::map:
      return StepKind::mean;
    case Rule::bbb:
      if (is_noisy(q.family(), options.curvature)) return StepKind::low_rank_moment;
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

template <class T>
StepResult take_step(StepKind kind, const StepInput<T>& in, const Evidence<T>& evidence,
                     Averages<T>& averages, Posterior<T>* next) {
  switch (kind) {
    case StepKind::natural_gradient:
      return slang_step(in, evidence, averages, *next);
    case StepKind::mean:
      return mean_step(in, evidence, averages);
    case StepKind::diagonal:
      return diagonal_step(in, evidence, averages, *next);
    case StepKind::low_rank_moment:
      return low_rank_moment_step(in, evidence, averages, *next);
    case StepKind::vogn:
      return vogn_step(in, evidence, averages, *next);
    case StepKind::ivon:
      return ivon_step(in, evidence, averages, *next);
    case StepKind::kfac:
      return kfac_step(in, evidence, averages, *next);
  }
  fail(Status::ERROR_INTERNAL, "a step of unknown kind %d", static_cast<int>(kind));
}

template <class T>
void check_mean_finite(const Posterior<T>& q, const char* event, Index number) {
  const auto mean = q.mean();
  T square = 0;
  with_simd([&](auto width)
                BDL_INLINE_LAMBDA { square = dot<width()>(mean.data(), mean.data(), q.dimension()); });
  if (std::isfinite(square)) return;
  const auto diverged = std::ranges::find_if_not(mean, [](T value) { return std::isfinite(value); });
  if (diverged != mean.end())
    fail(Status::ERROR_DIVERGED, "parameter %lld (counting from 0) is not finite after %s %lld",
         static_cast<long long>(diverged - mean.begin()), event, static_cast<long long>(number));
}

#define BDL_INSTANTIATE(T)                                                                       \
  template StepKind step_kind(const Options&, const Posterior<T>&);                              \
  template StepResult take_step(StepKind, const StepInput<T>&, const Evidence<T>&, Averages<T>&, \
                                Posterior<T>*);                                                  \
  template void check_mean_finite(const Posterior<T>&, const char*, Index);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
