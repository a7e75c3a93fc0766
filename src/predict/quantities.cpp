#include <algorithm>
#include <cmath>

#include "likelihood/special_functions.hpp"
#include "predict/memory.hpp"
#include "predict/overflow.hpp"
#include "predict/predict.hpp"
#include "predict/result.hpp"

namespace bdl {
namespace {

/// True if each element of E[y | f] is an increasing function of one output.
bool means_follow_outputs(const Likelihood& likelihood) {
  return !likelihood.has_one_label();
}

/// Returns the method whose mixtures have the distribution of means and outputs, or with `samples`, draws of
/// them.
bdl_predict_method method_of_outputs(bdl_predict_method method, bool samples) {
  const bool is_gaussian = method == BDL_QUADRATURE || method == BDL_LINEARIZED;
  if (!is_gaussian) return method;
  return samples ? BDL_LINEARIZED_MONTE_CARLO : BDL_LINEARIZED;
}

/// Checks the caller's query, and returns it with the method that has the distribution.
template <class T>
Query<T> query_of_outputs(const Query<T>& asked, bool samples) {
  check_query(asked);
  Query<T> query = asked;
  query.spec.method = method_of_outputs(asked.spec.method, samples);
  if (draws_samples(query.spec.method)) check_samples(query.spec.samples);
  return query;
}

/// Returns the mean of y, or the linear predictor, of outputs f (standardised).
class Quantity {
 public:
  Quantity(const Likelihood& likelihood, bdl_quantity quantity, std::span<double> moments)
      : likelihood_(likelihood),
        is_mean_(quantity == BDL_QUANTITY_MEAN),
        size_(static_cast<std::size_t>(quantity_count(likelihood, quantity))),
        mean_(moments.first(moments.size() / 2)),
        variance_(moments.last(moments.size() / 2)) {}

  std::span<const double> operator()(const double* f) {
    if (!is_mean_) return {f, size_};
    likelihood_.moments(f, mean_.data(), variance_.data());
    return mean_.first(size_);
  }
  /// Returns the quantile of output c in its standard deviations: of Student's t if the noise was estimated.
  double deviations(Index c, Tail tail) const {
    const double degrees = likelihood_.noise_degrees(c),
                 lower = std::isinf(degrees) ? bdl::normal_quantile(tail.probability)
                                             : student_t_quantile(tail.probability, degrees);
    return tail.upper ? -lower : lower;
  }
  /// Returns its values where the outputs overflow and only their mean is known.
  std::span<const double> overflowed(const Mixture& mixture) {
    const auto values = mean_.first(size_);
    if (is_mean_ && has_classes(likelihood_)) {
      overflow::fill_classes(likelihood_, values);
      return values;
    }
    for (std::size_t c = 0; c < size_; ++c) {
      const double f = overflow::mean(mixture, static_cast<Index>(c));
      values[c] = is_mean_ ? overflow::expected(likelihood_, f) : std::isnan(f) ? overflow::infinity : f;
    }
    return values;
  }
  /// Returns a quantile there: of a probability, all of [0, 1] is possible.
  double overflowed(const Mixture& mixture, Index c, Tail tail) const {
    if (is_mean_ && has_classes(likelihood_)) return tail.upper ? 1 : 0;
    const double f = overflow::mean(mixture, c);
    if (is_mean_) return overflow::quantile(likelihood_, f, tail);
    return std::isinf(f) ? f : tail.upper ? overflow::infinity : -overflow::infinity;
  }

 private:
  const Likelihood& likelihood_;
  bool is_mean_;
  std::size_t size_;
  std::span<double> mean_, variance_;
};

/// Computes quantiles of one row's means or outputs, standardised: element (k, c) of `out` at tail k.
class QuantityQuantiles {
 public:
  template <class T>
  QuantityQuantiles(const Likelihood& likelihood, bdl_quantity quantity, PredictMemory<T>& memory)
      : numbers_(memory.numbers.matrix(std::max(likelihood.outputs(), likelihood.moment_count()), 3)),
        values_(memory.random),
        quantity_(likelihood, quantity, {numbers_.data, 2 * numbers_.column(2).size()}) {}

  void operator()(const Mixture& mixture, const std::vector<Tail>& tails, MatrixView<double> out) {
    if (mixture.overflows) {
      for (Index c = 0; c < out.cols; ++c)
        for (Index k = 0; k < out.rows; ++k)
          out(k, c) = quantity_.overflowed(mixture, c, tails[static_cast<std::size_t>(k)]);
    } else if (mixture.is_gaussian()) {
      gaussian(mixture, tails, out);
    } else {
      of_samples(mixture, tails, out);
    }
  }

 private:
  /// Transforms the quantiles of all outputs at once, as means increase with their outputs.
  void gaussian(const Mixture& mixture, const std::vector<Tail>& tails, MatrixView<double> out) {
    const auto f = numbers_.column(2);
    for (Index k = 0; k < out.rows; ++k) {
      const Tail tail = tails[static_cast<std::size_t>(k)];
      std::ranges::copy(mixture.f.column(0), f.data());
      for (Index c = 0; c < out.cols; ++c)
        f[static_cast<std::size_t>(c)] += quantity_.deviations(c, tail) * std::sqrt(mixture.variance(c));
      const auto values = quantity_(f.data());
      for (Index c = 0; c < out.cols; ++c) out(k, c) = values[static_cast<std::size_t>(c)];
    }
  }
  void of_samples(const Mixture& mixture, const std::vector<Tail>& tails, MatrixView<double> out) {
    const auto samples = values_.matrix(mixture.components(), out.cols);
    for (Index s = 0; s < samples.rows; ++s) {
      const auto values = quantity_(mixture.f.column_data(s));
      for (Index c = 0; c < out.cols; ++c) samples(s, c) = values[static_cast<std::size_t>(c)];
    }
    for (Index c = 0; c < out.cols; ++c) {
      std::ranges::sort(samples.column(c));
      for (Index k = 0; k < out.rows; ++k)
        out(k, c) = sorted_quantile(samples.column(c), tails[static_cast<std::size_t>(k)]);
    }
  }

  MatrixView<double> numbers_;  // mean and variance of y, and outputs
  Buffer<double>& values_;
  Quantity quantity_;
};

void check_has_spread(bool has_covariance) {
  if (!has_covariance)
    fail(Status::ERROR_UNSUPPORTED,
         "training has found a mode, which has no covariance: take method \"laplace\", or ask for quantiles "
         "of "
         "y");
}

}  // namespace

double sorted_quantile(ConstSpan<double> sorted, Tail tail) {
  const double place = tail.probability * static_cast<double>(sorted.size() - 1), below = std::floor(place);
  const auto at = [&](double i) {
    const auto k = std::min(static_cast<std::size_t>(i), sorted.size() - 1);
    return sorted[tail.upper ? sorted.size() - 1 - k : k];
  };
  const double from = at(below), to = at(below + 1);
  return from == to ? from : from + (place - below) * (to - from);
}

template <class T>
void predict_quantiles_of(const Query<T>& asked, bdl_quantity quantity, const Array& levels,
                          const OutArray& quantiles) {
  if (quantity == BDL_QUANTITY_Y) return predict_quantiles(asked, levels, quantiles);
  const Likelihood& likelihood = asked.model.likelihood;
  const bool is_sampled = quantity == BDL_QUANTITY_MEAN && !means_follow_outputs(likelihood);
  const Query<T> query = query_of_outputs(asked, is_sampled);
  check_has_spread(query.posterior.has_covariance());
  const MemoryOf<T> memory(query);
  read_levels(levels, memory->tails);
  const Index outputs = quantity_count(likelihood, quantity);
  Result result(memory->results[0], quantiles, query.x.rows, outputs * levels.cols, "quantiles");
  QuantityQuantiles compute(likelihood, quantity, *memory);
  visit_mixtures(query, [&](Index i, const Mixture& mixture) {
    const MatrixView<double> out(result.row(i).data(), levels.cols, outputs);
    compute(mixture, memory->tails, out);
    for (Index c = 0; c < outputs; ++c)
      for (double& value : out.column(c)) value = query.model.standardization.to_caller(c, value);
  });
  write_predictions(result);
}

template <class T>
void predict_draws_of(const Query<T>& asked, bdl_quantity quantity, const OutArray& draws) {
  if (quantity == BDL_QUANTITY_Y) return predict_draws(asked, draws);
  const Query<T> query = query_of_outputs(asked, true);
  check_samples(query.spec.samples);
  const Likelihood& likelihood = query.model.likelihood;
  const Index samples = query.spec.samples, outputs = quantity_count(likelihood, quantity);
  const MemoryOf<T> memory(query);
  Result result(memory->results[0], draws, query.x.rows, outputs * samples, "draws");
  Quantity value(likelihood, quantity,
                 memory->numbers.first(2 * std::max(likelihood.outputs(), likelihood.moment_count())));
  visit_mixtures(query, [&](Index i, const Mixture& mixture) {
    const MatrixView<double> out(result.row(i).data(), samples, outputs);
    for (Index k = 0; k < samples; ++k) {
      const double* f = mixture.f.column_data(std::min(k, mixture.components() - 1));
      const auto values = mixture.overflows ? value.overflowed(mixture) : value(f);
      for (Index c = 0; c < outputs; ++c)
        out(k, c) = query.model.standardization.to_caller(c, values[static_cast<std::size_t>(c)]);
    }
  });
  write_predictions(result);
}

#define BDL_INSTANTIATE(T)                                                                          \
  template void predict_quantiles_of(const Query<T>&, bdl_quantity, const Array&, const OutArray&); \
  template void predict_draws_of(const Query<T>&, bdl_quantity, const OutArray&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
