#include "ranks/shard_exchange.hpp"

namespace bdl {
namespace {

std::size_t place(Index v) {
  return static_cast<std::size_t>(v);
}

}  // namespace

template <class T>
std::span<Index> ShardExchange<T>::numbers(Index shards) {
  numbers_.resize(place(shards));
  return numbers_;
}

template <class T>
void ShardExchange<T>::reserve(Index rank, Index ranks) {
  rank_ = rank;
  ranks_ = ranks;
  shards_.resize(numbers_.size());
  sizes_.resize(place(ranks));
  Index all = 0;
  for (Index r = 0; r < ranks; ++r) {
    const ShardRange shards = shards_of(r, ranks, std::ssize(numbers_));
    Index size = prefix_bytes;
    for (Index v = shards.first; v < shards.end; ++v) size += numbers_[place(v)] * bytes_of<T>;
    all += sizes_[place(r)] = size;
  }
  send_.reserve(sizes_[place(rank)]);
  if (ranks > 1) receive_.reserve(all);
}

template <class T>
std::span<T> ShardExchange<T>::own(Index shard) {
  Index offset = 0;
  for (Index v = shards_of(rank_, ranks_, std::ssize(numbers_)).first; v < shard; ++v)
    offset += numbers_[place(v)];
  return {reinterpret_cast<T*>(send_.data() + prefix_bytes) + offset, place(numbers_[place(shard)])};
}

template <class T>
void ShardExchange<T>::gather(Team& team) {
  const std::byte* from = send_.data();
  if (ranks_ > 1) {
    Index all = 0;
    for (const Index size : sizes_) all += size;
    team.gather(send_.first(sizes_[place(rank_)]), receive_.first(all), sizes_);
    from = receive_.data();
  }
  for (Index r = 0; r < ranks_; ++r) {
    const ShardRange shards = shards_of(r, ranks_, std::ssize(numbers_));
    const auto* numbers = reinterpret_cast<const T*>(from + prefix_bytes);
    for (Index v = shards.first; v < shards.end; numbers += numbers_[place(v++)]) shards_[place(v)] = numbers;
    from += sizes_[place(r)];
  }
}

template class ShardExchange<float>;
template class ShardExchange<double>;
template class ShardExchange<std::byte>;

}  // namespace bdl
