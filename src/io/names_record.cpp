// Names in a checkpoint: one field for each kind, a line for each name, in which \\ stands for a backslash
// and \n for the end of a line.
#include "base/error.hpp"
#include "io/checkpoint.hpp"

namespace bdl {
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

/// The lines of a text, of which there must be so many.
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
Names read_names(const RecordReader& record, const Model<T>& model) {
  Names names;
  for (const Field& field : fields)
    if (record.has(field.key))
      names.set_all(field.what, lines_of(record.text(field.key), model.count_of(field.what), field.key));
  if (record.has(type_key))
    names.class_type = static_cast<bdl_class_type>(record.word(type_key, class_types) + BDL_CLASS_TEXT);
  return names;
}

template Names read_names(const RecordReader&, const Model<float>&);
template Names read_names(const RecordReader&, const Model<double>&);

}  // namespace bdl
