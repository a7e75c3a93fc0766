// Examples, by number: whatever holds them, the core reads them through DataSet.
//
// The sources are the caller's arrays (here), files (io/mapped_data.hpp) and callbacks (callback_data.hpp);
// subsets, augmented images (augmentation.hpp) and checked data (model/checked_data.hpp) wrap other data.
// minibatch.hpp says which examples a step reads; strata.hpp divides them among shards; folds.hpp those of
// cross-validation. standardization.hpp scales the columns, by moments that moments.hpp computes in one pass.
#pragma once

#include <algorithm>
#include <vector>

#include "data/standardization.hpp"

namespace bdl {

/// Numbers of examples: a list, or `count` consecutive ones.
class RowNumbers {
 public:
  RowNumbers(ConstSpan<Index> list) : list_(list), count_(static_cast<Index>(list.size())) {}
  RowNumbers(Index first, Index count) : first_(first), count_(count) {}
  Index count() const { return count_; }
  bool is_list() const { return !list_.empty(); }
  ConstSpan<Index> list() const { return list_; }
  Index first() const { return first_; }
  Index operator[](Index i) const { return is_list() ? list_[static_cast<std::size_t>(i)] : first_ + i; }

 private:
  ConstSpan<Index> list_;
  Index first_ = 0, count_;
};

/// Order of an epoch for rows that are best read in order: blocks of rows come in random order, and the rows
/// of `window` blocks are shuffled. Without blocks, all rows are shuffled.
struct RowBlocks {
  Index rows = 0, window = 1;
  bool given() const { return rows > 0; }
};

/// What stands in a row behind the network's inputs and the targets.
struct RowExtras {
  Index offsets = 0;        ///< number of offsets, which are subtracted from the targets' first columns
  bool has_weight = false;  ///< true if y ends in the weight
};

class DataSet {
 public:
  DataSet() = default;
  DataSet(const DataSet&) = delete;
  DataSet& operator=(const DataSet&) = delete;
  virtual ~DataSet() = default;
  virtual Index rows() const = 0;
  virtual Index inputs() const = 0;
  virtual Index targets() const = 0;
  /// Writes each example to a column, x and y standardised by `units`. An output without memory is not
  /// wanted.
  virtual void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<float> x,
                     MatrixView<float> y) = 0;
  virtual void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<double> x,
                     MatrixView<double> y) = 0;

  /// Hints for sources that read ahead: these rows are needed next, or not for a while.
  virtual void expect(Index first, Index count) { (void)first, (void)count; }
  virtual void forget(Index first, Index count) { (void)first, (void)count; }

  RowBlocks blocks;
};

/// Views of the caller's arrays, which must outlive it. One of x and y may be missing.
class ArrayData final : public DataSet {
 public:
  ArrayData(const Array& x, const Array& y) : x_(x), y_(y) {}
  Index rows() const override { return std::max(x_.rows, y_.rows); }
  Index inputs() const override { return x_.cols; }
  Index targets() const override { return y_.cols; }
  void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<float> x,
             MatrixView<float> y) override;
  void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<double> x,
             MatrixView<double> y) override;

 private:
  Array x_, y_;
};

/// Consecutive examples of other data, which must outlive it; only consecutive ones can be fetched.
class RowRange final : public DataSet {
 public:
  RowRange(DataSet& all, Index first, Index count) : all_(all), first_(first), count_(count) {}
  Index rows() const override { return count_; }
  Index inputs() const override { return all_.inputs(); }
  Index targets() const override { return all_.targets(); }
  void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<float> x,
             MatrixView<float> y) override {
    all_.fetch({first_ + examples.first(), examples.count()}, units, x, y);
  }
  void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<double> x,
             MatrixView<double> y) override {
    all_.fetch({first_ + examples.first(), examples.count()}, units, x, y);
  }

 private:
  DataSet& all_;
  Index first_, count_;
};

/// Some examples of other data, in any order. Data and list must outlive it.
class Subset final : public DataSet {
 public:
  Subset(DataSet& all, ConstSpan<Index> members) : all_(all), members_(members) {}
  Index rows() const override { return static_cast<Index>(members_.size()); }
  Index inputs() const override { return all_.inputs(); }
  Index targets() const override { return all_.targets(); }
  void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<float> x,
             MatrixView<float> y) override;
  void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<double> x,
             MatrixView<double> y) override;

 private:
  RowNumbers members_of(const RowNumbers& examples);
  DataSet& all_;
  ConstSpan<Index> members_;
  std::vector<Index> some_;
};

}  // namespace bdl
