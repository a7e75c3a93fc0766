#include <algorithm>

#include "io/checkpoint.hpp"
#include "train/stream/scale_learning.hpp"

namespace bdl {
namespace {

constexpr const char *rows_name = "stream.first_rows", *blocks_name = "stream.first_blocks",
                     *moved_name = "stream.moved", *x_name = "stream.first_x", *y_name = "stream.first_y",
                     *columns_name = "stream.late_columns", *values_name = "stream.late_values",
                     *information_name = "stream.noise_information";

/// Visits the other numbers of the noise.
template <class Fields, class Counts>
void visit_noise(Fields& fields, Counts& counts) {
  const auto visit = [&](const char* name, auto& numbers, Numbers may) {
    fields.vector(name, std::span(numbers), may);
  };
  visit(information_name, counts.information, Numbers::not_negative);
  visit("stream.noise_given", counts.given, Numbers::positive);
  visit("stream.noise_values", counts.values, Numbers::not_negative);
  visit("stream.target_mean", counts.mean, Numbers::any);
  visit("stream.target_variance", counts.variance, Numbers::not_negative);
}

void write_first_rows(RecordWriter& record, const StreamScales& kept, Index inputs, Index targets) {
  const Index rows = kept.rows();
  record.integer(rows_name, rows);
  record.integer(moved_name, kept.moved());
  if (rows == 0) return;
  std::vector<Index> blocks;
  for (const FirstBlock& block : kept.blocks()) blocks.insert(blocks.end(), {block.rows, block.moved});
  record.integers(blocks_name, blocks);
  const auto numbers = [](ConstMatrixView<double> of) { return std::span(of.data, at(of.size())); };
  record.tensor<double>(x_name, {rows, inputs}, numbers(kept.x(inputs)));
  record.tensor<double>(y_name, {rows, targets}, numbers(kept.y(targets)));
}

/// Returns the blocks of so many rows.
std::vector<FirstBlock> read_blocks(const RecordReader& record, Index rows) {
  const std::vector<Index> numbers = record.integers(blocks_name, -1, most_counted);
  std::vector<FirstBlock> blocks;
  Index sum = 0;
  for (std::size_t k = 0; k + 1 < numbers.size(); k += 2) {
    blocks.push_back({numbers[k], numbers[k + 1]});
    if (numbers[k] < 1 || numbers[k] > rows) sum = rows + 1;
    sum = std::min(sum + numbers[k], rows + 1);
  }
  if (numbers.size() % 2 != 0 || sum != rows)
    fail(Status::ERROR_FORMAT, "field %s does not hold blocks of %lld rows", blocks_name,
         static_cast<long long>(rows));
  return blocks;
}

template <class T>
void read_first_rows(const RecordReader& record, Optimizer<T>& optimizer) {
  const Model<T>& model = *optimizer.model();
  const Index rows = record.integer(rows_name, 0, most_first_rows - 1), inputs = model.inputs(),
              targets = model.likelihood.columns(), moved = record.integer(moved_name, -1, most_counted);
  if (rows == 0) return optimizer.stream_scales.restore({}, moved, {}, {});
  std::vector<double> x(at(rows * inputs)), y(at(rows * targets));
  record.archive().copy<double>(x_name, {rows, inputs}, x);
  record.archive().copy<double>(y_name, {rows, targets}, y);
  const Array y_rows = as_array(ConstMatrixView<double>(y.data(), targets, rows));
  check_finite(as_array(ConstMatrixView<double>(x.data(), inputs, rows)), x_name);
  model.likelihood.check_targets(y_rows, rows, y_name, true);
  optimizer.stream_scales.restore(read_blocks(record, rows), moved, std::move(x), std::move(y));
}

template <class T>
void read_late_columns(const RecordReader& record, Optimizer<T>& optimizer) {
  const std::vector<Index> columns = record.integers(columns_name, 0, optimizer.model()->inputs() - 1),
                           values = record.integers(values_name, 0, enough_rows - 1);
  if (columns.size() != values.size() || !optimizer.model()->standardization.inputs().given())
    fail(Status::ERROR_FORMAT, "fields %s and %s do not fit the model", columns_name, values_name);
  for (std::size_t k = 0; k < columns.size(); ++k)
    optimizer.stream_scales.late.push_back({columns[k], values[k]});
}

}  // namespace

template <class T>
void write_stream(RecordWriter& record, const Optimizer<T>& optimizer) {
  const StreamScales& scales = optimizer.stream_scales;
  if (const NoiseCounts& counts = optimizer.noise.counts(); !counts.is_empty()) visit_noise(record, counts);
  if (scales.is_open())
    write_first_rows(record, scales, optimizer.model()->inputs(), optimizer.model()->likelihood.columns());
  if (scales.late.empty()) return;
  std::vector<Index> columns, values;
  for (const LateColumn& of : scales.late) {
    columns.push_back(of.column);
    values.push_back(of.values);
  }
  record.integers(columns_name, columns);
  record.integers(values_name, values);
}

template <class T>
void read_stream(const RecordReader& record, Optimizer<T>& optimizer) {
  const bool has_noise = record.has(information_name), has_rows = record.has(rows_name),
             has_late = record.has(columns_name);
  const Model<T>* const model = optimizer.model().get();
  if ((has_noise && !model) || ((has_rows || has_late) && !(model && model->graph())))
    fail(Status::ERROR_FORMAT,
         "the file has a stream's noise without a model, or its rows without a network");
  if (has_noise) {
    NoiseCounts counts;
    for (auto* numbers : {&counts.information, &counts.given, &counts.values, &counts.mean, &counts.variance})
      numbers->resize(at(model->likelihood.targets()));
    visit_noise(record, counts);
    optimizer.noise.restore(std::move(counts));
  }
  if (has_rows) read_first_rows(record, optimizer);
  if (has_late) read_late_columns(record, optimizer);
}

template void write_stream(RecordWriter&, const Optimizer<float>&);
template void write_stream(RecordWriter&, const Optimizer<double>&);
template void read_stream(const RecordReader&, Optimizer<float>&);
template void read_stream(const RecordReader&, Optimizer<double>&);

}  // namespace bdl
