#include "train/scales/gram_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "linalg/dense/cholesky.hpp"

namespace bdl {
namespace {

constexpr double roundings[] = {0, 1e-12, 1e-10};  // the first that is enough

}  // namespace

void GramEvidence::begin(Index rows, Index groups) {
  rows_ = rows;
  grams_.resize(at(groups));
  effective_.assign(at(groups), 0.0);
  for (Index g = 0; g < groups; ++g) {
    grams_[at(g)].reserve(rows * rows);
    std::ranges::fill(grams_[at(g)].first(rows * rows), 0.0);
  }
  lower_.reserve(rows * rows);
  inverse_.reserve(rows * rows);
}

void GramEvidence::add(Index group, double scale, ConstMatrixView<double> of_rows,
                       ConstSpan<double> factors) {
  const auto to = gram(group);
  for (Index s = 0; s < rows_; ++s)
    for (Index r = s; r < rows_; ++r) to(r, s) += scale * factors[at(s)] * factors[at(r)] * of_rows(r, s);
}

/// Forms A of every first, second, ... row. `rounding` is relative noise of the rows: where data have hardly
/// any noise, A is so large beside its ones that it is not positive definite without.
void GramEvidence::form(ConstSpan<double> precisions, ConstSpan<double> factors, Index every,
                        double rounding) {
  const Index rows = rows_of(every);
  const auto lower = lower_.matrix(rows, rows);
  std::ranges::fill(lower_.first(rows * rows), 0.0);
  for (std::size_t g = 0; g < grams_.size(); ++g) {
    const auto k = gram(static_cast<Index>(g));
    for (Index s = 0; s < rows; ++s) {
      const double factor = factors[at(every * s)] / precisions[g];
      for (Index r = s; r < rows; ++r)
        lower(r, s) += factor * factors[at(every * r)] * k(every * r, every * s);
    }
  }
  double most = 0;
  for (Index r = 0; r < rows; ++r) most = std::max(most, lower(r, r));
  for (Index r = 0; r < rows; ++r) lower(r, r) += 1 + rounding * most;
}

bool GramEvidence::factorize(ConstSpan<double> precisions, ConstSpan<double> factors, Index every) {
  const Index rows = rows_of(every);
  return std::ranges::any_of(roundings, [&](double rounding) {
    form(precisions, factors, every, rounding);
    return cholesky(lower_.matrix(rows, rows));
  });
}

double GramEvidence::determined(ConstSpan<double> precisions, ConstSpan<double> factors, Index every) {
  if (!factorize(precisions, factors, every)) return std::nan("");
  const Index rows = rows_of(every);
  lower_inverse(lower_.matrix(rows, rows), inverse_.matrix(rows, rows));
  double trace = 0;
  for (const double value : inverse_.first(rows * rows)) trace += value * value;
  return static_cast<double>(rows) - trace;
}

bool GramEvidence::evaluate(ConstSpan<double> precisions, ConstSpan<double> factors) {
  if (!factorize(precisions, factors, 1)) return false;
  const auto lower = lower_.matrix(rows_, rows_), inverse = inverse_.matrix(rows_, rows_);
  log_det_ = log_det_from_cholesky(lower);
  cholesky_inverse(lower, inverse);
  for (std::size_t g = 0; g < grams_.size(); ++g) {
    const auto k = gram(static_cast<Index>(g));
    double trace = 0;
    for (Index s = 0; s < rows_; ++s) {
      double column = inverse(s, s) * factors[at(s)] * k(s, s) / 2;
      for (Index r = s + 1; r < rows_; ++r) column += inverse(r, s) * factors[at(r)] * k(r, s);
      trace += 2 * factors[at(s)] * column;
    }
    effective_[g] = std::clamp(trace / precisions[g], 0.0, static_cast<double>(rows_));
  }
  return std::isfinite(log_det_);
}

/// Given the others, z_r has the mean z_r - a_r / d_r and the variance 1 / d_r, where a = A^-1 z and d is the
/// diagonal of A^-1 (Sundararajan and Keerthi 2001). Of a row that stands for n, one is left out at a time:
/// each has the leverage (1 - d) / n. A row of a weight n below 1 is left out as a whole.
double GramEvidence::left_out_log_density(std::span<double> z, ConstSpan<double> times) const {
  cholesky_solve(lower_.matrix(rows_, rows_), {z.data(), rows_, 1});
  double sum = 0;
  for (Index r = 0; r < rows_; ++r) {
    const double d = inverse_.matrix(rows_, rows_)(r, r), a = z[at(r)], n = times[at(r)],
                 others = n <= 1 ? d : 1 - (1 - d) / n;
    sum += (n * std::log(others / (2 * std::numbers::pi)) - a * a / others) / 2;
  }
  return sum;
}

/// With the rows B F of the group, H = (B F)(B F)^T, and P u = B F v / lambda where v = A_g^-1 (B F)^T u, so
/// that its square is v^T K_g v / lambda^2.
double GramEvidence::determined_square(Index group, double precision, ConstSpan<double> factors,
                                       ConstSpan<double> bu) {
  const auto lower = lower_.matrix(rows_, rows_);
  const auto k = gram(group);
  std::vector<double> v(at(rows_));
  for (Index s = 0; s < rows_; ++s) {
    for (Index r = s; r < rows_; ++r)
      lower(r, s) = factors[at(s)] * factors[at(r)] * k(r, s) / precision + (r == s ? 1 : 0);
    v[at(s)] = factors[at(s)] * bu[at(s)];
  }
  if (!cholesky(lower)) return 0;
  cholesky_solve(lower, {v.data(), rows_, 1});
  double square = 0;
  for (Index s = 0; s < rows_; ++s) {
    double column = v[at(s)] * factors[at(s)] * k(s, s) / 2;
    for (Index r = s + 1; r < rows_; ++r) column += v[at(r)] * factors[at(r)] * k(r, s);
    square += 2 * v[at(s)] * factors[at(s)] * column;
  }
  return square / (precision * precision);
}

}  // namespace bdl
