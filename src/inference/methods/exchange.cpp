#include "inference/methods/exchange.hpp"

#include "inference/methods/rule.hpp"

namespace bdl {
namespace {

/// A core's flops in the time of a byte: between a network's and memory's.
constexpr double flops_per_byte = 12;

/// With fewer rows, exact eigenpairs are cheap.
constexpr Index least_rows = 1000;

double as_double(Index value) {
  return static_cast<double>(value);
}

ProjectionSize projection_size(const Combination& c, const ExchangeSize& size) {
  const double u_flops = 2 * as_double(size.dimension) * as_double(c.rank);
  return {size.dimension, c.rank + size.rows.count, c.rank, size.rows.gram_flops,
          size.rows.product_flops + u_flops};
}

/// Of what is made of the rows, but for their sum and the sum of their squares.
struct Made {
  ProjectionCost flops;
  double bytes = 0;
};

/// U of a low-rank posterior.
Made low_rank_cost(const Combination& c, const ExchangeSize& size, Exchange exchange) {
  const ProjectionSize projected = projection_size(c, size);
  ProjectionOptions options = projection_options(c.options);
  options.spread = exchange == Exchange::sums;
  const EigenMethod method = choose_method(projected, options);
  const double n = as_double(size.rows.count), d = as_double(size.dimension),
               t = as_double(size.number_bytes), columns = as_double(basis_columns(projected, options)),
               passes = as_double(options.passes);
  double bytes = t * d * as_double(c.rank);
  if (exchange == Exchange::sums)
    bytes = method == EigenMethod::outer ? 8 * d * (d + 1) : 2 * (bytes + t * d * columns * passes);
  else if (method == EigenMethod::gram)
    bytes += 4 * n * (n + 1) + 2 * t * as_double(c.rank) * n;
  else if (method == EigenMethod::randomized)
    bytes += t * columns * (d * passes + 2 * n * (passes + 1));
  return {projection_cost(projected, options), bytes};
}

Made full_cost(const ExchangeSize& size, Exchange exchange) {
  const double d = as_double(size.dimension), flops = as_double(size.rows.count) * d * d;
  if (exchange == Exchange::sums) return {{flops, 0}, 8 * d * (d + 1)};
  return {{0, flops}, 0};
}

}  // namespace

const char* why_not_sums(const Combination& c) {
  const Options& options = c.options;
  if (options.curvature == EstimateKind::exact_hess) return "exact expectations are of the whole minibatch";
  if (options.curvature == EstimateKind::mc_hess || options.curvature == EstimateKind::mc_reparam)
    return "the method's curvature is not made of rows";
  if (c.family == Family::kronecker) return "Kronecker factors are made of the rows of the whole minibatch";
  if (c.family == Family::low_rank && options.mean_update == MeanUpdateOption::unprojected)
    return "mean_update \"unprojected\" takes whole rows";
  if (!c.is_low_rank()) return nullptr;
  if (descent_of(options.rule) == Descent::plain)
    return "plain gradients of a low-rank posterior take whole rows";
  if (options.eigen_method == EigenMethod::gram) return "eigen_method \"gram\" takes pairs of rows";
  return nullptr;
}

double exchange_cost(const Combination& c, const ExchangeSize& size, Exchange exchange) {
  Made made;
  if (c.is_low_rank())
    made = low_rank_cost(c, size, exchange);
  else if (!c.is_diagonal())
    made = full_cost(size, exchange);
  const double sums = 2 * as_double(size.number_bytes) * as_double(size.dimension),
               bytes = made.bytes + (exchange == Exchange::sums ? 2 * sums : sums + size.row_bytes);
  return made.flops.shared / as_double(size.shards) + made.flops.alone + flops_per_byte * bytes;
}

Exchange choose_exchange(const Combination& c, const ExchangeSize& size) {
  const bool is_small = size.rows.count < least_rows;
  if (is_small || why_not_sums(c)) return Exchange::rows;
  return exchange_cost(c, size, Exchange::sums) < exchange_cost(c, size, Exchange::rows) ? Exchange::sums
                                                                                         : Exchange::rows;
}

}  // namespace bdl
