#include "support/handles.hpp"

#include <cstdlib>

#include "support/table.hpp"

namespace support {

void check(bdl_status status) {
  if (status != BDL_OK) stop(bdl_last_error());
}

void set_option(bdl_optimizer* optimizer, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos) stop("option " + assignment + " is not name=value");
  const std::string name = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  const char* known = nullptr;
  bdl_option_type type = BDL_OPTION_DOUBLE;
  for (int64_t i = 0; bdl_option_describe(i, &known, &type, nullptr, nullptr, nullptr) == BDL_OK; ++i) {
    if (name != known) continue;
    if (type == BDL_OPTION_DOUBLE)
      return check(bdl_optimizer_set_double(optimizer, known, std::atof(value.c_str())));
    if (type == BDL_OPTION_INT)
      return check(bdl_optimizer_set_int(optimizer, known, std::atoll(value.c_str())));
    return check(bdl_optimizer_set_choice(optimizer, known, value.c_str()));
  }
  check(bdl_optimizer_set_double(optimizer, name.c_str(), 0));  // says which name is nearest
}

bdl_matrix row_of(const std::vector<double>& values) {
  return bdl_f64(values.data(), 1, static_cast<int64_t>(values.size()));
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
