// Predictions, as documented in bdl/predict.h: first all arguments are checked, then everything is computed,
// then arrays are written, so a call that fails has written nothing.
//
// Every predictive distribution is a mixture over draws or nodes, p(y | x_i) = sum_k w_k p(y | f_ik)
// (mixture.hpp). The methods of prediction differ only in how f_ik and w_k arise: mixture.cpp draws
// parameters; gaussian_outputs.hpp linearises the network, so that q(f | x) is Gaussian. A prediction then is
// a function of one example's mixture: moments.cpp (mean, epistemic and noise variance, output distribution),
// quantiles.cpp (solved for in mixture_quantile.hpp), classes.cpp (probabilities, entropy, mutual
// information), log_density.cpp (also the ELBO's expectation, and log likelihoods of draws), draws.cpp, and
// quantities.cpp (quantiles and draws of means and outputs). overflow.hpp says what is predicted where f is
// not finite.
//
// ensemble.hpp keeps a model and posterior, or several, for many predictions; memory.hpp holds what they
// compute with; result.hpp checks and writes outputs.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "likelihood/likelihood.hpp"
#include "predict/mixture.hpp"
#include "predict/mixture_quantile.hpp"

namespace bdl {

template <class T>
void predict_moments(const Query<T>& query, const OutArray& mean, const OutArray& epistemic_variance,
                     const OutArray& noise_variance);

template <class T>
void predict_quantiles(const Query<T>& query, const Array& levels, const OutArray& quantiles);

template <class T>
void predict_interval(const Query<T>& query, double probability, const OutArray& lower,
                      const OutArray& upper);

template <class T>
void predict_classes(const Query<T>& query, const OutArray& probabilities, const OutArray& entropy,
                     const OutArray& mutual_information);

template <class T>
void predict_log_density(const Query<T>& query, const Array& y, const OutArray& log_density);

/// Writes f(x; mu) and, one example per row, J Sigma J^T. Method, samples and seed of the query do not
/// matter.
template <class T>
void predict_output_distribution(const Query<T>& query, const OutArray& mean, const OutArray& covariance);

/// Writes as many draws as the query has samples.
template <class T>
void predict_draws(const Query<T>& query, const OutArray& draws);

/// Returns the number of elements of a quantity of y: means (the probabilities of classes and levels), or
/// outputs that are no log noise precisions.
inline Index quantity_count(const Likelihood& likelihood, bdl_quantity quantity) {
  return quantity == BDL_QUANTITY_MEAN ? likelihood.moment_count() : likelihood.means();
}

/// Write quantiles and draws of y, its mean or the linear predictor.
template <class T>
void predict_quantiles_of(const Query<T>& query, bdl_quantity quantity, const Array& levels,
                          const OutArray& quantiles);
template <class T>
void predict_draws_of(const Query<T>& query, bdl_quantity quantity, const OutArray& draws);

/// Writes log p(y_i | f_ik), one row for each draw k.
template <class T>
void predict_log_likelihood(const Query<T>& query, const Array& y, const OutArray& log_likelihood);

/// Writes the mean over the means of y of s = (J Sigma J^T)_cc, standardised; and that of s / (1 - w s), what
/// s was before the row was learned, where w is the expected curvature of its loss.
template <class T>
void predict_leverage(const Query<T>& query, const OutArray& leverage, const OutArray& left_out);

/// Returns E_q[sum_i log p(y_i | f_i)], the first term of the ELBO on these data.
template <class T>
double expected_log_likelihood(const Query<T>& query, const Array& y);

/// Fails with ERROR_UNSUPPORTED if y is a class.
void check_has_quantiles(const Likelihood& likelihood);
/// Fails unless 0 < value < 1.
void check_probability(double value, const char* name);
/// Reads and checks the caller's 1 x K levels.
void read_levels(const Array& levels, std::vector<Tail>& tails);

/// Fails unless draws of that name can be made by the method, or by linearized_monte_carlo in its place.
void check_draws(bdl_predict_method method, const char* name);
/// Returns a quantile of sorted numbers, interpolated linearly (type 7 of Hyndman and Fan 1996).
double sorted_quantile(ConstSpan<double> sorted, Tail tail);

/// Returns -p log p, a term of an entropy in nats.
inline double surprise(double p) {
  return p > 0 ? -p * std::log(p) : 0;
}

/// Adds the entropy of y given its probabilities, in nats: one for a class or level, one per output
/// for labels 0 or 1.
inline void add_entropies(const Likelihood& likelihood, std::span<const double> p, double weight,
                          std::span<double> out) {
  const bool categorical = likelihood.has_one_label();
  for (std::size_t c = 0; c < p.size(); ++c)
    out[categorical ? 0 : c] += weight * (surprise(p[c]) + (categorical ? 0 : surprise(1 - p[c])));
}

}  // namespace bdl
