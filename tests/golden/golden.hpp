// Shared by the readers of the golden formats.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "bdl/bdl.h"

namespace golden {

using Json = nlohmann::json;
using Vector = std::vector<double>;
inline constexpr double tolerance = 1e-9;

inline void check(bdl_status status) {
  if (status != BDL_OK) throw std::runtime_error(bdl_last_error());
}

inline bdl_matrix row(const Vector& v) {
  return bdl_f64(v.data(), 1, static_cast<std::int64_t>(v.size()));
}

inline bdl_matrix_out row_out(Vector& v) {
  return bdl_f64_out(v.data(), 1, static_cast<std::int64_t>(v.size()));
}

/// Row by row.
Vector flatten(const Json& matrix);
/// Returns the numbers of an array of any depth; the last index runs first.
Vector flatten_all(const Json& array);

/// Largest difference relative to the expected vector's largest entry; infinite for what is not finite.
double error(const Vector& got, const Vector& expected);

/// Each replays a file of its format and prints the largest error of its problems; true if all are within the
/// tolerance.
bool replay_slang(const Json& file);
bool replay_bong(const Json& file);
bool replay_network(const Json& file);
bool replay_elrg(const Json& file);
bool replay_vogn(const Json& file);
bool replay_evidence(const Json& file);

}  // namespace golden
