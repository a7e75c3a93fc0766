// The two real streams of the paper's experiments: what is learned, from which rows, and what judges it.
#ifndef BONG_TASK_HPP
#define BONG_TASK_HPP

#include <string>

#include "learner.hpp"

namespace bong {

struct Task {
  std::string name;
  Network network;
  Data stream, validation, test;
  bool shuffled;  ///< each seed has its own order of the stream; else that of the file
};

/// name: "mnist" or "sarcos"; folder holds their unpacked files.
Task read_task(const std::string& folder, const std::string& name);

/// The first `count` rows of the stream, in the order of a seed.
Data stream_of(const Task& task, int64_t seed, int64_t count);

}  // namespace bong

#endif
