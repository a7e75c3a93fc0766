// What the curvature rows of a network's examples are made of, as plain numbers: what layers have seen and
// the sensitivities of their outputs. Examples that were seen apart get one tape by them.
#pragma once

#include <vector>

#include "network/graph.hpp"

namespace bdl {

/// Copies `count` examples of each of `sections` sections, which stand in `from` alone, to the examples from
/// `first` on of `to`'s sections of `examples`.
template <class T>
void copy_examples(Layout layout, Index sections, ConstMatrixView<T> from, Index count, Index first,
                   Index examples, MatrixView<T> to);

template <class T>
class TapeNumbers {
 public:
  /// The graph must outlive it.
  explicit TapeNumbers(const Graph<T>& graph);
  /// Of so many examples, after a backward pass of `seeds` seeds.
  Index count(Index examples, Index samples, Index seeds) const;
  void write(const Tape<T>& tape, Index seeds, std::span<T> out) const;
  /// To the examples from `first` on of a tape with memory for all of its own. `x` has room for their inputs.
  void read(ConstSpan<T> numbers, Index first, Index count, Index seeds, Tape<T>& tape,
            MatrixView<T> x) const;
  /// Before: numbers of examples that are not there, in a last packet, are 0.
  void clear(Index seeds, Tape<T>& tape) const;

 private:
  enum class Kind { inputs, values, sensitivities, slopes };
  struct Piece {
    Kind kind;
    Index number;  ///< of a wire or, for slopes, a node
    Layout layout;
    Index height;  ///< numbers of a column
    bool is_data;  ///< the same for all samples
  };
  void add_wire(Kind kind, Index wire);
  static Index sections(const Piece& piece, Index samples, Index seeds);
  ConstMatrixView<T> matrix(const Piece& piece, const Tape<T>& tape, Index seeds) const;
  MatrixView<T> matrix(const Piece& piece, Tape<T>& tape, Index seeds) const;

  const Graph<T>& graph_;
  std::vector<Piece> pieces_;
};

}  // namespace bdl
