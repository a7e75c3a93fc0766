// Checkpoints: posterior, model description, options, scales and training state in one safetensors file.
#pragma once

#include <limits>
#include <memory>

#include "inference/optimizer.hpp"
#include "io/record.hpp"

namespace bdl {

struct Noise {
  std::vector<double> precision;
  NoiseOrigin origin = NoiseOrigin::none;
  NoiseCovariance covariance;
  bool log_precision_is_free = true;
  double first_degrees = 4, degrees = 4;
  std::vector<Index> classes;  ///< empty: all
  double limit = std::numeric_limits<double>::infinity();
};

/// What a file held; parts it lacks are null.
template <class T>
struct Checkpoint {
  std::shared_ptr<Model<T>> model;
  std::shared_ptr<Posterior<T>> posterior;
  std::shared_ptr<Optimizer<T>> optimizer;
  Noise noise;  ///< of the model, for the caller to set when nothing can fail any more
};

/// Any part may be null; an optimizer brings its own model and posterior, which are then not read.
template <class T>
struct SavedParts {
  const Model<T>* model;
  const Posterior<T>* posterior;
  const Optimizer<T>* optimizer;
};
template <class T>
void save_checkpoint(const char* path, const SavedParts<T>& parts);
/// What that file would contain.
template <class T>
std::vector<std::byte> serialize_checkpoint(const SavedParts<T>& parts);

/// What a checkpoint holds, by its header.
struct CheckpointContents {
  bool model, user_model, posterior, optimizer;
};
CheckpointContents checkpoint_contents(const char* path);

/// Fails with ERROR_FORMAT unless these are metadata of a checkpoint that this version reads; true if it is
/// in double.
bool checkpoint_is_double(const Metadata& metadata);
/// Fails before the tensors are read where checkpoint_is_double() does.
TensorArchive read_checkpoint(const char* path);

/// user_model: the model to use if the file's is a user's own, else null.
template <class T>
Checkpoint<T> load_checkpoint(const TensorArchive& archive, std::shared_ptr<Model<T>> user_model);

/// The parts, each in a file of its own.
template <class T>
void write_model(RecordWriter& record, const Model<T>& model);
template <class T>
std::shared_ptr<Model<T>> read_model(const RecordReader& record, std::shared_ptr<Model<T>> user_model);
Noise read_noise(const RecordReader& record, const Likelihood& likelihood);
template <class T>
void write_posterior(RecordWriter& record, const Posterior<T>& posterior,
                     const std::string& prefix = "posterior.");
template <class T>
std::shared_ptr<Posterior<T>> read_posterior(const RecordReader& record,
                                             const std::string& prefix = "posterior.");
template <class T>
void write_optimizer(RecordWriter& record, const Optimizer<T>& optimizer);
template <class T>
std::shared_ptr<Optimizer<T>> read_optimizer(const RecordReader& record, std::shared_ptr<Model<T>> model,
                                             std::shared_ptr<Posterior<T>> posterior);

}  // namespace bdl
