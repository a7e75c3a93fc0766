#include "predict/sense.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace bdl {
namespace {

/// Beyond which an output of an input of size 0 has no sense.
template <class T>
double sense_limit(const Model<T>& model, Index output) {
  constexpr double targets = 1e8, noise = 1e12;
  const Likelihood& likelihood = model.likelihood;
  // Outputs beyond the targets are log precisions: as log odds, they have no units.
  const bool has_units = likelihood.has_noise_precision() && output < likelihood.means();
  if (!has_units || model.standardization.has_targets()) return targets;
  return noise / std::sqrt(likelihood.noise_precision(output));
}

/// Returns |output|, at most the largest T.
template <class T>
double size_of(double output) {
  constexpr double largest = std::numeric_limits<T>::max();
  return std::isnan(output) ? largest : std::min(std::abs(output), largest);
}

/// Fails if a user's model left an output NaN.
template <class Out>
void check_written(ConstMatrixView<Out> f, Index first) {
  for (Index i = 0; i < f.cols; ++i)
    for (const Out value : f.column(i))
      if (std::isnan(value))
        fail(Status::ERROR_DIVERGED,
             "the model's output for example %lld (counting from 0) is NaN: its outputs callback must write "
             "every output",
             static_cast<long long>(first + i));
}

}  // namespace

template <class T, class Out>
void check_sense(const Model<T>& model, ConstMatrixView<T> x, ConstMatrixView<Out> f, Index first) {
  if (!model.graph()) return check_written(f, first);
  for (Index c = 0; c < f.rows; ++c) {
    const double limit = sense_limit(model, c);
    for (Index i = 0; i < f.cols; ++i) {
      const double output = size_of<T>(static_cast<double>(f(c, i)));
      if (output <= limit) continue;  // of most examples: without a look at x
      double size = 0;
      for (const T value : x.column(i)) size = std::max(size, std::abs(static_cast<double>(value)));
      if (!(output <= limit * (1 + size)))
        fail(Status::ERROR_DIVERGED,
             "the network's output %lld for example %lld (counting from 0) is %.3g (standardised), which has "
             "no meaning: its training diverged",
             static_cast<long long>(c), static_cast<long long>(first + i), output);
    }
  }
}

template void check_sense(const Model<float>&, ConstMatrixView<float>, ConstMatrixView<float>, Index);
template void check_sense(const Model<float>&, ConstMatrixView<float>, ConstMatrixView<double>, Index);
template void check_sense(const Model<double>&, ConstMatrixView<double>, ConstMatrixView<double>, Index);

}  // namespace bdl
