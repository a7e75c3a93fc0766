#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "likelihood/expected_loss.hpp"
#include "steps/guard.hpp"

namespace bdl {
namespace {

constexpr int halvings = 20;
constexpr double infinite = std::numeric_limits<double>::infinity();

struct Loss {
  double value = 0,
         rounding = 0;  ///< bound of the value's error; the value is infinite if an output is
};

/// The loss of an observation as a function of the mean. As in the evidence, it is averaged over samples,
/// with the same deviations from the mean, or expected over outputs of the same variances, or taken at the
/// mean.
template <class T>
class ObservationLoss {
 public:
  ObservationLoss(const Model<T>& model, const Posterior<T>& from, const Evidence<T>& evidence,
                  EstimateKind kind, ConstMatrixView<T> x, Scratch& scratch)
      : model_(model),
        evidence_(evidence),
        center_(from.mean()),
        samples_(is_sampled(kind) ? evidence.thetas.cols : 0),
        x_(x),
        theta_(scratch.take<T>(samples_ > 0 ? model.parameters() : 0)),
        outputs_(scratch.matrix<T>(model.outputs(), x.cols)),
        slope_(scratch.take<T>(model.outputs())),
        scratch_(scratch) {}

  Loss operator()(ConstSpan<T> mean) {
    Loss sum;
    if (samples_ == 0) {
      const bool known = evidence_.outputs.cols > 0 && mean.data() == center_.data();
      add(known ? evidence_.outputs : outputs(mean), evidence_.variances, sum);
    }
    for (Index s = 0; s < samples_; ++s) {
      const T* const sample = evidence_.thetas.column_data(s);
      for (std::size_t i = 0; i < theta_.size(); ++i) theta_[i] = mean[i] + (sample[i] - center_[i]);
      add(outputs(theta_), {}, sum);
    }
    const double count = static_cast<double>(std::max<Index>(1, samples_));
    // An output is a sum over parameters, so its rounding error grows as the root of their number.
    const double rounding = 16 * std::sqrt(static_cast<double>(mean.size())) *
                            static_cast<double>(std::numeric_limits<T>::epsilon());
    return {sum.value / count, rounding * sum.rounding / count};
  }

 private:
  ConstMatrixView<T> outputs(ConstSpan<T> theta) {
    model_.forward(theta, x_, outputs_, scratch_);
    return outputs_;
  }

  /// Adds -log p(y | f) of each example; given variances, its expectation over outputs with these
  /// variances.
  void add(ConstMatrixView<T> f, ConstSpan<double> variances, Loss& sum) {
    const Likelihood& likelihood = model_.likelihood;
    for (Index i = 0; i < f.cols; ++i) {
      const T *const output = f.column_data(i), *const target = evidence_.y.column_data(i);
      const bool finite = std::all_of(output, output + f.rows, [](T value) { return std::isfinite(value); });
      const double weight = likelihood.weight(target);
      if (weight == 0) continue;
      const double term = !finite ? infinite
                          : variances.empty()
                              ? -weight * likelihood.log_density(output, target)
                              : weight * expected_loss(likelihood, static_cast<double>(output[0]),
                                                       variances[at(i)], static_cast<double>(target[0]))
                                             .loss;
      sum.value += std::isfinite(term) ? term : infinite;
      if (!std::isfinite(term)) return;
      likelihood.gradient(output, target, slope_.data());
      sum.rounding += std::abs(term);
      for (Index c = 0; c < f.rows; ++c)
        sum.rounding +=
            weight * std::abs(static_cast<double>(slope_[at(c)]) * static_cast<double>(output[c]));
    }
  }

  const Model<T>& model_;
  const Evidence<T>& evidence_;
  ConstSpan<T> center_;
  Index samples_;
  ConstMatrixView<T> x_;
  std::span<T> theta_;
  MatrixView<T> outputs_;
  std::span<T> slope_;
  Scratch& scratch_;
};

}  // namespace

template <class T>
bool guard_observation(const Model<T>& model, const Posterior<T>& prior, const Posterior<T>& from,
                       const Evidence<T>& evidence, EstimateKind kind, ConstMatrixView<T> x, Scratch& scratch,
                       Posterior<T>& next) {
  const auto shift = scratch.take<T>(prior.dimension()), mean = next.mean();
  std::ranges::transform(mean, prior.mean(), shift.begin(), std::minus<>());
  const double distance = next.squared_shift(prior, shift, scratch) / 2;
  ObservationLoss<T> loss(model, from, evidence, kind, x, scratch);
  const Loss before = loss(prior.mean());
  double fraction = 1;
  for (int k = 0; k <= halvings; ++k, fraction /= 2) {
    if (k > 0)
      for (std::size_t i = 0; i < mean.size(); ++i)
        mean[i] = prior.mean()[i] + static_cast<T>(fraction) * shift[i];
    const Loss after = loss(mean);
    const double rise = after.value + fraction * fraction * distance - before.value;
    // If the loss at the prior's mean is infinite, any finite loss is accepted.
    const bool falls =
        before.value == infinite ? after.value < infinite : rise <= before.rounding + after.rounding;
    if (falls) return fraction < 1;
  }
  std::ranges::copy(prior.mean(), mean.begin());
  return true;
}

#define BDL_INSTANTIATE(T)                                                                        \
  template bool guard_observation(const Model<T>&, const Posterior<T>&, const Posterior<T>&,      \
                                  const Evidence<T>&, EstimateKind, ConstMatrixView<T>, Scratch&, \
                                  Posterior<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
