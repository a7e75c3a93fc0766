// Dense operations that libbdl does by itself beside what BLAS and LAPACK take for them, by turns on one
// thread: each is to stay only where the libraries take at least 1.2 times as long for sizes that steps have.
#include <cblas.h>
#include <lapacke.h>

#include <cmath>
#include <random>

#include "cases.hpp"
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "linalg/eigen/eigenpairs.hpp"
#include "linalg/eigen/lanes.hpp"
#include "timing.hpp"

namespace bench {
namespace {

using bdl::Buffer;
using bdl::ConstMatrixView;
using bdl::Index;
using bdl::MatrixView;
using bdl::Op;

/// Aligned columns, with zeros below.
struct Matrix {
  Buffer<double> memory;
  MatrixView<double> view;

  Matrix(Index rows, Index cols)
      : memory(bdl::lane_padded(rows) * cols), view(memory.data(), rows, cols, bdl::lane_padded(rows)) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::fill_n(memory.data(), view.ld * cols, 0.0);
    for (Index j = 0; j < cols; ++j)
      for (double& value : view.column(j)) value = uniform(random);
  }
  double* data() const { return view.data; }
  int rows() const { return static_cast<int>(view.rows); }
  int cols() const { return static_cast<int>(view.cols); }
  int ld() const { return static_cast<int>(view.ld); }
};

/// Positive definite, with a spectrum of all sizes.
Matrix gram_of(Index size) {
  const Matrix a(size, 2 * size);
  Matrix gram(size, size);
  bdl::syrk(Op::none, 1.0, a.view, 0.0, gram.view);
  bdl::mirror_lower(gram.view);
  return gram;
}

std::vector<double> triangular_systems(Index size, Index columns, bool quick) {
  const Matrix lower(size, size), b(size, columns);
  for (Index j = 0; j < size; ++j) {
    for (Index i = j + 1; i < size; ++i) lower.view(i, j) /= static_cast<double>(size * size);
    lower.view(j, j) = 1;  // solutions of solutions stay as large
  }
  return by_turns(quick, {[&] { bdl::solve_lower_left(Op::none, lower.view, b.view); },
                          [&] {
                            cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit,
                                        b.rows(), b.cols(), 1, lower.data(), lower.ld(), b.data(), b.ld());
                          }});
}

std::vector<double> vector_product(Index rows, Index columns, bool quick) {
  const Matrix a(rows, columns), x(columns, 1), y(rows, 1);
  return by_turns(quick, {[&] { bdl::gemm(Op::none, Op::none, 1.0, a.view, x.view, 0.0, y.view); },
                          [&] {
                            cblas_dgemv(CblasColMajor, CblasNoTrans, a.rows(), a.cols(), 1, a.data(), a.ld(),
                                        x.data(), 1, 0, y.data(), 1);
                          }});
}

std::vector<double> eigenpairs(Index size, Index count, bool quick) {
  const Matrix a = gram_of(size), copy(size, size), vectors(size, count);
  std::vector<double> values(static_cast<std::size_t>(size));
  std::vector<double> work(static_cast<std::size_t>(26 * size));
  std::vector<int> integers(static_cast<std::size_t>(12 * size));
  bdl::Scratch scratch;
  return by_turns(quick, {[&] { bdl::largest_eigenpairs(a.view, values.data(), vectors.view, scratch); },
                          [&] {
                            std::copy_n(a.data(), a.view.ld * size, copy.data());
                            int found = 0;
                            LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, 'V', 'I', 'L', a.rows(), copy.data(),
                                                copy.ld(), 0, 0, static_cast<int>(size - count + 1), a.rows(),
                                                0, &found, values.data(), vectors.data(), vectors.ld(),
                                                integers.data(), work.data(), static_cast<int>(26 * size),
                                                integers.data() + 2 * size, static_cast<int>(10 * size));
                          }});
}

std::vector<double> cholesky(Index size, bool quick) {
  const Matrix a = gram_of(size), factor(size, size);
  const auto copy = [&] { std::copy_n(a.data(), a.view.ld * size, factor.data()); };
  return by_turns(quick, {[&] { copy(), bdl::cholesky(factor.view); },
                          [&] {
                            copy();
                            LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', factor.rows(), factor.data(),
                                                factor.ld());
                          }});
}

}  // namespace

std::vector<Record> kernels(const Record& parameters) {
  const std::string& name = parameters.text("kernel");
  const Index size = parameters.integer("size"), columns = parameters.integer("columns");
  const bool quick = parameters.has("quick");
  const std::vector<double> ms = name == "trsm"         ? triangular_systems(size, columns, quick)
                                 : name == "gemv"       ? vector_product(size, columns, quick)
                                 : name == "eigenpairs" ? eigenpairs(size, columns, quick)
                                                        : cholesky(size, quick);
  return {
      Record(parameters).set("us", 1000 * ms[0]).set("library_us", 1000 * ms[1]).set("gain", ms[1] / ms[0])};
}

}  // namespace bench
