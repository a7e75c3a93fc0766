#include "ranks/tape_numbers.hpp"

#include <algorithm>

namespace bdl {
namespace {

/// Copies one example between the packets of convolutions, in which 16 examples lie side by side.
template <class T>
void copy_lane(ConstMatrixView<T> from, Index column, Index lane, Index to_column, Index to_lane,
               MatrixView<T> to) {
  const T* const source = from.column_data(column) + lane;
  T* const target = to.column_data(to_column) + to_lane;
  for (Index p = 0; p < from.rows; p += packet_size) target[p] = source[p];
}

}  // namespace

template <class T>
void copy_examples(Layout layout, Index sections, ConstMatrixView<T> from, Index count, Index first,
                   Index examples, MatrixView<T> to) {
  const Index from_columns = columns_of(layout, count), to_columns = columns_of(layout, examples);
  for (Index q = 0; q < sections; ++q)
    for (Index i = 0; i < count; ++i) {
      const Index j = first + i;
      if (layout == Layout::columns)
        std::ranges::copy(from.column(q * from_columns + i), to.column_data(q * to_columns + j));
      else
        copy_lane(from, q * from_columns + i / packet_size, i % packet_size, q * to_columns + j / packet_size,
                  j % packet_size, to);
    }
}

template <class T>
TapeNumbers<T>::TapeNumbers(const Graph<T>& graph) : graph_(graph) {
  for (const auto& [node, parameters] : graph.learned()) {
    const auto& of = graph.nodes()[static_cast<std::size_t>(node)];
    if (of.layer->rows(graph.wire(of.in).is_data)) {
      add_wire(of.in == 0 ? Kind::inputs : Kind::values, of.in);
    } else {
      const auto& out = graph.wire(of.out);
      pieces_.push_back({Kind::slopes, node, out.layout, of.layer->kept(out.height), false});
    }
    add_wire(Kind::sensitivities, of.out);
  }
}

/// Adds the piece of a wire, but only once, since several layers may read it.
template <class T>
void TapeNumbers<T>::add_wire(Kind kind, Index wire) {
  const auto is_there = [=](const Piece& piece) { return piece.kind == kind && piece.number == wire; };
  if (std::ranges::any_of(pieces_, is_there)) return;
  const auto& of = graph_.wire(wire);
  pieces_.push_back({kind, wire, of.layout, of.height, of.is_data});
}

template <class T>
Index TapeNumbers<T>::sections(const Piece& piece, Index samples, Index seeds) {
  if (piece.is_data) return 1;
  return piece.kind == Kind::sensitivities ? samples * seeds : samples;
}

template <class T>
Index TapeNumbers<T>::count(Index examples, Index samples, Index seeds) const {
  Index sum = 0;
  for (const Piece& piece : pieces_)
    sum += piece.height * columns_of(piece.layout, examples) * sections(piece, samples, seeds);
  return sum;
}

template <class T>
ConstMatrixView<T> TapeNumbers<T>::matrix(const Piece& piece, const Tape<T>& tape, Index seeds) const {
  switch (piece.kind) {
    case Kind::sensitivities:
      return graph_.sensitivities(tape, piece.number, tape.samples * seeds);
    case Kind::slopes:
      return graph_.kept_slopes(tape, static_cast<std::size_t>(piece.number));
    default:
      return graph_.values(tape, piece.number);
  }
}

/// Returns a piece other than the inputs for writing; its buffer grows if it must.
template <class T>
MatrixView<T> TapeNumbers<T>::matrix(const Piece& piece, Tape<T>& tape, Index seeds) const {
  const ConstMatrixView<T> of = matrix(piece, std::as_const(tape), seeds);
  if (piece.kind == Kind::slopes) return tape.slopes[at(piece.number)].matrix(of.rows, of.cols);
  auto& places = piece.kind == Kind::sensitivities ? tape.sensitivities : tape.values;
  return places[at(graph_.wire(piece.number).place)].matrix(of.rows, of.cols);
}

template <class T>
void TapeNumbers<T>::write(const Tape<T>& tape, Index seeds, std::span<T> out) const {
  T* to = out.data();
  for (const Piece& piece : pieces_) {
    const ConstMatrixView<T> from = matrix(piece, tape, seeds);
    for (Index j = 0; j < from.cols; ++j, to += from.rows) std::ranges::copy(from.column(j), to);
  }
}

template <class T>
void TapeNumbers<T>::read(ConstSpan<T> numbers, Index first, Index count, Index seeds, Tape<T>& tape,
                          MatrixView<T> x) const {
  const T* from = numbers.data();
  for (const Piece& piece : pieces_) {
    const Index all = sections(piece, tape.samples, seeds);
    const ConstMatrixView<T> here(from, piece.height, columns_of(piece.layout, count) * all);
    copy_examples<T>(piece.layout, all, here, count, first, tape.examples,
                     piece.kind == Kind::inputs ? x : matrix(piece, tape, seeds));
    from += here.size();
  }
}

template <class T>
void TapeNumbers<T>::clear(Index seeds, Tape<T>& tape) const {
  for (const Piece& piece : pieces_) {
    if (piece.layout != Layout::packets || piece.kind == Kind::inputs) continue;
    const MatrixView<T> to = matrix(piece, tape, seeds);
    const Index columns = columns_of(piece.layout, tape.examples);
    for (Index last = columns - 1; last < to.cols; last += columns) std::ranges::fill(to.column(last), T(0));
  }
}

#define BDL_INSTANTIATE(T)                                                                            \
  template void copy_examples(Layout, Index, ConstMatrixView<T>, Index, Index, Index, MatrixView<T>); \
  template class TapeNumbers<T>;
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
