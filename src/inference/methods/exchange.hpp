// What shards give each other in steps that take the curvature rows of the whole minibatch
// (docs/distributed.md, "Rows or sums").
#pragma once

#include "curvature/rows.hpp"
#include "inference/methods/combination.hpp"

namespace bdl {

/// Of a step.
struct ExchangeSize {
  Index dimension = 0, shards = 1;
  RowsCost rows;
  double row_bytes = 0;    ///< of what all rows are made of
  Index number_bytes = 8;  ///< of a number of a vector
};

/// Why steps cannot do with sums over rows; null if they can.
const char* why_not_sums(const Combination& c);

/// Seconds, in units that both exchanges share; `exchange` is rows or sums.
double exchange_cost(const Combination& c, const ExchangeSize& size, Exchange exchange);

/// What option "exchange" means: a function of options, sizes and shards, never of ranks.
Exchange choose_exchange(const Combination& c, const ExchangeSize& size);

}  // namespace bdl
