#include "ranks/divided_rows.hpp"

#include <algorithm>
#include <cmath>

namespace bdl {
namespace {

/// The input of a bias, which counts as a layer with one input.
template <class T>
constexpr T one = 1;

/// Calls work(first parameter, number of parameters) for each block.
template <class T, class Work>
void for_each_share(const BlockedRows<T>& rows, Work&& work) {
  for (const auto& block : rows.blocks()) work(block.offset, block.rows->parameters());
}

/// Returns a shard's columns of a lower triangle, such that shards have about equal numbers of elements.
ShardRange columns_of(Index shard, Index shards, Index count) {
  const auto start = [&](Index v) {
    const double above = 1 - static_cast<double>(v) / static_cast<double>(shards);
    return count - static_cast<Index>(static_cast<double>(count) * std::sqrt(above));
  };
  return {start(shard), start(shard + 1)};
}

}  // namespace

template <class T>
void DividedRows<T>::assign(BlockedRows<T>& rows, Team& team, Index shards) {
  const RowsSize& size = rows.size();
  rows_ = &rows;
  team_ = &team;
  divide(rows, size, shards);
  for (Shard& shard : shards_) {
    for (const Cut& cut : shard.cuts) {
      const ConstMatrixView<T> e = cut.layer->sensitivities();
      if (cut.is_bias)
        cut.rows->view({&one<T>, 1, 1}, e, size.examples);
      else
        cut.rows->view(cut.layer->inputs(), e.block(cut.first, 0, cut.rows->layer().outputs, e.cols),
                       size.examples);
    }
    shard.rows->follow(rows);
  }
}

/// Gives every shard a range of the outputs of each dense layer; a layer of another kind goes whole to the
/// shard with the least work so far.
template <class T>
void DividedRows<T>::divide(const BlockedRows<T>& rows, const RowsSize& size, Index shards) {
  if (divided_ == &rows && std::ssize(shards_) == shards) return;
  divided_ = nullptr;
  shards_.clear();
  shards_.resize(at(shards));
  divides_gram_ = true;
  std::vector<std::vector<Block>> blocks(at(shards));
  std::vector<double> work(at(shards), 0.0);
  for (const Block& block : rows.blocks()) {
    const double flops = block.rows->cost(size.examples, size.samples, size.seeds).product_flops;
    if (const auto* const layer = dynamic_cast<const OuterRows<T>*>(block.rows)) {
      for (Index v = 0; v < shards; ++v) {
        const ShardRange outputs = part_of(v, shards, layer->layer().outputs);
        cut(*layer, block.offset, outputs, v == shards - 1, shards_[at(v)], blocks[at(v)]);
        work[at(v)] +=
            flops * static_cast<double>(outputs.count()) / static_cast<double>(layer->layer().outputs);
      }
      continue;
    }
    divides_gram_ = false;
    const auto v = static_cast<std::size_t>(std::ranges::min_element(work) - work.begin());
    blocks[v].push_back(block);
    shards_[v].parameters += block.rows->parameters();
    work[v] += flops;
  }
  for (std::size_t v = 0; v < blocks.size(); ++v) shards_[v].rows = rows.of_blocks(std::move(blocks[v]));
  divided_ = &rows;
}

/// Gives a shard the weights to these outputs of a layer and, if has_bias, the bias as a layer whose only
/// input is 1. Makes shapes only: assign() points them at numbers.
template <class T>
void DividedRows<T>::cut(const OuterRows<T>& layer, Index offset, const ShardRange& outputs, bool has_bias,
                         Shard& shard, std::vector<Block>& blocks) {
  const DenseShape& whole = layer.layer();
  const auto add = [&](const DenseShape& shape, Index first, bool is_bias, Index at_parameter) {
    if (shape.outputs == 0) return;
    Cut& made = shard.cuts.emplace_back(Cut{&layer, first, is_bias, std::make_unique<OuterRows<T>>(shape)});
    blocks.push_back({made.rows.get(), at_parameter});
    shard.parameters += shape.parameters();
  };
  add({whole.inputs, outputs.count(), 0, -1, whole.of_data}, outputs.first, false,
      offset + outputs.first * whole.inputs);
  if (has_bias && whole.has_bias()) add({1, whole.outputs, 0, -1, true}, 0, true, offset + whole.weights());
}

template <class T>
Index DividedRows<T>::gram_numbers(Index shard, Index count) const {
  const ShardRange columns = columns_of(shard, std::ssize(shards_), count);
  return triangle(count - columns.first) - triangle(count - columns.end);
}

/// Makes room for messages in which each shard has numbers_of(shard) numbers.
template <class T>
template <class U, class Numbers>
void DividedRows<T>::size_exchange(ShardExchange<U>& exchange, const Team& team, Numbers&& numbers_of) {
  Index v = 0;
  for (Index& numbers : exchange.numbers(std::ssize(shards_))) numbers = numbers_of(v++);
  exchange.reserve(team.rank(), team.size());
}

/// Runs the work. Among several ranks a failure is kept until the next message.
template <class T>
template <class Work>
void DividedRows<T>::attempt(Work&& work) {
  team_->size() > 1 ? team_->attempt(work) : work();
}

template <class T>
template <class Work>
void DividedRows<T>::begin(Work&& reserve) {
  attempt(reserve);
  if (team_->size() > 1) team_->vote();
}

/// Calls work(rows, out), which writes a shard's parameters of `out`, and sends them to all ranks.
template <class T>
template <class Work>
void DividedRows<T>::spread(MatrixView<T> out, Work&& work) {
  const auto rows_of = [&](Index v) -> BlockedRows<T>& { return *shards_[at(v)].rows; };
  parameters_.share(
      *team_, std::ssize(shards_), [&](Index v) { return shards_[at(v)].parameters * out.cols; },
      [&](const ShardRange& own) {
        for (Index v = own.first; v < own.end; ++v) work(rows_of(v), out);
      },
      [&](Index v, T* to) {
        for_each_share(rows_of(v), [&](Index offset, Index count) {
          for (Index k = 0; k < out.cols; ++k) to = std::copy_n(out.column_data(k) + offset, count, to);
        });
      },
      [&](Index v, const T* from) {
        for_each_share(rows_of(v), [&](Index offset, Index count) {
          for (Index k = 0; k < out.cols; ++k, from += count)
            std::copy_n(from, count, out.column_data(k) + offset);
        });
      });
}

template <class T>
void DividedRows<T>::sum(ConstSpan<T> c, std::span<T> out) {
  const ConstSpan<T> own = c.first(at(count()));
  combine({own.data(), count(), 1}, {out.data(), dimension(), 1});
  rows_->sum_points(0, own, out);
}

template <class T>
void DividedRows<T>::combine(ConstMatrixView<T> w, MatrixView<T> out) {
  spread(out, [&](BlockedRows<T>& rows, MatrixView<T> to) { rows.combine(w, to); });
  rows_->clear_points(out);
}

template <class T>
void DividedRows<T>::sum_squares(ConstSpan<T> w, std::span<T> out) {
  const MatrixView<T> all(out.data(), dimension(), 1);
  spread(all, [&](BlockedRows<T>& rows, MatrixView<T> to) { rows.sum_squares(w, to.column(0)); });
  rows_->clear_points(all);
}

/// Each element is a sum over all parameters, so shards are added up.
template <class T>
void DividedRows<T>::project(ConstMatrixView<T> u, MatrixView<T> out) {
  begin([&] { sums_.reserve(team_->rank(), team_->size(), std::ssize(shards_), u.cols * out.cols, 0); });
  attempt([&] {
    sums_.add_own([&](Index v, const Summand<T>& sum) {
      std::ranges::fill(sum.values, T(0));
      shards_[at(v)].rows->project(u, {sum.values.data(), u.cols, out.cols});
    });
  });
  sums_.finish(*team_);
  for (Index r = 0; r < out.cols; ++r)
    std::copy_n(sums_.values().data() + r * u.cols, u.cols, out.column_data(r));
}

template <class T>
void DividedRows<T>::gradient_squares(ConstSpan<T> z, ConstSpan<T> v, std::span<double> out) {
  begin([&] { sums_.reserve(team_->rank(), team_->size(), std::ssize(shards_), 0, std::ssize(out)); });
  attempt([&] {
    sums_.add_own([&](Index shard, const Summand<T>& sum) {
      std::ranges::fill(sum.numbers, 0.0);
      shards_[at(shard)].rows->gradient_squares(z, v, sum.numbers);
    });
  });
  sums_.finish(*team_);
  std::ranges::copy(std::as_const(sums_).numbers(), out.begin());
}

template <class T>
void DividedRows<T>::gram(MatrixView<double> out) {
  if (!divides_gram_) return rows_->gram(out);
  const Index shards = std::ssize(shards_), n = count();
  const auto columns = [=](Index v) { return columns_of(v, shards, n); };
  columns_.share(
      *team_, shards, [&](Index v) { return gram_numbers(v, n); },
      [&](const ShardRange& own) {
        for (Index v = own.first; v < own.end; ++v)
          for (const Block& block : rows_->blocks())
            dynamic_cast<OuterRows<T>&>(*block.rows)
                .gram_columns(columns(v).first, columns(v).count(), &block != &rows_->blocks().front(), out,
                              rows_->scratch());
      },
      [&](Index v, double* to) {
        for (Index s = columns(v).first; s < columns(v).end; ++s)
          to = std::copy_n(out.column_data(s) + s, n - s, to);
      },
      [&](Index v, const double* from) {
        for (Index s = columns(v).first; s < columns(v).end; from += n - s++)
          std::copy_n(from, n - s, out.column_data(s) + s);
      });
}

template class DividedRows<float>;
template class DividedRows<double>;

}  // namespace bdl
