#include "ranks/strata.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace bdl {
namespace {

void check_room(Index size, Index shards, const char* what) {
  if (size < shards)
    fail(Status::ERROR_INVALID_ARGUMENT,
         "%s has %lld examples, expected at least one for each of the %lld shards (option \"shards\")", what,
         static_cast<long long>(size), static_cast<long long>(shards));
}

}  // namespace

Index StepExamples::largest() const {
  Index most = 0;
  for (const ShardRange& range : shards) most = std::max(most, range.count());
  return most;
}

Strata::Strata(const Options& options, Index examples, Index shards, const ShardRange& own,
               const RowBlocks& blocks)
    : examples_(examples),
      shards_(shards),
      size_(minibatch_size(options, examples)),
      own_(own),
      replacement_(options.sampling == Sampling::replacement),
      sizes_(static_cast<std::size_t>(shards)),
      columns_(static_cast<std::size_t>(own.count())) {
  check_room(size_, shards, "a minibatch");
  batches_ = std::min((examples + size_ - 1) / size_, examples / shards);  // each has a row of every shard
  for (Index v = own.first; v < own.end; ++v)
    members_.emplace_back(options, part_of(v, shards, examples).count(), batches_,
                          part_of(v, shards, size_).count(), Minibatches::Place{v, blocks});
  step_.shards = columns_;
  step_.sizes = sizes_;
}

void Strata::tell(DataSet& data) {
  for (std::size_t k = 0; k < members_.size(); ++k)
    members_[k].tell(data, part_of(own_.first + static_cast<Index>(k), shards_, examples_).first);
}

ConstSpan<Index> Strata::rows(Index epoch, Index number) {
  step_.all = 0;
  for (Index v = 0; v < shards_; ++v)
    step_.all += sizes_[static_cast<std::size_t>(v)] =
        replacement_ ? part_of(v, shards_, size_).count()
                     : part_of(number, batches_, part_of(v, shards_, examples_).count()).count();
  rows_.clear();
  for (Index v = own_.first; v < own_.end; ++v) {
    const auto first = static_cast<Index>(rows_.size());
    add_rows(v, epoch, number);
    columns_[place(v)] = {first, static_cast<Index>(rows_.size())};
  }
  return rows_;
}

ConstSpan<Index> Strata::rows_of(Index shard, Index epoch, Index number) {
  rows_.clear();
  add_rows(shard, epoch, number);
  return rows_;
}

void Strata::add_rows(Index shard, Index epoch, Index number) {
  const Index offset = part_of(shard, shards_, examples_).first;
  for (const Index row : members_[place(shard)].batch(epoch, number)) rows_.push_back(offset + row);
}

CallerStrata::CallerStrata(Index rows, Index shards, const ShardRange& own)
    : first_(part_of(own.first, shards, rows).first), columns_(static_cast<std::size_t>(own.count())) {
  check_room(rows, shards, "the minibatch");
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const ShardRange range = part_of(own.first + static_cast<Index>(k), shards, rows);
    columns_[k] = {range.first - first_, range.end - first_};
  }
  for (Index v = 0; v < shards; ++v) sizes_.push_back(part_of(v, shards, rows).count());
  step_ = {rows, columns_, sizes_};
}

}  // namespace bdl
