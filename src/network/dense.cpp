// dense OUTPUTS [nobias]: z = W a + b.
#include "linalg/blas.hpp"
#include "network/layers.hpp"
#include "network/outer_rows.hpp"

namespace bdl {
namespace {

template <class T>
class DenseLayer final : public Layer<T> {
 public:
  DenseLayer(const Shape& input, Index outputs, bool bias, Index offset)
      : Layer<T>(input, {outputs}),
        shape_{input.size(), outputs, offset, bias ? offset + input.size() * outputs : -1} {}
  std::string text() const override {
    return "dense " + std::to_string(shape_.outputs) + (shape_.has_bias() ? "" : " nobias");
  }
  Index parameters() const override { return shape_.parameters(); }
  const DenseShape* dense() const override { return &shape_; }
  std::vector<ParameterBlock> blocks() const override {
    return weights_and_bias(shape_.outputs, shape_.inputs, shape_.weight_offset, shape_.bias_offset,
                            shape_.outputs);
  }
  std::unique_ptr<BlockRows<T>> rows(bool of_data) const override {
    DenseShape shape = shape_;
    shape.of_data = of_data;
    return std::make_unique<OuterRows<T>>(shape);
  }

  /// Scaling by fan-out would let networks of few outputs begin with logits above 10, which published ResNets
  /// do not: their last layer has the usual scale.
  void initialize(bdl_initialization scheme, const StreamKey& key, std::span<T> theta) const override {
    if (scheme == BDL_INIT_HE_FAN_OUT) scheme = BDL_INIT_UNIFORM_FAN_IN;
    const auto weights = blocks();
    initialize_weights(scheme, {shape_.inputs, shape_.outputs}, key, weights, theta);
  }

  void forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out, const Kept<T>&) const override {
    pass.weights.apply(shape_, pass.sample, in, out);
  }
  void backward(const Pass<T>& pass, const Kept<T>&, ConstMatrixView<T> e, bool add,
                MatrixView<T> to) const override {
    pass.weights.pull(shape_, pass.sample, e, add, to);
  }

  /// R{z} = W R{a} + V a + c.
  void change(const Directions<T>& directions, const Kept<T>&, ConstMatrixView<T> in,
              ConstMatrixView<T> in_change, MatrixView<T> out_change) const override {
    const bool moves = in_change.data != nullptr;
    if (moves)
      gemm(Op::transpose, Op::none, T(1), directions.weights.transposed(shape_, 0), in_change, T(0),
           out_change);
    const SampledWeights<T> v(directions.v);
    for (Index k = 0; k < directions.v.cols; ++k) {
      const auto columns = out_change.columns(k * directions.examples, directions.examples);
      gemm(Op::transpose, Op::none, T(1), v.transposed(shape_, k), in, T(moves ? 1 : 0), columns);
      if (!shape_.has_bias()) continue;
      const T* bias = directions.v.column_data(k) + shape_.bias_offset;
      for (Index i = 0; i < columns.cols; ++i)
        for (Index o = 0; o < columns.rows; ++o) columns(o, i) += bias[o];
    }
  }
  /// R{W^T E} = W^T R{E} + V^T E.
  void change_back(const Directions<T>& directions, const Kept<T>&, ConstMatrixView<T>, ConstMatrixView<T> e,
                   ConstMatrixView<T> e_change, bool add, MatrixView<T> to) const override {
    directions.weights.pull(shape_, 0, e_change, add, to);
    const SampledWeights<T> v(directions.v);
    for (Index k = 0; k < directions.v.cols; ++k)
      v.pull(shape_, k, e, true, to.columns(k * directions.examples, directions.examples));
  }

 private:
  DenseShape shape_;
};

}  // namespace

template <class T>
LayerPointer<T> make_dense(LineReader& line, const Shape& input, const Placement& at) {
  const Index outputs = line.count("OUTPUTS");
  return std::make_shared<DenseLayer<T>>(input, outputs, !line.flag("nobias"), at.parameters);
}

template LayerPointer<float> make_dense(LineReader&, const Shape&, const Placement&);
template LayerPointer<double> make_dense(LineReader&, const Shape&, const Placement&);

}  // namespace bdl
