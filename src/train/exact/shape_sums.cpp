// Sums over the rows of a data set by which the shape of a density is learned (likelihood/shape.hpp).
#include <algorithm>

#include "likelihood/shape.hpp"
#include "parallel/parallel.hpp"
#include "train/exact/exact_sums.hpp"

namespace bdl {

/// Adds up what add(rows, is_first, out) adds for each block of a shard.
template <class Add>
void ExactSums::add_shape_rows(Team& team, Add&& add) {
  team.vote();
  team.attempt([&] {
    const Interruptible work;
    sums_.add_own([&](Index shard, const Summand<double>& out) {
      std::ranges::fill(out.values, 0.0);
      std::ranges::fill(out.numbers, 0.0);
      for_each_block(shard, [&](const ShardRange& rows, bool is_first) { add(rows, is_first, out); });
    });
  });
  finish(team);
}

ConstSpan<double> ExactSums::shape_sums(const Posterior<double>& q, Team& team) {
  begin(HessianSum::none, 0, shape_sum_count(model_.likelihood));
  add_shape_rows(team, [&](const ShardRange& rows, bool, const Summand<double>& out) {
    add_shape(q, rows, out.numbers);
  });
  return sums_.numbers();
}

MatrixView<double> ExactSums::shape_couplings(const Posterior<double>& q, Team& team) {
  const Index size = std::ssize(model_.likelihood.shape());
  sums_.reserve(shares_.rank, shares_.ranks, shares_.shards, dimension() * size, 1);
  add_shape_rows(team, [&](const ShardRange& rows, bool is_first, const Summand<double>& out) {
    add_couplings(q, rows, is_first, {out.values.data(), dimension(), size});
  });
  return {sums_.values().data(), dimension(), size};
}

/// Rows are summed in parts of equal size, and these in order, so that no bit depends on the number of
/// threads.
void ExactSums::add_shape(const Posterior<double>& q, const ShardRange& rows, std::span<double> out) {
  constexpr Index part_rows = 64;
  const Index count = rows.count(), parts = (count + part_rows - 1) / part_rows, size = std::ssize(out);
  estimator_->find_outputs(q, std::as_const(x_).matrix(model_.inputs(), count));
  const auto y = std::as_const(y_).matrix(columns(), count);
  const ConstSpan<double> means = estimator_->means(count), variances = estimator_->variances(count);
  const auto sums = shape_parts_.matrix(size, parts);
  std::fill_n(sums.data, sums.size(), 0.0);
  parallel_blocks(parts, 1, [&](Index first, Index some) noexcept {
    for (Index p = first; p < first + some; ++p)
      for (Index i = p * part_rows; i < std::min(count, (p + 1) * part_rows); ++i)
        add_expected_shape_terms(model_.likelihood, means[static_cast<std::size_t>(i)],
                                 variances[static_cast<std::size_t>(i)], y(0, i),
                                 model_.likelihood.weight(y.column_data(i)), sums.column(p));
  });
  for (Index p = 0; p < parts; ++p) std::ranges::transform(sums.column(p), out, out.begin(), std::plus<>());
}

void ExactSums::add_couplings(const Posterior<double>& q, const ShardRange& rows, bool is_first,
                              MatrixView<double> out) {
  const Index count = rows.count();
  const auto y = std::as_const(y_).matrix(columns(), count);
  estimate_ = estimator_->estimate(q, std::as_const(x_).matrix(model_.inputs(), count), y, 1, rows.first,
                                   ExampleLoss::of_many);
  const ConstSpan<double> means = estimator_->means(count), variances = estimator_->variances(count);
  const auto weighted = weighted_.matrix(count, out.cols);
  std::vector<double> row(static_cast<std::size_t>(out.cols));
  for (Index i = 0; i < count; ++i) {
    std::ranges::fill(row, 0.0);
    add_shape_couplings(model_.likelihood, means[static_cast<std::size_t>(i)],
                        variances[static_cast<std::size_t>(i)], y(0, i),
                        model_.likelihood.weight(y.column_data(i)), row);
    for (Index k = 0; k < out.cols; ++k) weighted(i, k) = row[static_cast<std::size_t>(k)];
  }
  const MatrixView<double> to(is_first ? out.data : part_.first(out.size()).data(), out.rows, out.cols);
  estimate_.rows->combine(weighted, to);
  if (!is_first) std::transform(to.data, to.data + to.size(), out.data, out.data, std::plus<>());
}

}  // namespace bdl
