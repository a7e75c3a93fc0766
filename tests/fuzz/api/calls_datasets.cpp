// Data sets of callbacks and of files live on; files are written before the call that opens them.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "fuzz/api/calls.hpp"
#include "fuzz/api/progress.hpp"
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

/// A source that goes with its data set.
struct OwnedSource : Source {
  Session::Callbacks* callbacks = nullptr;
};

void release(void* user_data) {
  auto* const source = static_cast<OwnedSource*>(user_data);
  --source->callbacks->owned;
  delete source;
}

/// Mostly with targets for the likelihood.
Source source_for(Session& s, const Shape& shape) {
  const bool labels = shape.likelihood >= BDL_BERNOULLI && shape.likelihood <= BDL_POISSON;
  Source source;
  source.classes = labels == (s.bytes.below(6) > 0) ? 2 : 0;
  if (s.bytes.below(5) == 0) source.unreadable = s.bytes.below(rows);
  return source;
}

/// A living data set that fits the shape, or a new one; of a faulty call, any or none.
bdl_dataset* data_for(Session& s, const Shape& shape) {
  if (s.faulty()) return s.dataset().handle;
  for (auto& slot : s.datasets)
    if (slot.handle && bdl_dataset_inputs(slot.handle) == shape.inputs &&
        bdl_dataset_targets(slot.handle) == shape.targets && s.bytes.below(4) > 0)
      return slot.handle;
  auto* const source = new OwnedSource{source_for(s, shape), &s.callbacks};
  bdl_dataset* data = nullptr;
  if (bdl_dataset_from_callback(rows, shape.inputs, shape.targets, read_rows, source, release, &data) !=
      BDL_OK) {
    delete source;
    return nullptr;
  }
  ++s.callbacks.owned;
  s.keep(data);
  return data;
}

constexpr const char* nowhere = "/nonexistent/bdl.npy";

std::string numbers_of(const Source& source, std::int64_t inputs, std::int64_t targets, bool of_x) {
  std::vector<double> x(static_cast<std::size_t>(rows * inputs)), y(static_cast<std::size_t>(rows * targets));
  std::int64_t numbers[rows];
  for (std::int64_t i = 0; i < rows; ++i) numbers[i] = i;
  Source readable = source;
  readable.unreadable = -1;
  read_rows(&readable, numbers, rows, bdl_f64_out(x.data(), rows, inputs),
            bdl_f64_out(y.data(), rows, targets));
  const std::vector<double>& values = of_x ? x : y;
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

/// As numpy.save() writes it.
std::string npy(const std::string& numbers, std::int64_t columns) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" +
                       std::to_string(std::int64_t{rows}) + ", " + std::to_string(columns) + "), }";
  header.resize((header.size() + 10) / 64 * 64 + 64 - 10, ' ');
  header.back() = '\n';
  std::string file = "\x93NUMPY";
  for (const std::size_t byte : {std::size_t{1}, std::size_t{0}, header.size() % 256, header.size() / 256})
    file += static_cast<char>(byte);
  return file + header + numbers;
}

std::string described(const char* name, std::int64_t columns, std::size_t begin, std::size_t end) {
  return std::string("\"") + name + "\":{\"dtype\":\"F64\",\"shape\":[" + std::to_string(std::int64_t{rows}) +
         "," + std::to_string(columns) + "],\"data_offsets\":[" + std::to_string(begin) + "," +
         std::to_string(end) + "]}";
}

std::string safetensors(const std::string& x, std::int64_t inputs, const std::string& y,
                        std::int64_t targets) {
  std::string header = "{" + described("x", inputs, 0, x.size()) + "," +
                       described("y", targets, x.size(), x.size() + y.size()) + "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const auto length = static_cast<std::uint64_t>(header.size());
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file + header + x + y;
}

/// Writes a new file, since data sets may have the old one open. For a faulty call it may be cut, or have a
/// few bytes changed.
void write_file(Session& s, const std::string& path, std::string bytes) {
  if (s.faulty()) bytes.resize(bytes.size() * static_cast<std::size_t>(s.bytes.next()) / 256);
  for (int k = 0; k < 3 && s.faulty() && !bytes.empty(); ++k) {
    const std::size_t at = static_cast<std::size_t>(s.bytes.next() * 256 + s.bytes.next()) % bytes.size();
    bytes[at] = static_cast<char>(s.bytes.next());
  }
  unlink(path.c_str());
  if (FILE* const file = std::fopen(path.c_str(), "wb")) {
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
  }
}

}  // namespace

/// Their arrays live for one call, and so do they.
BDL_CALLS(bdl_dataset_from_arrays) {
  const auto& shape = s.model().shape;
  bdl_dataset_free(s.creates<bdl_dataset>(bdl_dataset_from_arrays, With{s.x(shape, rows), s.y(shape, rows)}));
}

BDL_CALLS(bdl_dataset_from_callback) {
  auto* const source = new OwnedSource{source_for(s, s.model().shape), &s.callbacks};
  bdl_dataset* const data = s.creates<bdl_dataset>(
      bdl_dataset_from_callback,
      With{s.size(rows), s.size(4), s.index(3), s.faulty() ? static_cast<bdl_read_fn>(nullptr) : read_rows,
           static_cast<void*>(source), release});
  if (!data) return delete source;
  ++s.callbacks.owned;
  s.keep(data);
}

BDL_CALLS(bdl_dataset_from_npy) {
  const auto& shape = s.model().shape;
  const Source source = source_for(s, shape);
  const std::string x = s.x_file(), y = s.y_file();
  write_file(s, x, npy(numbers_of(source, shape.inputs, shape.targets, true), shape.inputs));
  write_file(s, y, npy(numbers_of(source, shape.inputs, shape.targets, false), shape.targets));
  const char* const x_path = s.faulty() ? (s.bytes.below(2) ? nullptr : nowhere) : x.c_str();
  const char* const y_path = s.bytes.below(4) == 0 ? nullptr : y.c_str();
  s.keep(s.creates<bdl_dataset>(bdl_dataset_from_npy, With{x_path, y_path}));
}

BDL_CALLS(bdl_dataset_from_safetensors) {
  const auto& shape = s.model().shape;
  const Source source = source_for(s, shape);
  const std::string path = s.x_file();
  write_file(s, path,
             safetensors(numbers_of(source, shape.inputs, shape.targets, true), shape.inputs,
                         numbers_of(source, shape.inputs, shape.targets, false), shape.targets));
  const char* const from = s.faulty() ? (s.bytes.below(2) ? nullptr : nowhere) : path.c_str();
  const char* const y = s.bytes.below(4) == 0 ? nullptr : s.faulty() ? "z" : "y";
  s.keep(s.creates<bdl_dataset>(bdl_dataset_from_safetensors, With{from, "x", y}));
}

BDL_CALLS(bdl_dataset_free) {
  s.frees(bdl_dataset_free, s.dataset());
}

BDL_CALLS(bdl_dataset_rows) {
  s.asks(bdl_dataset_rows, With{static_cast<const bdl_dataset*>(s.dataset().handle)});
}

BDL_CALLS(bdl_dataset_inputs) {
  s.asks(bdl_dataset_inputs, With{static_cast<const bdl_dataset*>(s.dataset().handle)});
}

BDL_CALLS(bdl_dataset_targets) {
  s.asks(bdl_dataset_targets, With{static_cast<const bdl_dataset*>(s.dataset().handle)});
}

BDL_CALLS(bdl_dataset_set_block) {
  bdl_dataset* const data = data_for(s, s.model().shape);
  s.changes(bdl_dataset_set_block, With{data, s.index(5), s.size(3)});
}

BDL_CALLS(bdl_dataset_read) {
  const auto& shape = s.model().shape;
  bdl_dataset* const data = data_for(s, shape);
  const std::int64_t numbers[] = {s.index(rows), s.index(rows)};
  s.reads(bdl_dataset_read,
          With{data, numbers, std::int64_t{2}, s.perhaps(2, shape.inputs), s.perhaps(2, shape.targets)});
}

BDL_CALLS(bdl_dataset_target_range) {
  const auto& shape = s.model().shape;
  bdl_dataset* const data = data_for(s, shape);
  s.reads(bdl_dataset_target_range, With{data, s.perhaps(1, shape.targets), s.perhaps(1, shape.targets)});
}

BDL_CALLS(bdl_optimizer_start_noise_dataset) {
  auto& o = s.optimizer();
  bdl_dataset* const data = data_for(s, o.shape);
  s.changes(bdl_optimizer_start_noise_dataset, With{o.handle, data});
}

BDL_CALLS(bdl_model_standardize_dataset) {
  auto& m = s.model();
  bdl_dataset* const data = data_for(s, m.shape);
  s.changes(bdl_model_standardize_dataset, With{m.handle, data});
}

BDL_CALLS(bdl_optimizer_fit_dataset) {
  auto& o = s.optimizer();
  bdl_dataset* const data = data_for(s, o.shape);
  s.callbacks.until_failure = s.bytes.below(3) == 2 ? s.bytes.next() % 32 : -1;
  const std::int64_t epochs = s.index(3);
  const bool silent = s.bytes.below(2) == 0;
  const Interfering interfering(s, o.handle);
  s.trains_on_rows(bdl_optimizer_fit_dataset,
                   With{o.handle, data, epochs, static_cast<bdl_progress_fn>(silent ? nullptr : progress),
                        static_cast<void*>(&s.callbacks)});
  s.callbacks.until_failure = -1;
}

BDL_CALLS(bdl_optimizer_laplace_dataset) {
  auto& o = s.optimizer();
  bdl_dataset* const data = data_for(s, o.shape);
  s.changes(bdl_optimizer_laplace_dataset, With{o.handle, data});
}

BDL_CALLS(bdl_optimizer_elbo_dataset) {
  auto& o = s.optimizer();
  bdl_dataset* const data = data_for(s, o.shape);
  s.reads(bdl_optimizer_elbo_dataset, With{o.handle, data, s.index(4), s.seed(), s.real(), s.real()});
}

}  // namespace fuzz
