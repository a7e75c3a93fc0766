#include <cmath>
#include <utility>

#include "base/overlap.hpp"
#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "curvature/hessian.hpp"
#include "curvature/jacobian.hpp"
#include "linalg/blas.hpp"
#include "train/fit.hpp"

namespace bdl {
namespace {

/// Arguments of a Hessian: parameters and a whole batch, whose scale is 1.
template <class T>
struct WholeBatch {
  Buffer<T> theta_, x_, y_;
  ConstMatrixView<T> theta, x, y;

  WholeBatch(const Model<T>& model, const Array& parameters, const Array& inputs, const Array& targets)
      : theta_(checked_parameters(model, parameters)),
        x_(gathered_inputs(model, inputs)),
        y_(gathered_targets(model, targets)),
        theta(std::as_const(theta_).matrix(model.parameters(), 1)),
        x(std::as_const(x_).matrix(inputs.cols, inputs.rows)),
        y(std::as_const(y_).matrix(targets.cols, targets.rows)) {}
};

/// Fails at the first value that is not finite.
template <class T>
void check_derivatives_finite(ConstMatrixView<T> columns, const char* name) {
  for (Index j = 0; j < columns.cols; ++j)
    for (Index i = 0; i < columns.rows; ++i)
      if (!std::isfinite(columns(i, j)))
        fail(Status::ERROR_DIVERGED, "%s would not be finite at row %lld, column %lld (counting from 0)",
             name, static_cast<long long>(j), static_cast<long long>(i));
}

/// Converts df to the caller's units: column i C + c is multiplied by s_c.
template <class T>
void jacobian_to_caller(const Standardization& standardization, Index outputs, MatrixView<T> columns) {
  if (!standardization.has_targets()) return;
  for (Index r = 0; r < columns.cols; ++r) {
    const double scale = standardization.target_scale(r % outputs);
    for (T& value : columns.column(r)) value = static_cast<T>(scale * static_cast<double>(value));
  }
  check_derivatives_finite<T>(columns, "jacobian");
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_model_jacobian(const bdl_model* model, bdl_matrix parameters, bdl_matrix x,
                              bdl_matrix_out jacobian) {
  return interruptible_guard(__func__, model, "model", [&]<class T>(const Model<T>& m) {
    const Index dimension = m.parameters();
    check_shape(x, -1, m.inputs(), "x");
    check_range(x.rows, 1, largest_size / m.outputs(), "the number of rows of x");
    check_inputs(m, x);
    const Index rows = x.rows * m.outputs();
    check_output(jacobian, rows, dimension, "jacobian");
    check_apart({{"jacobian", jacobian}}, {{"parameters", parameters}, {"x", x}});
    const Buffer<T> theta = checked_parameters(m, parameters), columns = gathered_inputs(m, x);
    Buffer<T> result(rows * dimension);
    write_jacobian<T>(m, theta.first(dimension), columns.matrix(x.cols, x.rows),
                      result.matrix(dimension, rows));
    jacobian_to_caller(m.standardization, m.outputs(), result.matrix(dimension, rows));
    write_result<T>(result.matrix(dimension, rows), jacobian, "jacobian");
  });
}

bdl_status bdl_model_hessian_vector_product(const bdl_model* model, bdl_matrix parameters, bdl_matrix x,
                                            bdl_matrix y, bdl_matrix vectors, bdl_matrix_out products) {
  return interruptible_guard(__func__, model, "model", [&]<class T>(const Model<T>& m) {
    HessianEstimator<T> hessian(m);
    const Index dimension = m.parameters();
    check_data(m, x, y);
    check_shape(vectors, -1, dimension, "vectors");
    check_finite<T>(vectors, "vectors");
    check_output(products, vectors.rows, dimension, "products");
    check_apart({{"products", products}},
                {{"parameters", parameters}, {"x", x}, {"y", y}, {"vectors", vectors}});
    const WholeBatch<T> batch(m, parameters, x, y);
    const Buffer<T> v = gathered<T>(vectors);
    Buffer<T> result(dimension * vectors.rows);
    const auto images = result.matrix(dimension, vectors.rows);
    hessian.products(batch.theta, batch.x, batch.y, 1, v.matrix(dimension, vectors.rows), images);
    check_derivatives_finite<T>(images, "products");
    write_result<T>(images, products, "products");
  });
}

bdl_status bdl_model_hessian(const bdl_model* model, bdl_matrix parameters, bdl_matrix x, bdl_matrix y,
                             bdl_matrix_out hessian) {
  return interruptible_guard(__func__, model, "model", [&]<class T>(const Model<T>& m) {
    HessianEstimator<T> estimator(m);
    const Index dimension = m.parameters();
    check_data(m, x, y);
    check_output(hessian, dimension, dimension, "hessian");
    check_apart({{"hessian", hessian}}, {{"parameters", parameters}, {"x", x}, {"y", y}});
    const WholeBatch<T> batch(m, parameters, x, y);
    Buffer<double> result(dimension * dimension);
    const auto values = result.matrix(dimension, dimension);
    estimator.dense(batch.theta, batch.x, batch.y, 1, values);
    mirror_lower(values);
    check_derivatives_finite<double>(values, "hessian");
    write_result<double>(values, hessian, "hessian");
  });
}
