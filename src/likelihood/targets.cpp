#include "likelihood/targets.hpp"

#include <cmath>

namespace bdl {
namespace {

bool is_label(double value, double end) {
  return value >= 0 && value < end && value == std::floor(value);
}

}  // namespace

bool is_target(const Likelihood& likelihood, double value) {
  switch (likelihood.kind()) {
    case BDL_BERNOULLI:
      return is_label(value, 2);
    case BDL_CATEGORICAL:
      return is_label(value, static_cast<double>(likelihood.outputs())) &&
             likelihood.has_class(static_cast<Index>(value));
    case BDL_GAUSSIAN:
    case BDL_HETEROSCEDASTIC:
    case BDL_STUDENT_T:
      return std::isfinite(value);
    default:
      return is_label(value, HUGE_VAL);
  }
}

const char* target_range(const Likelihood& likelihood) {
  switch (likelihood.kind()) {
    case BDL_BERNOULLI:
      return "0 or 1";
    case BDL_CATEGORICAL:
      return likelihood.class_count() < likelihood.outputs() ? "one of the classes that the model was set"
                                                             : "a class number below the number of outputs";
    case BDL_GAUSSIAN:
    case BDL_HETEROSCEDASTIC:
    case BDL_STUDENT_T:
      return "a finite number, or NaN where it is missing";
    default:
      return "a count 0, 1, 2, ...";
  }
}

}  // namespace bdl
