// The API fuzzer without libFuzzer, for any compiler and build:
//   bdl_sequences FIRST COUNT   sequences drawn at random, by their numbers; prints the number before each
//   bdl_sequences FILE ...      sequences that fuzz_api has written
// In the end it prints how often each function was called and has succeeded, and what does not hold, with a
// sequence that shows it. With BDL_FUZZ_TRACE set, it prints each call.
#define BDL_TEST_ALONE

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>

#include "c_api/failing_allocator.hpp"
#include "fuzz/api/calls.hpp"
#include "fuzz/api/sequence.hpp"
#include "fuzz/api/session.hpp"

int main(int count, char** arguments) {
  const bool drawn = count == 3 && std::ifstream(arguments[1]).fail();
  const std::uint64_t first = drawn ? std::strtoull(arguments[1], nullptr, 10) : 1;
  const std::uint64_t end =
      drawn ? first + std::strtoull(arguments[2], nullptr, 10) : static_cast<std::uint64_t>(count);
  fuzz::trace = std::getenv("BDL_FUZZ_TRACE") != nullptr;
  fuzz::on_broken = [](const std::string& what) { throw std::runtime_error(what); };
  std::map<std::string, std::string> found;
  for (std::uint64_t i = first; i < end; ++i) {
    const std::string name = drawn ? std::to_string(i) : arguments[i];
    std::fprintf(stderr, "%s\n", name.c_str());
    std::vector<std::uint8_t> bytes;
    if (drawn) {
      bytes = fuzz::drawn_sequence(i);
    } else {
      std::ifstream file(arguments[i], std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(file), {});
    }
    try {
      fuzz::check_sequence(bytes.data(), bytes.size());
    } catch (const std::runtime_error& error) {
      found.emplace(error.what(), name);
    }
  }
  fuzz::print_coverage();
  for (const auto& [what, name] : found) std::printf("%s, sequence %s\n", what.c_str(), name.c_str());
  return found.empty() ? 0 : 1;
}
