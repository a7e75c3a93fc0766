#include "data/callback_data.hpp"

#include <limits>

#include "base/callback.hpp"

namespace bdl {
namespace {

/// Most rows of a call, as documented, and most numbers, which limits long rows.
constexpr Index most_rows_of_call = 4096, most_numbers_of_call = Index{1} << 21;

/// Returns memory for a wanted output, filled with NaN so that unwritten elements are noticed.
MatrixView<double> poisoned(Buffer<double>& buffer, Index rows, Index cols, bool is_wanted) {
  if (!is_wanted) return {};
  const auto out = buffer.matrix(rows, cols);
  std::fill_n(out.data, rows * cols, std::numeric_limits<double>::quiet_NaN());
  return out;
}

OutArray for_caller(MatrixView<double> columns) {
  return columns.data ? as_output(columns) : bdl_none_out();
}

/// Lets one call at a time use the buffers that rows are read into; any other fails.
class Reading {
 public:
  explicit Reading(Claim& buffers) : buffers_(buffers) {
    if (!buffers.acquire())
      fail(Status::ERROR_INVALID_ARGUMENT,
           "the data set is being read: its read callback and other threads cannot read it at the same time");
  }
  ~Reading() { buffers_.release(); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

 private:
  Claim& buffers_;
};

template <class T>
void store(MatrixView<double> read, MatrixView<T> out, Index first, const ColumnScales& scales) {
  if (out.data) gather(as_array<double>(read), 0, out.columns(first, read.cols), scales);
}

}  // namespace

Index CallbackData::most_rows() const {
  return std::clamp<Index>(most_numbers_of_call / (inputs_ + targets_), 1, most_rows_of_call);
}

void CallbackData::read(const RowNumbers& examples, Index first, MatrixView<double> x, MatrixView<double> y) {
  const Index count = std::max(x.cols, y.cols);
  numbers_.resize(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) numbers_[static_cast<std::size_t>(i)] = examples[first + i];
  check_callback("data set's read", [&] {
    return reader_.read(reader_.user_data, numbers_.data(), count, for_caller(x), for_caller(y));
  });
}

template <class T>
void CallbackData::fetch_into(const RowNumbers& examples, const Standardization& units, MatrixView<T> x,
                              MatrixView<T> y) {
  const bool has_x = x.data != nullptr, has_y = y.data != nullptr;
  if (!has_x && !has_y) return;
  const Reading reading(buffers_);
  for (Index first = 0; first < examples.count(); first += most_rows()) {
    const Index count = std::min(most_rows(), examples.count() - first);
    const auto inputs = poisoned(x_, inputs_, count, has_x), targets = poisoned(y_, targets_, count, has_y);
    read(examples, first, inputs, targets);
    store(inputs, x, first, units.inputs());
    store(targets, y, first, units.targets());
  }
}

template void CallbackData::fetch_into(const RowNumbers&, const Standardization&, MatrixView<float>,
                                       MatrixView<float>);
template void CallbackData::fetch_into(const RowNumbers&, const Standardization&, MatrixView<double>,
                                       MatrixView<double>);

}  // namespace bdl
