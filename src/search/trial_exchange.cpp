#include "search/trial_exchange.hpp"

#include <algorithm>
#include <cstring>

#include "base/hash.hpp"

namespace bdl {
namespace {

constexpr Index record_bytes = static_cast<Index>(sizeof(FoldResult));
constexpr Index number_bytes = static_cast<Index>(sizeof(double));
static_assert(std::is_trivially_copyable_v<FoldResult>);

}  // namespace

void TrialExchange::allocate(Index ranks, Index trials, Index coordinates, Index tasks) {
  const Index points = trials * coordinates * number_bytes, results = tasks * record_bytes;
  sizes_.reserve(ranks);
  send_.reserve(prefix_bytes + std::max(points, tasks_of(0, ranks, tasks) * record_bytes));
  receive_.reserve(ranks * prefix_bytes + std::max(points, results));
}

/// Gathers messages of bytes(rank) after their prefixes.
void TrialExchange::gather(Team& team, FunctionRef<Index(Index rank)> bytes) {
  Index all = 0;
  for (Index r = 0; r < team.size(); ++r) all += sizes_.data()[r] = prefix_bytes + bytes(r);
  team.gather(send_.first(sizes_.data()[team.rank()]), receive_.first(all),
              std::as_const(sizes_).first(team.size()));
}

void TrialExchange::share_points(Team& team, std::vector<Trial>& trials, Index count, Index coordinates) {
  if (team.is_alone()) return;
  const auto bytes = static_cast<std::size_t>(coordinates * number_bytes);
  if (team.rank() == 0) {
    std::byte* to = send_.data() + prefix_bytes;
    for (const Trial& trial : trials) std::memcpy(to, trial.point.data(), bytes), to += bytes;
  }
  gather(team, [&](Index rank) { return rank == 0 ? count * coordinates * number_bytes : 0; });
  const std::byte* from = receive_.data() + prefix_bytes;
  for (Trial& trial : trials) std::memcpy(trial.point.data(), from, bytes), from += bytes;
}

void TrialExchange::share_results(Team& team, Index tasks, FunctionRef<FoldResult*(Index task)> result) {
  const Index ranks = team.size();
  const auto for_tasks_of = [&](Index rank, std::byte* at, auto&& move) {
    for (Index i = 0; i < tasks_of(rank, ranks, tasks); ++i, at += record_bytes)
      if (FoldResult* const r = result(task_of(rank, ranks, i))) move(r, at);
  };
  const auto record = static_cast<std::size_t>(record_bytes);
  for_tasks_of(team.rank(), send_.data() + prefix_bytes,
               [&](const FoldResult* from, std::byte* to) { std::memcpy(to, from, record); });
  gather(team, [&](Index rank) { return tasks_of(rank, ranks, tasks) * record_bytes; });
  std::byte* from = receive_.data() + prefix_bytes;
  for (Index r = 0; r < ranks; from += sizes_.data()[r], ++r)
    for_tasks_of(r, from, [&](FoldResult* to, const std::byte* at) {
      std::memcpy(to, at, record);
      to->message[sizeof to->message - 1] = '\0';
    });
}

std::uint64_t hash_rows(DataSet& data) {
  const Index together = std::min<Index>(data.rows(), 1024);
  Buffer<double> x(together * data.inputs()), y(together * data.targets());
  Hash hash;
  for (Index first = 0; first < data.rows(); first += together) {
    const Index rows = std::min(together, data.rows() - first);
    const auto inputs = x.matrix(data.inputs(), rows), targets = y.matrix(data.targets(), rows);
    data.fetch({first, rows}, {}, inputs, targets);
    hash.add(ConstMatrixView<double>(inputs));
    hash.add(ConstMatrixView<double>(targets));
  }
  return hash.value();
}

}  // namespace bdl
