#include "train/exact/exact_sums.hpp"

#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"
#include "likelihood/expected_loss.hpp"
#include "linalg/blas.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// Number of elements in a block's inputs, which should stay in the cache. A block may have D rows in any
/// case: it is then no larger than a D x D sum.
constexpr Index numbers_together = Index{1} << 18;

Index largest_shard(const RowShares& shares) {
  return (shares.rows + shares.shards - 1) / shares.shards;
}

Index count_sums(HessianSum of_h, Index dimension, Index vectors) {
  switch (of_h) {
    case HessianSum::none:
      return dimension;
    case HessianSum::diagonal:
      return 2 * dimension;
    case HessianSum::matrix:
      return dimension * (1 + dimension);
    case HessianSum::products:
      break;
  }
  return dimension * (2 + vectors);
}

}  // namespace

ExactSums::ExactSums(const Network<double>& model, const RowShares& shares)
    : model_(model), shares_(shares), block_(std::min(largest_shard(shares), most_rows(model.parameters()))) {
  if (model.outputs() == 1)
    estimator_.emplace(model);
  else
    several_.emplace(model);
}

Index ExactSums::most_rows(Index dimension) {
  return std::max(dimension, numbers_together / dimension);
}

bool ExactSums::has_rows(const RowShares& shares, Index dimension) {
  return shares.shards == 1 && shares.rows <= most_rows(dimension);
}

void ExactSums::read_from(DataSet& data, const Standardization& units) {
  data_ = &data;
  units_ = &units;
  has_gram_ = false;
  if (is_in_memory())
    data.fetch({0, rows()}, units, x_.matrix(model_.inputs(), rows()), y_.matrix(columns(), rows()));
}

void ExactSums::begin(HessianSum of_h, Index vectors, Index numbers) {
  of_h_ = of_h;
  vectors_ = vectors;
  const Index of_noise = 1 + 3 * noises() + pairs();
  sums_.reserve(shares_.rank, shares_.ranks, shares_.shards, count_sums(of_h, dimension(), vectors),
                std::max(numbers, of_noise));
}

/// Adds up the shards of all ranks. A single rank sends no messages, so a vote must throw its failure.
void ExactSums::finish(Team& team) {
  sums_.finish(team);
  if (shares_.ranks == 1) team.vote();
}

void ExactSums::evaluate(const Posterior<double>& q, HessianSum of_h, ConstMatrixView<double> y, Team& team,
                         ExampleLoss loss) {
  begin(of_h, y.cols);
  const bool uses_gram = has_gram_ && keeps_gram();
  loss_ = uses_gram                                       ? ExampleLoss::at_mean
          : loss == ExampleLoss::exact && !is_in_memory() ? ExampleLoss::of_many
                                                          : loss;
  spread_ = of_spread_ = 0;
  team.vote();
  team.attempt([&] {
    const Interruptible work;
    if (several_) several_->begin(q);
    sums_.add_own([&](Index shard, const Summand<double>& out) {
      std::ranges::fill(out.values, 0.0);
      std::ranges::fill(out.numbers, 0.0);
      for_each_block(shard,
                     [&](const ShardRange& rows, bool is_first) { add_block(q, rows, y, is_first, out); });
    });
  });
  finish(team);
  if (uses_gram)
    use_gram(q);
  else if (keeps_gram())
    keep_gram();
}

/// True if H is a known multiple of a matrix that is worth keeping.
bool ExactSums::keeps_gram() const {
  return of_h_ == HessianSum::matrix && !several_ && !is_in_memory() && noises() > 0;
}

void ExactSums::keep_gram() {
  const MatrixView<double> h = matrix(), gram = gram_.matrix(dimension(), dimension());
  const double precision = model_.likelihood.noise_precision(0);
  std::transform(h.data, h.data + h.size(), gram.data, [=](double value) { return value / precision; });
  mirror_lower(gram);
  has_gram_ = true;
}

void ExactSums::use_gram(const Posterior<double>& q) {
  const Interruptible work;
  const double precision = model_.likelihood.noise_precision(0);
  const auto gram = gram_.matrix(dimension(), dimension()),
             product = product_.matrix(dimension(), dimension());
  const MatrixView<double> h = matrix();
  std::copy_n(gram.data, gram.size(), product.data);
  q.solve(product, scratch_);
  for (Index j = 0; j < dimension(); ++j) spread_ += product(j, j);
  of_spread_ = precision * spread_ / 2;
  std::transform(gram.data, gram.data + gram.size(), h.data, [=](double value) { return precision * value; });
}

/// The first block writes the sums, the others add to them.
void ExactSums::add_block(const Posterior<double>& q, const ShardRange& rows, ConstMatrixView<double> y,
                          bool is_first, const Summand<double>& out) {
  if (several_) return add_several(rows, y, is_first, out);
  const Index count = rows.count();
  estimate_ = estimator_->estimate(q, std::as_const(x_).matrix(model_.inputs(), count),
                                   std::as_const(y_).matrix(columns(), count), 1, rows.first, loss_);
  out.numbers[0] += estimate_.expected_log_likelihood;
  if (noises() > 0) add_variances(count, out.numbers);
  const std::span<double> to = is_first ? out.values : part_.first(std::ssize(out.values));
  const auto size = static_cast<std::size_t>(dimension());
  estimate_.rows->sum(estimate_.c, to.first(size));
  write_hessian(y, to.subspan(size));
  if (!is_first) std::ranges::transform(to, out.values, out.values.begin(), std::plus<>());
}

Index ExactSums::noises() const {
  const Likelihood& likelihood = model_.likelihood;
  return likelihood.learns_gaussian_noise() ? std::ssize(likelihood.noise_precision()) : 0;
}

void ExactSums::add_variances(Index count, std::span<double> numbers) const {
  const ConstSpan<double> variances = estimator_->variances(count);
  for (Index i = 0; i < count; ++i) {
    const double* const y = y_.data() + i * columns();
    if (std::isnan(y[0])) continue;
    const double weight = model_.likelihood.weight(y);
    numbers[number_of(1, 0)] += weight;
    numbers[number_of(2, 0)] += weight * variances[static_cast<std::size_t>(i)];
  }
}

void ExactSums::add_several(const ShardRange& rows, ConstMatrixView<double> y, bool is_first,
                            const Summand<double>& out) {
  const Index count = rows.count();
  const auto targets = std::as_const(y_).matrix(columns(), count);
  out.numbers[0] +=
      several_->evaluate(std::as_const(x_).matrix(model_.inputs(), count), targets, rows.first, loss_);
  if (noises() > 0) several_->add_errors(targets, noises(), out.numbers.subspan(1));
  if (pairs() > 0) several_->add_products(targets, out.numbers.subspan(number_of(3, 0)));
  const std::span<double> to = is_first ? out.values : part_.first(std::ssize(out.values));
  const auto size = static_cast<std::size_t>(dimension());
  several_->write_slope(to.first(size));
  write_several_hessian(y, to.subspan(size));
  if (!is_first) std::ranges::transform(to, out.values, out.values.begin(), std::plus<>());
}

void ExactSums::write_several_hessian(ConstMatrixView<double> y, std::span<double> out) {
  if (of_h_ == HessianSum::none) return;
  if (of_h_ == HessianSum::matrix) return several_->write_matrix({out.data(), dimension(), dimension()});
  several_->write_diagonal(out.first(static_cast<std::size_t>(dimension())));
  if (y.cols > 0) several_->write_products(y, {out.data() + dimension(), dimension(), y.cols});
}

void ExactSums::write_hessian(ConstMatrixView<double> y, std::span<double> out) {
  ExampleRows<double>& rows = *estimate_.rows;
  const auto size = static_cast<std::size_t>(dimension());
  if (of_h_ == HessianSum::matrix) {
    std::ranges::fill(out, 0.0);
    if (loss_ == ExampleLoss::at_mean) return;
    return rows.add_outer(estimate_.w, {out.data(), dimension(), dimension()});
  }
  if (of_h_ == HessianSum::none) return;
  rows.sum_squares(estimate_.w, out.first(size));
  if (y.cols == 0) return;
  const Index count = rows.count();
  const auto projected = projected_.matrix(y.cols, count), weighted = weighted_.matrix(count, y.cols);
  rows.project(y, projected);
  for (Index k = 0; k < y.cols; ++k)
    for (Index i = 0; i < count; ++i)
      weighted(i, k) = estimate_.w[static_cast<std::size_t>(i)] * projected(k, i);
  rows.combine(weighted, {out.data() + size, dimension(), y.cols});
}

ConstSpan<double> ExactSums::typical_precision(ConstSpan<double> start, Team& team) {
  begin(HessianSum::none, 0);
  team.vote();
  team.attempt([&] {
    sums_.add_own([&](Index shard, const Summand<double>& out) {
      if (shard == 0)
        std::ranges::copy(start, out.values.begin());
      else
        std::ranges::fill(out.values, 0.0);
      for_each_block(shard, [&](const ShardRange& rows, bool) { add_typical(rows, out.values); });
    });
  });
  finish(team);
  return sums_.values();
}

void ExactSums::add_typical(const ShardRange& rows, std::span<double> out) const {
  if (several_)
    return several_->add_typical(x_.matrix(model_.inputs(), rows.count()), y_.matrix(columns(), rows.count()),
                                 out);
  const DenseShape& layer = exact_layer(model_);
  const ConstMatrixView<double> x = model_.graph()->features(x_.matrix(model_.inputs(), rows.count()));
  const auto y = y_.matrix(columns(), rows.count());
  for (Index i = 0; i < x.cols; ++i) {
    const double b =
        model_.likelihood.weight(y.column_data(i)) * typical_curvature(model_.likelihood, y(0, i));
    for (Index j = 0; j < x.rows; ++j)
      out[static_cast<std::size_t>(layer.weight_offset + j)] += b * x(j, i) * x(j, i);
    if (layer.bias_offset >= 0) out[static_cast<std::size_t>(layer.bias_offset)] += b;
  }
}

}  // namespace bdl
