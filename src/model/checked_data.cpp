#include "model/checked_data.hpp"

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "likelihood/likelihood.hpp"

namespace bdl {
namespace {

/// Fails if a value is infinite in T. NaN is allowed.
template <class T>
void check_finite_or_missing(const Array& y, const ColumnScales& scales) {
  for (Index i = 0; i < y.rows; ++i)
    for (Index j = 0; j < y.cols; ++j)
      if (std::isinf(static_cast<T>(scales.apply(j, element(y, i, j)))))
        fail(Status::ERROR_NOT_FINITE,
             "y is %g at row %lld, column %lld (counting from 0): not finite in this precision",
             element(y, i, j), static_cast<long long>(i), static_cast<long long>(j));
}

template <class T>
bool is_finite(ConstSpan<T> column) {
  bool finite = true;  // accumulated over the column, so that the loop has no branch
  for (const T value : column) finite &= std::abs(value) <= std::numeric_limits<T>::max();
  return finite;
}

[[noreturn]] void fail_not_finite(const char* name, Index row, Index column, double value, bool is_scaled) {
  fail(Status::ERROR_NOT_FINITE, "%s is not finite at row %lld, column %lld (counting from 0): %g%s", name,
       static_cast<long long>(row), static_cast<long long>(column), value, is_scaled ? ", standardised" : "");
}

template <class T>
void check_columns(const RowNumbers& examples, MatrixView<T> x, const char* name,
                   const ColumnScales& scales) {
  if (!x.data) return;
  for (Index j = 0; j < x.cols; ++j) {
    if (is_finite<T>(x.column(j))) continue;
    for (Index i = 0; i < x.rows; ++i)
      if (!std::isfinite(x(i, j)))
        fail_not_finite(name, examples[j], i, static_cast<double>(x(i, j)), scales.given());
  }
}

void check_count(Index got, Index expected, const char* name) {
  if (got != expected)
    fail(Status::ERROR_SHAPE, "dataset has %lld columns of %s, expected %lld", static_cast<long long>(got),
         name, static_cast<long long>(expected));
}

}  // namespace

CheckedData::CheckedData(const Likelihood& likelihood, Index inputs, DataSet& all, bool with_targets)
    : likelihood_(likelihood), all_(all) {
  check_count(all.inputs(), inputs, "x");
  if (with_targets || all.targets() > 0) check_count(all.targets(), likelihood.columns(), "y");
  blocks = all.blocks;
}

template <class T>
void CheckedData::fetch_into(const RowNumbers& examples, const Standardization& units, MatrixView<T> x,
                             MatrixView<T> y) {
  all_.fetch(examples, units, x, y);
  check_columns(examples, x, "x", units.inputs());
  check_columns(examples, y, "y", units.targets());
  if (y.data && likelihood_.is_weighted())
    for (Index j = 0; j < y.cols; ++j)
      likelihood_.check_weight(likelihood_.weight(y.column_data(j)), examples[j], "y");
  if (!y.data || likelihood_.has_noise_precision()) return;
  for (Index j = 0; j < y.cols; ++j)
    for (Index i = 0; i < likelihood_.targets(); ++i)
      if (const auto value = static_cast<double>(y(i, j)); !is_target(likelihood_, value))
        fail(Status::ERROR_LABEL, "y is %g at row %lld, column %lld (counting from 0), expected %s", value,
             static_cast<long long>(examples[j]), static_cast<long long>(i), target_range(likelihood_));
}

template void CheckedData::fetch_into(const RowNumbers&, const Standardization&, MatrixView<float>,
                                      MatrixView<float>);
template void CheckedData::fetch_into(const RowNumbers&, const Standardization&, MatrixView<double>,
                                      MatrixView<double>);

template <class T>
void check_inputs(const Model<T>& model, const Array& x) {
  check_shape(x, -1, model.inputs(), "x");
  check_finite<T>(x, "x", model.standardization.inputs());
}

template <class T>
void check_data(const Model<T>& model, const Array& x, const Array& y, Missing missing) {
  const ColumnScales targets = model.standardization.targets();
  check_shape(x, -1, model.inputs(), "x");
  model.likelihood.check_targets(y, x.rows, "y", missing == Missing::allowed);
  check_finite<T>(x, "x", model.standardization.inputs());
  if (missing == Missing::allowed)
    check_finite_or_missing<T>(y, targets);
  else
    check_finite<T>(y, "y", targets);
}

#define BDL_INSTANTIATE(T)                                   \
  template void check_inputs(const Model<T>&, const Array&); \
  template void check_data(const Model<T>&, const Array&, const Array&, Missing);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
