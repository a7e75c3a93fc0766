#include "support/handles.hpp"

#include <cstdlib>

#include "support/table.hpp"

namespace support {

void check(bdl_status status) {
  if (status != BDL_OK) stop(bdl_last_error());
}

void set_option(bdl_optimizer* optimizer, const std::string& assignment) {
  check(bdl_optimizer_set_text(optimizer, assignment.c_str()));
}

bdl_matrix row_of(const std::vector<double>& values) {
  return bdl_f64(values.data(), 1, static_cast<int64_t>(values.size()));
}

bdl_matrix_out row_out(std::vector<double>& values) {
  return bdl_f64_out(values.data(), 1, static_cast<int64_t>(values.size()));
}

bdl_matrix Data::inputs_of(int64_t first, int64_t count) const {
  return bdl_f64(x.data() + first * inputs, count, inputs);
}

bdl_matrix Data::targets_of(int64_t first, int64_t count) const {
  return bdl_f64(y.data() + first, count, 1);
}

void Data::append(const double* example, double target) {
  x.insert(x.end(), example, example + inputs);
  y.push_back(target);
}

}  // namespace support
