// Learning the shape of a density: numbers that are the same for every row (Likelihood::shape()), such as the
// dispersion of negative binomial counts or the cut points of ordered levels. Like the noise, they maximise
// the expected log likelihood under the posterior, by Newton steps (docs/theory/scales.md, "Shapes and cut
// points"). A likelihood with a shape has three more formulas, which add to ShapeTerms the derivatives of log
// p(y | f) by the learned numbers, log shape or cut points: add_shape_gradient(l, f, y, weight, terms),
// add_expected_shape_terms(l, m, v, y, weight, terms), the expectations of gradient and curvature (minus the
// second derivatives) over f ~ N(m, v), and add_shape_information(l, f, weight, terms), about the curvature's
// expectation over y given f. If the likelihood is best at an f that depends on the shape, it also has
// add_shape_coupling(l, m, v, y, weight, row), which adds the expectations of -d^2 log p / df du by the
// learned numbers u.
#pragma once

#include <vector>

#include "likelihood/likelihood.hpp"
#include "likelihood/shape_terms.hpp"

namespace bdl {

/// Number of elements of ShapeTerms in a row: gradient, then information.
inline Index shape_sum_count(const Likelihood& likelihood) {
  const Index size = std::ssize(likelihood.shape());
  return size * (1 + size);
}

/// Views of such a row.
ShapeTerms shape_terms(const Likelihood& likelihood, std::span<double> sums);

/// Adds the gradient of one row for outputs f, and the information, which does not depend on y: the steps of
/// minibatches would be biased by a curvature that varies with the gradient. Missing targets, and rows of
/// weight 0, add nothing.
template <class T>
void add_shape_terms(const Likelihood& likelihood, const T* f, const T* y, double weight,
                     std::span<double> sums);

/// Adds the expectations of gradient and curvature for one output f ~ N(m, v), with errors near rounding.
void add_expected_shape_terms(const Likelihood& likelihood, double m, double v, double y, double weight,
                              std::span<double> sums);

/// True if the posterior of f depends on the shape. Means that are f alone do not: the information of a log
/// mean and its dispersion is 0 (Cox, Reid 1987).
bool has_coupled_shape(const Likelihood& likelihood);
/// Adds the expectations of minus the derivatives by f and the learned numbers for one output f ~ N(m, v).
void add_shape_couplings(const Likelihood& likelihood, double m, double v, double y, double weight,
                         std::span<double> sums);

/// Writes the covariance of the learned numbers given f, that is, the inverse of the information in the sums.
/// If `holds_location` it is that of cut points whose mean is known.
void shape_covariance(const Likelihood& likelihood, ConstSpan<double> sums, bool holds_location,
                      MatrixView<double> out);

/// A step towards the best shape.
struct ShapeStep {
  std::vector<double> shape;
  double distance;  ///< length of the whole step, in standard deviations of the learned numbers
};

/// Derivatives of minus the log prior by the intercept: the second, and the first at its value.
struct InterceptPrior {
  double precision = 0, slope = 0;
};

/// Returns the shape after `part` of a Newton step from the likelihood's, given the sums over all rows.
/// Shapes stay between 1e-6 and 1e6, and cut points ascend. If `holds_location`, the mean of the cut points
/// stays: it belongs to the model's intercept. If that follows the cut points to its own optimum, the step is
/// longer, and its prior is given.
ShapeStep shape_step(const Likelihood& likelihood, ConstSpan<double> sums, double part, bool holds_location,
                     const InterceptPrior* prior = nullptr);

/// Returns the numbers in which shapes are learned: log shapes, or cut points; shape_of() is the inverse.
std::vector<double> learned_numbers(const Likelihood& likelihood, ConstSpan<double> shape);
std::vector<double> shape_of(const Likelihood& likelihood, ConstSpan<double> numbers);
/// True if they are the numbers of a shape within its limits.
bool are_learned_numbers(const Likelihood& likelihood, ConstSpan<double> numbers);

/// Statistics of the targets, by their weights, from which the first shape follows: for each level its number
/// of rows; else the number of targets, their sum, and the sum of their squares.
Index target_sum_count(const Likelihood& likelihood);
template <class T>
void add_target(const Likelihood& likelihood, ConstSpan<T> y, double weight, std::span<double> sums);
/// Returns the first shape: by the moments of y, or the logits of the levels' cumulative shares.
std::vector<double> first_shape(const Likelihood& likelihood, ConstSpan<double> sums);

}  // namespace bdl
