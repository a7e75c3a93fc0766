#include "curvature/spread_rows.hpp"

#include <algorithm>

namespace bdl {
namespace {

/// Columns of the lower triangle of A, one after the other.
double* write_lower(ConstMatrixView<double> a, double* to) {
  for (Index j = 0; j < a.cols; ++j) to = std::copy_n(a.column_data(j) + j, a.rows - j, to);
  return to;
}

void add_lower(const double* from, MatrixView<double> out) {
  for (Index j = 0; j < out.cols; ++j)
    for (Index i = j; i < out.rows; ++i) out(i, j) += *from++;
}

}  // namespace

/// So many that messages are long, and the tree's nodes not as large as all of them.
template <class T>
Index SpreadRows<T>::vectors_together(Index dimension, Index vectors) {
  constexpr Index least = 8, numbers = 1 << 22;
  return std::min(vectors, std::max(least, numbers / std::max<Index>(dimension, 1)));
}

template <class T>
void SpreadRows<T>::reserve(Index dimension, const RowsUse& use, const Team& team, Index shards) {
  const Index vectors = vectors_together(dimension, std::max<Index>(use.vectors, 1));
  sums_->values.reserve(team.rank(), team.size(), shards, vectors * dimension, triangle(use.vectors));
  if (use.outer > 0) reserve_outer(use.outer, team, shards);
  members_.reserve(static_cast<std::size_t>(shards));
}

template <class T>
void SpreadRows<T>::reserve_outer(Index dimension, const Team& team, Index shards) {
  sums_->outer.reserve(team.rank(), team.size(), shards, triangle(dimension), 0);
  sums_->matrix.reserve(dimension * dimension);
}

template <class T>
void SpreadRows<T>::begin(Index dimension, const RowsCost& all, Team& team, Index shards) {
  dimension_ = dimension;
  all_ = all;
  team_ = &team;
  shards_ = shards;
  own_ = shards_of(team.rank(), team.size(), shards);
  members_.clear();
}

template <class T>
void SpreadRows<T>::add(Rows<T>& rows) {
  members_.push_back({&rows, count(), rows.count()});
}

/// With others, a failure waits for the next message.
template <class T>
template <class Work>
void SpreadRows<T>::attempt(Work&& work) {
  team_->size() > 1 ? team_->attempt(work) : work();
}

/// fill(member, shard, summand) of each own shard.
template <class T>
template <class Value, class Fill>
void SpreadRows<T>::add_up(TreeSums<Value>& sums, Index values, Index numbers, Fill&& fill) {
  attempt([&] { sums.reserve(team_->rank(), team_->size(), shards_, values, numbers); });
  if (team_->size() > 1) team_->vote();
  attempt(
      [&] { sums.add_own([&](Index shard, const Summand<Value>& to) { fill(member(shard), shard, to); }); });
  sums.finish(*team_);
}

template <class T>
void SpreadRows<T>::sum(ConstSpan<T> c, std::span<T> out) {
  add_up(sums_->values, dimension_, 0,
         [&](const Member& m, Index, const Summand<T>& to) { m.rows->sum(m.own(c), to.values); });
  std::ranges::copy(sums_->values.values(), out.begin());
}

template <class T>
void SpreadRows<T>::combine(ConstMatrixView<T> w, MatrixView<T> out) {
  combine_then(w, out, [](Index, Index, MatrixView<T>) {});
}

template <class T>
void SpreadRows<T>::sum_squares(ConstSpan<T> w, std::span<T> out) {
  sum_squares_then(w, out, [](Index, Index, MatrixView<T>) {});
}

template <class T>
void SpreadRows<T>::combine_then(ConstMatrixView<T> w, MatrixView<T> out, AddMore more) {
  const Index together = vectors_together(dimension_, out.cols);
  for (Index column = 0; column < out.cols; column += together) {
    const Index some = std::min(together, out.cols - column);
    add_up(sums_->values, dimension_ * some, 0, [&](const Member& m, Index shard, const Summand<T>& to) {
      const MatrixView<T> sum(to.values.data(), dimension_, some);
      const ShardRange range = part_of(shard, shards_, dimension_);
      m.rows->combine(w.block(m.first, column, m.count, some), sum);
      more(range.first, column, sum.block(range.first, 0, range.count(), some));
    });
    for (Index k = 0; k < some; ++k)
      std::copy_n(sums_->values.values().data() + k * dimension_, dimension_, out.column_data(column + k));
  }
}

template <class T>
void SpreadRows<T>::sum_squares_then(ConstSpan<T> w, std::span<T> out, AddMore more) {
  add_up(sums_->values, dimension_, 0, [&](const Member& m, Index shard, const Summand<T>& to) {
    const ShardRange range = part_of(shard, shards_, dimension_);
    m.rows->sum_squares(m.own(w), to.values);
    more(range.first, 0, {to.values.data() + range.first, range.count(), 1, dimension_});
  });
  std::ranges::copy(sums_->values.values(), out.begin());
}

template <class T>
void SpreadRows<T>::project(ConstMatrixView<T> u, MatrixView<T> out) {
  for (const Member& m : members_) m.rows->project(u, out.columns(m.first, m.count));
}

template <class T>
void SpreadRows<T>::for_each_group(FunctionRef<void(Index first, Index count)> visit) const {
  for (const Member& m : members_) visit(m.first, m.count);
}

template <class T>
void SpreadRows<T>::add_products(ConstMatrixView<T> p, MatrixView<double> out) {
  add_up(sums_->values, 0, triangle(p.rows), [&](const Member& m, Index, const Summand<T>& to) {
    double* sum = to.numbers.data();
    for (Index j = 0; j < p.rows; ++j)
      for (Index i = j; i < p.rows; ++i, ++sum) {
        *sum = 0;
        for (Index r = m.first; r < m.end(); ++r)
          *sum += static_cast<double>(p(i, r)) * static_cast<double>(p(j, r));
      }
  });
  add_lower(std::as_const(sums_->values).numbers().data(), out);
}

template <class T>
void SpreadRows<T>::add_outer(ConstSpan<T> w, MatrixView<double> out) {
  attempt([&] { reserve_outer(dimension_, *team_, shards_); });
  add_up(sums_->outer, triangle(dimension_), 0, [&](const Member& m, Index, const Summand<double>& to) {
    const auto matrix = sums_->matrix.matrix(dimension_, dimension_);
    std::fill_n(matrix.data, matrix.size(), 0.0);
    m.rows->add_outer(m.own(w), matrix);
    write_lower(matrix, to.values.data());
  });
  add_lower(std::as_const(sums_->outer).values().data(), out);
}

template <class T>
Rows<T>& SpreadRows<T>::part(Index offset, Index size) {
  auto found = std::ranges::find_if(
      parts_, [=](const Part& part) { return part.offset == offset && part.size == size; });
  if (found == parts_.end()) {
    found = parts_.insert(found, {offset, size, std::make_unique<SpreadRows>()});
    found->rows->sums_ = sums_;
  }
  SpreadRows& part = *found->rows;
  part.begin(size, {all_.count, 0, 0}, *team_, shards_);
  for (const Member& m : members_) part.add(m.rows->part(offset, size));
  return part;
}

template class SpreadRows<float>;
template class SpreadRows<double>;

}  // namespace bdl
