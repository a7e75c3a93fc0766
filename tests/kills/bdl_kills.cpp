// usage: bdl_kills FOLDER COUNT [nameless | named]
// Kills processes while they save: COUNT times, two of them at work on the same file of the folder. The file
// must load every time and be one of those that were saved; the next save must leave nothing else in the
// folder. named: as on file systems where temporary files have names from the start.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "bdl/bdl.h"

namespace {

bool nameless_files = true;

void check(bdl_status status) {
  if (status != BDL_OK) throw std::runtime_error(bdl_last_error());
}

std::string bytes_of(const bdl_posterior* q) {
  std::int64_t size = 0;
  check(bdl_save_bytes(nullptr, q, nullptr, nullptr, 0, &size));
  std::string bytes(static_cast<std::size_t>(size), '\0');
  check(bdl_save_bytes(nullptr, q, nullptr, bytes.data(), size, &size));
  return bytes;
}

/// 100 kB.
bdl_posterior* belief(double shift) {
  constexpr std::int64_t dimension = 3000;
  std::vector<double> mean(dimension), precision(dimension, 2.0), factor(2 * dimension);
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = std::sin(shift + static_cast<double>(i));
  for (std::size_t i = 0; i < factor.size(); ++i) factor[i] = std::cos(shift * static_cast<double>(i));
  bdl_posterior* q = nullptr;
  check(bdl_posterior_create_low_rank(BDL_F64, dimension, 2, &q));
  check(bdl_posterior_set_low_rank(q, bdl_f64(mean.data(), 1, dimension),
                                   bdl_f64(factor.data(), dimension, 2),
                                   bdl_f64(precision.data(), 1, dimension)));
  return q;
}

int temporary_files(const std::string& folder) {
  DIR* const entries = ::opendir(folder.c_str());
  if (!entries) throw std::runtime_error(folder + ": " + std::strerror(errno));
  int count = 0;
  while (const dirent* entry = ::readdir(entries)) count += std::strncmp(entry->d_name, ".bdl-", 5) == 0;
  ::closedir(entries);
  return count;
}

struct Tally {
  int killed = 0, damaged = 0, with_litter = 0, most_litter = 0, not_killed = 0;
};

class Kills {
 public:
  explicit Kills(const std::string& folder) : folder_(folder), path_(folder + "/belief.safetensors") {
    save(0);
  }
  ~Kills() {
    for (bdl_posterior* const q : beliefs_) bdl_posterior_free(q);
  }
  Kills(const Kills&) = delete;
  Kills& operator=(const Kills&) = delete;

  void round() {
    const pid_t workers[] = {start(0), start(1)};
    std::timespec wait{0, static_cast<long>(200'000 + random_() % 4'000'000)};
    ::nanosleep(&wait, nullptr);
    for (const pid_t worker : workers) end(worker);
    look();
  }
  void save(int which) { check(bdl_save(path_.c_str(), nullptr, beliefs_[which], nullptr)); }
  const Tally& tally() const { return tally_; }

 private:
  pid_t start(int first) {
    const pid_t worker = ::fork();
    if (worker == -1) throw std::runtime_error(std::strerror(errno));
    if (worker != 0) return worker;
    for (int i = first;; ++i)
      if (bdl_save(path_.c_str(), nullptr, beliefs_[i % 2], nullptr) != BDL_OK) {
        std::fprintf(stderr, "%s\n", bdl_last_error());
        ::_exit(1);
      }
  }

  void end(pid_t worker) {
    int status = 0;
    ::kill(worker, SIGKILL);
    ::waitpid(worker, &status, 0);
    ++(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? tally_.killed : tally_.not_killed);
  }

  void look() {
    bdl_posterior* q = nullptr;
    const bool loads = bdl_load(path_.c_str(), nullptr, nullptr, &q, nullptr) == BDL_OK;
    if (!loads) std::fprintf(stderr, "%s\n", bdl_last_error());
    const std::string bytes = loads ? bytes_of(q) : "";
    bdl_posterior_free(q);
    if (bytes != bytes_[0] && bytes != bytes_[1]) ++tally_.damaged;
    const int litter = temporary_files(folder_);
    tally_.with_litter += litter > 0;
    tally_.most_litter = std::max(tally_.most_litter, litter);
  }

  std::string folder_, path_;
  bdl_posterior* beliefs_[2] = {belief(0), belief(1)};
  std::string bytes_[2] = {bytes_of(beliefs_[0]), bytes_of(beliefs_[1])};
  std::mt19937 random_{1};
  Tally tally_;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (!nameless_files && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int main(int argc, char** argv) {
  const int count = argc > 2 ? std::atoi(argv[2]) : 0;
  if (count < 1) {
    std::fprintf(stderr, "usage: %s FOLDER COUNT [nameless | named]\n", argv[0]);
    return 2;
  }
  nameless_files = argc < 4 || std::strcmp(argv[3], "named") != 0;
  try {
    Kills kills(argv[1]);
    for (int i = 0; i < (count + 1) / 2; ++i) kills.round();
    kills.save(0);
    const int left = temporary_files(argv[1]);
    const Tally& tally = kills.tally();
    std::printf(
        "%d kills: %d times the file was damaged, %d times it lay beside temporary files (at most %d), of "
        "which the next "
        "save left %d\n",
        tally.killed, tally.damaged, tally.with_litter, tally.most_litter, left);
    return tally.damaged || tally.not_killed || left ? 1 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
