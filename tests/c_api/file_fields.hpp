// Checkpoints with one field changed, and whether they load.
#pragma once

#include "stream_runs.hpp"

/// A checkpoint without checksums.
inline std::string unchecked(std::string file) {
  drop_checksums(file.data(), file.size());
  return file;
}

/// The file, unchecked, with one metadata value replaced by another of the same length (spaces do not count
/// in JSON).
inline std::string with_value(const std::string& file, const std::string& key, const std::string& value) {
  const std::size_t at = file.find("\"" + key + "\":\"");
  assert_true(at != std::string::npos);
  const std::size_t first = at + key.size() + 4, last = file.find('"', first);
  std::string out = file.substr(0, first) + value + file.substr(last);
  std::uint64_t length = 0;
  memcpy(&length, file.data(), sizeof length);
  length =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(length) + static_cast<std::int64_t>(value.size()) -
                                 static_cast<std::int64_t>(last - first));
  memcpy(out.data(), &length, sizeof length);
  return unchecked(out);
}

inline void assert_loads(const std::string& bytes, bool well) {
  const TemporaryFile file;
  file.put(bytes);
  bdl_optimizer* o = nullptr;
  const bdl_status status = bdl_load(file.path(), nullptr, nullptr, nullptr, &o);
  if ((status == BDL_OK) != well || (!well && status != BDL_ERROR_FORMAT))
    fail_msg("loading gave %s: %s", bdl_status_name(status), bdl_last_error());
  assert_true((o != nullptr) == well);
  bdl_optimizer_free(o);
}
