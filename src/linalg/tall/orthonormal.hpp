// Orthonormal basis of a tall matrix's columns by Gram and Schmidt's projections, each done again until
// nothing is lost (Giraud et al. 2005: twice is enough): well defined for any rank.
#pragma once

#include "base/view.hpp"

namespace bdl {

template <class T>
class Orthonormalizer {
 public:
  void reserve(Index columns);
  /// Replaces the columns of Q (rows >= cols) by an orthonormal basis whose span contains theirs.
  void apply(MatrixView<T> q);

 private:
  bool project(MatrixView<T> before, T* column);

  Buffer<T> coefficients_;
};

}  // namespace bdl
