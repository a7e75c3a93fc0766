#include "linalg/tall/orthonormal.hpp"

#include <lapacke.h>

#include "base/error.hpp"

namespace bdl {
namespace {

constexpr Index work_per_column = 64;  // LAPACK's block size

/// Householder QR, then Q itself; 0 on success.
lapack_int orthonormalize(lapack_int rows, lapack_int cols, float* q, lapack_int ld, float* tau, float* work,
                          lapack_int size) {
  const lapack_int info = LAPACKE_sgeqrf_work(LAPACK_COL_MAJOR, rows, cols, q, ld, tau, work, size);
  return info ? info : LAPACKE_sorgqr_work(LAPACK_COL_MAJOR, rows, cols, cols, q, ld, tau, work, size);
}

lapack_int orthonormalize(lapack_int rows, lapack_int cols, double* q, lapack_int ld, double* tau,
                          double* work, lapack_int size) {
  const lapack_int info = LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, rows, cols, q, ld, tau, work, size);
  return info ? info : LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, rows, cols, cols, q, ld, tau, work, size);
}

}  // namespace

template <class T>
void Orthonormalizer<T>::reserve(Index columns) {
  reflectors_.reserve(columns);
  work_.reserve(work_per_column * columns);
}

template <class T>
void Orthonormalizer<T>::apply(MatrixView<T> q) {
  if (q.cols == 0) return;
  reserve(q.cols);
  const lapack_int info = orthonormalize(static_cast<lapack_int>(q.rows), static_cast<lapack_int>(q.cols),
                                         q.data, static_cast<lapack_int>(q.ld), reflectors_.data(),
                                         work_.data(), static_cast<lapack_int>(work_per_column * q.cols));
  if (info != 0)
    fail(Status::ERROR_INTERNAL, "QR factorisation failed (LAPACK info %d)", static_cast<int>(info));
}

template class Orthonormalizer<float>;
template class Orthonormalizer<double>;

}  // namespace bdl
