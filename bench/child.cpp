#include "child.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>

namespace bench {
namespace {

[[noreturn]] void become(const Record& parameters, int output) {
  const std::string threads = parameters.text("threads"), line = parameters.line();
  setenv("OPENBLAS_NUM_THREADS", threads.c_str(), 1);
  setenv("OMP_NUM_THREADS", threads.c_str(), 1);
  dup2(output, STDOUT_FILENO);
  execl("/proc/self/exe", "bdl_bench", "--child", line.c_str(), static_cast<char*>(nullptr));
  _exit(127);
}

std::string read_all(int input) {
  std::string text;
  std::array<char, 4096> block;
  for (ssize_t count; (count = read(input, block.data(), block.size())) > 0;)
    text.append(block.data(), static_cast<std::size_t>(count));
  return text;
}

}  // namespace

std::vector<Record> run_child(const Record& parameters) {
  std::array<int, 2> ends;
  if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) become(parameters, ends[1]);
  close(ends[1]);
  std::istringstream lines(read_all(ends[0]));
  close(ends[0]);
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
    throw std::runtime_error("failed: " + parameters.line());
  std::vector<Record> records;
  for (std::string line; std::getline(lines, line);) records.emplace_back(line);
  return records;
}

}  // namespace bench
