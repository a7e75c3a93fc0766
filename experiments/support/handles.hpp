// libbdl's handles, owned, and the program's way out of errors.
#ifndef SUPPORT_HANDLES_HPP
#define SUPPORT_HANDLES_HPP

#include <bdl/bdl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace support {

struct Free {
  void operator()(bdl_model* handle) const { bdl_model_free(handle); }
  void operator()(bdl_posterior* handle) const { bdl_posterior_free(handle); }
  void operator()(bdl_optimizer* handle) const { bdl_optimizer_free(handle); }
};
using Model = std::unique_ptr<bdl_model, Free>;
using Posterior = std::unique_ptr<bdl_posterior, Free>;
using Optimizer = std::unique_ptr<bdl_optimizer, Free>;

/// Ends the program with libbdl's message.
void check(bdl_status status);

/// Sets an option of any type from "name=value".
void set_option(bdl_optimizer* optimizer, const std::string& assignment);

/// 1 x n.
bdl_matrix row_of(const std::vector<double>& values);
bdl_matrix_out row_out(std::vector<double>& values);

/// Row-major examples; y has one column.
struct Data {
  std::vector<double> x, y;
  int64_t inputs = 0;

  int64_t rows() const { return static_cast<int64_t>(y.size()); }
  bdl_matrix inputs_of(int64_t first, int64_t count) const;
  bdl_matrix targets_of(int64_t first, int64_t count) const;
  bdl_matrix all_inputs() const { return inputs_of(0, rows()); }
  bdl_matrix all_targets() const { return targets_of(0, rows()); }
  void append(const double* example, double target);
};

}  // namespace support

#endif
