#include "inference/batch/scales.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/moments.hpp"
#include "likelihood/student_t.hpp"

namespace bdl {
namespace {

// Only a perfect fit or an all-zero group drifts this far; both floating types still hold it.
constexpr double smallest_variance = 1e-30, largest_variance = 1e30;

double averaged(double precision, double variance, double weight) {
  return 1 / std::clamp((1 - weight) / precision + weight * variance, smallest_variance, largest_variance);
}

double variance_of(double variance, double square) {
  return variance > 0 ? variance : square > 0 ? square : 1;
}

std::vector<RunningMoments> target_moments(DataSet& data, const Standardization& units) {
  return moments_of(data, units, {false, true}).targets;
}

/// visit(targets) for rows first .. end - 1.
template <class Visit>
void for_targets_of(DataSet& data, const Standardization& units, const ShardRange& rows, Visit visit) {
  constexpr Index together = 256;
  Buffer<double> block(data.targets() * together);
  for (Index first = rows.first; first < rows.end; first += together) {
    const Index count = std::min(together, rows.end - first);
    const auto columns = block.matrix(data.targets(), count);
    data.fetch({first, count}, units, MatrixView<double>(), columns);
    for (Index i = 0; i < count; ++i) visit(ConstSpan<double>(columns.column(i)));
  }
}

}  // namespace

double target_variance(DataSet& data, const Standardization& units) {
  double variance = 0, square = 0;
  const double values = static_cast<double>(data.rows()) * static_cast<double>(data.targets());
  Index c = 0;
  for (const RunningMoments& of : target_moments(data, units)) {
    if (units.is_constant(c++)) continue;  // but for rounding
    variance += of.square / values;
    square += of.square_about_zero() / values;
  }
  return variance_of(variance, square);
}

std::vector<double> target_variances(DataSet& data, const Standardization& units) {
  std::vector<double> variances;
  for (const RunningMoments& of : target_moments(data, units)) {
    const double count = std::max(1.0, of.count);
    if (units.is_constant(static_cast<Index>(variances.size())))
      variances.push_back(1);
    else
      variances.push_back(variance_of(of.square / count, of.square_about_zero() / count));
  }
  return variances;
}

double scale_weight(double rate, Index k) {
  return std::max(rate, 1 / static_cast<double>(k + 10));
}

void TargetSums::add_means(DataSet& data, const Standardization& units, const ShardRange& rows,
                           std::span<double> out) {
  std::ranges::fill(out, 0.0);
  for_targets_of(data, units, rows, [&](ConstSpan<double> y) {
    for (std::size_t c = 0; c < out.size(); ++c) out[c] += y[c];
  });
}

void TargetSums::add_squares(DataSet& data, const Standardization& units, const ShardRange& rows,
                             std::span<double> out) const {
  std::ranges::fill(out, 0.0);
  for_targets_of(data, units, rows, [&](ConstSpan<double> y) {
    for (std::size_t c = 0; c < y.size(); ++c) {
      if (units.is_constant(static_cast<Index>(c))) continue;  // but for rounding
      out[c] += std::pow(y[c] - means[c], 2);
      out[means.size() + c] += std::pow(y[c], 2);
    }
  });
}

double TargetSums::variance(ConstSpan<double> squares, Index rows) {
  const std::size_t targets = squares.size() / 2;
  const double values = static_cast<double>(rows) * static_cast<double>(targets);
  const auto half = squares.begin() + static_cast<std::ptrdiff_t>(targets);
  return variance_of(std::accumulate(squares.begin(), half, 0.0) / values,
                     std::accumulate(half, squares.end(), 0.0) / values);
}

template <class T>
void learn_prior(const Prior<T>& prior, double weight, Scales& scales) {
  scales.prior.assign(prior.groups().begin(), prior.groups().end());
  for (std::size_t g = 0; g < scales.prior.size(); ++g)
    scales.prior[g] = averaged(scales.prior[g], scales.prior_squares[g], weight);
}

void learn_noise(const Likelihood& likelihood, Index examples, double weight, Scales& scales) {
  if (likelihood.noise_covariance().given()) return;  // fixed by the caller
  const std::vector<double>& errors = scales.squared_errors;
  scales.noise.assign(likelihood.noise_precision().begin(), likelihood.noise_precision().end());
  if (scales.noise.size() == 1) {
    const double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
    const Index values = static_cast<Index>(errors.size()) * examples;
    scales.noise[0] = averaged(scales.noise[0], sum / static_cast<double>(values), weight);
    return;
  }
  for (std::size_t c = 0; c < scales.noise.size(); ++c)
    scales.noise[c] = averaged(scales.noise[c], errors[c] / static_cast<double>(examples), weight);
}

template <class T>
double degrees_slope(const Likelihood& likelihood, ConstMatrixView<T> f, ConstMatrixView<T> y) {
  const double degrees = likelihood.degrees_of_freedom();
  double slope = 0;
  for (Index j = 0; j < f.cols; ++j)
    for (Index c = 0; c < y.rows; ++c) {
      const double residual = static_cast<double>(y(c, j % y.cols)) - static_cast<double>(f(c, j));
      slope -= degrees * student_t::score(degrees, likelihood.noise_precision(c) * residual * residual);
    }
  return slope;
}

void learn_degrees(const Likelihood& likelihood, double mean_slope, double weight, Scales& scales) {
  constexpr double least = 1, most = 1000,
                   information = 3.5;  // of 1 / nu where the noise is normal: the most
  const double degrees = likelihood.degrees_of_freedom();
  scales.degrees = 1 / std::clamp(1 / degrees + weight * mean_slope / information, 1 / most, 1 / least);
}

#define BDL_INSTANTIATE(T)                                     \
  template void learn_prior(const Prior<T>&, double, Scales&); \
  template double degrees_slope(const Likelihood&, ConstMatrixView<T>, ConstMatrixView<T>);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
