#include "session.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "child.hpp"
#include "machine.hpp"

namespace bench {
namespace {

/// The fields that distinguish two slang lines, except for their threads.
constexpr std::array line_keys{"case", "shape", "M", "S", "L", "dtype"};

}  // namespace

/// Measured in the same run as the lines, on the same number of threads; anew before each line of a case but
/// scaling, the highest counting: a limit is a maximum, whatever else the machine does meanwhile.
const Record& Session::limit(const std::string& name, const std::string& dtype, const Record& parameters) {
  Record wanted("case=" + name + " dtype=" + dtype + " threads=" + parameters.text("threads"));
  if (parameters.has("quick")) wanted.set("quick", "1");
  Record& known = limits_[wanted.line()];
  const bool is_known = known.has("case");
  if (is_known && (parameters.has("quick") || parameters.text("case") == "scaling")) return known;
  const Record measured = run_child(wanted).at(0);
  const char* rate = name == "gemm" ? "gflops" : "gbs";
  if (!is_known || measured.number(rate) > known.number(rate)) known = measured;
  return known;
}

void Session::add_limits(const std::string& dtype, Record& parameters) {
  const Record& peaks = limit("gemm", dtype, parameters);
  parameters.set(dtype == "f32" ? "sgemm_peak" : "dgemm_peak", peaks.number("gflops"));
  parameters.set("triad_gbs", limit("stream", "f64", parameters).number("gbs"));
}

void Session::report(const Record& record) {
  std::printf("%s\n", record.line().c_str());
  std::fflush(stdout);
  records_.push_back(record);
}

void Session::measure(Record parameters) {
  const std::string name = parameters.text("case"), dtype = parameters.text("dtype");
  if (name == "gemm" || name == "stream") return report(limit(name, dtype, parameters));
  if (name != "noise" && name != "vogn" && name != "kernels")
    add_limits(dtype, parameters);  // which compare steps with steps
  const std::vector<Record> lines = run_child(parameters);
  for (const Record& line : lines) report(line);
  if (name == "slang") compare_threads(lines.front());
}

/// If an earlier line differs in its threads only: the speedup of more threads.
void Session::compare_threads(const Record& line) {
  const auto twin = [&line](const Record& other) {
    return other.has("ms_median") && other.text("threads") != line.text("threads") &&
           std::ranges::all_of(line_keys, [&](const char* key) {
             return other.has(key) && other.text(key) == line.text(key);
           });
  };
  const auto found = std::ranges::find_if(records_, twin);
  if (found == records_.end()) return;
  Record comparison;
  for (const char* key : line_keys) comparison.set(key, line.text(key));
  report(comparison.set("case", "threads")
             .set("ms_" + line.text("threads"), line.number("ms_median"))
             .set("ms_" + found->text("threads"), found->number("ms_median"))
             .set("speedup", line.number("ms_median") / found->number("ms_median")));
}

void Session::write_json(const std::string& file) const {
  nlohmann::ordered_json records = nlohmann::ordered_json::array();
  for (const Record& record : records_) records.push_back(record.json());
  std::ofstream out(file);
  out << nlohmann::ordered_json{{"machine", machine()}, {"records", records}}.dump(1) << '\n';
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

}  // namespace bench
