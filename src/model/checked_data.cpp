#include "model/checked_data.hpp"

#include <cmath>

#include "base/error.hpp"

namespace bdl {
namespace {

/// What is finite in double may be infinity in T.
template <class T>
void check_finite_or_missing(const Array& y, const ColumnScales& scales) {
  for (Index i = 0; i < y.rows; ++i)
    for (Index j = 0; j < y.cols; ++j)
      if (std::isinf(static_cast<T>(scales.apply(j, element(y, i, j)))))
        fail(Status::ERROR_NOT_FINITE,
             "y is %g at row %lld, column %lld (counting from 0): not finite in this precision",
             element(y, i, j), static_cast<long long>(i), static_cast<long long>(j));
}

}  // namespace

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
