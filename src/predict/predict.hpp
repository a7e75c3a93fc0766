// Predictions, as documented in bdl/predict.h. Arguments are checked before anything is computed, and arrays
// are written when everything has been computed.
#pragma once

#include "predict/mixture.hpp"

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

/// f(x; mu) and, one example per row, J Sigma J^T; method, samples and seed are not read.
template <class T>
void predict_output_distribution(const Query<T>& query, const OutArray& mean, const OutArray& covariance);

/// As many draws as the query has samples.
template <class T>
void predict_draws(const Query<T>& query, const OutArray& draws);

/// E_q[sum_i log p(y_i | f_i)]: the ELBO's first part on the given data.
template <class T>
double expected_log_likelihood(const Query<T>& query, const Array& y);

}  // namespace bdl
