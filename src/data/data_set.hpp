// Examples by number: the one way in which they enter the core, wherever they are.
#pragma once

#include <algorithm>
#include <vector>

#include "data/standardization.hpp"

namespace bdl {

/// Numbers of examples: those of a list, or `count` consecutive ones.
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

/// How an epoch goes through rows that are best read in order: blocks of them in random order, and the rows
/// of `window` blocks shuffled. Without blocks, all rows are shuffled.
struct RowBlocks {
  Index rows = 0, window = 1;
  bool given() const { return rows > 0; }
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
  /// Writes them one a column, x as `inputs` and y as `targets` scale them; what has no memory is not wanted.
  virtual void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<float> x,
                     MatrixView<float> y) = 0;
  virtual void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<double> x,
                     MatrixView<double> y) = 0;

  /// Hints to sources that read ahead: these rows will be wanted next, or not for a while.
  virtual void expect(Index first, Index count) { (void)first, (void)count; }
  virtual void forget(Index first, Index count) { (void)first, (void)count; }

  RowBlocks blocks;
};

/// The caller's arrays, which must outlive it. Without y, or without x, there are inputs or targets
/// only.
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

/// Consecutive examples of other data, which must outlive it.
class RowRange final : public DataSet {
 public:
  RowRange(DataSet& all, Index first, Index count) : all_(all), first_(first), count_(count) {}
  Index rows() const override { return count_; }
  Index inputs() const override { return all_.inputs(); }
  Index targets() const override { return all_.targets(); }
  /// Of consecutive ones.
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

/// Some examples of other data, in an order of their own. Data and list must outlive it.
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
