#include "io/checkpoint.hpp"

#include "base/error.hpp"
#include "bdl/version.h"

namespace bdl {
namespace {

constexpr const char* format = "libbdl-checkpoint";
constexpr Index format_version = 1;  // raised when readers of the previous version cannot read the file
constexpr const char* scalars[] = {"f32", "f64"};

template <class T>
const Model<T>* model_of(const SavedParts<T>& parts) {
  return parts.optimizer ? parts.optimizer->model().get() : parts.model;
}

/// Returns the archive as it will be in the file; the tensors stay where they are.
TensorArchive view_of(const RecordWriter& record) {
  TensorMap tensors;
  for (const Tensor& tensor : record.tensors()) tensors.emplace(tensor.name, tensor);
  return {record.metadata(), std::move(tensors), {}};
}

/// Reads back what is about to be written: a state that the reader refuses would be lost after it had
/// replaced an older file.
template <class T>
void check_loads(const RecordWriter& record, const SavedParts<T>& parts) {
  const Model<T>* const model = model_of(parts);
  try {
    load_checkpoint<T>(view_of(record), model && !model->graph() ? model->clone() : nullptr);
  } catch (const Error& error) {
    if (is_of_the_call(error.status())) throw;
    fail(Status::ERROR_INTERNAL,
         "nothing is written, and an older file stays as it is: this state could not be loaded again (please "
         "report this): %s",
         error.what());
  }
}

/// Returns the fields of all parts. Fails with ERROR_INTERNAL if load_checkpoint() would refuse them.
template <class T>
RecordWriter record_of(const SavedParts<T>& parts) {
  const Model<T>* const model = model_of(parts);
  const Posterior<T>* const posterior =
      parts.optimizer ? parts.optimizer->posterior().get() : parts.posterior;
  RecordWriter record;
  record.text("format", format);
  record.integer("format_version", format_version);
  record.text("libbdl_version", BDL_VERSION_STRING);
  record.text("scalar", scalars[std::is_same_v<T, double> ? 1 : 0]);
  if (model) write_model(record, *model);
  if (posterior) write_posterior(record, *posterior);
  if (parts.optimizer) write_optimizer(record, *parts.optimizer);
  check_loads(record, parts);
  return record;
}

}  // namespace

template <class T>
void save_checkpoint(const char* path, const SavedParts<T>& parts) {
  const RecordWriter record = record_of(parts);
  write_archive(path, record.metadata(), record.tensors());
}

template <class T>
std::vector<std::byte> serialize_checkpoint(const SavedParts<T>& parts) {
  const RecordWriter record = record_of(parts);
  return serialize_archive(record.metadata(), record.tensors());
}

bool checkpoint_is_double(const Metadata& metadata) {
  const RecordReader record(metadata);
  if (!record.has("format") || record.text("format") != format)
    fail(Status::ERROR_FORMAT, "the file is a safetensors file but not a checkpoint of libbdl");
  record.integer("format_version", 1, format_version);
  return record.word("scalar", scalars) == 1;
}

TensorArchive read_checkpoint(const char* path) {
  return read_archive(path, [](const Metadata& metadata) { checkpoint_is_double(metadata); });
}

CheckpointContents checkpoint_contents(const char* path) {
  const Metadata metadata = read_metadata(path);
  checkpoint_is_double(metadata);
  const RecordReader record(metadata);
  const bool model = record.has("model.kind");
  return {model, model && record.text("model.kind") == "user", record.has("posterior.family"),
          record.has("optimizer.method")};
}

template <class T>
Checkpoint<T> load_checkpoint(const TensorArchive& archive, std::shared_ptr<Model<T>> user_model) {
  const RecordReader record(archive);
  Checkpoint<T> parts;
  if (record.has("model.kind")) {
    parts.model = read_model(record, std::move(user_model));
    parts.noise = read_noise(record, parts.model->likelihood);
    const Index levels = std::ssize(parts.noise.shape) + 1;  // a custom model has its own until loading ends
    const bool has_levels = parts.model->likelihood.target_kind() == TargetKind::level && levels > 1;
    parts.names = read_names(record, *parts.model, has_levels ? levels : parts.model->count_of(BDL_CLASS));
  }
  if (record.has("posterior.family")) parts.posterior = read_posterior<T>(record);
  if (record.has("optimizer.method")) parts.optimizer = read_optimizer(record, parts.model, parts.posterior);
  return parts;
}

template void save_checkpoint(const char*, const SavedParts<float>&);
template void save_checkpoint(const char*, const SavedParts<double>&);
template std::vector<std::byte> serialize_checkpoint(const SavedParts<float>&);
template std::vector<std::byte> serialize_checkpoint(const SavedParts<double>&);
template Checkpoint<float> load_checkpoint(const TensorArchive&, std::shared_ptr<Model<float>>);
template Checkpoint<double> load_checkpoint(const TensorArchive&, std::shared_ptr<Model<double>>);

}  // namespace bdl
