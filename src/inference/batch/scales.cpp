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

}  // namespace

double target_variance(DataSet& data, const Standardization& units) {
  double variance = 0, square = 0;
  const double values = static_cast<double>(data.rows()) * static_cast<double>(data.targets());
  for (const RunningMoments& of : target_moments(data, units)) {
    variance += of.square / values;
    square += of.square_about_zero() / values;
  }
  return variance_of(variance, square);
}

std::vector<double> target_variances(DataSet& data, const Standardization& units) {
  std::vector<double> variances;
  for (const RunningMoments& of : target_moments(data, units)) {
    const double count = std::max(1.0, of.count);
    variances.push_back(variance_of(of.square / count, of.square_about_zero() / count));
  }
  return variances;
}

double scale_weight(double rate, Index k) {
  return std::max(rate, 1 / static_cast<double>(k + 10));
}

template <class T>
void learn_prior(const Prior<T>& prior, ConstMatrixView<T> thetas, double weight, Scales& scales) {
  scales.squares.resize(prior.groups().size());
  scales.prior.assign(prior.groups().begin(), prior.groups().end());
  prior.mean_squares(thetas, scales.squares);
  for (std::size_t g = 0; g < scales.prior.size(); ++g)
    scales.prior[g] = averaged(scales.prior[g], scales.squares[g], weight);
}

template <class T>
void learn_noise(const Likelihood& likelihood, ConstMatrixView<T> f, ConstMatrixView<T> y, double weight,
                 Scales& scales) {
  if (likelihood.noise_covariance().given()) return;  // fixed by the caller
  scales.squares.resize(static_cast<std::size_t>(likelihood.targets()));
  scales.noise.assign(likelihood.noise_precision().begin(), likelihood.noise_precision().end());
  sum_squared_errors(likelihood, f, y, scales.squares);
  if (scales.noise.size() == 1) {
    const double sum = std::accumulate(scales.squares.begin(), scales.squares.end(), 0.0);
    scales.noise[0] = averaged(scales.noise[0], sum / static_cast<double>(y.size()), weight);
    return;
  }
  for (std::size_t c = 0; c < scales.noise.size(); ++c)
    scales.noise[c] = averaged(scales.noise[c], scales.squares[c] / static_cast<double>(y.cols), weight);
}

template <class T>
void learn_degrees(const Likelihood& likelihood, ConstMatrixView<T> f, ConstMatrixView<T> y, double weight,
                   Scales& scales) {
  constexpr double least = 1, most = 1000,
                   information = 3.5;  // of 1 / nu where the noise is normal: the most
  const double degrees = likelihood.degrees_of_freedom();
  double slope = 0;
  for (Index j = 0; j < f.cols; ++j)
    for (Index c = 0; c < y.rows; ++c) {
      const double residual = static_cast<double>(y(c, j % y.cols)) - static_cast<double>(f(c, j));
      slope -= degrees * student_t::score(degrees, likelihood.noise_precision(c) * residual * residual);
    }
  slope /= static_cast<double>(f.cols * y.rows);
  scales.degrees = 1 / std::clamp(1 / degrees + weight * slope / information, 1 / most, 1 / least);
}

#define BDL_INSTANTIATE(T)                                                                                 \
  template void learn_prior(const Prior<T>&, ConstMatrixView<T>, double, Scales&);                         \
  template void learn_degrees(const Likelihood&, ConstMatrixView<T>, ConstMatrixView<T>, double, Scales&); \
  template void learn_noise(const Likelihood&, ConstMatrixView<T>, ConstMatrixView<T>, double, Scales&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
