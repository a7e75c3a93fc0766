#include "ranks/tree_sums.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "parallel/parallel.hpp"

namespace bdl {
namespace {

template <class T>
void add_to(const T* from, Index size, T* to) {
  for_each_index(size, [=](Index i) BDL_INLINE_LAMBDA { to[i] += from[i]; });
}

/// Adds up the tree below `node` and returns the sum, in memory of the leftmost leaf. leaf(node, values)
/// returns true, and sets the values, for a node that is not split further.
template <class T, class Leaf>
T* sum_nodes(const ShardRange& node, Index size, Leaf& leaf) {
  T* there = nullptr;
  if (leaf(node, there)) return there;
  T* const left = sum_nodes<T>({node.first, middle(node)}, size, leaf);
  add_to(sum_nodes<T>({middle(node), node.end}, size, leaf), size, left);
  return left;
}

/// Copies data that may be misaligned; null pointers are allowed if there are no bytes.
void copy_bytes(const void* from, Index bytes, void* to) {
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace

template <class T>
void TreeSums<T>::reserve(Index rank, Index ranks, Index shards, Index values, Index numbers) {
  rank_ = rank;
  ranks_ = ranks;
  shards_ = shards;
  size_ = values;
  count_ = numbers;
  own_ = shards_of(rank, ranks, shards);
  nodes_ = count_nodes(own_, shards);
  const Index slots = nodes_ + depth_of(own_.count()) - 1;
  values_.reserve(slots * size_);
  numbers_.reserve(slots * count_);
  results_.reserve(count_);
  if (ranks == 1) return;
  all_nodes_ = largest_slice_ = 0;
  Index most_nodes = 0;
  for (Index r = 0; r < ranks; ++r) {
    const Index nodes = count_nodes(shards_of(r, ranks, shards), shards);
    all_nodes_ += nodes;
    most_nodes = std::max(most_nodes, nodes);
    largest_slice_ = std::max(largest_slice_, slice(r).count());
  }
  sizes_.reserve(ranks);
  all_numbers_.reserve(all_nodes_ * count_);
  const Index part = halves() ? (size_ + 1) / 2 : most_nodes * largest_slice_;
  const Index sum = nodes_ * count_ * bytes_of<double> + largest_slice_ * bytes_of<T>;
  send_.reserve(prefix_bytes + std::max(part * bytes_of<T>, sum));
  receive_.reserve(
      std::max(prefix_bytes + part * bytes_of<T>,
               ranks * prefix_bytes + all_nodes_ * count_ * bytes_of<double> + size_ * bytes_of<T>));
  if (!halves()) others_.reserve(all_nodes_ * largest_slice_);
}

/// True if ranks can exchange halves: each has one node, whose sibling is its neighbour's, and so on up.
template <class T>
bool TreeSums<T>::halves() const {
  return std::has_single_bit(static_cast<std::uint64_t>(ranks_)) &&
         std::has_single_bit(static_cast<std::uint64_t>(shards_));
}

/// Returns the slice that a rank ends with: the lower rank of a pair keeps the first half, the other the
/// second.
template <class T>
ShardRange TreeSums<T>::halved_slice(Index rank) const {
  ShardRange slice{0, size_};
  for (Index bit = 1; bit < ranks_; bit *= 2)
    slice = (rank & bit) == 0 ? ShardRange{slice.first, middle(slice)} : ShardRange{middle(slice), slice.end};
  return slice;
}

template <class T>
ShardRange TreeSums<T>::slice(Index rank) const {
  return halves() ? halved_slice(rank) : part_of(rank, ranks_, size_);
}

template <class T>
void TreeSums<T>::add(const Summand<T>& right, const Summand<T>& left) {
  add_to(right.values.data(), std::ssize(left.values), left.values.data());
  for (std::size_t i = 0; i < left.numbers.size(); ++i) left.numbers[i] += right.numbers[i];
}

template <class T>
void TreeSums<T>::finish(Team& team) {
  if (ranks_ > 1) {
    halves() ? exchange_halves(team) : exchange_in_turn(team);
    return gather(team);
  }
  std::copy_n(numbers_.data(), count_, results_.data());
}

/// Exchanges halves with near ranks first. The order within a pair is free, since addition commutes.
template <class T>
void TreeSums<T>::exchange_halves(Team& team) {
  ShardRange here{0, size_};
  for (Index bit = 1; bit < ranks_; bit *= 2) {
    const ShardRange low{here.first, middle(here)}, high{middle(here), here.end};
    const bool is_lower = (rank_ & bit) == 0;
    const ShardRange &kept = is_lower ? low : high, &given = is_lower ? high : low;
    copy_bytes(values_.data() + given.first, given.count() * bytes_of<T>, send_.data() + prefix_bytes);
    team.exchange(rank_ ^ bit, send_.first(prefix_bytes + given.count() * bytes_of<T>),
                  receive_.first(prefix_bytes + kept.count() * bytes_of<T>));
    add_to(reinterpret_cast<const T*>(receive_.data() + prefix_bytes), kept.count(),
           values_.data() + kept.first);
    here = kept;
  }
}

/// Exchanges in rounds of pairs, as in a tournament in which each rank meets each other once. Then others_
/// has this rank's slice of all ranks' nodes, in the order of the tree.
template <class T>
void TreeSums<T>::exchange_in_turn(Team& team) {
  const ShardRange own = slice(rank_);
  const auto place_of = [&](Index rank) {
    Index nodes = 0;
    for (Index r = 0; r < rank; ++r) nodes += count_nodes(shards_of(r, ranks_, shards_), shards_);
    return others_.data() + nodes * own.count();
  };
  for (Index k = 0; k < nodes_; ++k)
    std::copy_n(values_.data() + k * size_ + own.first, own.count(), place_of(rank_) + k * own.count());
  for (Index round = 0; round < ranks_; ++round) {
    const Index peer = (round + ranks_ - rank_) % ranks_;
    if (peer == rank_) {
      team.skip_exchange();
      continue;
    }
    const ShardRange given = slice(peer);
    const Index peer_nodes = count_nodes(shards_of(peer, ranks_, shards_), shards_);
    for (Index k = 0; k < nodes_; ++k)
      copy_bytes(values_.data() + k * size_ + given.first, given.count() * bytes_of<T>,
                 send_.data() + prefix_bytes + k * given.count() * bytes_of<T>);
    const Index bytes = peer_nodes * own.count() * bytes_of<T>;
    team.exchange(peer, send_.first(prefix_bytes + nodes_ * given.count() * bytes_of<T>),
                  receive_.first(prefix_bytes + bytes));
    copy_bytes(receive_.data() + prefix_bytes, bytes, place_of(peer));
  }
  combine_slice();
}

template <class T>
void TreeSums<T>::combine_slice() {
  const ShardRange own = slice(rank_);
  Index rank = 0, place = 0;
  const auto leaf = [&](const ShardRange& node, T*& numbers) {
    const ShardRange range = shards_of(rank, ranks_, shards_);
    if (node.first < range.first || range.end < node.end) return false;
    if (node.end == range.end) ++rank;
    numbers = others_.data() + place++ * own.count();
    return true;
  };
  const T* const sum = sum_nodes<T>({0, shards_}, own.count(), leaf);
  std::copy_n(sum, own.count(), values_.data() + own.first);
}

/// Gathers the finished slices, and before them the doubles of every rank.
template <class T>
void TreeSums<T>::gather(Team& team) {
  const auto bytes_from = [&](Index rank) {
    return prefix_bytes + count_nodes(shards_of(rank, ranks_, shards_), shards_) * count_ * bytes_of<double> +
           slice(rank).count() * bytes_of<T>;
  };
  Index all = 0;
  for (Index r = 0; r < ranks_; ++r) all += sizes_.data()[r] = bytes_from(r);
  const ShardRange own = slice(rank_);
  const Index number_bytes = nodes_ * count_ * bytes_of<double>;
  copy_bytes(numbers_.data(), number_bytes, send_.data() + prefix_bytes);
  copy_bytes(values_.data() + own.first, own.count() * bytes_of<T>,
             send_.data() + prefix_bytes + number_bytes);
  team.gather(send_.first(bytes_from(rank_)), receive_.first(all), std::as_const(sizes_).first(ranks_));
  const std::byte* from = receive_.data();
  double* numbers = all_numbers_.data();
  for (Index r = 0; r < ranks_; from += sizes_.data()[r], ++r) {
    const Index here = count_nodes(shards_of(r, ranks_, shards_), shards_) * count_;
    copy_bytes(from + prefix_bytes, here * bytes_of<double>, numbers);
    numbers += here;
    copy_bytes(from + prefix_bytes + here * bytes_of<double>, slice(r).count() * bytes_of<T>,
               values_.data() + slice(r).first);
  }
  combine_numbers();
}

template <class T>
void TreeSums<T>::combine_numbers() {
  Index rank = 0, place = 0;
  const auto leaf = [&](const ShardRange& node, double*& numbers) {
    const ShardRange range = shards_of(rank, ranks_, shards_);
    if (node.first < range.first || range.end < node.end) return false;
    if (node.end == range.end) ++rank;
    numbers = all_numbers_.data() + place++ * count_;
    return true;
  };
  std::copy_n(sum_nodes<double>({0, shards_}, count_, leaf), count_, results_.data());
}

template class TreeSums<float>;
template class TreeSums<double>;

}  // namespace bdl
