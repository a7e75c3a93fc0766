// Tables of the library: methods, options, presets, defaults of estimators, and networks known by name.
#include <mutex>
#include <set>

#include "bdl/model.h"
#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "methods/readers.hpp"
#include "methods/suggestion.hpp"
#include "network/published.hpp"

namespace bdl {
namespace {

bool is_open(const char* word) {
  return std::strcmp(word, "auto") == 0;
}

/// Returns row `index` of a table.
template <class Row>
const Row& row_of(std::span<const Row> table, int64_t index) {
  check_range(index, 0, static_cast<Index>(table.size()) - 1, "index");
  return table[static_cast<std::size_t>(index)];
}

/// Returns an equal text that stays in memory until the process ends.
const char* kept_text(std::string text) {
  static std::mutex mutex;
  static std::set<std::string> texts;
  const std::lock_guard lock(mutex);
  return texts.insert(std::move(text)).first->c_str();
}

}  // namespace
}  // namespace bdl

using namespace bdl;

int64_t bdl_method_count(void) {
  return static_cast<int64_t>(method_table().size());
}

const char* bdl_method_name(int64_t index) {
  return index >= 0 && index < bdl_method_count() ? method_table()[static_cast<std::size_t>(index)].name
                                                  : nullptr;
}

bdl_status bdl_method_describe(const char* name, const char** families, int32_t* is_stream, int32_t* is_exact,
                               bdl_predict_method* prediction, const char** doc, const char** source) {
  return guard(__func__, [&] {
    not_null(name, "name");
    const Method& method = find_method(name);
    if (families) *families = words_of(method.families);
    if (is_stream) *is_stream = method.kind == MethodKind::stream;
    if (is_exact) *is_exact = method.kind == MethodKind::exact;
    if (prediction) *prediction = suggested_prediction({}, method);
    if (doc) *doc = method.doc;
    if (source) *source = method.source;
  });
}

bdl_status bdl_method_standing(const char* name, int32_t* is_baseline, const char** caution) {
  return guard(__func__, [&] {
    not_null(name, "name");
    const Method& method = find_method(name);
    const char* const text = kept_text(caution_of(method));
    if (is_baseline) *is_baseline = method.standing.is_baseline;
    if (caution) *caution = text;
  });
}

bdl_status bdl_method_prediction(const char* name, const bdl_model* model, bdl_predict_method* prediction) {
  return guard(__func__, [&] {
    not_null(name, "name");
    not_null(prediction, "prediction");
    const Method& method = find_method(name);
    with(model, "model",
         [&](const auto& m) { *prediction = suggested_prediction(context_of(&m, 1), method); });
  });
}

bdl_status bdl_method_suggest(const bdl_model* model, const bdl_posterior* posterior, int32_t is_stream,
                              const char** name) {
  return guard(__func__, [&] {
    not_null(name, "name");
    with_both(model, posterior, [&](const auto& m, const auto& q) {
      const Families family = family_of(q.family(), q.rank());
      *name = suggested_method(context_of(&m, 1), family, is_stream != 0).name;
    });
  });
}

bdl_status bdl_training_suggest(const bdl_model* model, int64_t examples, int32_t in_blocks,
                                const char* method, const char* family, const char** suggested_method,
                                const char** suggested_family, int64_t* rank, const char** options) {
  return guard(__func__, [&] {
    not_null(method, "method");
    not_null(family, "family");
    check_range(examples, 1, INT64_C(1) << 52, "examples");
    TrainingWish wish;
    wish.examples = examples;
    wish.in_blocks = in_blocks != 0;
    if (!is_open(method)) wish.method = &find_method(method);
    wish.has_family = !is_open(family);
    if (wish.has_family) wish.family = find_family(family);
    with(model, "model", [&](const auto& m) {
      wish.inputs = m.features();
      wish.parameters = m.parameters();
      const Training training = suggested_training(context_of(&m, examples), wish);
      if (suggested_method) *suggested_method = training.method->name;
      if (suggested_family) *suggested_family = words_of(training.family);
      if (rank) *rank = training.rank;
      if (options) *options = training.options;
    });
  });
}

int64_t bdl_option_count(void) {
  return static_cast<int64_t>(option_table().size());
}

bdl_status bdl_option_describe(int64_t index, const char** name, bdl_option_type* type,
                               const char** default_value, const char** range, const char** doc) {
  return guard(__func__, [&] {
    const OptionInfo& info = row_of(option_table(), index);
    const char* text = default_text(info);
    if (name) *name = info.name;
    if (type) *type = static_cast<bdl_option_type>(info.type);
    if (default_value) *default_value = text;
    if (range) *range = info.range;
    if (doc) *doc = info.doc;
  });
}

const char* bdl_option_readers(int64_t index) {
  const bool exists = index >= 0 && index < bdl_option_count();
  return exists ? readers_of(option_table()[static_cast<std::size_t>(index)]) : "";
}

int64_t bdl_preset_count(void) {
  return static_cast<int64_t>(preset_table().size());
}

const char* bdl_preset_name(int64_t index) {
  return index >= 0 && index < bdl_preset_count() ? preset_table()[static_cast<std::size_t>(index)].name
                                                  : nullptr;
}

bdl_status bdl_preset_describe(const char* name, const char** method, const char** options, int64_t* epochs,
                               const char** doc) {
  return guard(__func__, [&] {
    not_null(name, "name");
    const Preset& preset = find_preset(name);
    if (method) *method = preset.method;
    if (options) *options = preset.options;
    if (epochs) *epochs = preset.epochs;
    if (doc) *doc = preset.doc;
  });
}

int64_t bdl_default_count(void) {
  return static_cast<int64_t>(estimator_defaults().size());
}

bdl_status bdl_default_describe(int64_t index, const char** name, double* value, const char** doc) {
  return guard(__func__, [&] {
    const EstimatorDefault& row = row_of(estimator_defaults(), index);
    if (name) *name = row.name;
    if (value) *value = row.value;
    if (doc) *doc = row.doc;
  });
}

int64_t bdl_network_count(void) {
  return static_cast<int64_t>(published_networks().size());
}

bdl_status bdl_network_describe(int64_t index, const char** name, int64_t* channels, int64_t* rows,
                                int64_t* columns, int64_t* outputs, const char** doc, const char** source) {
  return guard(__func__, [&] {
    check_range(index, 0, bdl_network_count() - 1, "index");
    const PublishedNetwork& network = published_networks()[static_cast<std::size_t>(index)];
    if (name) *name = network.name;
    if (channels) *channels = network.input.channels;
    if (rows) *rows = network.input.rows;
    if (columns) *columns = network.input.columns;
    if (outputs) *outputs = network.outputs;
    if (doc) *doc = network.doc;
    if (source) *source = network.source;
  });
}

bdl_status bdl_network_description(const char* name, int64_t channels, int64_t rows, int64_t columns,
                                   int64_t outputs, const char** text) {
  return guard(__func__, [&] {
    not_null(name, "name");
    not_null(text, "text");
    check_range(channels, 1, largest_size, "channels");
    check_range(rows, 1, largest_size, "rows");
    check_range(columns, 1, largest_size, "columns");
    check_range(outputs, 1, largest_size, "outputs");
    *text = kept_text(description_of(find_published_network(name), {channels, rows, columns}, outputs));
  });
}
