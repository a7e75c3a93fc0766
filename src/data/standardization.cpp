#include "data/standardization.hpp"

#include <functional>

namespace bdl {

void Standardization::set_offsets(Index features, Index offsets) {
  columns_ = inputs_;
  if (offsets == 0 || !has_targets()) return;
  columns_.mean.resize(static_cast<std::size_t>(features + offsets), 0.0);
  columns_.scale.resize(static_cast<std::size_t>(features), 1.0);
  for (Index c = 0; c < offsets; ++c) columns_.scale.push_back(target_scale(c));
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
