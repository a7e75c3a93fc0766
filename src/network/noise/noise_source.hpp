// Sources of the standard normals of a noisy pass: Philox streams, or numbers that are given.
#pragma once

#include "network/shape.hpp"
#include "rng/philox.hpp"

namespace bdl {

template <class T>
class NoiseSource {
 public:
  NoiseSource() = default;
  NoiseSource(const NoiseSource&) = delete;
  NoiseSource& operator=(const NoiseSource&) = delete;
  virtual ~NoiseSource() = default;
  /// Draws eps for each example and column of W (M x K) of a block of parameters; 1 x K: for all examples.
  virtual void factors(Index block, Index sample, MatrixView<T> eps) const = 0;
  /// Draws xi for each output of a layer, in its layout.
  virtual void outputs(Index layer, Index sample, MatrixView<T> xi) const = 0;
  /// Draws zeta for each parameter of a layer, for all examples together.
  virtual void parameters(Index layer, Index sample, std::span<T> zeta) const = 0;
  /// Draws zeta for parameters first .. first + count - 1 of each of a packet's examples: zeta[16 p + lane].
  virtual void example_parameters(Index layer, Index sample, Index packet, Index first, Index count,
                                  T* zeta) const noexcept = 0;
  /// Fails if example_parameters() cannot draw as many.
  virtual void check_example_parameters(Index layer, Index packets) const = 0;
  /// Draws signs, +-1, for each example's inputs (channels of a convolution) and outputs (filters), in the
  /// layout of the layer.
  virtual void signs(Index layer, Index sample, MatrixView<T> in, MatrixView<T> out) const = 0;
};

/// Sizes that determine which numbers of a stream are whose.
struct NoiseLayout {
  Index blocks = 0, layers = 0;
  ConstSpan<Index> parameters{};  ///< number in each layer
};

/// Philox streams: numbers are a pure function of seed, step and place. If antithetic, samples 2 j and 2 j +
/// 1 have opposite numbers.
template <class T>
class StreamNoise final : public NoiseSource<T> {
 public:
  StreamNoise(std::uint64_t seed, Stream stream, Index step, NoiseLayout layout, bool antithetic)
      : seed_(seed), stream_(stream), step_(step), layout_(layout), antithetic_(antithetic) {}
  void factors(Index block, Index sample, MatrixView<T> eps) const override;
  void outputs(Index layer, Index sample, MatrixView<T> xi) const override;
  void parameters(Index layer, Index sample, std::span<T> zeta) const override;
  void example_parameters(Index layer, Index sample, Index packet, Index first, Index count,
                          T* zeta) const noexcept override;
  void check_example_parameters(Index layer, Index packets) const override;
  void signs(Index layer, Index sample, MatrixView<T> in, MatrixView<T> out) const override;

 private:
  enum class Purpose { factors, noise, sign_in, sign_out, count };
  StreamKey key(Purpose purpose, Index number, Index sample) const;
  T sign(Index sample) const { return antithetic_ && sample % 2 == 1 ? T(-1) : T(1); }
  void fill(const StreamKey& key, T factor, std::span<T> out) const;
  void fill_signs(const StreamKey& key, MatrixView<T> out) const;
  std::uint64_t seed_;
  Stream stream_;
  Index step_;
  NoiseLayout layout_;
  bool antithetic_;
};

}  // namespace bdl
