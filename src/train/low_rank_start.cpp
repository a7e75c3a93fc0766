#include "train/low_rank_start.hpp"

#include <algorithm>
#include <cmath>

namespace bdl {
namespace {

constexpr double of_biases = 0.01;  // standard deviation of their V

template <class T>
double deviation(ConstSpan<T> values) {
  double sum = 0, squares = 0;
  for (const T value : values) {
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const auto count = static_cast<double>(values.size());
  return std::sqrt(std::max(0.0, squares / count - sum / count * (sum / count)));
}

/// Of V in each parameter.
template <class T>
std::vector<double> deviations(const std::vector<ParameterBlock>& blocks, ConstSpan<T> mean,
                               double of_weights) {
  std::vector<double> all(mean.size());
  for (const ParameterBlock& block : blocks) {
    double size = 0;
    if (block.is_bias) {
      size = of_biases;
    } else if (!block.is_point) {
      const double of_mean = deviation(mean.subspan(at(block.offset), at(block.size())));
      size = of_weights * (of_mean > 0 ? of_mean : 1 / std::sqrt(3 * static_cast<double>(block.fan_in)));
    }
    std::fill_n(all.begin() + block.offset, block.size(), block.is_point ? 0 : size);
  }
  return all;
}

}  // namespace

template <class T>
void draw_low_rank(const std::vector<ParameterBlock>& blocks, ConstSpan<T> mean, const LowRankStart& start,
                   Posterior<T>& q) {
  for_each_low_rank_moment(q, [&](LowRankMomentPosterior<T>& member, Index offset) {
    const Index rank = member.rank();
    if (rank == 0) return;
    const auto columns = static_cast<double>(rank);
    const double root = std::sqrt(start.scale > 0 ? start.scale : 1 / columns);
    const std::vector<double> sizes = deviations(blocks, mean, start.size / std::sqrt(columns));
    for (Index k = 0; k < rank; ++k) {
      const std::span<T> w = member.w().column(k);
      fill_normal({start.seed, Stream::initialization, 3, static_cast<std::uint32_t>(k)}, offset, w);
      for (std::size_t i = 0; i < w.size(); ++i)
        w[i] = static_cast<T>(root * sizes[at(offset) + i] * static_cast<double>(w[i]));
    }
  });
}

template void draw_low_rank(const std::vector<ParameterBlock>&, ConstSpan<float>, const LowRankStart&,
                            Posterior<float>&);
template void draw_low_rank(const std::vector<ParameterBlock>&, ConstSpan<double>, const LowRankStart&,
                            Posterior<double>&);

}  // namespace bdl
