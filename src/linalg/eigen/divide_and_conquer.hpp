// The largest eigenpairs of a symmetric tridiagonal matrix, whatever its spectrum, by divide and conquer
// (Cuppen 1981): T = diag(T_1, T_2) + rho v v^T, so what diagonalises both halves leaves a diagonal matrix
// and one of rank 1 (secular.hpp). Close eigenvalues and small weights make parts of it diagonal already:
// they are deflated.
#pragma once

#include "base/simd.hpp"
#include "base/view.hpp"

namespace bdl {

/// In place of eigenvectors, each division keeps what makes its own from those of its halves, O(n) numbers,
/// and the first and last rows, which is all the next one needs (as LAPACK's dlasda). The vectors that are
/// wanted are multiplied by all this from the whole down to single rows.
class DivideAndConquer {
 public:
  void reserve(Index size);
  /// T has this diagonal and these elements beside it, of size near 1. Writes the vectors.cols largest
  /// eigenvalues in descending order and vectors that are orthonormal to rounding; the memory of `work` has
  /// as many numbers as vectors. The same bits on any number of threads. Asks the interrupt if T is large.
  /// False if a root was not found, which takes numbers that are not finite.
  bool compute(Index size, const double* diagonal, const double* beside, double* values,
               MatrixView<double> vectors, double* work, Simd simd);

 private:
  struct Rotation {
    int first, second;
    double cosine, sine;
  };
  /// Division q of level l: rows begin .. begin + size - 1, the first `left` of them its left half.
  /// Its basis: the eigenvectors of both halves, turned in pairs, then those in `places`: `active` ones,
  /// which the secular equation combines, and the others as they are.
  struct Division {
    Index begin, size, left;
    int *active, *turns, *places;
    Rotation* rotations;
    double *poles, *weights, *bases, *shifts, *scales;
  };
  void divide_memory(Index size);
  Division division(Index level, Index q);
  void tear(const double* diagonal, const double* beside);
  bool conquer(Index level, Index q, const double* beside, Simd simd);
  void sort_halves(const Division& d, int* sorted) const;
  double couple(const Division& d, double beside);
  void deflate(const Division& d, const int* sorted, double rho, double tolerance);
  void turn(const Division& d, int first, int second);
  bool combine(const Division& d, double rho, Simd simd);
  void gather(const Division& d);
  void order(const Division& d);
  bool solve_leaf(Index q, const double* beside, Simd simd);
  bool conquer_all(const double* beside, Simd simd);
  void start_vectors(double* values, MatrixView<double> x, MatrixView<double> y, Simd simd);
  void expand(const Division& d, MatrixView<double> x, MatrixView<double> y, double* block, Simd simd);
  void expand_leaves(MatrixView<double> x, MatrixView<double> y);
  void place(const Division& d, const double* from, double* to) const;

  Index size_ = 0, levels_ = 0, leaf_level_ = 0;
  Buffer<double> level_numbers_, numbers_, block_, leaves_;
  Buffer<int> level_integers_, integers_;
  Buffer<Rotation> rotations_;
  // By row, parts of numbers_ and integers_: eigenvalues and rows of vectors in the order of the basis; the
  // ascending order within a division.
  double *values_ = nullptr, *first_ = nullptr, *last_ = nullptr, *coupling_ = nullptr, *spare_ = nullptr;
  int *order_ = nullptr, *sorted_ = nullptr;
};

}  // namespace bdl
