// The curvature rows of a shard's examples as a message to the other ranks. It holds the numbers that the
// rows are computed from, since rows have D numbers each. The messages of all shards are joined to rows.
#pragma once

#include <memory>

#include "curvature/blocked_rows.hpp"
#include "curvature/dense_rows.hpp"
#include "curvature/estimator.hpp"
#include "ranks/tape_numbers.hpp"

namespace bdl {

template <class T>
class RowMessages {
 public:
  /// The model must outlive it.
  explicit RowMessages(const Model<T>& model);

  /// Numbers of samples and seeds, for each of which an example has a row, and the kind of the rows.
  struct Form {
    Index samples = 1, seeds = 1;
    bool is_merged = false;   ///< true if each example has only one row x_i: generalised linear models
    bool has_outputs = true;  ///< false for integrals over the posterior
    Index sections() const { return is_merged ? 1 : samples * seeds; }
  };
  Form form(const BatchSize& size) const;
  /// Returns the form of exact estimates (evidence/exact_estimator.hpp).
  static Form exact_form() { return {1, 1, true, false}; }

  /// Returns how many numbers a message about so many examples has.
  Index count(const Form& form, Index examples) const;
  /// Writes the message of an estimate at inputs x, with the outputs there; `tape` is the estimator's.
  void write(const Form& form, const Estimate<T>& estimate, ConstMatrixView<T> x, ConstMatrixView<T> outputs,
             const Tape<T>* tape, std::span<T> out) const;
  /// Returns the estimate of all examples from the messages of the shards, of which shard v has sizes[v]
  /// examples; its log likelihood is 0. It lives until the next call.
  Estimate<T> join(const Form& form, ConstSpan<Index> sizes, ConstSpan<const T*> messages);
  /// Returns the outputs that the last join() has read.
  ConstMatrixView<T> outputs() const { return outputs_.matrix(model_.outputs(), columns_); }
  const BlockedRows<T>* layers() const { return rows_.get(); }

 private:
  const T* read_coefficients(const Form& form, Index first, Index count, Index examples, const T* from);

  const Model<T>& model_;
  std::unique_ptr<TapeNumbers<T>> tape_numbers_;  // null for a custom model, like rows_
  std::unique_ptr<NetworkRows<T>> rows_;
  Tape<T> tape_;
  DenseRows<T> dense_;
  Index columns_ = 0;
  Buffer<T> outputs_, c_, w_, x_, ones_;
};

}  // namespace bdl
