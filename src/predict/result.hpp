// What will be in one of the caller's output arrays: a call that fails has written nothing.
#pragma once

#include <span>

#include "base/array.hpp"
#include "base/interrupt.hpp"

namespace bdl {

class Result {
 public:
  /// Checks the array, unless it is not wanted.
  Result(const OutArray& array, Index rows, Index cols, const char* name)
      : Result(own_, array, rows, cols, name) {}
  /// The same in memory that outlives it.
  Result(Buffer<double>& memory, const OutArray& array, Index rows, Index cols, const char* name);
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;

  /// The values of example i, to be written once, examples in any order.
  std::span<double> row(Index i);
  double& operator()(Index i, Index column) { return row(i)[static_cast<std::size_t>(column)]; }

  /// Fails with ERROR_DIVERGED unless every value is a number that the array's type can hold.
  void check() const;
  /// Fails with ERROR_DIVERGED where one is not a number; those beyond the array's type become infinite.
  void check_numbers();
  void write() const;

 private:
  Buffer<double> own_;
  OutArray array_;
  Index cols_;
  const char* name_;
  std::span<double> values_;  // of one example if the array is not wanted
};

/// Writes all if all are good.
template <class... Results>
void write_results(const Results&... results) {
  (results.check(), ...);
  (results.write(), ...);
  check_loop();
}

/// The same of predictions: one row that overflows does not take the others.
template <class... Results>
void write_predictions(Results&... results) {
  (results.check_numbers(), ...);
  (results.write(), ...);
  check_loop();
}

}  // namespace bdl
