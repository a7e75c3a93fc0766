#include "curvature/blocked_rows.hpp"

#include <algorithm>

#include "base/profile.hpp"
#include "curvature/dense_rows.hpp"

namespace bdl {
namespace {

template <class T, class Blocks>
RowsCost cost_of(const Blocks& blocks, Index examples, Index samples, Index seeds) {
  BlockCost cost;
  for (const auto& block : blocks) {
    const BlockCost own = block.rows->cost(examples, samples, seeds);
    cost.gram_flops += own.gram_flops;
    cost.product_flops += own.product_flops;
  }
  return rows_cost(examples * samples * seeds, cost);
}

/// Returns the rows of a matrix that belong to a block's parameters.
template <class View>
View share(View all, Index offset, Index size) {
  return all.block(offset, 0, size, all.cols);
}

template <class Values>
Values share_of(Values all, Index offset, Index size) {
  return all.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

}  // namespace

template <class T>
void BlockedRows<T>::assign(Index dimension, const RowsSize& size) {
  dimension_ = dimension;
  size_ = size;
  count_ = size.examples * size.samples * size.seeds;
  cost_ = cost_of<T>(blocks_, size.examples, size.samples, size.seeds);
}

template <class T>
void BlockedRows<T>::sum(ConstSpan<T> c, std::span<T> out) {
  combine({c.data(), count_, 1}, {out.data(), dimension_, 1});
  sum_points(0, c.first(static_cast<std::size_t>(count_)), out);
}

template <class T>
void BlockedRows<T>::sum_points(Index first, ConstSpan<T> c, std::span<T> out) const {
  for (const auto& [rows, offset] : points_) rows->sum(first, c, share_of(out, offset, rows->parameters()));
}

template <class T>
void BlockedRows<T>::point_squares(ConstSpan<T> w, std::span<T> out) const {
  Index first = 0;
  for (const auto& block : points_) {
    block.rows->sum_squares(w, share_of(out, first, block.rows->parameters()));
    first += block.rows->parameters();
  }
}

/// Sets the rows of point parameters to 0 in all columns.
template <class T>
void BlockedRows<T>::clear_points(MatrixView<T> out) const {
  for (const auto& [rows, offset] : points_)
    for (Index k = 0; k < out.cols; ++k) std::fill_n(out.column_data(k) + offset, rows->parameters(), T(0));
}

template <class T>
void BlockedRows<T>::sum_part(Index part, Index parts, ConstSpan<T> c, std::span<T> out) {
  const Index size = count_ / parts, first = part * size;
  for (const auto& [rows, offset] : blocks_)
    rows->combine(first, size, {c.data() + first, size, 1}, {out.data() + offset, rows->parameters(), 1},
                  *scratch_);
  sum_points(first, share_of(c, first, size), out);
}

template <class T>
void BlockedRows<T>::sum_squares(ConstSpan<T> w, std::span<T> out) {
  const StageTimer timer(Stage::sums);
  clear_points({out.data(), dimension_, 1});
  for (const auto& [rows, offset] : blocks_)
    rows->sum_squares(w, share_of(out, offset, rows->parameters()), *scratch_);
}

template <class T>
bool BlockedRows<T>::has_sums_together() const {
  return std::ranges::any_of(blocks_, [](const Block& block) { return block.rows->has_sums_together(); });
}

template <class T>
void BlockedRows<T>::sum_and_squares(ConstSpan<T> c, std::span<T> sum, ConstSpan<T> w, std::span<T> squares) {
  const StageTimer timer(Stage::sums);
  clear_points({squares.data(), dimension_, 1});
  sum_points(0, c.first(static_cast<std::size_t>(count_)), sum);
  for (const auto& [rows, offset] : blocks_)
    rows->sum_and_squares(c, share_of(sum, offset, rows->parameters()), w,
                          share_of(squares, offset, rows->parameters()), *scratch_);
}

template <class T>
void BlockedRows<T>::gram(MatrixView<double> out) {
  for (const auto& block : blocks_) block.rows->gram(&block != &blocks_.front(), out, *scratch_);
}

template <class T>
void BlockedRows<T>::project(ConstMatrixView<T> u, MatrixView<T> out) {
  const StageTimer timer(Stage::project);
  for (const auto& block : blocks_)
    block.rows->project(share(u, block.offset, block.rows->parameters()), &block != &blocks_.front(), out,
                        *scratch_);
}

template <class T>
void BlockedRows<T>::combine(ConstMatrixView<T> w, MatrixView<T> out) {
  clear_points(out);
  for (const auto& [rows, offset] : blocks_)
    rows->combine(0, count_, w, share(out, offset, rows->parameters()), *scratch_);
}

template <class T>
void BlockedRows<T>::write_row(Index r, Index first, std::span<T> out) const {
  const Index end = first + static_cast<Index>(out.size());
  if (!points_.empty()) std::ranges::fill(out, T(0));
  for (const auto& [rows, offset] : blocks_) {
    const Index from = std::max(first, offset), to = std::min(end, offset + rows->parameters());
    if (from < to) rows->write_row(r, from - offset, share_of(out, from - first, to - from));
  }
}

/// Writes some rows at a time to scratch memory, and adds their outer products.
template <class T>
void BlockedRows<T>::add_outer(ConstSpan<T> w, MatrixView<double> out) {
  const Index most = std::min(most_outer_rows, count_);
  const Scratch::Frame frame(*scratch_);
  const auto written = scratch_->matrix<T>(dimension_, most);
  for (Index first = 0; first < count_; first += most) {
    const auto rows = written.columns(0, std::min(most, count_ - first));
    for (Index r = 0; r < rows.cols; ++r) write_row(first + r, 0, rows.column(r));
    add_weighted_outer<T>(rows, w.subspan(static_cast<std::size_t>(first)), out, *scratch_);
  }
}

template <class T>
void BlockedRows<T>::gradient_squares(ConstSpan<T> z, ConstSpan<T> v, std::span<double> out) {
  for (const auto& block : blocks_)
    block.rows->gradient_squares(z, share_of(v, block.offset, block.rows->parameters()),
                                 &block != &blocks_.front(), out, *scratch_);
}

template <class T>
ExampleRows<T>& BlockedRows<T>::gradients(ConstSpan<T> z, ConstSpan<Index> which, Index n) {
  const auto count = static_cast<Index>(which.size());
  if (!gradients_) gradients_ = std::make_unique<BlockedRows>();
  gradients_->blocks_.clear();
  gradients_->points_ = points_;
  for (const auto& [rows, offset] : blocks_)
    gradients_->blocks_.push_back({&rows->gradients(z, which, n), offset});
  gradients_->assign(dimension_, {count, 1, 1});
  return *gradients_;
}

template <class T>
std::unique_ptr<BlockedRows<T>> BlockedRows<T>::of_blocks(std::vector<Block> blocks) const {
  auto rows = std::make_unique<BlockedRows>();
  rows->blocks_ = std::move(blocks);
  rows->scratch_ = scratch_;
  return rows;
}

/// Makes the rows of a range: of its blocks if it consists of whole blocks, else cut out of written rows.
template <class T>
typename BlockedRows<T>::Part BlockedRows<T>::make_part(Index offset, Index size) {
  auto part = std::make_unique<BlockedRows>();
  part->scratch_ = scratch_;
  Index end = offset;
  for (const auto& block : blocks_) {
    if (block.offset != end || end >= offset + size) continue;
    part->blocks_.push_back({block.rows, block.offset - offset});
    end += block.rows->parameters();
  }
  if (end == offset) {  // a layer that has only point parameters
    for (const auto& block : points_)
      if (block.offset == offset && block.rows->parameters() == size) {
        part->points_.push_back({block.rows, 0});
        end += size;
      }
  }
  if (end == offset + size) return {offset, size, std::move(part), nullptr};
  return {offset, size, nullptr, std::make_unique<RowsPart<T>>(*this, offset, size, *scratch_)};
}

template <class T>
Rows<T>& BlockedRows<T>::part(Index offset, Index size) {
  auto found = std::ranges::find_if(
      parts_, [=](const Part& part) { return part.offset == offset && part.size == size; });
  if (found == parts_.end()) found = parts_.insert(found, make_part(offset, size));
  if (found->cut) return *found->cut;
  found->blocks->assign(size, size_);
  return *found->blocks;
}

template <class T>
NetworkRows<T>::NetworkRows(const Graph<T>& graph) : graph_(graph) {
  for (const auto& [node, parameters] : graph.learned()) {
    const auto& from = graph.nodes()[static_cast<std::size_t>(node)];
    LayerRows& layer = layers_.emplace_back(
        LayerRows{node, from.layer->rows(graph.wire(from.in).is_data), from.layer->point_rows()});
    if (layer.rows)
      this->blocks_.push_back({layer.rows.get(), parameters});
    else
      this->points_.push_back({layer.points.get(), parameters});
  }
}

template <class T>
RowsCost NetworkRows<T>::cost(Index examples, Index samples, Index seeds) const {
  return cost_of<T>(this->blocks_, examples, samples, seeds);
}

template <class T>
void NetworkRows<T>::assign(const Tape<T>& tape, Index seeds) {
  for (const LayerRows& layer : layers_) {
    const auto n = static_cast<std::size_t>(layer.node);
    const auto& node = graph_.nodes()[n];
    const auto e = graph_.sensitivities(tape, node.out, tape.samples * seeds);
    if (layer.rows)
      layer.rows->view(graph_.values(tape, node.in), e, tape.examples);
    else
      layer.points->view(graph_.kept_slopes(tape, n), e, tape.examples);
  }
  BlockedRows<T>::assign(graph_.parameters(), {tape.examples, tape.samples, seeds});
}

template <class T>
void NetworkRows<T>::assign_single(ConstMatrixView<T> in, ConstMatrixView<T> sensitivities) {
  layers_.front().rows->view(in, sensitivities, in.cols);
  BlockedRows<T>::assign(graph_.parameters(), {in.cols, 1, 1});
}

template class BlockedRows<float>;
template class BlockedRows<double>;
template class NetworkRows<float>;
template class NetworkRows<double>;

}  // namespace bdl
