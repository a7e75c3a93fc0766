#include "model/data_units.hpp"

#include <cmath>

#include "network/graph.hpp"

namespace bdl {

template <class T>
Index inputs_together(const Model<T>& model) {
  const Shape input = model.graph()->input();
  return input.rows * input.columns;
}

ColumnMoments checked_moments(ColumnMoments moments, const char* name) {
  for (std::size_t c = 0; c < moments.mean.size(); ++c)
    if (!std::isfinite(moments.mean[c]) || !is_scale(moments.scale[c]))
      fail(Status::ERROR_INVALID_ARGUMENT,
           "%s has mean %g and standard deviation %g in column %zu (counting from 0), expected a finite mean "
           "and at most %g",
           name, moments.mean[c], moments.scale[c], c, largest_scale);
  return moments;
}

template Index inputs_together(const Model<float>&);
template Index inputs_together(const Model<double>&);

}  // namespace bdl
