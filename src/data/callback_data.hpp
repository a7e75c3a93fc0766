// Data that a callback of the caller's writes.
#pragma once

#include "base/callback.hpp"
#include "base/claim.hpp"
#include "data/data_set.hpp"

namespace bdl {

/// A bdl_read_fn with its data; `destroy` may be null.
struct RowReader {
  std::int32_t (*read)(void* user_data, const Index* rows, Index count, OutArray x, OutArray y);
  void* user_data;
  void (*destroy)(void* user_data);
};

class CallbackData final : public DataSet {
 public:
  CallbackData(Index rows, Index inputs, Index targets, const RowReader& reader) noexcept
      : rows_(rows), inputs_(inputs), targets_(targets), reader_(reader) {}
  ~CallbackData() override { destroy_user_data(reader_.destroy, reader_.user_data); }
  Index rows() const override { return rows_; }
  Index inputs() const override { return inputs_; }
  Index targets() const override { return targets_; }
  void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<float> x,
             MatrixView<float> y) override {
    fetch_into(examples, units, x, y);
  }
  void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<double> x,
             MatrixView<double> y) override {
    fetch_into(examples, units, x, y);
  }

 private:
  template <class T>
  void fetch_into(const RowNumbers& examples, const Standardization& units, MatrixView<T> x, MatrixView<T> y);
  /// Returns the most rows that one call of the callback reads.
  Index most_rows() const;
  void read(const RowNumbers& examples, Index first, MatrixView<double> x, MatrixView<double> y);

  Index rows_, inputs_, targets_;
  RowReader reader_;
  std::vector<Index> numbers_;
  Buffer<double> x_, y_;
  Claim buffers_;
};

}  // namespace bdl
