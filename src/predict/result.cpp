#include "predict/result.hpp"

#include <cmath>
#include <limits>

namespace bdl {

Result::Result(Buffer<double>& memory, const OutArray& array, Index rows, Index cols, const char* name)
    : array_(array), cols_(cols), name_(name) {
  if (given(array)) check_output(array, rows, cols, name);
  const Index size = (given(array) ? rows : 1) * cols;
  memory.reserve(size);
  values_ = memory.first(size);
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

}  // namespace bdl
