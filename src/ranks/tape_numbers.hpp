// The numbers of a tape that the curvature rows of a network's examples are computed from: the inputs of
// each layer, and the sensitivities of its outputs. Tapes of several shards are joined to one.
#pragma once

#include <vector>

#include "network/graph.hpp"

namespace bdl {

/// Copies the `count` examples of each section of `from` to the examples from `first` on in the same
/// section of `to`, whose sections have `examples` examples each.
template <class T>
void copy_examples(Layout layout, Index sections, ConstMatrixView<T> from, Index count, Index first,
                   Index examples, MatrixView<T> to);

template <class T>
class TapeNumbers {
 public:
  /// The graph must outlive it.
  explicit TapeNumbers(const Graph<T>& graph);
  /// Returns how many numbers so many examples have after a backward pass of `seeds` seeds.
  Index count(Index examples, Index samples, Index seeds) const;
  void write(const Tape<T>& tape, Index seeds, std::span<T> out) const;
  /// Writes the numbers of `count` examples to the examples from `first` on of the tape, and their inputs
  /// to those of `x`.
  void read(ConstSpan<T> numbers, Index first, Index count, Index seeds, Tape<T>& tape,
            MatrixView<T> x) const;
  /// Sets the numbers of missing examples in the last packet to 0. Must be called before read().
  void clear(Index seeds, Tape<T>& tape) const;

 private:
  enum class Kind { inputs, values, sensitivities, slopes };
  struct Piece {
    Kind kind;
    Index number;  ///< number of the wire or, for slopes, of the node
    Layout layout;
    Index height;  ///< elements of a column
    bool is_data;  ///< true if all samples have the same values
  };
  void add_wire(Kind kind, Index wire);
  static Index sections(const Piece& piece, Index samples, Index seeds);
  ConstMatrixView<T> matrix(const Piece& piece, const Tape<T>& tape, Index seeds) const;
  MatrixView<T> matrix(const Piece& piece, Tape<T>& tape, Index seeds) const;

  const Graph<T>& graph_;
  std::vector<Piece> pieces_;
};

}  // namespace bdl
