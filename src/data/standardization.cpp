#include "data/standardization.hpp"

#include <functional>

#include "data/moments.hpp"

namespace bdl {

ColumnMoments moments_of_columns(const Array& array, Index together) {
  ArrayData data(array, {});
  return column_moments(moments_of(data, {}, {true, false, together}).inputs, together);
}

ColumnMoments moments_of_targets(const Array& array) {
  ArrayData data(array, {});
  return moments_of_targets(moments_of(data, {}, {true, false}).inputs);
}

bool Standardization::is_isotropic() const {
  return std::ranges::adjacent_find(targets_.scale, std::not_equal_to<>()) == targets_.scale.end();
}

double Standardization::log_scale() const {
  double sum = 0;
  for (const double scale : targets_.scale) sum += std::log(scale);
  return sum;
}

template <class T>
double Standardization::log_scale(const T* y) const {
  double sum = 0;
  for (std::size_t c = 0; c < targets_.scale.size(); ++c)
    if (!std::isnan(y[c])) sum += std::log(targets_.scale[c]);
  return sum;
}

template double Standardization::log_scale(const float*) const;
template double Standardization::log_scale(const double*) const;

}  // namespace bdl
