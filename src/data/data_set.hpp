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
};

/// The caller's arrays, checked, which must outlive it. Without y, or without x, there are inputs or targets
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

/// For what must see all targets: visit(column i, scaled targets) in the order of the rows, in double.
template <class Visit>
void for_each_target(DataSet& data, const Standardization& units, Visit visit) {
  constexpr Index together = 256;
  Buffer<double> block(data.targets() * together);
  for (Index first = 0; first < data.rows(); first += together) {
    const Index count = std::min(together, data.rows() - first);
    data.fetch({first, count}, units, MatrixView<double>(), block.matrix(data.targets(), count));
    for (Index i = 0; i < count; ++i) visit(block.matrix(data.targets(), count).column(i));
  }
}

}  // namespace bdl
