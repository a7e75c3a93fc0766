// A run of the program: measures lines one after another, prints them, keeps them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record.hpp"

namespace bench {

class Session {
 public:
  /// Parameters of plan(). Measures the machine's limits, if the line has a use for them, then the line.
  void measure(Record parameters);
  void write_json(const std::string& file) const;

 private:
  const Record& limit(const std::string& name, const std::string& dtype, const Record& parameters);
  void add_limits(const std::string& dtype, Record& parameters);
  void report(const Record& record);
  void compare_threads(const Record& line);

  std::map<std::string, Record> limits_;
  std::vector<Record> records_;
};

}  // namespace bench
