#include <algorithm>
#include <cmath>
#include <functional>

#include "base/error.hpp"
#include "io/checkpoint.hpp"
#include "model/network.hpp"
#include "network/activation.hpp"

namespace bdl {
namespace {

constexpr Index size_limit = INT32_MAX;
constexpr const char* covariance_name = "model.noise_covariance";
constexpr const char* classes_name = "model.classes";  // written unless all classes count
/// Tensors with mean and scale of x and y, written if they have been set.
struct MomentNames {
  const char *mean, *scale;
};
constexpr MomentNames input_names{"model.input_mean", "model.input_scale"},
    target_names{"model.target_mean", "model.target_scale"};
constexpr const char* kinds[] = {"network", "user", "mlp"};  // files without a description say mlp
constexpr const char* noise_origins[] = {"none", "training", "caller", "targets"};
constexpr const char* likelihoods[] = {
#define BDL_LIKELIHOOD(name, formulas, word, targets, integrals) word,
#include "likelihood/likelihoods.def"
#undef BDL_LIKELIHOOD
};
constexpr const char* free_name = "model.log_precision_is_free";
constexpr const char *weights_name = "model.row_weights",
                     *offsets_name = "model.offsets";  // written if rows have them
constexpr const char* shape_name = "model.shape";      // of likelihoods that have one
constexpr const char* shape_origin_name = "model.shape_origin";
constexpr const char* limit_name = "model.limit";                             // written if it is finite
constexpr const char* noise_degrees_name = "model.noise_degrees_of_freedom";  // written if they were counted

template <class T>
std::shared_ptr<Model<T>> read_description(const RecordReader& record, const Likelihood& likelihood) {
  try {
    return std::make_shared<Network<T>>(std::make_shared<const Graph<T>>(record.text("model.description")),
                                        likelihood);
  } catch (const Error& error) {
    fail(Status::ERROR_FORMAT, "field model.description: %s", error.what());
  }
}

template <class T>
std::shared_ptr<Model<T>> read_network(const RecordReader& record, const Likelihood& likelihood) {
  if (record.has("model.description")) return read_description<T>(record, likelihood);
  // Files from before networks had descriptions.
  const std::vector<Index> sizes = record.layer_sizes("model.sizes");
  if (sizes.back() != likelihood.outputs())
    fail(Status::ERROR_FORMAT, "field model.sizes does not fit the number of outputs");
  const auto activation =
      static_cast<bdl_activation>(record.word("model.activation", activation_words()) + BDL_IDENTITY);
  return std::make_shared<Network<T>>(sizes, activation, record.integer("model.bias", 0, 1) == 1, likelihood);
}

void write_moments(RecordWriter& record, const ColumnMoments& moments, const MomentNames& names) {
  if (moments.mean.empty()) return;
  record.vector<double>(names.mean, moments.mean);
  record.vector<double>(names.scale, moments.scale);
}

ColumnMoments read_moments(const RecordReader& record, Index columns, const MomentNames& names) {
  if (!record.has(names.mean) && !record.has(names.scale)) return {};
  const auto count = static_cast<std::size_t>(columns);
  for (const char* name : {names.mean, names.scale})
    if (record.shape(name, 1)[0] != columns)
      fail(Status::ERROR_FORMAT, "tensor %s has the wrong length", name);
  ColumnMoments moments{std::vector<double>(count), std::vector<double>(count)};
  record.vector<double>(names.mean, moments.mean);
  record.vector<double>(names.scale, moments.scale);
  if (!std::ranges::all_of(moments.scale, is_scale))
    fail(Status::ERROR_FORMAT, "tensor %s has a value that cannot be a scale", names.scale);
  return moments;
}

template <class T>
Standardization read_standardization(const RecordReader& record, const Model<T>& model) {
  Standardization standardization(read_moments(record, model.features(), input_names),
                                  read_moments(record, model.likelihood.means(), target_names));
  if (standardization.has_targets() && !model.likelihood.has_noise_precision())
    fail(Status::ERROR_FORMAT, "tensor %s does not fit the model", target_names.mean);
  return standardization;
}

/// Fails unless the caller's model can be the one that the file was made with.
template <class T>
void check_user_model(const RecordReader& record, const Model<T>* model, const Likelihood& likelihood) {
  if (!model)
    fail(Status::ERROR_INVALID_ARGUMENT,
         "the file's model is a user's own, which a file cannot hold: pass that model as user_model");
  if (model->likelihood.kind() != likelihood.kind() || model->outputs() != likelihood.outputs() ||
      model->features() != record.integer("model.inputs", 1, size_limit) ||
      model->parameters() != record.integer("model.parameters", 1, size_limit))
    fail(Status::ERROR_INVALID_ARGUMENT,
         "user_model has other inputs, outputs, parameters or likelihood than the file's model");
}

NoiseCovariance read_covariance(const RecordReader& record, Index outputs) {
  const auto& shape = record.shape(covariance_name, 2);
  if (shape[0] != outputs || shape[1] != outputs)
    fail(Status::ERROR_FORMAT, "tensor %s has the wrong shape", covariance_name);
  Buffer<double> values(outputs * outputs);
  record.archive().copy<double>(covariance_name, values.first(outputs * outputs));
  return reading_file([&] { return NoiseCovariance(values.matrix(outputs, outputs)); });
}

bool has_flag(const RecordReader& record, const char* name) {
  return record.has(name) && record.integer(name, 0, 1) == 1;
}

/// Returns two or more ascending classes, or none if all count.
std::vector<Index> read_classes(const RecordReader& record, const Likelihood& likelihood) {
  if (!record.has(classes_name)) return {};
  std::vector<Index> classes = record.integers(classes_name, 0, likelihood.outputs() - 1);
  if (likelihood.kind() != BDL_CATEGORICAL || classes.size() < 2 ||
      std::ranges::adjacent_find(classes, std::greater_equal<>()) != classes.end())
    fail(Status::ERROR_FORMAT, "field %s does not hold two or more ascending classes", classes_name);
  return classes;
}

}  // namespace

namespace {

/// Reads the shape, if the likelihood has one: positive, or ascending cut points.
Noise read_shape(const RecordReader& record, const Likelihood& likelihood) {
  Noise noise;
  if (!has_shape(likelihood.kind())) return noise;
  const bool cuts = likelihood.target_kind() == TargetKind::level;
  const Index count = record.shape(shape_name, 1)[0];
  if (count < 1 || (!cuts && count != 1) || count >= most_levels)
    fail(Status::ERROR_FORMAT, "tensor %s has the wrong length", shape_name);
  noise.shape.resize(static_cast<std::size_t>(count));
  record.vector<double>(shape_name, noise.shape, cuts ? Numbers::any : Numbers::positive);
  const bool ascends =
      std::ranges::adjacent_find(noise.shape, std::not_fn(std::less<>())) == noise.shape.end();
  if (cuts && !(ascends && std::isfinite(noise.shape.front()) && std::isfinite(noise.shape.back())))
    fail(Status::ERROR_FORMAT, "tensor %s does not ascend", shape_name);
  noise.shape_origin = static_cast<NoiseOrigin>(record.word(shape_origin_name, noise_origins));
  return noise;
}

}  // namespace

template <class T>
void write_model(RecordWriter& record, const Model<T>& model) {
  const Graph<T>* graph = model.graph();
  record.text("model.kind", kinds[graph ? 0 : 1]);
  record.text("model.likelihood", likelihoods[model.likelihood.kind() - BDL_GAUSSIAN]);
  record.integer("model.inputs", model.features());
  if (model.likelihood.is_weighted()) record.integer(weights_name, 1);
  if (model.offsets() > 0) record.integer(offsets_name, 1);
  record.integer("model.outputs", model.outputs());
  record.integer("model.parameters", model.parameters());
  record.text("model.noise_origin", noise_origins[static_cast<int>(model.likelihood.noise_origin())]);
  record.vector("model.noise_precision", model.likelihood.noise_precision());
  if (model.likelihood.kind() == BDL_HETEROSCEDASTIC)
    record.integer(free_name, model.likelihood.log_precision_is_free() ? 1 : 0);
  if (model.likelihood.kind() == BDL_STUDENT_T) {
    record.real("model.degrees_of_freedom", model.likelihood.degrees_of_freedom());
    record.real("model.first_degrees_of_freedom", model.likelihood.first_degrees_of_freedom());
  }
  if (has_shape(model.likelihood.kind())) {
    record.vector(shape_name, model.likelihood.shape());
    record.text(shape_origin_name, noise_origins[static_cast<int>(model.likelihood.shape_origin())]);
  }
  if (!model.likelihood.noise_degrees().empty())
    record.vector(noise_degrees_name, model.likelihood.noise_degrees());
  if (std::isfinite(model.likelihood.limit())) record.real(limit_name, model.likelihood.limit());
  if (const NoiseCovariance& noise = model.likelihood.noise_covariance(); noise.given())
    record.tensor<double>(covariance_name, {noise.size(), noise.size()},
                          {noise.covariance().data, static_cast<std::size_t>(noise.covariance().size())});
  if (model.likelihood.kind() == BDL_CATEGORICAL && model.likelihood.class_count() < model.outputs())
    record.integers(classes_name, model.likelihood.classes());
  if (graph) record.text("model.description", graph->description());
  write_moments(record, model.standardization.input_moments(), input_names);
  write_moments(record, model.standardization.target_moments(), target_names);
  write_names(record, model.names);
}

template <class T>
std::shared_ptr<Model<T>> read_model(const RecordReader& record, std::shared_ptr<Model<T>> user_model) {
  const auto kind = static_cast<bdl_likelihood>(record.word("model.likelihood", likelihoods) + BDL_GAUSSIAN);
  const Index outputs = record.integer("model.outputs", kind == BDL_CATEGORICAL ? 2 : 1, size_limit);
  if (kind == BDL_HETEROSCEDASTIC && outputs % 2 != 0)
    fail(Status::ERROR_FORMAT, "field model.outputs is odd, but the model is heteroscedastic");
  if (kind == BDL_ORDINAL && outputs != 1)
    fail(Status::ERROR_FORMAT, "field model.outputs is not 1, but the model is ordinal");
  Likelihood likelihood(kind, outputs);
  if (const Noise noise = read_shape(record, likelihood); !noise.shape.empty())
    likelihood.set_shape(noise.shape, noise.shape_origin);
  std::shared_ptr<Model<T>> model;
  if (record.word("model.kind", kinds) == 1) {
    check_user_model(record, user_model.get(), likelihood);
    model = std::move(user_model);
  } else {
    if (user_model)
      fail(Status::ERROR_INVALID_ARGUMENT, "user_model is given, but the file's model is a network");
    model = read_network<T>(record, likelihood);
    if (record.integer("model.inputs", 1, size_limit) != model->features() ||
        record.integer("model.parameters", 1, size_limit) != model->parameters())
      fail(Status::ERROR_FORMAT, "fields model.inputs and model.parameters are not those of the network");
    model->standardization = read_standardization(record, *model);
    model->likelihood.set_weighted(has_flag(record, weights_name));
    model->set_offsets(has_flag(record, offsets_name));
  }
  return model;
}

Noise read_noise(const RecordReader& record, const Likelihood& likelihood) {
  const Index targets = likelihood.targets();
  const auto origin = static_cast<NoiseOrigin>(record.word("model.noise_origin", noise_origins));
  const Index count = record.shape("model.noise_precision", 1)[0];
  if (count != 1 && count != targets)
    fail(Status::ERROR_FORMAT, "tensor model.noise_precision has the wrong length");
  Noise noise;
  noise.is_weighted = has_flag(record, weights_name);
  noise.has_offsets = has_flag(record, offsets_name);
  noise.precision.resize(static_cast<std::size_t>(count));
  noise.origin = origin;
  noise.classes = read_classes(record, likelihood);
  if (record.has(limit_name)) {
    noise.limit = record.real(limit_name);
    if ((likelihood.kind() != BDL_POISSON && likelihood.kind() != BDL_HETEROSCEDASTIC) ||
        !std::isfinite(noise.limit))
      fail(Status::ERROR_FORMAT, "field %s does not fit the model", limit_name);
  }
  record.vector<double>("model.noise_precision", noise.precision, Numbers::positive);
  if (record.has(noise_degrees_name)) {
    if (likelihood.kind() != BDL_GAUSSIAN || record.shape(noise_degrees_name, 1)[0] != count)
      fail(Status::ERROR_FORMAT, "tensor %s does not fit the model", noise_degrees_name);
    noise.precision_degrees.resize(noise.precision.size());
    record.vector<double>(noise_degrees_name, noise.precision_degrees, Numbers::positive);
  }
  if (likelihood.kind() == BDL_HETEROSCEDASTIC)
    noise.log_precision_is_free = record.integer(free_name, 0, 1) == 1;
  if (likelihood.kind() == BDL_STUDENT_T) {
    noise.degrees = record.real("model.degrees_of_freedom");
    noise.first_degrees = record.real("model.first_degrees_of_freedom");
    if (!(noise.degrees >= 0.1 && noise.degrees <= 1e6 && noise.first_degrees >= 0.1 &&
          noise.first_degrees <= 1e6))
      fail(Status::ERROR_FORMAT, "field model.degrees_of_freedom is out of range");
  }
  Noise of_shape = read_shape(record, likelihood);
  noise.shape = std::move(of_shape.shape);
  noise.shape_origin = of_shape.shape_origin;
  if (record.has(covariance_name)) {
    if (likelihood.kind() != BDL_GAUSSIAN || origin == NoiseOrigin::none)
      fail(Status::ERROR_FORMAT, "tensor %s does not fit the model", covariance_name);
    noise.covariance = read_covariance(record, targets);
  }
  return noise;
}

template void write_model(RecordWriter&, const Model<float>&);
template void write_model(RecordWriter&, const Model<double>&);
template std::shared_ptr<Model<float>> read_model(const RecordReader&, std::shared_ptr<Model<float>>);
template std::shared_ptr<Model<double>> read_model(const RecordReader&, std::shared_ptr<Model<double>>);

// Names in a checkpoint: one field for each kind, with a line for each name, in which \\ stands for a
// backslash and \n for the end of a line.

namespace {

struct Field {
  bdl_named what;
  const char* key;
};
constexpr Field fields[] = {
    {BDL_INPUT, "model.input_names"}, {BDL_TARGET, "model.target_names"}, {BDL_CLASS, "model.class_names"}};
constexpr const char* type_key = "model.class_type";
constexpr const char* class_types[] = {"text", "ordered", "integer", "real", "boolean"};

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (k > 0) text += '\n';
    for (const char byte : names[k])
      if (byte == '\n')
        text += "\\n";
      else
        text += byte == '\\' ? "\\\\" : std::string(1, byte);
  }
  return text;
}

/// Splits a text into lines; fails unless there are exactly `count`.
std::vector<std::string> lines_of(const std::string& text, Index count, const char* key) {
  std::vector<std::string> names(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      if (std::ssize(names) == count) fail(Status::ERROR_FORMAT, "field %s has too many lines", key);
      names.emplace_back();
      continue;
    }
    const bool escaped = text[i] == '\\';
    if (escaped && ++i == text.size()) fail(Status::ERROR_FORMAT, "field %s ends in a backslash", key);
    if (escaped && text[i] != 'n' && text[i] != '\\')
      fail(Status::ERROR_FORMAT, "field %s has a backslash that stands for nothing", key);
    names.back() += escaped && text[i] == 'n' ? '\n' : text[i];
    if (names.back().size() > longest_name)
      fail(Status::ERROR_FORMAT, "field %s has a name that is too long", key);
  }
  if (std::ssize(names) != count)
    fail(Status::ERROR_FORMAT, "field %s has %lld lines, expected %lld", key,
         static_cast<long long>(names.size()), static_cast<long long>(count));
  return names;
}

}  // namespace

void write_names(RecordWriter& record, const Names& names) {
  for (const Field& field : fields)
    if (const auto& all = names.all(field.what); !all.empty()) record.text(field.key, joined(all));
  if (names.class_type != BDL_CLASS_TEXT)
    record.text(type_key, class_types[names.class_type - BDL_CLASS_TEXT]);
}

template <class T>
Names read_names(const RecordReader& record, const Model<T>& model, Index classes) {
  Names names;
  for (const Field& field : fields)
    if (record.has(field.key)) {
      const Index count = field.what == BDL_CLASS ? classes : model.count_of(field.what);
      names.set_all(field.what, lines_of(record.text(field.key), count, field.key));
    }
  if (record.has(type_key))
    names.class_type = static_cast<bdl_class_type>(record.word(type_key, class_types) + BDL_CLASS_TEXT);
  return names;
}

template Names read_names(const RecordReader&, const Model<float>&, Index);
template Names read_names(const RecordReader&, const Model<double>&, Index);

}  // namespace bdl
