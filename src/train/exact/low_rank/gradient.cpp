#include "train/exact/low_rank/gradient.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"

namespace bdl {

/// With G = H + Lambda_0 and T = Sigma G Sigma - Sigma, the derivatives are m, -T U and -diag(T) / 2. The
/// loop writes those of U = 0, where Sigma = diag(1 / d); add_factor() adds the rest.
ExactElbo::Value LowRankGradient::compute(ExactElbo& elbo, const LowRankPosterior<double>& q) {
  const Index dimension = q.dimension();
  reserve(dimension, q.rank());
  const ExactElbo::Value value = elbo.evaluate(q, solve(q));
  const auto g = diagonal_.first(dimension);
  std::ranges::copy(elbo.hessian_diagonal(), g.begin());
  mean_ = elbo.slope();
  d_ = {diagonal_.data() + dimension, g.size()};
  for (std::size_t i = 0; i < g.size(); ++i) {
    g[i] += elbo.prior_precision()[i];
    d_[i] = (1 - g[i] / q.d()[i]) / (2 * q.d()[i]);
  }
  u_ = {nullptr, dimension, 0};
  if (q.rank() > 0) add_factor(elbo, q);
  return value;
}

void LowRankGradient::reserve(Index dimension, Index rank) {
  diagonal_.reserve(2 * dimension);
  for (Buffer<double>* buffer : {&solved_, &curved_, &mixed_}) buffer->reserve(dimension * rank);
  small_.reserve(2 * rank * rank);
}

/// Returns Y = Sigma U, which is K M^-1 with K = U / d and M = I + U^T K.
ConstMatrixView<double> LowRankGradient::solve(const LowRankPosterior<double>& q) {
  const Index dimension = q.dimension(), rank = q.rank();
  const auto y = solved_.matrix(dimension, rank);
  if (rank == 0) return y;
  const MatrixView<double> m(small_.data(), rank, rank);
  const ConstMatrixView<double> u = q.u();
  for (Index k = 0; k < rank; ++k)
    for (Index i = 0; i < dimension; ++i) y(i, k) = u(i, k) / q.d()[static_cast<std::size_t>(i)];
  gemm(Op::transpose, Op::none, 1.0, u, y, 0.0, m);
  for (Index k = 0; k < rank; ++k) m(k, k) += 1;
  if (!cholesky(m)) fail(Status::ERROR_DIVERGED, "the posterior precision is not finite");
  solve_lower_right(Op::transpose, m, y);
  solve_lower_right(Op::none, m, y);
  return y;
}

/// With A = G Y and C = Y^T A: diag(d) Sigma = I - U Y^T, so
///   T U = (A - U C) / d - Y,   d^2 diag(Sigma G Sigma) = diag(G) - 2 rowsum(U ∘ A) + rowsum(U C ∘ U),
/// which loses less to cancellation than products with Sigma do where U U^T dominates d.
void LowRankGradient::add_factor(ExactElbo& elbo, const LowRankPosterior<double>& q) {
  const Index dimension = q.dimension(), rank = q.rank();
  const auto y = solved_.matrix(dimension, rank), a = curved_.matrix(dimension, rank),
             uc = mixed_.matrix(dimension, rank);
  const MatrixView<double> c(small_.data() + rank * rank, rank, rank);
  const ConstMatrixView<double> u = q.u();
  const auto d = [&](Index i) { return q.d()[static_cast<std::size_t>(i)]; };
  const auto hy = elbo.hessian_products();
  for (Index k = 0; k < rank; ++k) {
    std::ranges::copy(hy.column(k), a.column_data(k));
    elbo.prior().add_product(std::as_const(y).column(k), a.column(k), scratch_);
  }
  gemm(Op::transpose, Op::none, 1.0, y, a, 0.0, c);
  gemm(Op::none, Op::none, 1.0, u, c, 0.0, uc);
  for (Index i = 0; i < dimension; ++i) {
    double change = 0;
    for (Index k = 0; k < rank; ++k) {
      change += u(i, k) * ((uc(i, k) - a(i, k)) - a(i, k) + d(i) * y(i, k));
      a(i, k) = y(i, k) - (a(i, k) - uc(i, k)) / d(i);
    }
    d_[static_cast<std::size_t>(i)] -= change / (2 * d(i) * d(i));
  }
  u_ = a;
}

}  // namespace bdl
