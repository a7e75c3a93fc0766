// Checks on outputs: results are written to the caller's arrays only when all are good, and a network whose
// training has diverged fails instead of predicting finite numbers that mean nothing.
#pragma once

#include <span>

#include "base/array.hpp"
#include "base/interrupt.hpp"
#include "model/model.hpp"

namespace bdl {

/// Values for one of the caller's output arrays, written at the end.
class Result {
 public:
  /// Checks the array if it is given.
  Result(const OutArray& array, Index rows, Index cols, const char* name)
      : Result(own_, array, rows, cols, name) {}
  /// Keeps the values in memory that outlives the Result.
  Result(Buffer<double>& memory, const OutArray& array, Index rows, Index cols, const char* name);
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;

  /// Returns the values of example i, which are written once; examples come in any order.
  std::span<double> row(Index i);
  double& operator()(Index i, Index column) { return row(i)[static_cast<std::size_t>(column)]; }

  /// Fails with ERROR_DIVERGED unless the array's type can hold every value.
  void check() const;
  /// Fails with ERROR_DIVERGED if a value is NaN; values beyond the array's type become infinite.
  void check_numbers();
  void write() const;

 private:
  Buffer<double> own_;
  OutArray array_;
  Index cols_;
  const char* name_;
  std::span<double> values_;  // only of one example if the array is not wanted
};

/// Checks all results, then writes them.
template <class... Results>
void write_results(const Results&... results) {
  (results.check(), ...);
  (results.write(), ...);
  check_loop();
}

/// Writes predictions: a row that overflows does not spoil the others.
template <class... Results>
void write_predictions(Results&... results) {
  (results.check_numbers(), ...);
  (results.write(), ...);
  check_loop();
}

/// Fails with ERROR_DIVERGED, naming the example, if a network's output (C x M, for the inputs x) is
/// meaningless: above 1e8 (1 + max |x|) in log odds or in standard deviations of standardised targets, else
/// above 1e12 standard deviations of the noise. Outputs that overflow count as the largest of their type.
/// Models of the caller's may give any number but NaN, which stands for values that they did not write.
template <class T, class Out>
void check_sense(const Model<T>& model, ConstMatrixView<T> x, ConstMatrixView<Out> f, Index first);

}  // namespace bdl
