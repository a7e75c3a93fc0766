// Checks of a call that reads a handle: it returns BDL_OK and finite results, or an error that its message
// explains, and then the outputs are untouched.
#pragma once

#include <array>
#include <cmath>
#include <set>
#include <string>

#include "c_api_test.h"

namespace asked {

inline int64_t calls = 0, refused = 0;
inline std::set<std::string> functions;
inline std::string where;  ///< the state that is asked, for messages

/// Results of one call: taken in order, poisoned before it.
class Room {
 public:
  static constexpr double poison = -7.3e250;
  double* numbers(int64_t count) {
    if (used_ + static_cast<size_t>(count) > values_.size()) fail_msg("%lld results", (long long)count);
    double* const first = values_.data() + used_;
    used_ += static_cast<size_t>(count);
    for (int64_t i = 0; i < count; ++i) first[i] = poison;
    return first;
  }
  /// True if all are finite, or all are untouched.
  bool are(bool written) const {
    for (size_t i = 0; i < used_; ++i)
      if (written ? !std::isfinite(values_[i]) || values_[i] == poison : values_[i] != poison) return false;
    return true;
  }
  void clear() { used_ = 0; }

 private:
  std::array<double, 1 << 14> values_;
  size_t used_ = 0;
};
inline Room room;

inline double* number() {
  return room.numbers(1);
}
inline bdl_matrix_out matrix(int64_t rows, int64_t cols) {
  return bdl_f64_out(room.numbers(rows * cols), rows, cols);
}
/// For results that may be infinite, or NaN, by the header.
inline bdl_matrix_out any_matrix(int64_t rows, int64_t cols) {
  static std::array<double, 1 << 10> values;
  assert_true(rows * cols <= static_cast<int64_t>(values.size()));
  return bdl_f64_out(values.data(), rows, cols);
}

/// A status that the header knows, and not a defect, with a message that begins with the function's name.
inline bool is_explained(const char* name, bdl_status status) {
  if (status == BDL_OK || status == BDL_STOPPED) return true;
  if (status < BDL_OK || status > BDL_ERROR_COMMUNICATION || status == BDL_ERROR_INTERNAL) return false;
  const std::string message = bdl_last_error(), begin = std::string(name) + ": ";
  return message.starts_with(begin) && message.size() > begin.size();
}

template <class... Parameters, class... Arguments>
bdl_status ask(const char* name, bdl_status (*function)(Parameters...), Arguments... arguments) {
  const bdl_status status = function(arguments...);
  ++calls;
  if (status != BDL_OK) ++refused;
  if (!is_explained(name, status))
    fail_msg("%s: %s gave %s: %s", where.c_str(), name, bdl_status_name(status), bdl_last_error());
  if (!room.are(status == BDL_OK))
    fail_msg("%s: %s gave %s with results that are %s", where.c_str(), name, bdl_status_name(status),
             status == BDL_OK ? "missing or not finite" : "changed");
  room.clear();
  return status;
}

/// Functions that cannot fail.
template <class Result, class... Parameters, class... Arguments>
Result ask(const char*, Result (*function)(Parameters...), Arguments... arguments) {
  ++calls;
  return function(arguments...);
}

/// Notes that it was called.
#define ASK(function, ...)                                               \
  [&] {                                                                  \
    static const bool noted = asked::functions.insert(#function).second; \
    (void)noted;                                                         \
    return asked::ask(#function, function, __VA_ARGS__);                 \
  }()

}  // namespace asked
