#include "train/stream/stream_scales.hpp"

namespace bdl {

void StreamScales::add(DataSet& data) {
  const Index count = data.rows();
  const auto place = [&](std::vector<double>& values, Index width) {
    values.resize(values.size() + static_cast<std::size_t>(width * count));
    return MatrixView<double>(values.data() + values.size() - width * count, width, count);
  };
  blocks_.reserve(blocks_.size() + 1);
  const auto x = place(x_, data.inputs()), y = place(y_, data.targets());
  data.fetch({0, count}, {}, x, y);
  blocks_.push_back({count, moved_});
  moved_ = -1;
}

Index StreamScales::rows() const {
  Index sum = 0;
  for (const FirstBlock& block : blocks_) sum += block.rows;
  return sum;
}

void StreamScales::restore(std::vector<FirstBlock> blocks, Index moved, std::vector<double> x,
                           std::vector<double> y) {
  is_open_ = true;
  blocks_ = std::move(blocks);
  moved_ = moved;
  x_ = std::move(x);
  y_ = std::move(y);
}

}  // namespace bdl
