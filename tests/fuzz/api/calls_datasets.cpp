// Data sets live for one call: their handles change nothing that is saved.
#include <cmath>

#include "fuzz/api/calls.hpp"
#include "fuzz/api/session.hpp"

namespace fuzz {
namespace {

enum : std::int64_t { rows = 12 };

/// Numbers that are a function of row and column, and labels where y are labels.
struct Source {
  std::int64_t classes = 0;      ///< 0: real numbers
  std::int64_t unreadable = -1;  ///< row; -1: none
};

std::int32_t read_rows(void* user_data, const std::int64_t* numbers, std::int64_t count, bdl_matrix_out x,
                       bdl_matrix_out y) {
  const Source& source = *static_cast<Source*>(user_data);
  for (std::int64_t i = 0; i < count; ++i) {
    if (numbers[i] == source.unreadable) return 1;
    for (std::int64_t j = 0; x.data && j < x.cols; ++j)
      static_cast<double*>(x.data)[i * x.cols + j] =
          std::sin(1.3 * static_cast<double>(numbers[i]) + 2.1 * static_cast<double>(j));
    for (std::int64_t j = 0; y.data && j < y.cols; ++j)
      static_cast<double*>(y.data)[i * y.cols + j] =
          source.classes > 0 ? static_cast<double>((numbers[i] + j) % source.classes)
                             : std::cos(0.7 * static_cast<double>(numbers[i]));
  }
  return 0;
}

/// A data set for a call on a shape; freed when it ends.
class Data {
 public:
  Data(Session& s, const Shape& shape) {
    source_.classes = s.bytes.below(2) ? 2 : 0;
    if (s.bytes.below(5) == 0) source_.unreadable = s.bytes.below(rows);
    if (bdl_dataset_from_callback(rows, shape.inputs, shape.targets, read_rows, &source_, nullptr,
                                  &handle_) != BDL_OK)
      handle_ = nullptr;
  }
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;
  ~Data() { bdl_dataset_free(handle_); }
  bdl_dataset* get(Session& s) { return s.faulty() ? nullptr : handle_; }

 private:
  Source source_;
  bdl_dataset* handle_ = nullptr;
};

/// Closes what a call has opened.
void close(bdl_dataset* data) {
  bdl_dataset_free(data);
}

constexpr const char* nowhere = "/nonexistent/bdl.npy";

}  // namespace

BDL_CALLS(bdl_dataset_from_arrays) {
  const auto& shape = s.model().shape;
  close(s.creates<bdl_dataset>(bdl_dataset_from_arrays, With{s.x(shape, rows), s.y(shape, rows)}));
}

BDL_CALLS(bdl_dataset_from_callback) {
  Source source;
  close(s.creates<bdl_dataset>(
      bdl_dataset_from_callback,
      With{s.size(rows), s.size(4), s.index(3), s.faulty() ? static_cast<bdl_read_fn>(nullptr) : read_rows,
           static_cast<void*>(&source), static_cast<void (*)(void*)>(nullptr)}));
}

BDL_CALLS(bdl_dataset_from_npy) {
  close(s.creates<bdl_dataset>(bdl_dataset_from_npy,
                               With{s.faulty() ? static_cast<const char*>(nullptr) : nowhere, nowhere}));
}

BDL_CALLS(bdl_dataset_from_safetensors) {
  close(s.creates<bdl_dataset>(bdl_dataset_from_safetensors,
                               With{s.faulty() ? static_cast<const char*>(nullptr) : nowhere, "x", "y"}));
}

BDL_CALLS(bdl_dataset_free) {
  Source source;
  bdl_dataset* data = nullptr;
  if (bdl_dataset_from_callback(rows, 2, 1, read_rows, &source, nullptr, &data) != BDL_OK) data = nullptr;
  s.does(bdl_dataset_free, With{data});
}

BDL_CALLS(bdl_dataset_rows) {
  Data data(s, s.model().shape);
  s.asks(bdl_dataset_rows, With{static_cast<const bdl_dataset*>(data.get(s))});
}

BDL_CALLS(bdl_dataset_inputs) {
  Data data(s, s.model().shape);
  s.asks(bdl_dataset_inputs, With{static_cast<const bdl_dataset*>(data.get(s))});
}

BDL_CALLS(bdl_dataset_targets) {
  Data data(s, s.model().shape);
  s.asks(bdl_dataset_targets, With{static_cast<const bdl_dataset*>(data.get(s))});
}

BDL_CALLS(bdl_dataset_set_block) {
  Data data(s, s.model().shape);
  s.changes(bdl_dataset_set_block, With{data.get(s), s.index(5), s.size(3)});
}

BDL_CALLS(bdl_dataset_read) {
  const auto& shape = s.model().shape;
  Data data(s, shape);
  const std::int64_t numbers[] = {s.index(rows), s.index(rows)};
  s.reads(bdl_dataset_read, With{data.get(s), numbers, std::int64_t{2}, s.perhaps(2, shape.inputs),
                                 s.perhaps(2, shape.targets)});
}

BDL_CALLS(bdl_dataset_target_range) {
  const auto& shape = s.model().shape;
  Data data(s, shape);
  s.reads(bdl_dataset_target_range,
          With{data.get(s), s.perhaps(1, shape.targets), s.perhaps(1, shape.targets)});
}

BDL_CALLS(bdl_optimizer_start_noise_dataset) {
  auto& o = s.optimizer();
  Data data(s, o.shape);
  s.changes(bdl_optimizer_start_noise_dataset, With{o.handle, data.get(s)});
}

BDL_CALLS(bdl_model_standardize_dataset) {
  auto& m = s.model();
  Data data(s, m.shape);
  s.changes(bdl_model_standardize_dataset, With{m.handle, data.get(s)});
}

BDL_CALLS(bdl_optimizer_fit_dataset) {
  auto& o = s.optimizer();
  Data data(s, o.shape);
  s.trains_on_rows(bdl_optimizer_fit_dataset,
                   With{o.handle, data.get(s), s.index(3), static_cast<bdl_progress_fn>(nullptr),
                        static_cast<void*>(nullptr)});
}

BDL_CALLS(bdl_optimizer_laplace_dataset) {
  auto& o = s.optimizer();
  Data data(s, o.shape);
  s.changes(bdl_optimizer_laplace_dataset, With{o.handle, data.get(s)});
}

BDL_CALLS(bdl_optimizer_elbo_dataset) {
  auto& o = s.optimizer();
  Data data(s, o.shape);
  s.reads(bdl_optimizer_elbo_dataset, With{o.handle, data.get(s), s.index(4), s.seed(), s.real(), s.real()});
}

}  // namespace fuzz
