#include "support/table.hpp"

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace support {

std::string number(double value, int digits) {
  if (std::isnan(value)) return "nan";
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

std::vector<Row> read_csv(const std::string& path) {
  std::ifstream file(path);
  std::vector<Row> rows;
  for (std::string line, field; std::getline(file, line);) {
    std::istringstream fields(line);
    rows.emplace_back();
    while (std::getline(fields, field, ',')) rows.back().push_back(field);
  }
  return rows;
}

Table::Table(const std::string& path, const Row& header, std::size_t keys) : file_(nullptr) {
  const std::vector<Row> old = read_csv(path);
  if (!old.empty() && old.front() != header) stop(path + " has other columns: remove it");
  for (const Row& row : old)
    if (row.size() == header.size())
      done_.insert(Row(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(keys)));
  file_ = std::fopen(path.c_str(), "a");
  if (!file_) stop("cannot write " + path);
  if (old.empty()) add({header});
}

void Table::add(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i ? "," : "") + row[i];
    text += "\n";
  }
  const std::lock_guard lock(mutex_);
  std::fputs(text.c_str(), file_);
  std::fflush(file_);
}

void in_parallel(int threads, std::size_t count, const std::function<void(std::size_t)>& job) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([&] {
      for (std::size_t i; (i = next++) < count;) job(i);
    });
  for (std::thread& worker : workers) worker.join();
}

void stop(const std::string& message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::exit(1);
}

}  // namespace support
