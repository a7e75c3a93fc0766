// Rows of a minibatch that stay with the examples they are made of: each rank has those of its shards, and
// sums over all rows are added up by the tree over the shards, with the same bits for any number of ranks.
#pragma once

#include <memory>
#include <vector>

#include "curvature/rows.hpp"
#include "parallel/tree_sums.hpp"

namespace bdl {

/// All ranks call the same sums in the same order. Each begins with a vote, so that a rank which has failed
/// since the last message, and votes in the end, is heard. The other operations send nothing.
template <class T>
class SpreadRows final : public Rows<T> {
 public:
  /// Memory for what is asked of so many parameters' rows.
  void reserve(Index dimension, const RowsUse& use, const Team& team, Index shards);
  /// Of a minibatch with rows of this cost; add() gives it those of each own shard, in order, which must
  /// outlive it.
  void begin(Index dimension, const RowsCost& all, Team& team, Index shards);
  void add(Rows<T>& rows);

  Index dimension() const override { return dimension_; }
  Index count() const override { return members_.empty() ? 0 : members_.back().end(); }
  void sum(ConstSpan<T> c, std::span<T> out) override;
  void sum_squares(ConstSpan<T> w, std::span<T> out) override;
  void project(ConstMatrixView<T> u, MatrixView<T> out) override;
  void combine(ConstMatrixView<T> w, MatrixView<T> out) override;
  using typename Rows<T>::AddMore;
  /// `more` is called for a part of the parameters in each shard.
  void combine_then(ConstMatrixView<T> w, MatrixView<T> out, AddMore more) override;
  void sum_squares_then(ConstSpan<T> w, std::span<T> out, AddMore more) override;
  void add_outer(ConstSpan<T> w, MatrixView<double> out) override;
  RowsCost cost() const override { return all_; }
  Rows<T>& part(Index offset, Index size) override;
  bool is_spread() const override { return true; }
  void for_each_group(FunctionRef<void(Index first, Index count)> visit) const override;
  void add_products(ConstMatrixView<T> p, MatrixView<double> out) override;

  // Of single rows, or pairs of them.
  void gram(MatrixView<double>) override { fail_apart(); }
  void write_row(Index, Index, std::span<T>) const override { fail_apart(); }

  /// Vectors that are added up at a time.
  static Index vectors_together(Index dimension, Index vectors);

 private:
  struct Member {
    Rows<T>* rows;
    Index first, count;
    Index end() const { return first + count; }
    template <class Values>
    Values own(Values all) const {
      return all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    }
  };
  struct Sums {
    TreeSums<T> values;
    TreeSums<double> outer;
    Buffer<double> matrix;
  };
  struct Part {
    Index offset, size;
    std::unique_ptr<SpreadRows> rows;
  };
  [[noreturn]] static void fail_apart() {
    fail(Status::ERROR_INTERNAL, "rows that are spread over ranks are not known one by one");
  }
  const Member& member(Index shard) const { return members_[static_cast<std::size_t>(shard - own_.first)]; }
  template <class Work>
  void attempt(Work&& work);
  template <class Value, class Fill>
  void add_up(TreeSums<Value>& sums, Index values, Index numbers, Fill&& fill);
  void reserve_outer(Index dimension, const Team& team, Index shards);

  Index dimension_ = 0, shards_ = 1;
  RowsCost all_;
  Team* team_ = nullptr;
  ShardRange own_{0, 1};
  std::vector<Member> members_;
  std::shared_ptr<Sums> sums_ = std::make_shared<Sums>();  // one for all parts
  std::vector<Part> parts_;                                // those that were asked for
};

}  // namespace bdl
