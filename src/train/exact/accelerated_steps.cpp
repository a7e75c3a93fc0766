#include "train/exact/accelerated_steps.hpp"

#include <algorithm>

#include "linalg/dense/cholesky.hpp"

namespace bdl {

/// Solves the normal equations of min |g - dG c| over c, where the columns of dG are differences of
/// successive steps; a small multiple of their size keeps them solvable once steps are rounding.
std::vector<double> AcceleratedSteps::next(ConstSpan<double> u, ConstSpan<double> g, ConstSpan<double> scales,
                                           double part) {
  points_.push_back({{u.begin(), u.end()}, {g.begin(), g.end()}});
  if (points_.size() > std::min(most_points_, u.size() + 1)) points_.pop_front();
  const std::size_t size = u.size(), columns = points_.size() - 1;
  std::vector<double> result(size);
  for (std::size_t i = 0; i < size; ++i) result[i] = u[i] + part * g[i];
  if (columns == 0) return result;
  std::vector<double> normal(columns * columns), c(columns);
  const auto change = [&](std::size_t k, std::size_t i) { return points_[k + 1].g[i] - points_[k].g[i]; };
  const auto scale = [&](std::size_t i) { return scales.empty() ? 1 : scales[i]; };
  const MatrixView<double> matrix(normal.data(), static_cast<Index>(columns), static_cast<Index>(columns));
  double trace = 0;
  for (std::size_t k = 0; k < columns; ++k)
    for (std::size_t i = 0; i < size; ++i) {
      const double of_k = scale(i) * scale(i) * change(k, i);
      c[k] += of_k * g[i];
      for (std::size_t j = 0; j <= k; ++j)
        matrix(static_cast<Index>(k), static_cast<Index>(j)) += of_k * change(j, i);
    }
  for (Index k = 0; k < matrix.rows; ++k) trace += matrix(k, k);
  for (Index k = 0; k < matrix.rows; ++k) matrix(k, k) += 1e-14 * trace;
  if (!cholesky(matrix)) return result;
  cholesky_solve(matrix, {c.data(), matrix.rows, 1});
  for (std::size_t k = 0; k < columns; ++k)
    for (std::size_t i = 0; i < size; ++i)
      result[i] -= c[k] * (points_[k + 1].u[i] - points_[k].u[i] + part * change(k, i));
  return result;
}

}  // namespace bdl
