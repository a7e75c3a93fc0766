// The largest eigenpairs of a large dense symmetric positive semi-definite matrix: block Lanczos with full
// orthogonalisation and Rayleigh-Ritz on the whole basis (Golub and Underwood 1977).
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/profile.hpp"
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "linalg/eigen/eigenpairs.hpp"

namespace bdl {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

// Some columns beyond those wanted, whole groups of the product: they make the gap at the cut larger and find
// what the coordinates miss.
Index block_columns(Index count) {
  constexpr Index group = 4;
  const Index columns = count + 3 + count / 8;
  return (columns + group - 1) / group * group;
}

constexpr Index fewest_blocks = 3, most_blocks = 16, most_basis = 512;

/// Returns +-1 by a hash of the element's position (splitmix64).
double random_sign(Index i, Index j) {
  std::uint64_t z =
      (static_cast<std::uint64_t>(j) << 32 | static_cast<std::uint64_t>(i)) * 0x9E3779B97F4A7C15u +
      0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (z >> 63) != 0 ? 1 : -1;
}

double mean_diagonal(ConstMatrixView<double> a) {
  double trace = 0;
  for (Index i = 0; i < a.rows; ++i) trace += a(i, i);
  return trace / static_cast<double>(a.rows);
}

/// True if coordinate k is no worse than a random vector, whose Rayleigh quotient is the average on the
/// average.
bool starts_from(ConstMatrixView<double> a, Index k, double average) {
  return a(k, k) >= average;
}

double norm(const double* x, Index size) {
  double sum = 0;
  for (Index i = 0; i < size; ++i) sum += x[i] * x[i];
  return std::sqrt(sum);
}

void scale_column(MatrixView<double> a, Index j, double factor) {
  for (double& value : a.column(j)) value *= factor;
}

/// X -= Q (Q^T X); Q^T X is left in `coefficients`.
void remove_span(ConstMatrixView<double> q, MatrixView<double> x, MatrixView<double> coefficients) {
  gemm(Op::transpose, Op::none, 1.0, q, x, 0.0, coefficients);
  gemm(Op::none, Op::none, -1.0, q, coefficients, 1.0, x);
}

/// Number of columns of the basis at most.
Index most_columns(Index size, Index count) {
  return std::min({most_blocks * block_columns(count), size / 2, most_basis});
}

class BlockKrylov {
 public:
  /// Takes its memory from the scratch.
  BlockKrylov(ConstMatrixView<double> a, Index count, Scratch& scratch);
  /// Writes the vectors.cols largest eigenvalues of A (both triangles read) in descending order and
  /// orthonormal vectors v with |A v - theta v| <= tolerance theta_1. False if that takes too many products,
  /// or A is not finite.
  bool compute(double tolerance, double* values, MatrixView<double> vectors);

 private:
  void start();
  void multiply();
  void project();
  Index orthonormalize(double least);
  Index orthonormalize_columns(double least);
  bool factorize(double least);
  void extend(Index count);
  bool ritz_pairs(double tolerance, double* values, MatrixView<double> vectors);
  MatrixView<double> coefficients(Index rows, Index cols) const { return {coefficients_, rows, cols}; }

  ConstMatrixView<double> a_;
  Index count_, most_;
  Scratch& scratch_;
  // The basis Q = [..., X]; W = A X, then its part outside Q; H = Q^T A Q.
  MatrixView<double> basis_, image_, ritz_;
  double *ritz_vectors_, *coefficients_, *gram_, *scales_;
  Index columns_ = 0, last_ = 0;  // of Q and X
};

BlockKrylov::BlockKrylov(ConstMatrixView<double> a, Index count, Scratch& scratch)
    : a_(a),
      count_(count),
      most_(most_columns(a.rows, count)),
      scratch_(scratch),
      basis_(scratch.matrix<double>(a.rows, most_)),
      image_(scratch.matrix<double>(a.rows, block_columns(count))),
      ritz_(scratch.matrix<double>(most_, most_)),
      ritz_vectors_(scratch.take<double>(most_ * count).data()),
      coefficients_(scratch.take<double>(most_ * image_.cols).data()),
      gram_(scratch.take<double>(image_.cols * image_.cols).data()),
      scales_(scratch.take<double>(image_.cols).data()) {}

bool BlockKrylov::compute(double tolerance, double* values, MatrixView<double> vectors) {
  // Squares of the matrix's numbers must be numbers.
  constexpr double smallest_scale = 1e-120, largest_scale = 1e120;
  const double average = mean_diagonal(a_);
  if (!(average >= smallest_scale && average <= largest_scale)) return false;
  start();
  double largest = 0;
  for (Index blocks = 1;; ++blocks) {
    multiply();
    project();
    for (Index i = columns_ - last_; i < columns_; ++i) largest = std::max(largest, std::abs(ritz_(i, i)));
    if (blocks >= fewest_blocks && ritz_pairs(tolerance, values, vectors)) return true;
    if (columns_ + last_ > most_) return false;
    const Index added = orthonormalize(8 * epsilon * largest);
    if (added == 0)  // Q is invariant
      return ritz_pairs(std::numeric_limits<double>::max(), values, vectors);
    extend(added);
  }
}

/// Starts from coordinates first, then random vectors.
void BlockKrylov::start() {
  Index filled = 0;
  const double average = mean_diagonal(a_);
  for (Index k = 0; k < count_; ++k) {
    if (!starts_from(a_, k, average)) continue;
    std::ranges::fill(image_.column(filled), 0.0);
    image_(k, filled++) = 1;
  }
  for (; filled < image_.cols; ++filled)
    for (Index i = 0; i < a_.rows; ++i) image_(i, filled) = random_sign(i, filled);
  extend(orthonormalize(0));
}

void BlockKrylov::extend(Index count) {
  for (Index j = 0; j < count; ++j) std::ranges::copy(image_.column(j), basis_.column_data(columns_ + j));
  columns_ += count;
  last_ = count;
}

/// W = A X. The coordinates at the start need no product.
void BlockKrylov::multiply() {
  image_.cols = last_;
  Index copied = 0;
  if (columns_ == last_) {
    const double average = mean_diagonal(a_);
    for (Index k = 0; k < count_; ++k)
      if (starts_from(a_, k, average)) std::ranges::copy(a_.column(k), image_.column_data(copied++));
  }
  gemm(Op::none, Op::none, 1.0, a_, basis_.columns(columns_ - last_ + copied, last_ - copied), 0.0,
       image_.columns(copied, last_ - copied));
}

/// W -= Q Q^T W, whose coefficients are H's last rows.
void BlockKrylov::project() {
  const auto products = coefficients(columns_, last_);
  remove_span(basis_.columns(0, columns_), image_, products);
  for (Index j = 0; j < last_; ++j)
    for (Index i = 0, row = columns_ - last_ + j; i <= row; ++i) ritz_(row, i) = products(i, j);
}

/// Writes the Ritz pairs; true if all have converged.
bool BlockKrylov::ritz_pairs(double tolerance, double* values, MatrixView<double> vectors) {
  const MatrixView<double> mixing(ritz_vectors_, columns_, vectors.cols);
  if (!largest_eigenpairs(ritz_.block(0, 0, columns_, columns_), values, mixing, scratch_)) return false;
  const auto last = mixing.block(columns_ - last_, 0, last_, mixing.cols);
  gemm(Op::none, Op::none, 1.0, image_, last, 0.0,
       vectors);  // A v - theta v = W times the last rows of H's vector
  for (Index k = 0; k < vectors.cols; ++k)
    if (!(norm(vectors.column_data(k), vectors.rows) <= tolerance * std::abs(values[0]))) return false;
  gemm(Op::none, Op::none, 1.0, basis_.columns(0, columns_), mixing, 0.0, vectors);
  return true;
}

/// Makes what of W is outside Q orthonormal, without columns no longer than `least`; returns how many are
/// left.
Index BlockKrylov::orthonormalize(double least) {
  if (!factorize(least)) return orthonormalize_columns(least);
  remove_span(basis_.columns(0, columns_), image_, coefficients(columns_, image_.cols));
  return factorize(0) ? image_.cols : orthonormalize_columns(0);
}

/// W = W L^-T with L L^T = W^T W (Cholesky QR), if W is well conditioned up to the scale of its columns.
bool BlockKrylov::factorize(double least) {
  constexpr double dependent = 1e-4;
  const Index count = image_.cols;
  const MatrixView<double> gram(gram_, count, count);
  syrk(Op::transpose, 1.0, image_, 0.0, gram);
  double* const scale = scales_;
  for (Index j = 0; j < count; ++j) {
    if (!(gram(j, j) > least * least) || !std::isfinite(gram(j, j))) return false;
    scale[j] = 1 / std::sqrt(gram(j, j));
  }
  for (Index j = 0; j < count; ++j)
    for (Index i = j; i < count; ++i) gram(i, j) *= scale[i] * scale[j];
  if (!cholesky(gram)) return false;
  for (Index j = 0; j < count; ++j)
    if (gram(j, j) < dependent) return false;
  for (Index j = 0; j < count; ++j) scale_column(image_, j, scale[j]);
  solve_lower_right(Op::transpose, gram, image_);
  return true;
}

/// Orthonormalizes column by column, for any W.
Index BlockKrylov::orthonormalize_columns(double least) {
  constexpr int passes = 3;
  Index kept = 0;
  for (Index j = 0; j < image_.cols; ++j) {
    const auto x = image_.columns(kept, 1);
    if (kept < j) std::ranges::copy(image_.column(j), x.data);
    bool outside = true;
    for (int pass = 0; pass < passes && outside; ++pass) {
      remove_span(basis_.columns(0, columns_), x, coefficients(columns_, 1));
      remove_span(image_.columns(0, kept), x, coefficients(kept, 1));
      const double length = norm(x.data, x.rows);
      outside = length > (pass == 0 ? least : 0);
      if (outside) scale_column(x, 0, 1 / length);
    }
    kept += outside;
  }
  return kept;
}

}  // namespace

bool suits_krylov(Index size, Index count) {
  constexpr Index fewest = 5;  // blocks, so that convergence is likely
  const Index block = block_columns(count);
  return size >= 120 + 12 * block && fewest * block <= most_columns(size, count);
}

EigenPairs largest_positive_pairs(MatrixView<double> a, Index count, double tolerance, Scratch& scratch) {
  const StageTimer timer(Stage::eig);
  const auto values = scratch.take<double>(count);
  const auto vectors = scratch.matrix<double>(a.rows, count);
  const EigenPairs pairs{values, vectors};
  if (count == 0) return pairs;
  if (suits_krylov(a.rows, count)) {
    const Scratch::Frame frame(scratch);
    mirror_lower(a);
    if (BlockKrylov(a, count, scratch).compute(tolerance, values.data(), vectors)) return pairs;
  }
  if (!largest_eigenpairs(a, values.data(), vectors, scratch))
    fail(Status::ERROR_DIVERGED, "the curvature's Gram matrix is not finite");
  return pairs;
}

}  // namespace bdl
