// Layers that change nothing but the layout of numbers: between those that take examples one a column and
// those that take packets, wherever a description has them; and flatten.
#pragma once

#include "network/layer.hpp"
#include "network/line.hpp"

namespace bdl {

/// One example a column into packets, absent examples 0, and back; add: added to what is there.
template <class T>
void to_packets(const PacketMap& map, ConstMatrixView<T> columns, bool add, MatrixView<T> packets);
template <class T>
void to_columns(const PacketMap& map, ConstMatrixView<T> packets, bool add, MatrixView<T> columns);

template <class T>
class RepackingLayer final : public Layer<T> {
 public:
  RepackingLayer(const Shape& shape, Layout to) : Layer<T>(shape, shape), to_(to) {}
  std::string text() const override { return {}; }
  std::optional<Layout> layout() const override { return std::nullopt; }
  bool is_repacking() const override { return true; }
  bool can(Need need) const override { return need != Need::second_derivatives; }
  void forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out,
               const Kept<T>& kept) const override;
  void backward(const Pass<T>& pass, const Kept<T>& kept, ConstMatrixView<T> e, bool add,
                MatrixView<T> to) const override;

 private:
  Layout to_;
};

/// flatten: a map's numbers as features, in the order (channel, row, column).
template <class T>
class FlattenLayer final : public Layer<T> {
 public:
  explicit FlattenLayer(const Shape& input) : Layer<T>(input, {input.size()}) {}
  std::string text() const override { return "flatten"; }
  bool is_repacking() const override { return true; }
  bool is_elementwise() const override { return true; }
  void forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out,
               const Kept<T>& kept) const override;
  void backward(const Pass<T>& pass, const Kept<T>& kept, ConstMatrixView<T> e, bool add,
                MatrixView<T> to) const override;
  void change(const Directions<T>& directions, const Kept<T>& kept, ConstMatrixView<T> in,
              ConstMatrixView<T> in_change, MatrixView<T> out_change) const override;
  void change_back(const Directions<T>& directions, const Kept<T>& kept, ConstMatrixView<T> in_change,
                   ConstMatrixView<T> e, ConstMatrixView<T> e_change, bool add,
                   MatrixView<T> to) const override;
};

template <class T>
std::shared_ptr<const Layer<T>> make_flatten(LineReader&, const Shape& input, const Placement&) {
  return std::make_shared<FlattenLayer<T>>(input);
}

}  // namespace bdl
