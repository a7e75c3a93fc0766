// Running statistics of layers that normalise, batch norm's: of n channels, layer after layer, n means and
// then n variances. They are learned with the parameters, and belong to the posterior.
#pragma once

#include "base/view.hpp"

namespace bdl {

struct Statistics {
  ConstSpan<double> running{};  ///< what predictions normalise by
  /// In training, what the minibatch's own statistics are averaged into, sample after sample; layers then
  /// normalise by those of the minibatch.
  std::span<double> learned{};

  bool trains() const { return !learned.empty(); }
  Index size() const { return std::ssize(trains() ? ConstSpan<double>(learned) : running); }
};

/// Of one layer, from channel `first` on.
template <class Values>
struct ChannelStatistics {
  Values mean, variance;
  ChannelStatistics(Values all, Index first)
      : mean(all.subspan(static_cast<std::size_t>(first))),
        variance(all.subspan(all.size() / 2 + static_cast<std::size_t>(first))) {}
};

}  // namespace bdl
