// Shared by the tests of predictions: small models, posteriors of every family, dense linear algebra.
// Statistical assertions reject correct code with a probability below 1e-6 (over the choice of the seeds,
// which are fixed).
#pragma once

#include <memory>

#include "model/network.hpp"
#include "posterior/full/full.hpp"
#include "posterior/low_rank/low_rank.hpp"
#include "predict/predict.hpp"

// Last: it includes cmocka.h.
#include "metric_tables.hpp"

namespace bdl::testing {

constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

/// |z| > 5 has probability 6e-7.
inline constexpr double most_standard_errors = 5;

template <class Call>
void expect_error(Status status, const char* word, Call call) {
  try {
    call();
  } catch (const Error& error) {
    if (error.status() == status && std::strstr(error.what(), word)) return;
    fail_msg("got status %d, '%s'; expected %d, '%s'", static_cast<int>(error.status()), error.what(),
             static_cast<int>(status), word);
  }
  fail_msg("got success, expected '%s'", word);
}

inline void assert_close(double got, double expected, double relative, double absolute = 0) {
  assert_near(got, expected, relative * std::abs(expected) + absolute);
}

/// estimate is an average of independent terms with this standard error.
inline void assert_unbiased(double estimate, double expected, double standard_error) {
  assert_near(estimate, expected, most_standard_errors * standard_error);
}

inline void assert_same_bits(const Table& got, const Table& expected) {
  assert_int_equal(got.values.size(), expected.values.size());
  assert_memory_equal(got.values.data(), expected.values.data(), got.values.size() * sizeof(double));
}

inline void assert_tables_close(const Table& got, const Table& expected, double relative,
                                double absolute = 0) {
  assert_int_equal(got.values.size(), expected.values.size());
  for (std::size_t k = 0; k < got.values.size(); ++k)
    assert_close(got.values[k], expected.values[k], relative, absolute);
}

inline Table normal_table(TableRandom& random, Index rows, Index cols, double scale = 1) {
  Table table(rows, cols);
  for (double& value : table.values) value = static_cast<float>(scale * random.normal());
  return table;
}

inline Table rows_of(const Table& table, Index first, Index count) {
  Table part(count, table.cols);
  std::copy_n(table.values.begin() + first * table.cols, count * table.cols, part.values.begin());
  return part;
}

/// Filled with NaN, so that an element that is not written shows.
inline Table output(Index rows, Index cols) {
  Table table(rows, cols);
  std::fill(table.values.begin(), table.values.end(), quiet_nan);
  return table;
}

template <class T>
Network<T> network(const std::vector<Index>& sizes, bdl_likelihood kind, bool bias = true) {
  return Network<T>(sizes, BDL_TANH, bias, Likelihood(kind, sizes.back()));
}

enum class Kind { diagonal, low_rank, full };
inline constexpr Kind all_kinds[] = {Kind::diagonal, Kind::low_rank, Kind::full};

/// A random posterior with standard deviations near `deviation`, and its dense precision.
template <class T>
struct TableBelief {
  std::unique_ptr<Posterior<T>> q;
  Table precision;
};

template <class T>
TableBelief<T> belief(Kind kind, Index dimension, double deviation, TableRandom& random) {
  const Index rank = kind == Kind::diagonal ? 0 : 2;
  const Table u = normal_table(random, rank, dimension, 0.7 / deviation);  // rows are columns of U
  Table p(dimension, dimension);
  std::vector<T> d(static_cast<std::size_t>(dimension));
  Buffer<T> columns(dimension * std::max<Index>(rank, 1));
  for (Index i = 0; i < dimension; ++i) {
    d[static_cast<std::size_t>(i)] = static_cast<T>((0.5 + random.uniform()) / deviation / deviation);
    p(i, i) = static_cast<double>(d[static_cast<std::size_t>(i)]);
    for (Index k = 0; k < rank; ++k) {
      columns.matrix(dimension, rank)(i, k) = static_cast<T>(u(k, i));
      for (Index j = 0; j < dimension; ++j) p(i, j) += u(k, i) * u(k, j);
    }
  }
  TableBelief<T> result{nullptr, p};
  if (kind == Kind::full) {
    auto full = std::make_unique<FullPosterior<T>>(dimension);
    full->set_precision(ConstMatrixView<double>(p.values.data(), dimension, dimension));
    result.q = std::move(full);
  } else {
    auto low_rank = std::make_unique<LowRankPosterior<T>>(dimension, rank);
    low_rank->set_precision(ConstMatrixView<T>(columns.matrix(dimension, rank)), d);
    result.q = std::move(low_rank);
  }
  for (T& value : result.q->mean()) value = static_cast<T>(random.normal() / 2);
  return result;
}

/// Solves A x = b by elimination with pivoting, in long double.
inline std::vector<double> dense_solve(const Table& a, const std::vector<double>& b) {
  const auto n = b.size();
  std::vector<std::vector<long double>> rows(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) rows[i].push_back(a(static_cast<Index>(i), static_cast<Index>(j)));
    rows[i].push_back(b[i]);
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(rows[i][k]) > std::abs(rows[k][k])) rows[i].swap(rows[k]);
    for (std::size_t i = 0; i < n; ++i)
      if (const long double factor = rows[i][k] / rows[k][k]; i != k)
        for (std::size_t j = k; j <= n; ++j) rows[i][j] -= factor * rows[k][j];
  }
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>(rows[i][n] / rows[i][i]);
  return x;
}

/// The Gaussian of f_i = a_i^T theta, a_i = (x_i, 1), computed densely.
struct Marginal {
  double mean, variance;
};

template <class T>
Marginal dense_marginal(const TableBelief<T>& b, const Table& x, Index i, bool bias) {
  std::vector<double> a;
  for (Index j = 0; j < x.cols; ++j) a.push_back(x(i, j));
  if (bias) a.push_back(1);
  const std::vector<double> solved = dense_solve(b.precision, a);
  Marginal result{0, 0};
  for (std::size_t j = 0; j < a.size(); ++j) {
    result.mean += a[j] * static_cast<double>(b.q->mean()[j]);
    result.variance += a[j] * solved[j];
  }
  return result;
}

/// A model with f = theta ~ N(m, v) at x = 1.
struct Scalar {
  Network<double> model;
  TableBelief<double> b{std::make_unique<FullPosterior<double>>(1), Table(1, 1)};
  Table x{1, 1, {1.0}};

  Scalar(bdl_likelihood kind, double m, double v) : model(network<double>({1, 1}, kind, false)) {
    b.precision(0, 0) = 1 / v;
    dynamic_cast<FullPosterior<double>&>(*b.q).set_precision({b.precision.values.data(), 1, 1});
    b.q->mean()[0] = m;
  }
};

template <class T>
Query<T> monte_carlo(const Network<T>& model, const TableBelief<T>& b, const Table& x, Index samples,
                     std::uint64_t seed = 1) {
  return {model, *b.q, x.array(), {BDL_MONTE_CARLO, samples, seed}};
}
template <class T>
Query<T> plug_in(const Network<T>& model, const TableBelief<T>& b, const Table& x) {
  return {model, *b.q, x.array(), {BDL_PLUG_IN, 0, 0}};
}
template <class T>
Query<T> quadrature(const Network<T>& model, const TableBelief<T>& b, const Table& x) {
  return {model, *b.q, x.array(), {BDL_QUADRATURE, 0, 0}};
}

/// f_ik of a Monte-Carlo query, computed one sample and one example at a time: column k is sample k.
template <class T>
std::vector<Table> slow_outputs(const Query<T>& query) {
  const Index outputs = query.model.outputs(), dimension = query.model.parameters(),
              inputs = query.model.inputs();
  std::vector<Table> all(static_cast<std::size_t>(query.x.rows), Table(outputs, query.spec.samples));
  Buffer<T> theta(dimension), x(inputs), f(outputs);
  Scratch scratch;
  Scratch posterior_scratch;
  for (Index k = 0; k < query.spec.samples; ++k) {
    const StreamKey key{query.spec.seed, Stream::prediction, 0, static_cast<std::uint32_t>(k)};
    sample(query.posterior, key, theta.matrix(dimension, 1), posterior_scratch);
    for (Index i = 0; i < query.x.rows; ++i) {
      gather(query.x, i, x.matrix(inputs, 1));
      query.model.forward(theta.first(dimension), x.matrix(inputs, 1), f.matrix(outputs, 1), scratch);
      for (Index c = 0; c < outputs; ++c)
        all[static_cast<std::size_t>(i)](c, k) = static_cast<double>(f.data()[c]);
    }
  }
  return all;
}

struct Moments {
  Table mean, epistemic, noise;
};

template <class T>
Moments moments(const Query<T>& query) {
  const Index rows = query.x.rows, outputs = query.model.outputs();
  Moments m{output(rows, outputs), output(rows, outputs), output(rows, outputs)};
  predict_moments(query, m.mean.out(), m.epistemic.out(), m.noise.out());
  return m;
}

template <class T>
Table log_density(const Query<T>& query, const Table& y) {
  Table result = output(query.x.rows, 1);
  predict_log_density(query, y.array(), result.out());
  return result;
}

template <class T>
Table quantiles(const Query<T>& query, const Table& levels) {
  Table result = output(query.x.rows, query.model.outputs() * levels.cols);
  predict_quantiles(query, levels.array(), result.out());
  return result;
}

}  // namespace bdl::testing
