// Checkpoints: model, posterior, options, scales and training state in one safetensors file.
//
// Read in this order: record.hpp (fields of a checkpoint: short values are text in the metadata, vectors are
// tensors), then one file for each part: model_record.cpp, posterior_record.cpp, optimizer_record.cpp,
// training_record.cpp and stream_record.cpp. Each has a function that writes the part and one that reads it
// and trusts nothing: whatever a file holds, reading ends in a usable object or in ERROR_FORMAT.
// checkpoint.cpp joins the parts, and reads back what is about to be written before it replaces an older
// file.
//
// Below that lie the formats: safetensors.hpp (header, layout, reader, writer; checksums.hpp), npy.hpp, and
// file.hpp and file_replacement.hpp (reading, mapping, and replacing a file in one step). mapped_data.hpp
// makes data sets of files that are larger than memory.
#pragma once

#include <limits>
#include <memory>
#include <span>

#include "io/record.hpp"
#include "train/optimizer.hpp"

namespace bdl {

/// Noise and classes of a model's likelihood, as a file holds them.
struct Noise {
  std::vector<double> precision, precision_degrees;  ///< the latter empty if the noise was not estimated
  NoiseOrigin origin = NoiseOrigin::none;
  NoiseCovariance covariance;
  bool log_precision_is_free = true;
  double first_degrees = 4, degrees = 4;
  bool is_weighted = false, has_offsets = false;
  std::vector<double> shape;
  NoiseOrigin shape_origin = NoiseOrigin::none;
  std::vector<Index> classes;  ///< empty if all classes count
  double limit = std::numeric_limits<double>::infinity();
};

/// The objects that a file held; null for parts that it lacks.
template <class T>
struct Checkpoint {
  std::shared_ptr<Model<T>> model;
  std::shared_ptr<Posterior<T>> posterior;
  std::shared_ptr<Optimizer<T>> optimizer;
  /// The caller gives noise and names to the model when nothing can fail any more.
  Noise noise;
  Names names;
};

/// Objects to save, any of which may be null. An optimizer's own model and posterior are saved with it; the
/// other two members are then ignored.
template <class T>
struct SavedParts {
  const Model<T>* model;
  const Posterior<T>* posterior;
  const Optimizer<T>* optimizer;
};
template <class T>
void save_checkpoint(const char* path, const SavedParts<T>& parts);
/// Returns the bytes that save_checkpoint() would write.
template <class T>
std::vector<std::byte> serialize_checkpoint(const SavedParts<T>& parts);

/// Parts that a checkpoint has, according to its header.
struct CheckpointContents {
  bool model, user_model, posterior, optimizer;
};
CheckpointContents checkpoint_contents(const char* path);

/// Returns true if the checkpoint is in double precision. Fails with ERROR_FORMAT unless the metadata are
/// those of a checkpoint that this version can read.
bool checkpoint_is_double(const Metadata& metadata);
/// Fails as checkpoint_is_double() does, before any tensor is read.
TensorArchive read_checkpoint(const char* path);

/// user_model is the model to use if the file's model is a user's own, else null.
template <class T>
Checkpoint<T> load_checkpoint(const TensorArchive& archive, std::shared_ptr<Model<T>> user_model);

// One pair of functions for each part; each part has a source file.
template <class T>
void write_model(RecordWriter& record, const Model<T>& model);
template <class T>
std::shared_ptr<Model<T>> read_model(const RecordReader& record, std::shared_ptr<Model<T>> user_model);
Noise read_noise(const RecordReader& record, const Likelihood& likelihood);
void write_names(RecordWriter& record, const Names& names);
/// The number of classes is that of the model once it is loaded.
template <class T>
Names read_names(const RecordReader& record, const Model<T>& model, Index classes);
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

/// An option that earlier versions had and this one lacks. Values are written as in a checkpoint.
struct DeletedOption {
  const char* name;
  const char* default_value;         ///< This version always does what this value did.
  const char* same_value = nullptr;  ///< Another value that did the same, or null.
};

std::span<const DeletedOption> deleted_options();

/// Fails with ERROR_FORMAT naming the option if the file has a deleted one with a value of another meaning.
void check_deleted_options(const RecordReader& record);

/// Largest number of steps or examples that a file may state.
/// Writes the state of training: where it is, and the averages that later steps need.
inline constexpr Index most_counted = INT64_C(1) << 52;

template <class T>
void write_training(RecordWriter& record, const Optimizer<T>& optimizer);
/// Reads the state into an optimizer that has its options already. Fails with ERROR_FORMAT, or as the
/// optimizer does.
template <class T>
void read_training(const RecordReader& record, Optimizer<T>& optimizer);
/// Writes what a stream keeps to learn its noise and its scales.
template <class T>
void write_stream(RecordWriter& record, const Optimizer<T>& optimizer);
template <class T>
void read_stream(const RecordReader& record, Optimizer<T>& optimizer);

}  // namespace bdl
