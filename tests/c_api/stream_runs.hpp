// Streams through the C API: a learner of any family, and its whole state as the bytes of its checkpoint.
#pragma once

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "handles.hpp"

enum class StreamFamily { low_rank, diagonal, full, full_moment, diagonal_moment };
constexpr StreamFamily stream_families[] = {StreamFamily::low_rank, StreamFamily::diagonal,
                                            StreamFamily::full, StreamFamily::full_moment,
                                            StreamFamily::diagonal_moment};

inline Posterior make_posterior(bdl_dtype dtype, int64_t dimension, StreamFamily family) {
  if (family == StreamFamily::low_rank) return make_posterior(dtype, dimension, int64_t{2});
  if (family == StreamFamily::diagonal) return make_posterior(dtype, dimension, int64_t{0});
  if (family == StreamFamily::full) return make_posterior(dtype, dimension, int64_t{FULL});
  bdl_posterior* q = nullptr;
  OK(family == StreamFamily::full_moment ? bdl_posterior_create_full_moment(dtype, dimension, &q)
                                         : bdl_posterior_create_diagonal_moment(dtype, dimension, &q));
  return Posterior(q);
}

/// A path of its own, removed with whatever is there.
class TemporaryFile {
 public:
  TemporaryFile() {
    const int file = mkstemp(path_);
    assert_true(file >= 0 && close(file) == 0);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { (void)unlink(path_); }
  const char* path() const { return path_; }
  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void put(const std::string& bytes) const {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    assert_true(file.good());
  }

 private:
  char path_[32] = "/tmp/bdl-stream-XXXXXX";
};

/// Everything: model, posterior, options, state. Equal bytes are equal states.
inline std::string state_of(const bdl_optimizer* optimizer) {
  const TemporaryFile file;
  OK(bdl_save(file.path(), nullptr, nullptr, optimizer));
  return file.bytes();
}

/// A small network that observes the rows of data_for(likelihood) as a stream.
struct StreamLearner {
  dataset data;
  Model model;
  Posterior posterior;
  Optimizer optimizer;

  StreamLearner(bdl_likelihood likelihood, StreamFamily family, const char* method = "bong",
                bdl_dtype dtype = BDL_F64)
      : data(data_for(likelihood)),
        model(make_mlp(dtype, {INPUTS, 3, outputs_for(likelihood)}, likelihood)),
        posterior(make_posterior(dtype, bdl_model_parameters(model.get()), family)),
        optimizer(make_optimizer(model, posterior, ROWS, method)) {}

  void set(const char* name, double value) { OK(bdl_optimizer_set_double(optimizer.get(), name, value)); }
  void set(const char* name, int value) { OK(bdl_optimizer_set_int(optimizer.get(), name, value)); }
  void set(const char* name, const char* value) {
    OK(bdl_optimizer_set_choice(optimizer.get(), name, value));
  }
  bdl_matrix x(int first, int count) const { return bdl_f64(data.x + first * INPUTS, count, INPUTS); }
  bdl_matrix y(int first, int count) const {
    return bdl_f64(data.y + first * data.targets, count, data.targets);
  }
  /// The log densities.
  Vector observe(int first, int count) {
    Vector scores(static_cast<std::size_t>(count));
    OK(bdl_optimizer_observe(optimizer.get(), x(first, count), y(first, count),
                             bdl_f64_out(scores.data(), count, 1)));
    return scores;
  }
  std::string state() const { return state_of(optimizer.get()); }
};
