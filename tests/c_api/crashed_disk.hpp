// The states that a disk may be in if the power fails after some of the recorded system calls: writes of
// whole sectors and changes of names, each of which has arrived or not, unless it was flushed.
#pragma once

#include <map>
#include <optional>
#include <random>

#include "c_api/system_calls.hpp"

namespace crashes {

using system_calls::Operation;

inline constexpr std::size_t sector = 512;

struct Naming {
  std::string name;
  int inode;  // -1: the name is removed
  bool flushed = false;
};

/// One change of names; a rename is two at once.
using Step = std::vector<Naming>;

struct Disk {
  std::string contents;       // of the new file, all of it written
  std::vector<bool> flushed;  // its sectors
  std::vector<Step> steps;
  static constexpr int old_inode = 0, new_inode = 1, folder = 2;

  /// flushes_work: fsync does what it promises.
  Disk(const std::vector<Operation>& operations, std::size_t count, const std::string& folder_name,
       bool flushes_work)
      : folder_name_(folder_name), flushes_work_(flushes_work) {
    for (std::size_t i = 0; i < count; ++i) apply(operations[i]);
  }

  /// The file of this name, when the steps and sectors that are marked have arrived (those that were flushed
  /// always have): what of it has not is zero. Nothing: there is no such file.
  std::optional<std::string> file(const std::string& name, const std::string& old, unsigned steps_arrived,
                                  const std::vector<bool>& sectors_arrived) const {
    int inode = old.empty() ? -1 : old_inode;
    for (std::size_t k = 0; k < steps.size(); ++k)
      for (const Naming& naming : steps[k])
        if ((naming.flushed || (steps_arrived >> k & 1)) && naming.name == name) inode = naming.inode;
    if (inode == -1) return std::nullopt;
    if (inode == old_inode) return old;
    std::string found = contents;
    for (std::size_t s = 0; s < flushed.size(); ++s)
      if (!flushed[s] && !sectors_arrived[s]) clear(found, s);
    return found;
  }

 private:
  static void clear(std::string& bytes, std::size_t s) {
    for (std::size_t i = s * sector; i < std::min((s + 1) * sector, bytes.size()); ++i) bytes[i] = '\0';
  }

  void apply(const Operation& operation) {
    switch (operation.kind) {
      case system_calls::OPEN:
        open(operation);
        break;
      case system_calls::DUPLICATE:
        if (inodes_.contains(operation.source)) inodes_[operation.file] = inodes_[operation.source];
        break;
      case system_calls::WRITE:
        write(operation.bytes);
        break;
      case system_calls::FSYNC:
        flush(inodes_.at(operation.file));
        break;
      case system_calls::LINK:
        steps.push_back({{operation.to, new_inode}});
        break;
      case system_calls::RENAME:
        steps.push_back({{operation.to, new_inode}, {operation.path, -1}});
        break;
      case system_calls::UNLINK:
        steps.push_back({{operation.path, -1}});
        break;
      default:
        break;
    }
  }

  void open(const Operation& operation) {
    if (operation.path == folder_name_ && inodes_.empty() && !is_named_) {
      inodes_[operation.file] = new_inode;  // O_TMPFILE
    } else if (operation.path == folder_name_) {
      inodes_[operation.file] = folder;
    } else {
      inodes_[operation.file] = new_inode;
      is_named_ = true;
      steps.push_back({{operation.path, new_inode}});
    }
  }

  void write(const std::string& bytes) {
    const std::size_t first = contents.size() / sector;
    contents += bytes;
    flushed.resize((contents.size() + sector - 1) / sector);
    flushed[first] = false;
  }

  void flush(int inode) {
    if (!flushes_work_) return;
    if (inode == new_inode) flushed.assign(flushed.size(), true);
    if (inode != folder) return;
    for (Step& step : steps)
      for (Naming& naming : step) naming.flushed = true;
  }

  std::string folder_name_;
  bool flushes_work_, is_named_ = false;
  std::map<int, int> inodes_;  // of the numbers of open files
};

/// Which of so many sectors arrive: all, none, all but one, one, the first, the last, and some drawn ones.
inline std::vector<std::vector<bool>> arrivals(std::size_t count) {
  std::vector<std::vector<bool>> all = {std::vector<bool>(count, true), std::vector<bool>(count, false)};
  for (std::size_t s = 0; s < count; ++s)
    for (const bool one : {false, true}) {
      std::vector<bool> single(count, !one), first(count, !one);
      single[s] = one;
      for (std::size_t i = 0; i < s; ++i) first[i] = one;
      all.push_back(single);
      all.push_back(first);
    }
  std::mt19937 random(1);
  for (int draw = 0; draw < 100; ++draw) {
    std::vector<bool> some(count);
    for (std::size_t s = 0; s < count; ++s) some[s] = random() % 2 == 0;
    all.push_back(some);
  }
  return all;
}

}  // namespace crashes
