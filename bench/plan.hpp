// Which measurements a case of the command line consists of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record.hpp"

namespace bench {

struct Settings {
  std::int64_t threads;
  bool quick, profile;
};

/// Cases in the order they run without arguments, scaling last: it runs only if named.
const std::vector<std::string>& case_names();

/// Parameters of each line of a case, `threads` among them.
std::vector<Record> plan(const std::string& name, const Settings& settings);

}  // namespace bench
