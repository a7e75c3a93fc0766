// Class probabilities and labels, as classification metrics read them: checked once.
#pragma once

#include <algorithm>

#include "base/array.hpp"

namespace bdl {

void check_numbers(const Array& array, Index rows, Index cols, const char* name);
void check_labels(const Array& y, Index rows, Index classes);

/// Checked rows of class probabilities; a single column P(y = 1) is read as two classes.
class ClassProbabilities {
 public:
  explicit ClassProbabilities(const Array& array, const char* name = "probabilities");

  Index examples() const { return array_.rows; }
  Index classes() const { return std::max<Index>(array_.cols, 2); }
  /// Returns a probability, moved into [0, 1] if rounding has left it outside.
  double operator()(Index i, Index k) const {
    const bool one_column = array_.cols == 1;
    const double p = std::clamp(element(array_, i, one_column ? 0 : k), 0.0, 1.0);
    return one_column && k == 0 ? 1 - p : p;
  }
  /// Returns the most probable class, the first of several.
  Index most_probable(Index i) const;
  double confidence(Index i) const { return (*this)(i, most_probable(i)); }
  /// Returns the entropy in nats.
  double entropy(Index i) const;

 private:
  const Array& array_;
};

/// Checked class probabilities with labels.
class Classification {
 public:
  Classification(const Array& given, const Array& y) : probabilities(given), y_(y) {
    check_labels(y, examples(), probabilities.classes());
  }

  const ClassProbabilities probabilities;
  Index examples() const { return probabilities.examples(); }
  Index label(Index i) const { return static_cast<Index>(element(y_, i, 0)); }
  bool is_right(Index i) const { return probabilities.most_probable(i) == label(i); }

 private:
  const Array& y_;
};

}  // namespace bdl
