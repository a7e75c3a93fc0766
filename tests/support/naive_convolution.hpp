// Convolutions in plain loops, and maps in packets as the engine takes them. Matrices of examples have an
// example in each row.
#pragma once

#include "base/array.hpp"
#include "network/convolution/convolution.hpp"
#include "support/dense.hpp"

namespace bdl::testing {

/// A window's geometry by its definition.
inline ConvShape window_of(const Shape& input, Index filters, Index kernel, Index stride, Index pad,
                           Index groups = 1) {
  const auto outputs = [&](Index size) { return (size + 2 * pad - kernel) / stride + 1; };
  ConvShape shape{input, {filters, outputs(input.rows), outputs(input.columns)}, kernel};
  shape.stride = stride;
  shape.pad = pad;
  shape.groups = groups;
  return shape;
}

struct NaiveConvolution {
  ConvShape shape;

  /// visit(output, weight, input) of each product.
  template <class Visit>
  BDL_UNSANITIZED void for_each_product(Visit&& visit) const {
    const Shape &in = shape.input, &out = shape.output;
    const Index k = shape.kernel, channels = in.channels / shape.groups,
                filters = out.channels / shape.groups;
    for (Index o = 0; o < out.channels; ++o)
      for (Index y = 0; y < out.rows; ++y)
        for (Index x = 0; x < out.columns; ++x)
          for (Index c = 0; c < channels; ++c)
            for (Index a = 0; a < k; ++a)
              for (Index b = 0; b < k; ++b) {
                const Index row = y * shape.stride + a - shape.pad, column = x * shape.stride + b - shape.pad,
                            channel = o / filters * channels + c;
                if (row < 0 || row >= in.rows || column < 0 || column >= in.columns) continue;
                visit((o * out.rows + y) * out.columns + x, ((o * channels + c) * k + a) * k + b,
                      (channel * in.rows + row) * in.columns + column);
              }
  }
  /// theta: weights and bias, a column.
  Dense forward(const Dense& theta, const Dense& in) const {
    Dense out(in.rows, shape.output.size());
    for_each_product([&](Index to, Index weight, Index from) {
      add_multiple(theta(weight, 0), in.column(from), out.column(to), in.rows);
    });
    for (Index to = 0; shape.has_bias() && to < out.cols; ++to)
      for (Index i = 0; i < in.rows; ++i) out(i, to) += theta(shape.weights() + to / shape.positions(), 0);
    return out;
  }
  Dense backward(const Dense& theta, const Dense& e) const {
    Dense out(e.rows, shape.input.size());
    for_each_product([&](Index from, Index weight, Index to) {
      add_multiple(theta(weight, 0), e.column(from), out.column(to), e.rows);
    });
    return out;
  }
  /// A gradient in each row: sections of as many rows of e as there are of `in`, which repeats.
  Dense gradients(const Dense& in, const Dense& e) const {
    Dense out(e.rows, shape.parameters());
    for_each_product([&](Index output, Index weight, Index input) {
      for (Index r = 0; r < e.rows; ++r) out(r, weight) += e(r, output) * in(r % in.rows, input);
    });
    for (Index from = 0; shape.has_bias() && from < e.cols; ++from)
      for (Index r = 0; r < e.rows; ++r) out(r, shape.weights() + from / shape.positions()) += e(r, from);
    return out;
  }
};

/// Maps in packets: sections of some examples, each with packets of its own.
template <class T>
class Packets {
 public:
  Packets(const Shape& shape, Index examples, Index sections, double fill)
      : map_{shape},
        examples_(examples),
        sections_(sections),
        numbers_(map_.packet_numbers() * packets_of(examples) * sections) {
    std::fill_n(numbers_.data(), view().size(), static_cast<T>(fill));
  }
  /// Numbers where no example stands are `absent`, those where no position is `gap`.
  Packets(const Shape& shape, Index examples, const Dense& rows, double absent, double gap)
      : Packets(shape, examples, rows.rows / examples, gap) {
    for (Index section = 0; section < sections_; ++section)
      for (Index i = 0; i < packets_of(examples) * packet_size; ++i)
        for (Index j = 0; j < shape.size(); ++j)
          at(section, i, j) = static_cast<T>(i < examples ? rows(section * examples + i, j) : absent);
  }
  MatrixView<T> view() { return numbers_.matrix(map_.packet_numbers(), packets_of(examples_) * sections_); }
  /// The examples, one a row.
  Dense rows() {
    Dense out(examples_ * sections_, map_.shape.size());
    for (Index r = 0; r < out.rows; ++r)
      for (Index j = 0; j < out.cols; ++j)
        out(r, j) = static_cast<double>(at(r / examples_, r % examples_, j));
    return out;
  }
  /// Is the number that has no position 0 everywhere, of all lanes?
  bool has_clear_gaps() {
    const Index positions = map_.shape.rows * map_.shape.columns;
    for (Index packet = 0; packet < view().cols; ++packet)
      for (Index c = 0; c < map_.shape.channels; ++c)
        for (Index at = positions * packet_size; at < map_.channel_numbers(); ++at)
          if (view()(c * map_.channel_numbers() + at, packet) != 0) return false;
    return true;
  }

 private:
  T& at(Index section, Index i, Index j) {
    const Index positions = map_.shape.rows * map_.shape.columns;
    return view()((j / positions * map_.stride() + j % positions) * packet_size + i % packet_size,
                  section * packets_of(examples_) + i / packet_size);
  }
  PacketMap map_;
  Index examples_, sections_;
  Buffer<T> numbers_;
};

}  // namespace bdl::testing
