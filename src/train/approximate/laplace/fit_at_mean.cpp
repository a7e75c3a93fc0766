#include "train/approximate/laplace/fit_at_mean.hpp"

#include <algorithm>
#include <cmath>

#include "curvature/data_rows.hpp"
#include "curvature/seeds.hpp"
#include "ranks/tree_sums.hpp"

namespace bdl {

template <class T>
FitAtMean fit_at_mean(const Model<T>& model, const Posterior<T>& q, const SharedData& shared) {
  const Index targets = model.likelihood.targets(), dimension = q.dimension();
  const double weight = shared.weight();
  TreeSums<double> sums;
  sums.reserve(shared.team.rank(), shared.team.size(), shared.shards, dimension + 4 * targets + 1, 0);
  add_up(shared.team, sums, [&](Index shard, std::span<double> out) {
    const ShardRange examples = part_of(shard, shared.shards, shared.data.rows());
    std::ranges::fill(out, 0.0);
    if (examples.count() == 0) return;
    RowRange own(shared.data, examples.first, examples.count());
    SeedSpec seeds{CurvatureKind::empirical_fisher, weight};
    seeds.statistics = {q.statistics(), {}};
    DataChunks<T> chunks(model, q.mean(), own, seeds);
    Buffer<T> gradient(dimension);
    std::vector<double> errors(static_cast<std::size_t>(targets));
    double* const numbers = out.data() + dimension;
    chunks.for_each([&](const Estimate<T>& estimate, Index) {
      estimate.rows->sum(estimate.c, gradient.first(dimension));
      for (Index j = 0; j < dimension; ++j) out[at(j)] += static_cast<double>(gradient.data()[j]);
      const ConstMatrixView<T> f = chunks.estimator().outputs(), y = chunks.targets(f.cols);
      numbers[2 * targets] += weight * estimate.expected_log_likelihood;
      if (model.likelihood.has_noise_precision()) {
        sum_squared_errors(model.likelihood, f, y, errors);
        for (Index c = 0; c < targets; ++c) numbers[c] += weight * errors[at(c)];
      }
      for (Index i = 0; i < y.cols; ++i)
        for (Index c = 0; c < targets; ++c) {
          const auto value = static_cast<double>(y(c, i));
          if (std::isnan(value)) continue;
          const double times = weight * model.likelihood.weight(y.column_data(i));
          numbers[targets + c] += times;
          numbers[2 * targets + 1 + c] += times * value;
          numbers[3 * targets + 1 + c] += times * value * value;
        }
    });
  });
  const ConstSpan<double> all = std::as_const(sums).values();
  const double* const numbers = all.data() + dimension;
  double squares = 0, count = 0;
  for (Index c = 0; c < targets; ++c) {
    const double seen = numbers[targets + c], sum = numbers[2 * targets + 1 + c];
    squares += seen > 0 ? numbers[3 * targets + 1 + c] - sum * sum / seen : 0;
    count += seen;
  }
  return {numbers[2 * targets],
          {numbers, numbers + targets},
          {numbers + targets, numbers + 2 * targets},
          {all.begin(), all.begin() + dimension},
          squares / std::max(count, 1.0)};
}

template FitAtMean fit_at_mean(const Model<float>&, const Posterior<float>&, const SharedData&);
template FitAtMean fit_at_mean(const Model<double>&, const Posterior<double>&, const SharedData&);

}  // namespace bdl
