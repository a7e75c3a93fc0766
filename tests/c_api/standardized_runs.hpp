// Twins: one whose model standardises data in odd units, and one that is given them standardised by hand.
#pragma once

#include <tuple>

#include "handles.hpp"

/// n x columns, row-major.
struct Table {
  int64_t columns;
  Vector values;

  int64_t rows() const { return std::ssize(values) / columns; }
  double& operator()(int64_t i, int64_t j) { return values[static_cast<std::size_t>(i * columns + j)]; }
  double operator()(int64_t i, int64_t j) const { return values[static_cast<std::size_t>(i * columns + j)]; }
  bdl_matrix view() const { return rows_of(0, rows()); }
  bdl_matrix_out out() { return bdl_f64_out(values.data(), rows(), columns); }
  bdl_matrix rows_of(int64_t first, int64_t count) const {
    return bdl_f64(values.data() + first * columns, count, columns);
  }
};

inline Table table(int64_t rows, int64_t columns, double value = NAN) {
  return {columns, Vector(static_cast<std::size_t>(rows * columns), value)};
}

/// Means and scales of x and y.
struct Units {
  Table x_mean, x_scale, y_mean, y_scale;
  double log_scale() const {
    double sum = 0;
    for (const double scale : y_scale.values) sum += std::log(scale);
    return sum;
  }
};

inline Units units_of(const bdl_model* model) {
  const int64_t inputs = bdl_model_inputs(model), outputs = bdl_model_outputs(model);
  Units u{table(1, inputs), table(1, inputs), table(1, outputs), table(1, outputs)};
  OK(bdl_model_get_standardization(model, u.x_mean.out(), u.x_scale.out(), u.y_mean.out(), u.y_scale.out()));
  return u;
}

inline Table standardized(Table data, const Table& mean, const Table& scale) {
  for (int64_t i = 0; i < data.rows(); ++i)
    for (int64_t j = 0; j < data.columns; ++j) data(i, j) = (data(i, j) - mean(0, j)) / scale(0, j);
  return data;
}

/// Units of very different sizes; only a Gaussian y has any. One input is like a time in seconds: to a float
/// it is a constant.
inline std::pair<Table, Table> odd_data(bdl_likelihood likelihood) {
  const dataset d = data_for(likelihood);
  Table x{INPUTS, {}}, y{d.targets, {}};
  x.values.assign(d.x, d.x + ROWS * INPUTS);
  y.values.assign(d.y, d.y + ROWS * d.targets);
  for (int64_t i = 0; i < ROWS; ++i) {
    for (int64_t j = 0; j < INPUTS; ++j) x(i, j) = j == 0 ? 1.7e9 + 40 * x(i, j) : -0.2 + 0.001 * x(i, j);
    for (int64_t t = 0; t < d.targets && likelihood == BDL_GAUSSIAN; ++t)
      y(i, t) = t == 0 ? 1000 + 25 * y(i, t) : -3 + 0.04 * y(i, t);
  }
  return {std::move(x), std::move(y)};
}

struct Twins {
  bdl_likelihood likelihood;
  Table x, y;            // in odd units
  Units units;           // of the first one's model
  Table x_hand, y_hand;  // standardised
  Learner inside, by_hand;

  Twins(bdl_dtype dtype, bdl_likelihood kind, int64_t rank = 2, const char* method = "slang-ggn",
        int64_t outputs = 0, bool linear = false)
      : likelihood(kind),
        inside(network(dtype, kind, outputs, linear), dtype, rank, ROWS, method),
        by_hand(network(dtype, kind, outputs, linear), dtype, rank, ROWS, method) {
    std::tie(x, y) = odd_data(kind);
    if (outputs == 1 && y.columns > 1) {
      Table first{1, {}};
      for (int64_t i = 0; i < ROWS; ++i) first.values.push_back(y(i, 0));
      y = first;
    }
    OK(bdl_model_standardize(inside.model.get(), x.view(), y.view()));
    units = units_of(inside.model.get());
    x_hand = standardized(x, units.x_mean, units.x_scale);
    y_hand = kind == BDL_GAUSSIAN ? standardized(y, units.y_mean, units.y_scale) : y;
  }

  template <class Value>
  void set(const char* name, Value value) {
    inside.set(name, value);
    by_hand.set(name, value);
  }
  void fit(int64_t epochs) {
    inside.fit(x.view(), y.view(), epochs);
    by_hand.fit(x_hand.view(), y_hand.view(), epochs);
  }
  void assert_same_posteriors() const {
    assert_true(moments_of(inside.posterior) == moments_of(by_hand.posterior));
  }
  int64_t outputs() const { return bdl_model_outputs(inside.model.get()); }
  double log_scale() const { return units.log_scale(); }
  double log_scale_of_all() const { return static_cast<double>(x.rows()) * log_scale(); }
  /// A number of f or y, in the caller's units.
  double value(int64_t c, double standard) const {
    return units.y_mean(0, c) + units.y_scale(0, c) * standard;
  }
  double variance(int64_t c, int64_t b, double standard) const {
    return units.y_scale(0, c) * units.y_scale(0, b) * standard;
  }

 private:
  static Model network(bdl_dtype dtype, bdl_likelihood kind, int64_t outputs, bool linear) {
    const int64_t last = outputs > 0 ? outputs : outputs_for(kind);
    return linear ? make_mlp(dtype, {INPUTS, last}, kind) : make_mlp(dtype, {INPUTS, 3, last}, kind);
  }
};

inline void assert_relative(double got, double expected, double tolerance, const char* what) {
  assert_close(got, expected, tolerance * std::max(1e-300, std::fabs(expected)), what);
}
