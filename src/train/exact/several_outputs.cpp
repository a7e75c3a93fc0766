#include "train/exact/several_outputs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "likelihood/expected_loss.hpp"
#include "linalg/blas.hpp"
#include "parallel/parallel.hpp"
#include "posterior/blocks/blocks.hpp"
#include "posterior/full/full.hpp"

namespace bdl {
namespace {

constexpr Index jacobian_numbers = Index{1} << 18;  // in rows of Jacobians at a time

double gaussian_curvature(const Likelihood& likelihood, Index c) {
  const NoiseCovariance& noise = likelihood.noise_covariance();
  return noise.given() ? noise.precision()(c, c) : likelihood.noise_precision(c);
}

/// Returns the Cholesky factor of the whole precision, if the posterior has one.
std::optional<ConstMatrixView<double>> whole_factor(const Posterior<double>& q) {
  if (const auto* const full = dynamic_cast<const FullPosterior<double>*>(&q)) return full->factor();
  const auto* const parts = dynamic_cast<const BlocksPosterior<double>*>(&q);
  if (!parts || parts->block_count() != 1) return {};
  return whole_factor(parts->member(0));
}

}  // namespace

SeveralOutputs::SeveralOutputs(const Network<double>& model)
    : model_(model), layer_(model.graph()->dense().front()), outputs_(model.outputs()) {
  if (model.likelihood.kind() == BDL_CATEGORICAL) {
    possible_ = model.likelihood.classes();
    classes_.emplace(std::ssize(possible_));
  }
  const Index count = has_classes() ? std::ssize(possible_) - 1 : outputs_;
  combination_memory_.assign(static_cast<std::size_t>(outputs_ * count), 0.0);
  const MatrixView<double> combination(combination_memory_.data(), outputs_, count);
  for (Index k = 0; k < count; ++k) {
    if (!has_classes()) combination(k, k) = 1;
    for (std::size_t c = 0; c < possible_.size(); ++c)
      combination(possible_[c], k) = classes_->contrasts()(static_cast<Index>(c), k);
  }
  combination_ = {combination_memory_.data(), outputs_, count};
}

void SeveralOutputs::begin(const Posterior<double>& q) {
  q_ = &q;
  const Index dimension = q.dimension(), width = this->width();
  const auto weights = weights_.matrix(width, outputs_);
  for (Index c = 0; c < outputs_; ++c)
    for (Index j = 0; j < width; ++j) weights(j, c) = q.mean()[static_cast<std::size_t>(place(c, j))];
  const auto factor = whole_factor(q);
  has_spread_ = factor.has_value();
  if (!has_spread_) return;
  const auto spread = spread_.matrix(dimension, width * combinations());
  std::fill_n(spread.data, spread.size(), 0.0);
  for (Index k = 0; k < combinations(); ++k)
    for (Index c = 0; c < outputs_; ++c)
      for (Index j = 0; j < width; ++j) spread(place(c, j), k * width + j) = combination_(c, k);
  solve_lower_left(Op::none, *factor, spread);
}

double SeveralOutputs::evaluate(ConstMatrixView<double> x, ConstMatrixView<double> y, Index first,
                                ExampleLoss loss) {
  rows_ = x.cols;
  const auto rows = x_.matrix(width(), rows_);
  for (Index i = 0; i < rows_; ++i) {
    std::copy_n(x.column_data(i), layer_.inputs, rows.column_data(i));
    if (layer_.has_bias()) rows(layer_.inputs, i) = 1;
  }
  gemm(Op::transpose, Op::none, 1.0, weights_.matrix(width(), outputs_), rows, 0.0,
       f_.matrix(outputs_, rows_));
  for (Index i = 0; i < rows_; ++i)  // offsets
    for (Index c = 0; c < x.rows - layer_.inputs; ++c) f_.data()[i * outputs_ + c] += x(layer_.inputs + c, i);
  const Index per_row = is_coupled() ? combinations() * combinations() : outputs_;
  covariances_.reserve(per_row * rows_);
  const Index together = std::clamp<Index>(jacobian_numbers / (q_->dimension() * combinations()), 1, rows_);
  for (Index begin = 0; begin < rows_; begin += together)
    find_covariances(begin, std::min(together, rows_ - begin));
  slopes_.reserve(outputs_ * rows_);
  hessians_.reserve((is_coupled() ? outputs_ * outputs_ : outputs_) * rows_);
  losses_.reserve(rows_);
  integrate(y, first, loss);
  return -std::accumulate(losses_.data(), losses_.data() + rows_, 0.0);
}

/// Writes combination k of the Jacobian of example first + i as column k count + i.
void SeveralOutputs::write_rows(Index first, Index count, MatrixView<double> out) const {
  const auto x = x_.matrix(width(), rows_);
  std::fill_n(out.data, out.size(), 0.0);
  for (Index k = 0; k < combinations(); ++k)
    for (Index i = 0; i < count; ++i)
      for (Index c = 0; c < outputs_; ++c)
        for (Index j = 0; combination_(c, k) != 0 && j < width(); ++j)
          out(place(c, j), k * count + i) = combination_(c, k) * x(j, first + i);
}

/// Writes the variances of all combinations, or their covariances, for some of the rows.
void SeveralOutputs::find_covariances(Index first, Index count) {
  const Index all = combinations(), dimension = q_->dimension();
  const auto left = work_.matrix(dimension, all * count);
  if (has_spread_)
    for (Index k = 0; k < all; ++k)
      gemm(Op::none, Op::none, 1.0, spread_.matrix(dimension, width() * all).columns(k * width(), width()),
           x_.matrix(width(), rows_).columns(first, count), 0.0, left.columns(k * count, count));
  else
    write_rows(first, count, left);
  if (!is_coupled()) {
    memory_.reserve(all * count);
    if (!has_spread_) q_->variances(left, {memory_.data(), static_cast<std::size_t>(all * count)}, scratch_);
    for (Index k = 0; k < all; ++k)
      for (Index i = 0; i < count; ++i) {
        const auto column = left.column(k * count + i);
        covariances_.data()[(first + i) * all + k] =
            has_spread_ ? std::inner_product(column.begin(), column.end(), column.begin(), 0.0)
                        : memory_.data()[k * count + i];
      }
    return;
  }
  auto right = left;
  if (!has_spread_) {
    right = solved_.matrix(dimension, all * count);
    std::copy_n(left.data, left.size(), right.data);
    q_->solve(right, scratch_);
  }
  parallel_blocks(count, task_grain(dimension * all * all), [&](Index begin, Index size) noexcept {
    for (Index i = begin; i < begin + size; ++i)
      for (Index k = 0; k < all; ++k)
        for (Index l = k; l < all; ++l) {
          const auto a = left.column(k * count + i), b = right.column(l * count + i);
          covariances_.data()[((first + i) * all + k) * all + l] =
              std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
        }
  });
}

void SeveralOutputs::integrate(ConstMatrixView<double> y, Index first, ExampleLoss loss) {
  const Index grain = has_classes() ? 1 : 16,
              memory = has_classes() ? classes_->memory() + 3 * outputs_ * outputs_ : 0;
  const Index tasks = (rows_ + grain - 1) / grain;
  memory_.reserve(tasks * memory);
  parallel_blocks(rows_, grain, [&](Index begin, Index count) noexcept {
    for (Index i = begin; i < begin + count; ++i)
      losses_.data()[i] = weighted_row(i, y, loss, memory_.data() + begin / grain * memory);
  });
  const auto f = f_.matrix(outputs_, rows_), slopes = slopes_.matrix(outputs_, rows_);
  const auto is_finite = [](double value) { return std::isfinite(value); };
  for (Index i = 0; i < rows_; ++i)
    if (!std::isfinite(losses_.data()[i]) || !std::ranges::all_of(slopes.column(i), is_finite) ||
        !std::ranges::all_of(f.column(i), is_finite))
      fail(Status::ERROR_DIVERGED,
           "the expected log likelihood of example %lld (counting from 0) is not finite",
           static_cast<long long>(first + i));
}

/// Returns the expected loss of a row, and writes slopes and Hessian, as often as the row counts.
double SeveralOutputs::weighted_row(Index i, ConstMatrixView<double> y, ExampleLoss loss, double* memory) {
  const double expected = integrate_row(i, y, loss, memory);
  const Likelihood& likelihood = model_.likelihood;
  if (!likelihood.is_weighted()) return expected;
  const double weight = likelihood.weight(y.column_data(i));
  const Index entries = is_coupled() ? outputs_ * outputs_ : outputs_;
  // 0 times an overflow is no number.
  const auto weigh = [weight](double& value) { value = weight > 0 ? weight * value : 0; };
  std::for_each_n(slopes_.data() + i * outputs_, outputs_, weigh);
  std::for_each_n(hessians_.data() + i * entries, entries, weigh);
  return weight > 0 ? weight * expected - likelihood.log_orders(y.column_data(i)) : 0;
}

double SeveralOutputs::integrate_row(Index i, ConstMatrixView<double> y, ExampleLoss loss, double* memory) {
  if (has_classes()) return integrate_classes(i, static_cast<Index>(y(0, i)), memory);
  if (is_coupled()) return integrate_correlated(i, y.column_data(i));
  double sum = 0;
  for (Index c = 0; c < outputs_; ++c) {
    const Index at = i * outputs_ + c;
    const double m = f_.data()[at], v = covariances_.data()[at];
    const ExpectedLoss expected = loss == ExampleLoss::exact
                                      ? expected_loss(model_.likelihood, m, v, y(c, i), c)
                                      : expected_quadratic_loss(model_.likelihood, m, v, y(c, i));
    sum += expected.loss;
    slopes_.data()[at] = expected.slope;
    hessians_.data()[at] = expected.curvature;
  }
  return sum;
}

double SeveralOutputs::integrate_classes(Index i, Index y, double* memory) {
  const Index count = classes_->classes(), dimension = combinations();
  double *const m = memory, *const slope = m + count;
  const MatrixView<double> h(slope + count, count, count), v(h.data + h.size(), dimension, dimension);
  Index label = 0;
  for (Index c = 0; c < count; ++c) {
    m[c] = f_.data()[i * outputs_ + possible_[static_cast<std::size_t>(c)]];
    if (possible_[static_cast<std::size_t>(c)] == y) label = c;
  }
  for (Index k = 0; k < dimension; ++k)
    for (Index l = k; l < dimension; ++l) v(l, k) = covariances_.data()[(i * dimension + k) * dimension + l];
  const double loss = classes_->expect(m, v, label, slope, h, v.data + v.size());
  const MatrixView<double> all = hessian(i);
  std::fill_n(all.data, all.size(), 0.0);
  std::fill_n(slopes_.data() + i * outputs_, outputs_, 0.0);
  for (Index k = 0; k < count; ++k) {
    const Index to = possible_[static_cast<std::size_t>(k)];
    slopes_.data()[i * outputs_ + to] = slope[k];
    for (Index c = 0; c < count; ++c) all(possible_[static_cast<std::size_t>(c)], to) = h(c, k);
  }
  return loss;
}

double SeveralOutputs::integrate_correlated(Index i, const double* y) {
  const NoiseCovariance& noise = model_.likelihood.noise_covariance();
  const double* const f = f_.data() + i * outputs_;
  const double* const v = covariances_.data() + i * outputs_ * outputs_;
  double spread = 0;
  for (Index k = 0; k < outputs_; ++k) {
    double slope = 0;
    for (Index c = 0; c < outputs_; ++c) {
      const double precision = noise.precision()(c, k);
      slope += precision * (f[c] - y[c]);
      spread += precision * v[std::min(c, k) * outputs_ + std::max(c, k)];
      hessian(i)(c, k) = precision;
    }
    slopes_.data()[i * outputs_ + k] = slope;
  }
  return spread / 2 - noise.log_density(f, y);
}

void SeveralOutputs::write_slope(std::span<double> out) {
  const auto sums = scaled_.matrix(width(), outputs_);
  gemm(Op::none, Op::transpose, 1.0, x_.matrix(width(), rows_), slopes_.matrix(outputs_, rows_), 0.0, sums);
  for (Index c = 0; c < outputs_; ++c)
    for (Index j = 0; j < width(); ++j) out[static_cast<std::size_t>(place(c, j))] = sums(j, c);
}

void SeveralOutputs::write_diagonal(std::span<double> out) {
  const auto x = x_.matrix(width(), rows_);
  std::ranges::fill(out, 0.0);
  for (Index i = 0; i < rows_; ++i)
    for (Index c = 0; c < outputs_; ++c)
      for (Index j = 0; j < width(); ++j)
        out[static_cast<std::size_t>(place(c, j))] += entry(i, c, c) * x(j, i) * x(j, i);
}

/// Each pair of outputs has a block sum_i h_i x_i x_i^T.
void SeveralOutputs::write_matrix(MatrixView<double> out) {
  const Index width = this->width();
  const auto x = x_.matrix(width, rows_);
  scaled_.reserve(width * (rows_ + width));
  const MatrixView<double> scaled(scaled_.data(), width, rows_),
      block(scaled_.data() + scaled.size(), width, width);
  std::fill_n(out.data, out.size(), 0.0);
  for (Index c = 0; c < outputs_; ++c)
    for (Index k = 0; k <= c; ++k) {
      if (!couples(c, k)) continue;
      for (Index i = 0; i < rows_; ++i)
        for (Index j = 0; j < width; ++j) scaled(j, i) = entry(i, c, k) * x(j, i);
      gemm(Op::none, Op::transpose, 1.0, scaled, x, 0.0, block);
      for (Index l = 0; l < width; ++l)
        for (Index j = c == k ? l : 0; j < width; ++j) {
          const Index a = place(c, j), b = place(k, l);
          out(std::max(a, b), std::min(a, b)) = block(j, l);
        }
    }
}

void SeveralOutputs::write_products(ConstMatrixView<double> y, MatrixView<double> out) {
  const Index width = this->width();
  const auto x = x_.matrix(width, rows_);
  scaled_.reserve(2 * width * outputs_ + 2 * outputs_ * rows_);
  const MatrixView<double> from(scaled_.data(), width, outputs_),
      to(from.data + from.size(), width, outputs_), projected(to.data + to.size(), outputs_, rows_),
      weighted(projected.data + projected.size(), outputs_, rows_);
  for (Index l = 0; l < y.cols; ++l) {
    for (Index c = 0; c < outputs_; ++c)
      for (Index j = 0; j < width; ++j) from(j, c) = y(place(c, j), l);
    gemm(Op::transpose, Op::none, 1.0, from, x, 0.0, projected);
    for (Index i = 0; i < rows_; ++i)
      for (Index c = 0; c < outputs_; ++c) {
        double sum = 0;
        for (Index k = 0; k < outputs_; ++k)
          if (couples(c, k)) sum += entry(i, c, k) * projected(k, i);
        weighted(c, i) = sum;
      }
    gemm(Op::none, Op::transpose, 1.0, x, weighted, 0.0, to);
    for (Index c = 0; c < outputs_; ++c)
      for (Index j = 0; j < width; ++j) out(place(c, j), l) = to(j, c);
  }
}

void SeveralOutputs::add_errors(ConstMatrixView<double> y, Index noises, std::span<double> sums) const {
  const auto kinds = static_cast<std::size_t>(noises);
  for (Index i = 0; i < rows_; ++i)
    for (Index c = 0; c < outputs_; ++c) {
      if (std::isnan(y(c, i))) continue;
      const auto noise = static_cast<std::size_t>(noises == 1 ? 0 : c);
      const double error = y(c, i) - f_.data()[i * outputs_ + c], variance = covariance(i, c, c);
      const double weight = model_.likelihood.weight(y.column_data(i));
      sums[noise] += weight * (error * error + variance);
      sums[kinds + noise] += weight;
      sums[2 * kinds + noise] += weight * variance;
    }
}

void SeveralOutputs::add_products(ConstMatrixView<double> y, std::span<double> sums) const {
  for (Index i = 0; i < rows_; ++i) {
    const double weight = model_.likelihood.weight(y.column_data(i));
    const auto error = [&](Index c) { return y(c, i) - f_.data()[i * outputs_ + c]; };
    std::size_t k = 0;
    for (Index c = 0; c < outputs_; ++c)
      for (Index b = c; b < outputs_; ++b) sums[k++] += weight * (error(b) * error(c) + covariance(i, b, c));
  }
}

void SeveralOutputs::add_typical(ConstMatrixView<double> x, ConstMatrixView<double> y,
                                 std::span<double> out) const {
  const Likelihood& likelihood = model_.likelihood;
  for (Index i = 0; i < x.cols; ++i)
    for (Index c = 0; c < outputs_; ++c) {
      const double once = likelihood.kind() == BDL_GAUSSIAN ? gaussian_curvature(likelihood, c)
                          : has_classes()                   ? 0.25
                                                            : typical_curvature(likelihood, y(c, i)),
                   b = likelihood.weight(y.column_data(i)) * once;
      for (Index j = 0; j < width(); ++j)
        out[static_cast<std::size_t>(place(c, j))] += b * (j < layer_.inputs ? x(j, i) * x(j, i) : 1);
    }
}

double SeveralOutputs::numbers(double rows, double parameters, double outputs) {
  const double together = std::max(static_cast<double>(jacobian_numbers), parameters * outputs);
  return 2 * together + parameters * parameters +
         rows * (4 * outputs * outputs + 2 * parameters / outputs + 2 * outputs + 4);
}

}  // namespace bdl
