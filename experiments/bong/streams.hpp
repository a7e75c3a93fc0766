// Runs of one algorithm over one stream, judged on held-out rows at several points.
#ifndef BONG_STREAMS_HPP
#define BONG_STREAMS_HPP

#include "support/table.hpp"
#include "task.hpp"

namespace bong {

struct Run {
  const Task* task;
  Algorithm algorithm;
  int64_t length;
};

struct Judgement {
  std::vector<int64_t> after;  ///< numbers of examples, besides all of them
  const Data* held_out;
  int64_t samples;  ///< of the Monte-Carlo predictives; 0: only the plug-in is computed
};

extern const Row run_header;
constexpr std::size_t run_keys = 9;

Row key_of(const Run& run);
void run_stream(const Run& run, const Judgement& judgement, Table& table);

}  // namespace bong

#endif
