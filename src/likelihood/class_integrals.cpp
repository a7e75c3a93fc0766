#include "likelihood/class_integrals.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"

namespace bdl {
namespace {

// Standard deviations up to which the coarse rule suffices, and from which the fine one does not.
constexpr double narrow = 0.25, broad = 1.5;

/// Spacing and radius of the trapezoidal rules by dimension.
struct Ball {
  double spacing, radius;
};
constexpr Ball wide_balls[] = {{0.04, 8}, {0.25, 6.5}, {0.45, 6}};
constexpr Ball fine_balls[] = {{0.25, 8}, {0.6, 6.5}, {0.7, 6}};
constexpr Ball coarse_balls[] = {{0.7, 7}, {0.9, 6.2}, {0.95, 6}};

/// V = L L^T in the lower triangle. A pivot that is not positive, as of a contrast without variance, leaves a
/// column of zeros.
void semidefinite_root(MatrixView<double> v) {
  for (Index j = 0; j < v.cols; ++j) {
    double pivot = v(j, j);
    for (Index k = 0; k < j; ++k) pivot -= v(j, k) * v(j, k);
    const double root = pivot > 0 ? std::sqrt(pivot) : std::isnan(pivot) ? pivot : 0;
    v(j, j) = root;
    for (Index i = j + 1; i < v.rows; ++i) {
      double sum = v(i, j);
      for (Index k = 0; k < j; ++k) sum -= v(i, k) * v(j, k);
      v(i, j) = root > 0 ? sum / root : root;
    }
  }
}

}  // namespace

void ClassIntegrals::Rule::add(const std::vector<double>& node, double weight) {
  nodes.insert(nodes.end(), node.begin(), node.end());
  weights.push_back(weight);
}

/// Gives the nodes, whose mean is 0, the covariance I, and the weights the sum 1.
void ClassIntegrals::Rule::normalise() {
  const Index count = std::ssize(weights);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= total;
  std::vector<double> square(static_cast<std::size_t>(dimension * dimension), 0.0);
  const MatrixView<double> covariance(square.data(), dimension, dimension),
      all(nodes.data(), dimension, count);
  for (Index k = 0; k < count; ++k)
    for (Index j = 0; j < dimension; ++j)
      for (Index i = j; i < dimension; ++i)
        covariance(i, j) += weights[static_cast<std::size_t>(k)] * all(i, k) * all(j, k);
  if (cholesky(covariance)) solve_lower_left(Op::none, covariance, all);
}

ClassIntegrals::Rule ClassIntegrals::ball(Index dimension, double spacing, double radius) {
  Rule rule{dimension, {}, {}};
  const int last = static_cast<int>(radius / spacing);
  std::vector<int> at(static_cast<std::size_t>(dimension), -last);
  std::vector<double> node(at.size());
  for (bool more = true; more;) {
    double square = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      node[d] = spacing * at[d];
      square += node[d] * node[d];
    }
    if (square <= radius * radius) rule.add(node, std::exp(-square / 2));
    more = false;
    for (std::size_t d = 0; d < at.size() && !more; ++d) {
      more = ++at[d] <= last;
      if (!more) at[d] = -last;
    }
  }
  rule.normalise();
  return rule;
}

/// The basis is Helmert's: class k + 1 against the mean of those before it.
ClassIntegrals::ClassIntegrals(Index classes)
    : classes_(classes), contrasts_(static_cast<std::size_t>(classes * (classes - 1)), 0.0) {
  const Index dimension = classes - 1;
  const MatrixView<double> basis(contrasts_.data(), classes, dimension);
  for (Index k = 0; k < dimension; ++k) {
    const auto before = static_cast<double>(k + 1);
    for (Index c = 0; c <= k; ++c) basis(c, k) = 1 / std::sqrt(before * (before + 1));
    basis(k + 1, k) = -before / std::sqrt(before * (before + 1));
  }
  if (!integrates()) return;
  const Ball wide = wide_balls[dimension - 1], fine = fine_balls[dimension - 1],
             coarse = coarse_balls[dimension - 1];
  wide_ = ball(dimension, wide.spacing, wide.radius);
  fine_ = ball(dimension, fine.spacing, fine.radius);
  coarse_ = ball(dimension, coarse.spacing, coarse.radius);
}

/// Returns the expectation of the normaliser to second order; writes its slope and Hessian at the mean.
double ClassIntegrals::expand(const double* m, ConstMatrixView<double> v, double* slope,
                              MatrixView<double> hessian, double* p) const {
  const double top = *std::max_element(m, m + classes_);
  double total = 0;
  for (Index c = 0; c < classes_; ++c) total += p[c] = std::exp(m[c] - top);
  for (Index c = 0; c < classes_; ++c) slope[c] = p[c] /= total;
  for (Index k = 0; k < classes_; ++k)
    for (Index c = 0; c < classes_; ++c) hessian(c, k) = (c == k ? p[c] : 0) - p[c] * p[k];
  double curved = 0;  // tr(B^T H B V)
  for (Index k = 0; k < v.cols; ++k)
    for (Index l = k; l < v.cols; ++l) {
      double both = 0, of_k = 0, of_l = 0;
      for (Index c = 0; c < classes_; ++c) {
        both += p[c] * contrasts()(c, k) * contrasts()(c, l);
        of_k += p[c] * contrasts()(c, k);
        of_l += p[c] * contrasts()(c, l);
      }
      curved += (l == k ? 1 : 2) * (both - of_k * of_l) * v(l, k);
    }
  return top + std::log(total) + curved / 2;
}

double ClassIntegrals::expect(const double* m, MatrixView<double> v, Index y, double* slope,
                              MatrixView<double> hessian, double* memory) const {
  const Index dimension = classes_ - 1;
  if (!integrates()) {
    const double loss = expand(m, v, slope, hessian, memory);
    slope[y] -= 1;
    return loss - m[y];
  }
  double trace = 0;
  for (Index k = 0; k < dimension; ++k) trace += v(k, k);
  const Rule& rule = trace <= narrow * narrow ? coarse_ : trace <= broad * broad ? fine_ : wide_;
  semidefinite_root(v);
  const MatrixView<double> spread(memory, classes_, dimension);  // contrasts V^1/2
  double* const p = memory + classes_ * dimension;
  for (Index k = 0; k < dimension; ++k)
    for (Index c = 0; c < classes_; ++c) {
      double sum = 0;
      for (Index j = std::max<Index>(k, c - 1); j < dimension; ++j) sum += contrasts()(c, j) * v(j, k);
      spread(c, k) = sum;
    }
  std::fill_n(slope, classes_, 0.0);
  for (Index k = 0; k < classes_; ++k) std::ranges::fill(hessian.column(k), 0.0);
  double loss = 0;
  for (std::size_t node = 0; node < rule.weights.size(); ++node) {
    const double *z = rule.nodes.data() + static_cast<Index>(node) * dimension, weight = rule.weights[node];
    std::copy_n(m, classes_, p);
    for (Index k = 0; k < dimension; ++k)
      for (Index c = 0; c < classes_; ++c) p[c] += spread(c, k) * z[k];
    const double top = *std::max_element(p, p + classes_);
    double total = 0;
    for (Index c = 0; c < classes_; ++c) total += p[c] = std::exp(p[c] - top);
    loss += weight * (top + std::log(total));
    for (Index c = 0; c < classes_; ++c) {
      p[c] /= total;
      slope[c] += weight * p[c];
    }
    for (Index k = 0; k < classes_; ++k)
      for (Index c = k; c < classes_; ++c) hessian(c, k) -= weight * p[c] * p[k];
  }
  for (Index k = 0; k < classes_; ++k) {  // each row of the Hessian adds up to 0
    hessian(k, k) = 0;
    for (Index c = k + 1; c < classes_; ++c) hessian(k, c) = hessian(c, k);
  }
  for (Index k = 0; k < classes_; ++k)
    hessian(k, k) = -std::accumulate(hessian.column(k).begin(), hessian.column(k).end(), 0.0);
  slope[y] -= 1;
  return loss - m[y];
}

}  // namespace bdl
