// The problems of bdl_bits: small models and the data for them.
#pragma once

#include <cstdint>
#include <vector>

#include "bdl/bdl.h"

namespace bits {

struct Table {
  std::int64_t rows = 0, cols = 0;
  std::vector<double> values;  // row by row
  bdl_matrix first(std::int64_t count) const { return bdl_f64(values.data(), count, cols); }
  bdl_matrix all() const { return first(rows); }
};

/// A model with its data: the described network, else a perceptron of these sizes, else a custom model.
struct Problem {
  const char* name;
  bdl_likelihood likelihood;
  bdl_activation activation;
  std::vector<std::int64_t> sizes;
  bool standardize;
  Table x, y;
  const char* description;
};

struct Family {
  const char* name;
  bdl_family kind;
  std::int64_t rank;
};

enum class Size {
  small,       // for every method and family
  likelihood,  // one for each likelihood, standardised ones and a user's own model
  wide,        // enough parameters for two threads to share the work
};

std::vector<Problem> problems(Size size);

}  // namespace bits
