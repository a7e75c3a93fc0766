// crop ROWS [COLUMNS]: the middle of each map. Behind shifted images (option augment_pad), crops at random in
// training and the middle one at prediction.
#pragma once

#include "network/layer.hpp"
#include "network/line.hpp"

namespace bdl {

template <class T>
class CropLayer final : public Layer<T> {
 public:
  CropLayer(const Shape& input, const Shape& output) : Layer<T>(input, output) {}
  std::string text() const override;
  std::optional<Layout> layout() const override { return Layout::packets; }
  bool can(Need need) const override { return need != Need::second_derivatives; }
  void forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out,
               const Kept<T>& kept) const override;
  void backward(const Pass<T>& pass, const Kept<T>& kept, ConstMatrixView<T> e, bool add,
                MatrixView<T> to) const override;

 private:
  template <class Visit>
  void for_each_line(Index packets, Visit&& visit) const;
};

template <class T>
std::shared_ptr<const Layer<T>> make_crop(LineReader& line, const Shape& input, const Placement&);

}  // namespace bdl
