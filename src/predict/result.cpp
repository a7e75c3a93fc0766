#include "predict/result.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace bdl {

Result::Result(Buffer<double>& memory, const OutArray& array, Index rows, Index cols, const char* name)
    : array_(array), cols_(cols), name_(name) {
  if (given(array)) check_output(array, rows, cols, name);
  values_ = memory.first((given(array) ? rows : 1) * cols);
}

std::span<double> Result::row(Index i) {
  const Index first = given(array_) ? i * cols_ : 0;
  return values_.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(cols_));
}

void Result::check() const {
  if (!given(array_)) return;
  check_result<double>({values_.data(), cols_, array_.rows}, array_, name_);
}

void Result::check_numbers() {
  if (!given(array_) || all_fit(values_.data(), std::ssize(values_), array_)) return;
  const double largest = array_.dtype == BDL_F32 ? double{std::numeric_limits<float>::max()}
                                                 : std::numeric_limits<double>::max();
  for (std::size_t i = 0; i < values_.size(); ++i) {
    double& value = values_[i];
    if (std::isnan(value))
      fail(Status::ERROR_DIVERGED, "%s would be NaN at row %lld, column %lld (counting from 0)", name_,
           static_cast<long long>(static_cast<Index>(i) / cols_),
           static_cast<long long>(static_cast<Index>(i) % cols_));
    if (std::abs(value) > largest) value = std::copysign(std::numeric_limits<double>::infinity(), value);
  }
}

void Result::write() const {
  if (given(array_)) scatter<double>({values_.data(), cols_, array_.rows}, array_);
}

namespace {

/// Returns the limit of meaningful outputs for inputs of size 0.
template <class T>
double sense_limit(const Model<T>& model, Index output) {
  constexpr double targets = 1e8, noise = 1e12;
  const Likelihood& likelihood = model.likelihood;
  // Outputs after the means are log precisions, which have no units, as log odds.
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

/// Fails if a custom model left an output NaN.
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
      if (output <= limit) continue;  // most examples need no look at x
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
