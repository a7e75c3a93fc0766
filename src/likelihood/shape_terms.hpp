// Gradient and information of a log density by the numbers of its shape.
#pragma once

#include "base/view.hpp"

namespace bdl {

struct ShapeTerms {
  std::span<double> gradient;
  MatrixView<double> matrix;      ///< the lower triangle of the information
  std::span<double> information;  ///< its elements

  void add(Index k, double value) { gradient[static_cast<std::size_t>(k)] += value; }
  void add(Index row, Index column, double value) { matrix(row, column) += value; }
};

}  // namespace bdl
