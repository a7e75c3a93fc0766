// A layer's weights W (o x q, the bias as last column) with the precision (Ug (x) Uo) diag(Lambda) (Ug (x)
// Uo)^T: orthogonal matrices of the outputs' and the inputs' sides, and any positive numbers along the pairs
// of their columns (docs/theory/kronecker.md). What is exact of such a Gaussian costs two products with
// Ug and Uo. W^T stands column-major, so Lambda^T does too.
#pragma once

#include "model/model.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

template <class T>
class KroneckerPosterior final : public Posterior<T> {
 public:
  explicit KroneckerPosterior(const MatrixShape& shape);

  const MatrixShape& shape() const { return shape_; }
  ConstMatrixView<T> output_vectors() const { return output_vectors_.matrix(outputs(), outputs()); }
  ConstMatrixView<T> input_vectors() const { return input_vectors_.matrix(columns(), columns()); }
  /// Lambda^T: row j, column i belongs to input vector j and output vector i.
  ConstMatrixView<T> precision() const { return precision_.matrix(columns(), outputs()); }
  /// Writable views: changes count after finish().
  MatrixView<T> output_vectors() { return output_vectors_.matrix(outputs(), outputs()); }
  MatrixView<T> input_vectors() { return input_vectors_.matrix(columns(), columns()); }
  MatrixView<T> precision() { return precision_.matrix(columns(), outputs()); }
  /// Fails with ERROR_DIVERGED unless Lambda is finite and positive.
  void finish();

  /// out = (Uo o Uo)^T M (Ug o Ug) for M^T of numbers by parameters: the diagonal, in the eigenvectors'
  /// basis, of the diagonal matrix of those numbers.
  void diagonal_in_basis(ConstSpan<T> diagonal, MatrixView<T> out, Scratch& scratch) const;
  /// Writes the diagonal, in the eigenvectors' basis, of another one's precision.
  void diagonal_in_basis(const KroneckerPosterior& other, MatrixView<T> out, Scratch& scratch) const;
  void copy_vectors(const KroneckerPosterior& from);
  /// Takes over another one's precision, with `added` times I.
  void set_precision(const KroneckerPosterior& other, T added);

  Family family() const override { return Family::kronecker; }
  Index rank() const override { return this->dimension_; }
  std::unique_ptr<Posterior<T>> clone() const override;
  void assign(const Posterior<T>& other) override;
  void swap(Posterior<T>& other) override;
  void tensors(const TensorVisitor<T>& visit) override;
  void accept_tensors() override;
  void set_isotropic(double precision) override;
  void set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t> sign_seed) override;
  /// Fails with ERROR_UNSUPPORTED for noise in time: the sum would be no such precision.
  void drift(const Posterior<T>& from, const Drift<T>& drift, Scratch& scratch) override;
  void solve(MatrixView<T> x, Scratch& scratch) const override;
  /// Draws by the symmetric root, which does not depend on the signs of eigenvectors.
  void color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T>, Scratch& scratch) const override;
  void variances(MatrixView<T> x, std::span<double> out, Scratch& scratch) const override;
  void marginal_variance(std::span<T> out, Scratch& scratch) const override;
  void precision_diagonal(std::span<T> out) const override;
  void multiply_precision(ConstSpan<T> x, std::span<T> out, Scratch& scratch) const override;
  double quadratic(ConstSpan<T> x, Scratch& scratch) const override;
  double log_det_covariance() const override { return log_det_; }
  double trace_precision(const Posterior<T>& q, Scratch& scratch) const override;

  /// It has no steps by curvature rows: ERROR_UNSUPPORTED.
  double update(const PosteriorStep<T>&, Scratch&) override;

 private:
  PosteriorKind family_kind() const override;
  Index outputs() const { return shape_.outputs; }
  Index columns() const { return shape_.columns(); }
  MatrixView<T> rotate(ConstSpan<T> x, Scratch& scratch) const;
  void rotate_back(ConstSpan<T> mean, MatrixView<T> y, std::span<T> out, Scratch& scratch) const;
  template <class Change>
  void change_rotated(ConstSpan<T> mean, ConstSpan<T> from, std::span<T> to, Scratch& scratch,
                      Change&& change) const;
  template <class Number>
  void write_marginals(std::span<T> out, Scratch& scratch, Number&& number) const;
  MatrixShape shape_;
  Buffer<T> output_vectors_, input_vectors_, precision_;
  double log_det_ = 0;
};

/// Copies parameters to their matrix, W^T (inputs first), and back.
template <class T>
void gather_matrix(const MatrixShape& shape, const T* parameters, MatrixView<T> out);
template <class T>
void scatter_matrix(const MatrixShape& shape, ConstMatrixView<T> matrix, T* parameters);

/// Fails with ERROR_UNSUPPORTED for other families.
template <class T>
const KroneckerPosterior<T>& as_kronecker(const Posterior<T>& q);

/// True if the weights of each layer of a network are one matrix; point parameters count as none.
template <class T>
bool has_matrices(const Model<T>& model);

/// Returns the matrices of a model's layers, in the order of their parameters. Fails with ERROR_UNSUPPORTED,
/// naming the layer, where one has no such matrix, and for custom models.
template <class T>
std::vector<MatrixShape> matrices_of(const Model<T>& model);

/// Fails with ERROR_SHAPE if q is Kronecker-factored for a network of other layers.
template <class T>
void check_matrices_fit(const Model<T>& model, const Posterior<T>& q);

}  // namespace bdl
