// dense OUTPUTS [nobias]: z = W a + b.
#pragma once

#include "network/layer.hpp"
#include "network/line.hpp"

namespace bdl {

template <class T>
class DenseLayer final : public Layer<T> {
 public:
  DenseLayer(const Shape& input, Index outputs, bool bias, Index offset);
  std::string text() const override;
  Index parameters() const override { return shape_.parameters(); }
  std::vector<ParameterBlock> blocks() const override;
  void initialize(bdl_initialization scheme, const StreamKey& key, std::span<T> theta) const override;
  std::unique_ptr<BlockRows<T>> rows(bool of_data) const override;
  const DenseShape* dense() const override { return &shape_; }
  void forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out,
               const Kept<T>& kept) const override;
  void backward(const Pass<T>& pass, const Kept<T>& kept, ConstMatrixView<T> e, bool add,
                MatrixView<T> to) const override;
  void change(const Directions<T>& directions, const Kept<T>& kept, ConstMatrixView<T> in,
              ConstMatrixView<T> in_change, MatrixView<T> out_change) const override;
  void change_back(const Directions<T>& directions, const Kept<T>& kept, ConstMatrixView<T> in_change,
                   ConstMatrixView<T> e, ConstMatrixView<T> e_change, bool add,
                   MatrixView<T> to) const override;

 private:
  DenseShape shape_;
};

template <class T>
std::shared_ptr<const Layer<T>> make_dense(LineReader& line, const Shape& input, const Placement& at);

}  // namespace bdl
