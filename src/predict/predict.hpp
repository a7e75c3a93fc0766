// Predictions, as documented in bdl/predict.h. Arguments are checked before anything is computed, and arrays
// are written when everything has been computed.
#pragma once

#include "predict/mixture.hpp"

namespace bdl {

template <class T>
void predict_moments(const Query<T>& query, const Array& mean, const Array& epistemic_variance,
                     const Array& noise_variance);

template <class T>
void predict_quantiles(const Query<T>& query, const Array& levels, const Array& quantiles);

template <class T>
void predict_interval(const Query<T>& query, double probability, const Array& lower, const Array& upper);

template <class T>
void predict_classes(const Query<T>& query, const Array& probabilities, const Array& entropy,
                     const Array& mutual_information);

template <class T>
void predict_log_density(const Query<T>& query, const Array& y, const Array& log_density);

/// f(x; mu) and, one example per row, J Sigma J^T; method, samples and seed are not read.
template <class T>
void predict_output_distribution(const Query<T>& query, const Array& mean, const Array& covariance);

/// As many draws as the query has samples.
template <class T>
void predict_draws(const Query<T>& query, const Array& draws);

/// E_q[sum_i log p(y_i | f_i)]: the ELBO's first part on the given data.
template <class T>
double expected_log_likelihood(const Query<T>& query, const Array& y);

}  // namespace bdl
