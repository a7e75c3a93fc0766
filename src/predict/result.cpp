#include "predict/result.hpp"

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

void Result::write() const {
  if (given(array_)) scatter<double>({values_.data(), cols_, array_.rows}, array_);
}

}  // namespace bdl
