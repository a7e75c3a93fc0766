// Results as CSV, one row per measurement. A file that exists is continued: what it holds is not done again.
#ifndef SUPPORT_TABLE_HPP
#define SUPPORT_TABLE_HPP

#include <cstdio>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace support {

using Row = std::vector<std::string>;

/// Up to so many digits; "nan" where there is nothing to say.
std::string number(double value, int digits = 6);

/// Comma-separated fields; empty without a file.
std::vector<Row> read_csv(const std::string& path);

/// Rows of several threads. The first `keys` columns name a job, all of whose rows are written at once.
class Table {
 public:
  Table(const std::string& path, const Row& header, std::size_t keys);
  ~Table() { std::fclose(file_); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  bool done(const Row& key) const { return done_.contains(key); }
  void add(const std::vector<Row>& rows);

 private:
  std::FILE* file_;
  std::set<Row> done_;
  std::mutex mutex_;
};

/// Jobs 0 .. count - 1 in this order, on several threads.
void in_parallel(int threads, std::size_t count, const std::function<void(std::size_t)>& job);

/// Ends the program with a message.
[[noreturn]] void stop(const std::string& message);

}  // namespace support

#endif
