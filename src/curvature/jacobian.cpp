#include "curvature/jacobian.hpp"

#include <algorithm>
#include <cmath>

#include "curvature/factored_rows.hpp"
#include "model/user_model.hpp"

namespace bdl {
namespace {

constexpr Index most_examples = 256;  // on the tape at a time

/// Seed c of every example, C x M each.
template <class T>
void fill_unit_seeds(MatrixView<T> seeds, Index examples) {
  std::fill_n(seeds.data, seeds.size(), T(0));
  for (Index r = 0; r < seeds.cols; ++r) seeds(r / examples, r) = 1;
}

template <class T>
void write_part(const Network<T>& network, ConstMatrixView<T> theta, ConstMatrixView<T> x, Tape<T>& tape,
                FactoredRows<T>& rows, MatrixView<T> out) {
  const Index outputs = network.outputs(), count = x.cols * outputs;
  const auto seeds = tape.sensitivities.back().matrix(outputs, count);
  const MatrixView<T> f = seeds.columns(0, x.cols);  // overwritten by the seeds
  network.forward(theta, x, tape, f);
  check_outputs_finite<T>(f);
  fill_unit_seeds(seeds, x.cols);
  network.backward(theta, tape, outputs);
  rows.assign(network, tape, outputs);
  for (Index r = 0; r < count; ++r) rows.write_row(r, out.column(r % x.cols * outputs + r / x.cols));
}

template <class T>
void write_jacobian(const Network<T>& network, ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> out) {
  Tape<T> tape;
  FactoredRows<T> rows;
  const Index outputs = network.outputs();
  network.reserve(tape, std::min(most_examples, x.cols), 1, outputs);
  for (Index first = 0; first < x.cols; first += most_examples) {
    const Index count = std::min(most_examples, x.cols - first);
    write_part(network, {theta.data(), network.parameters(), 1}, x.columns(first, count), tape, rows,
               out.columns(first * outputs, count * outputs));
  }
}

template <class T>
void write_jacobian(const UserModel<T>& model, ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> out) {
  const Index outputs = model.outputs(), dimension = model.parameters();
  Buffer<T> values(outputs * x.cols * outputs), rows(dimension * x.cols), scratch;
  const auto seeds = values.matrix(outputs, x.cols * outputs);
  const MatrixView<T> f = seeds.columns(0, x.cols);  // overwritten by the seeds
  model.forward(theta, x, f, scratch);
  check_outputs_finite<T>(f);
  fill_unit_seeds(seeds, x.cols);
  for (Index c = 0; c < outputs; ++c) {
    model.gradient_rows(theta, x, seeds.columns(c * x.cols, x.cols), rows.matrix(dimension, x.cols));
    for (Index i = 0; i < x.cols; ++i)
      std::copy_n(rows.data() + i * dimension, dimension, out.column_data(i * outputs + c));
  }
}

}  // namespace

template <class T>
void write_jacobian(const Model<T>& model, ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> out) {
  if (const auto* network = dynamic_cast<const Network<T>*>(&model))
    write_jacobian(*network, theta, x, out);
  else
    write_jacobian(dynamic_cast<const UserModel<T>&>(model), theta, x, out);
  for (Index j = 0; j < out.cols; ++j)
    for (const T value : out.column(j))
      if (!std::isfinite(value))
        fail(Status::ERROR_DIVERGED, "the Jacobian of output %lld for example %lld is not finite",
             static_cast<long long>(j % model.outputs()), static_cast<long long>(j / model.outputs()));
}

template void write_jacobian(const Model<float>&, ConstSpan<float>, ConstMatrixView<float>,
                             MatrixView<float>);
template void write_jacobian(const Model<double>&, ConstSpan<double>, ConstMatrixView<double>,
                             MatrixView<double>);

}  // namespace bdl
