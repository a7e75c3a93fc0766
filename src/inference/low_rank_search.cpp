#include "inference/low_rank_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "linalg/blas.hpp"
#include "linalg/minimize.hpp"

namespace bdl {
namespace {

double dot(ConstSpan<double> a, ConstSpan<double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// sum_k a(i, k) b(i, k).
double row_dot(ConstMatrixView<double> a, ConstMatrixView<double> b, Index i) {
  double sum = 0;
  for (Index k = 0; k < a.cols; ++k) sum += a(i, k) * b(i, k);
  return sum;
}

}  // namespace

/// With G = H + Lambda_0 and T = Sigma G Sigma - Sigma, the derivatives are m, -T U and -d diag(T) / 2.
/// Without U, Sigma is diag(1 / d).
void LowRankGradient::compute(const ExactElbo& elbo, const LowRankPosterior<double>& q) {
  const Index dimension = q.dimension();
  diagonal_.reserve(2 * dimension);
  const auto g = diagonal_.first(dimension);
  const Curvature<double> h = elbo.curvature();
  h.rows->sum_squares(h.w, g);
  mean_ = elbo.slope();
  log_d_ = {diagonal_.data() + dimension, g.size()};
  for (std::size_t i = 0; i < g.size(); ++i) {
    g[i] += elbo.prior_precision()[i];
    log_d_[i] = (1 - g[i] / q.d()[i]) / 2;
  }
  u_ = {nullptr, dimension, 0};
  if (q.rank() > 0) add_factor(elbo, q);
}

/// Y = Sigma U, so Sigma = diag(1/d) - Y U^T diag(1/d), and A = G Y: T U = Sigma A - Y. With M = I + U^T
/// diag(1/d) U, G diag(1/d) U = A M, so
///   diag(Sigma G Sigma) = diag(G) / d^2 - 2 rowsum(A M ∘ Y) / d + rowsum(Y C ∘ Y), C = U^T diag(1/d) A M.
void LowRankGradient::add_factor(const ExactElbo& elbo, const LowRankPosterior<double>& q) {
  const Index dimension = q.dimension(), rank = q.rank(), examples = elbo.examples();
  for (Buffer<double>* buffer : {&scaled_, &solved_, &curved_, &mixed_}) buffer->reserve(dimension * rank);
  projected_.reserve(rank * examples);
  weights_.reserve(rank * examples);
  small_.reserve(2 * rank * rank);
  const auto over_d = scaled_.matrix(dimension, rank), y = solved_.matrix(dimension, rank),
             a = curved_.matrix(dimension, rank), am = mixed_.matrix(dimension, rank);
  const MatrixView<double> m(small_.data(), rank, rank), c(m.data + rank * rank, rank, rank);
  const ConstMatrixView<double> u = q.u();
  for (Index k = 0; k < rank; ++k)
    for (Index i = 0; i < dimension; ++i) over_d(i, k) = u(i, k) / q.d()[static_cast<std::size_t>(i)];
  gemm(Op::transpose, Op::none, 1.0, u, over_d, 0.0, m);
  for (Index k = 0; k < rank; ++k) m(k, k) += 1;
  std::copy_n(u.data, u.size(), y.data);
  q.solve(y, scratch_);

  const Curvature<double> h = elbo.curvature();
  const auto yx = projected_.matrix(rank, examples), weighted = weights_.matrix(examples, rank);
  h.rows->project(y, yx);
  for (Index k = 0; k < rank; ++k)
    for (Index i = 0; i < examples; ++i) weighted(i, k) = h.w[static_cast<std::size_t>(i)] * yx(k, i);
  h.rows->combine(weighted, a);
  for (Index k = 0; k < rank; ++k)
    for (Index i = 0; i < dimension; ++i)
      a(i, k) += elbo.prior_precision()[static_cast<std::size_t>(i)] * y(i, k);

  gemm(Op::none, Op::none, 1.0, a, m, 0.0, am);
  gemm(Op::transpose, Op::none, 1.0, over_d, am, 0.0, c);
  q.solve(a, scratch_);
  // The derivative for U in A, and Y C in what was U / d.
  for (Index i = 0; i < a.size(); ++i) a.data[i] = y.data[i] - a.data[i];
  gemm(Op::none, Op::none, 1.0, y, c, 0.0, over_d);
  for (Index i = 0; i < dimension; ++i) {
    const double d = q.d()[static_cast<std::size_t>(i)];
    log_d_[static_cast<std::size_t>(i)] -=
        (d * row_dot(over_d, y, i) - 2 * row_dot(am, y, i) + row_dot(y, u, i)) / 2;
  }
  u_ = a;
}

LowRankSearch::LowRankSearch(ExactElbo& elbo, LowRankPosterior<double>& q, double tolerance,
                             const Iterated& iterated)
    : elbo_(elbo), q_(q), tolerance_(tolerance), iterated_(iterated), chart_(q.dimension(), q.rank()) {
  for (std::vector<double>* vector : {&z_, &here_, &slope_here_})
    vector->resize(static_cast<std::size_t>(chart_.size()));
}

/// Coordinates around q, in which its gradient has length scale_.
void LowRankSearch::restart() {
  chart_.center(q_);
  start_ = last_ = elbo_.evaluate(q_);
  gradient_.compute(elbo_, q_);
  chart_.pull_back(gradient_.mean(), gradient_.u(), gradient_.log_d(), slope_here_);
  scale_ = std::sqrt(dot(slope_here_, slope_here_));
}

/// Near the optimum, where differences of the loss are rounding, they are integrated from the gradients at
/// both ends of a step.
SearchEnd LowRankSearch::run() {
  Values values = Values::computed;
  for (double last_scale = HUGE_VAL;;) {
    restart();
    if (scale_ <= tolerance_) return SearchEnd::converged;
    const double visible = std::sqrt(1e5 * start_.rounding());
    if (scale_ <= visible) values = Values::integrated;
    if (values == Values::integrated) {
      if (scale_ > last_scale / 2) return SearchEnd::converged;  // as far as rounding lets it
      last_scale = scale_;
    }
    const bool descended = descend(values, values == Values::computed ? visible / 2 : tolerance_ / 2);
    if (stopped_) return SearchEnd::stopped;
    if (!descended) values = Values::integrated;
  }
}

bool LowRankSearch::descend(Values values, double enough) {
  values_ = values;
  enough_ = enough;
  std::ranges::fill(z_, 0.0);
  std::ranges::fill(here_, 0.0);
  for (double& slope : slope_here_) slope /= scale_;
  value_here_ = 0;
  const Minimization problem{
      [this](ConstSpan<double> z, std::span<double> gradient) { return evaluate(z, gradient); },
      [this](ConstSpan<double> z, ConstSpan<double> gradient) { return report(z, gradient); }};
  const bool ended = minimize(problem, z_);
  chart_.place(z_, scale_, q_);
  return ended;
}

double LowRankSearch::evaluate(ConstSpan<double> z, std::span<double> gradient) {
  try {
    chart_.place(z, scale_, q_);
    last_ = elbo_.evaluate(q_);
  } catch (const Error& error) {
    if (error.status() != Status::ERROR_DIVERGED) throw;
    return HUGE_VAL;
  }
  gradient_.compute(elbo_, q_);
  chart_.pull_back(gradient_.mean(), gradient_.u(), gradient_.log_d(), gradient);
  for (double& slope : gradient) slope /= scale_;
  if (values_ == Values::computed) return (last_.loss() - start_.loss()) / (scale_ * scale_);
  double change = 0;
  for (std::size_t i = 0; i < z.size(); ++i) change += (gradient[i] + slope_here_[i]) * (z[i] - here_[i]);
  return value_here_ + change / 2;
}

bool LowRankSearch::report(ConstSpan<double> z, ConstSpan<double> gradient) {
  double change = 0;
  for (std::size_t i = 0; i < z.size(); ++i) change += (gradient[i] + slope_here_[i]) * (z[i] - here_[i]);
  value_here_ += change / 2;
  std::ranges::copy(z, here_.begin());
  std::ranges::copy(gradient, slope_here_.begin());
  stopped_ = iterated_(q_, last_);
  return stopped_ || scale_ * std::sqrt(dot(gradient, gradient)) <= enough_;
}

}  // namespace bdl
