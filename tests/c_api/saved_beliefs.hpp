// Two posteriors that tests save over one another, and checks of what is loaded.
#pragma once

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "handles.hpp"

namespace saved {

inline std::string bytes_of(const bdl_posterior* q) {
  int64_t size = 0;
  OK(bdl_save_bytes(nullptr, q, nullptr, nullptr, 0, &size));
  std::string bytes(static_cast<std::size_t>(size), '\0');
  OK(bdl_save_bytes(nullptr, q, nullptr, bytes.data(), size, &size));
  return bytes;
}

/// Equal in everything but its numbers, so that a mixture of two files looks like one.
struct Belief {
  Posterior q;
  std::string bytes;

  explicit Belief(double first) : q(make_posterior(BDL_F64, dimension, 2)) {
    Vector mean(dimension), precision(dimension), factor(2 * dimension);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] = first + std::sin(static_cast<double>(i));
      precision[i] = 2 + std::cos(first * static_cast<double>(i));
      factor[2 * i] = mean[i] / 8;
      factor[2 * i + 1] = std::cos(static_cast<double>(i));
    }
    OK(bdl_posterior_set_low_rank(q.get(), bdl_f64(mean.data(), 1, dimension),
                                  bdl_f64(factor.data(), dimension, 2),
                                  bdl_f64(precision.data(), 1, dimension)));
    bytes = bytes_of(q.get());
  }

 private:
  static constexpr int64_t dimension = 150;
};

/// Returns the contents of the file; "" if it does not load.
inline std::string loaded(const std::string& path) {
  bdl_posterior* q = nullptr;
  if (bdl_load(path.c_str(), nullptr, nullptr, &q, nullptr) != BDL_OK) return {};
  return bytes_of(Posterior(q).get());
}

/// A folder of its own, emptied at the end.
class Folder {
 public:
  Folder() { assert_non_null(::mkdtemp(path_)); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    clear();
    (void)::rmdir(path_);
  }
  std::string path() const { return path_; }
  std::string file(const std::string& name) const { return path() + "/" + name; }

  /// How many files there are.
  int entries() const {
    int count = 0;
    visit([&](const char*) { ++count; });
    return count;
  }
  void clear() const {
    visit([&](const char* name) { (void)::unlink(file(name).c_str()); });
  }

 private:
  template <class Use>
  void visit(Use use) const {
    DIR* const folder = ::opendir(path_);
    assert_non_null(folder);
    while (const dirent* entry = ::readdir(folder))
      if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) use(entry->d_name);
    ::closedir(folder);
  }

  char path_[32] = "/tmp/bdl-saved-XXXXXX";
};

}  // namespace saved
