#include "network/noise/noise_source.hpp"

#include "parallel/parallel.hpp"

namespace bdl {

template <class T>
StreamKey StreamNoise<T>::key(Purpose purpose, Index number, Index sample) const {
  const Index slots = std::max(layout_.blocks, layout_.layers), base = antithetic_ ? sample / 2 : sample,
              slot =
                  (base * slots + number) * static_cast<Index>(Purpose::count) + static_cast<Index>(purpose);
  return {seed_, stream_, static_cast<std::uint64_t>(step_), static_cast<std::uint32_t>(slot)};
}

template <class T>
void StreamNoise<T>::fill(const StreamKey& key, T factor, std::span<T> out) const {
  check_normals<T>(key, std::ssize(out));
  parallel_blocks(std::ssize(out), 1 << 14, [&](Index first, Index count) noexcept {
    const auto some = out.subspan(at(first), at(count));
    fill_normal(key, first, some);
    if (factor < 0)
      for (T& value : some) value = -value;
  });
}

template <class T>
void StreamNoise<T>::factors(Index block, Index sample, MatrixView<T> eps) const {
  const StreamKey stream = key(Purpose::factors, block, sample);
  check_normals<T>(stream, eps.size());
  for (Index k = 0; k < eps.cols; ++k) {
    fill_normal(stream, k * eps.rows, eps.column(k));
    for (T& value : eps.column(k)) value *= sign(sample);
  }
}

template <class T>
void StreamNoise<T>::outputs(Index layer, Index sample, MatrixView<T> xi) const {
  fill(key(Purpose::noise, layer, sample), sign(sample), {xi.data, at(xi.size())});
}

template <class T>
void StreamNoise<T>::parameters(Index layer, Index sample, std::span<T> zeta) const {
  fill(key(Purpose::noise, layer, sample), sign(sample), zeta);
}

template <class T>
void StreamNoise<T>::example_parameters(Index layer, Index sample, Index packet, Index first, Index count,
                                        T* zeta) const noexcept {
  const StreamKey stream = key(Purpose::noise, layer, sample);
  const Index of_packet = layout_.parameters[at(layer)] * packet_size;
  const std::span<T> out(zeta, at(count * packet_size));
  fill_normal(stream, packet * of_packet + first * packet_size, out);
  if (sign(sample) < 0)
    for (T& value : out) value = -value;
}

template <class T>
void StreamNoise<T>::check_example_parameters(Index layer, Index packets) const {
  check_normals<T>(key(Purpose::noise, layer, 0), packets * packet_size * layout_.parameters[at(layer)]);
}

template <class T>
void StreamNoise<T>::fill_signs(const StreamKey& stream, MatrixView<T> out) const {
  parallel_blocks(out.size(), 1 << 14, [&](Index first, Index count) noexcept {
    const std::span<T> some(out.data + first, at(count));
    fill_uniform(stream, first, some, T(-1), T(1));
    for (T& value : some) value = value < 0 ? T(-1) : T(1);
  });
}

template <class T>
void StreamNoise<T>::signs(Index layer, Index sample, MatrixView<T> in, MatrixView<T> out) const {
  fill_signs(key(Purpose::sign_in, layer, sample), in);
  fill_signs(key(Purpose::sign_out, layer, sample), out);
}

template class StreamNoise<float>;
template class StreamNoise<double>;

}  // namespace bdl
