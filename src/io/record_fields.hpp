// Names and ranges of what a checkpoint holds, told once: a function that visits the fields of a part writes
// them by a FieldWriter and reads them, checked, by a FieldReader.
#pragma once

#include <algorithm>

#include "io/record.hpp"

namespace bdl {

/// What the numbers of a vector may be, beside finite.
enum class Numbers { any, not_negative, positive };

class FieldWriter {
 public:
  explicit FieldWriter(RecordWriter& record) : record_(record) {}
  bool has(const char*) const { return true; }
  void integer(const char* key, Index value, Index, Index) { record_.integer(key, value); }
  void flag(const char* key, bool value) { record_.integer(key, value ? 1 : 0); }
  void real(const char* key, double value) { record_.real(key, value); }
  /// May be infinite.
  void sum(const char* key, double value) { record_.real(key, value); }
  template <class T>
  void vector(const std::string& name, std::span<T> values, Numbers = Numbers::any) {
    record_.vector<std::remove_const_t<T>>(name, values);
  }

 private:
  RecordWriter& record_;
};

class FieldReader {
 public:
  explicit FieldReader(const RecordReader& record) : record_(record) {}
  /// True if the file has this field or tensor, as older ones need not.
  bool has(const char* key) const { return record_.has(key) || record_.archive().contains(key); }
  void integer(const char* key, Index& value, Index low, Index high) {
    value = record_.integer(key, low, high);
  }
  void flag(const char* key, bool& value) { value = record_.integer(key, 0, 1) == 1; }
  void real(const char* key, double& value) { value = record_.real(key); }
  void sum(const char* key, double& value) { value = record_.sum(key); }
  template <class T>
  void vector(const std::string& name, std::span<T> values, Numbers numbers = Numbers::any) {
    if (numbers == Numbers::positive) return record_.positive_vector<T>(name, values);
    record_.vector<T>(name, values);
    if (numbers == Numbers::not_negative && std::ranges::any_of(values, [](T value) { return value < 0; }))
      fail(Status::ERROR_FORMAT, "tensor %s has a negative value", name.c_str());
  }
  const RecordReader& record() const { return record_; }

 private:
  const RecordReader& record_;
};

}  // namespace bdl
