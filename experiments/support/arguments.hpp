// The words of a command line: what to do, then options.
#ifndef SUPPORT_ARGUMENTS_HPP
#define SUPPORT_ARGUMENTS_HPP

#include <cstdint>
#include <map>
#include <string>

namespace support {

class Arguments {
 public:
  /// Ends the program with the usage if a word is not in it. "[--epochs N]" there is an option with a value,
  /// "[--quick]" one without.
  Arguments(int argc, char** argv, const std::string& usage);

  const std::string& task() const { return task_; }
  bool has(const std::string& option) const { return values_.contains(option); }
  std::string text(const std::string& option) const;
  int64_t number(const std::string& option, int64_t otherwise) const;

 private:
  std::string task_;
  std::map<std::string, std::string> values_;
};

}  // namespace support

#endif
