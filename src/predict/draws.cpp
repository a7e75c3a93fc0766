#include <cmath>
#include <numbers>

#include "likelihood/linearized_density.hpp"
#include "predict/memory.hpp"
#include "predict/mixture_quantile.hpp"
#include "predict/overflow.hpp"
#include "predict/predict.hpp"
#include "predict/result.hpp"

namespace bdl {
namespace {

/// Returns the first class whose cumulative probability exceeds u, or the last with any if rounding leaves
/// none.
double class_at(ConstSpan<double> probabilities, double u) {
  double sum = 0;
  std::size_t last = 0;
  for (std::size_t c = 0; c < probabilities.size(); ++c) {
    if (u < (sum += probabilities[c])) return static_cast<double>(c);
    if (probabilities[c] > 0) last = c;
  }
  return static_cast<double>(last);
}

/// Draws y given f by inverting the distribution function at a random number of each draw.
class Drawer {
 public:
  template <class T>
  Drawer(const Likelihood& likelihood, const PredictSpec& spec, PredictMemory<T>& memory)
      : likelihood_(likelihood), seed_(spec.seed), random_(memory.random), uniform_(memory.uniform) {
    const Index outputs = std::max(likelihood.outputs(), likelihood.moment_count());
    const auto rows = memory.numbers.matrix(outputs, 3);
    logits_ = rows.column(0);
    mean_ = rows.column(1).first(static_cast<std::size_t>(likelihood.moment_count()));
    variance_ = rows.column(2);
  }

  /// Writes target t of draw k for example i to element (k, t) of out.
  void operator()(Index i, const Mixture& mixture, MatrixView<double> out) {
    const auto random = random_.matrix(out.rows, out.cols);
    for (Index t = 0; t < out.cols; ++t) fill_random(i, t, random.column(t));
    if (mixture.overflows) return draw_overflowed(mixture, random, out);
    if (mixture.is_gaussian()) probit_logits(mixture.f.column(0), mixture.covariance, logits_.data());
    for (Index k = 0; k < out.rows; ++k) {
      const double* f = mixture.is_gaussian() ? logits_.data() : mixture.f.column_data(k);
      likelihood_.moments(f, mean_.data(), variance_.data());
      for (Index t = 0; t < out.cols; ++t)
        out(k, t) = likelihood_.noise_covariance().given() ? correlated(t, random, k)
                                                           : draw(static_cast<std::size_t>(t), random(k, t));
    }
  }

 private:
  void draw_overflowed(const Mixture& mixture, ConstMatrixView<double> random, MatrixView<double> out) {
    if (has_classes(likelihood_)) overflow::fill_classes(likelihood_, mean_);
    for (Index t = 0; t < out.cols; ++t)
      for (Index k = 0; k < out.rows; ++k)
        out(k, t) = has_classes(likelihood_) ? draw(static_cast<std::size_t>(t), random(k, t))
                                             : overflow::expected(likelihood_, overflow::mean(mixture, t));
  }

  /// Fills in random numbers that depend only on seed, example, target and draw.
  void fill_random(Index i, Index t, std::span<double> out) {
    const StreamKey key{seed_, Stream::prediction_noise, static_cast<std::uint64_t>(i),
                        static_cast<std::uint32_t>(t)};
    if (likelihood_.kind() == BDL_STUDENT_T)
      fill_student_t(key, out);
    else if (likelihood_.has_noise_precision())
      fill_normal(key, 0, out);
    else
      fill_uniform(key, 0, out, 0.0, 1.0);
  }

  /// Makes each number of two uniform ones: the generalised polar method (Bailey 1994).
  void fill_student_t(const StreamKey& key, std::span<double> out) {
    const double nu = likelihood_.degrees_of_freedom();
    const std::span<double> uniform = uniform_.first(2 * std::ssize(out));
    fill_uniform(key, 0, uniform, 0.0, 1.0);
    for (std::size_t k = 0; k < out.size(); ++k) {
      const double radius = std::sqrt(nu * std::expm1(-2 / nu * std::log1p(-uniform[2 * k])));
      out[k] = radius * std::cos(2 * std::numbers::pi * uniform[2 * k + 1]);
    }
  }

  /// Returns element t of f + L z.
  double correlated(Index t, ConstMatrixView<double> z, Index k) const {
    const auto root = likelihood_.noise_covariance().root();
    double sum = mean_[static_cast<std::size_t>(t)];
    for (Index u = 0; u <= t; ++u) sum += root(t, u) * z(k, u);
    return sum;
  }

  double draw(std::size_t t, double random) const {
    switch (likelihood_.target_kind()) {
      case TargetKind::real:
        return likelihood_.kind() == BDL_STUDENT_T
                   ? mean_[t] + random / std::sqrt(likelihood_.noise_precision(static_cast<Index>(t)))
                   : mean_[t] + std::sqrt(variance_[t]) * random;
      case TargetKind::label:
        return random < mean_[t] ? 1 : 0;
      case TargetKind::choice:
      case TargetKind::level:
        return class_at(mean_, random);
      case TargetKind::count:
      case TargetKind::positive:
        break;
    }
    const Tail tail = tail_at(std::max(random, 1e-300));
    return likelihood_.kind() == BDL_POISSON ? poisson_quantile(mean_[t], tail_at(random))
                                             : log_mean_quantile(likelihood_, mean_[t], tail);
  }

  const Likelihood& likelihood_;
  std::uint64_t seed_;
  Buffer<double>&random_, &uniform_;
  std::span<double> logits_, mean_, variance_;  // the last two: of y given the current f
};

/// Linearised Monte Carlo draws from the distributions that the closed forms describe; probit approximations
/// have distributions of their own.
bdl_predict_method method_of_draws(bdl_predict_method method, const Likelihood& likelihood) {
  check_draws(method, "draws");
  const bool has_probit_approximation = has_classes(likelihood) && !likelihood.integrates_by_nodes();
  return method == BDL_LINEARIZED && !has_probit_approximation ? BDL_LINEARIZED_MONTE_CARLO : method;
}

}  // namespace

void check_draws(bdl_predict_method method, const char* name) {
  if (!draws_samples(method) && method != BDL_LINEARIZED)
    fail(Status::ERROR_UNSUPPORTED,
         "%s need method monte_carlo, local_monte_carlo, linearized or linearized_monte_carlo", name);
}

template <class T>
void predict_draws(const Query<T>& asked, const OutArray& draws) {
  const Likelihood& likelihood = asked.model.likelihood;
  Query<T> query = asked;
  query.spec.method = method_of_draws(asked.spec.method, likelihood);
  check_query(query);
  check_samples(query.spec.samples);
  const Index samples = query.spec.samples, targets = likelihood.targets();
  const MemoryOf<T> memory(query);
  Result result(memory->results[0], draws, query.x.rows, targets * samples, "draws");
  const Standardization& standardization = asked.model.standardization;
  Drawer draw(likelihood, query.spec, *memory);
  visit_mixtures(query, [&](Index i, const Mixture& mixture) {
    const MatrixView<double> out(result.row(i).data(), samples, targets);
    draw(i, mixture, out);
    for (Index t = 0; t < targets; ++t)
      for (double& value : out.column(t)) value = standardization.to_caller(t, value);
  });
  write_predictions(result);
}

template void predict_draws(const Query<float>&, const OutArray&);
template void predict_draws(const Query<double>&, const OutArray&);

}  // namespace bdl
