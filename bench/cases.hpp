// The cases that can be measured. Each runs in a process of its own, takes the parameters that its line
// begins with, and returns the lines to print: usually one, the parameters followed by the measurements.
#pragma once

#include <vector>

#include "record.hpp"

namespace bench {

/// Steps of a network. Parameters: shape, likelihood, M, S, L, dtype; limits; quick, fit, stages if wanted.
std::vector<Record> slang(const Record& parameters);

/// Steps on the caller's gradient rows, without a model. Parameters: D, L, n.
std::vector<Record> rows(const Record& parameters);

/// Draws and solutions of a posterior. Parameters: D, L, S or vectors, dtype; limits.
std::vector<Record> sample(const Record& parameters);
std::vector<Record> solve(const Record& parameters);

/// Observations of a stream (bong, lin-hess). Parameters: D (about), C, L (0: diagonal), dtype; limits.
std::vector<Record> online(const Record& parameters);

/// A long stream (lo-fi), a line for each tenth of it. Parameters: D (about), L, n, dtype.
std::vector<Record> endurance(const Record& parameters);

/// Monte-Carlo predictions. Parameters: shape, L, examples, S; limits.
std::vector<Record> predict(const Record& parameters);

/// Monte-Carlo predictions of one row: by a predictor, and by a call that draws. Parameters: shape,
/// activation, L, S.
std::vector<Record> predictor(const Record& parameters);

/// Convolutions: of one layer (parameters C, H, O, k, s, p, M: channels and size of the maps, filters,
/// kernel, stride, pad) or steps of a network (network, method, M, S, L); limits.
std::vector<Record> conv(const Record& parameters);

/// Steps of noisy layers and of a point estimate by turns. Parameters: network ("784-400-10" or lenet5),
/// method, K, M; estimator, quick, stages if wanted.
std::vector<Record> noise(const Record& parameters);

/// Steps of natural gradients of deep networks and of a point estimate by turns. Parameters: network, method
/// (vogn, ivon, kfac), M; of kfac fisher and refresh, the steps from each renewal of factors and eigenvectors
/// to the next. Method laplace: its approximation, Kronecker-factored, and predictions from it.
std::vector<Record> vogn(const Record& parameters);

/// Small dense operations of the library's own beside those of BLAS and LAPACK. Parameters: kernel (trsm,
/// gemv, eigenpairs, cholesky), size, columns; quick.
std::vector<Record> kernels(const Record& parameters);

/// The numbers of "784-400-10".
std::vector<std::int64_t> sizes_of(const std::string& shape);

}  // namespace bench
