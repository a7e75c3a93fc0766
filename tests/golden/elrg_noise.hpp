// The noise of a problem of "elrg-golden-1".
#pragma once

#include <algorithm>
#include <utility>

#include "evidence/noisy_estimator.hpp"
#include "golden.hpp"
#include "network/layers.hpp"

namespace golden {

/// Noise of the file: one list of layers a sample.
class GivenNoise final : public bdl::NoiseSource<double> {
 public:
  GivenNoise(const Json& samples, std::vector<bdl::Shape> outputs)
      : samples_(samples), outputs_(std::move(outputs)) {}
  void factors(bdl::Index block, bdl::Index s, bdl::MatrixView<double> eps) const override {
    const Json& rows = of(block, s).at("eps");
    for (bdl::Index i = 0; i < eps.rows; ++i)
      for (bdl::Index k = 0; k < eps.cols; ++k)
        eps(i, k) = (rows.front().is_array() ? rows.at(size(i)) : rows).at(size(k)).get<double>();
  }
  void outputs(bdl::Index layer, bdl::Index s, bdl::MatrixView<double> xi) const override {
    const bdl::Shape& shape = outputs_[size(layer)];
    const bdl::Index positions = shape.rows * shape.columns, lanes = xi.rows == shape.channels ? 1 : 16;
    const bdl::PacketMap map{shape};
    std::fill_n(xi.data, xi.size(), 0.0);
    const Json& examples = of(layer, s).at("xi");
    for (bdl::Index i = 0; i < std::ssize(examples); ++i)
      for (bdl::Index p = 0; p < positions; ++p)
        for (bdl::Index c = 0; c < shape.channels; ++c)
          (lanes == 1 ? xi(c, i) : xi((c * map.stride() + p) * 16 + i % 16, i / 16)) =
              examples[size(i)][size(p)][size(c)].get<double>();
  }
  void parameters(bdl::Index layer, bdl::Index s, std::span<double> zeta) const override {
    std::ranges::copy(of(layer, s).at("zeta").get<Vector>(), zeta.begin());
  }
  void example_parameters(bdl::Index layer, bdl::Index s, bdl::Index packet, bdl::Index first,
                          bdl::Index count, double* zeta) const noexcept override {
    const Json& examples = of(layer, s).at("zeta");
    for (bdl::Index p = 0; p < count; ++p)
      for (bdl::Index lane = 0; lane < 16; ++lane) {
        const bdl::Index i = packet * 16 + lane;
        zeta[p * 16 + lane] =
            i < std::ssize(examples) ? examples[size(i)][size(first + p)].get<double>() : 0.0;
      }
  }
  void check_example_parameters(bdl::Index, bdl::Index) const override {}
  void signs(bdl::Index layer, bdl::Index s, bdl::MatrixView<double> in,
             bdl::MatrixView<double> out) const override {
    fill_signs(of(layer, s).at("sign_in"), in);
    fill_signs(of(layer, s).at("sign_out"), out);
  }

 private:
  static std::size_t size(bdl::Index i) { return static_cast<std::size_t>(i); }
  const Json& of(bdl::Index layer, bdl::Index s) const { return samples_[size(s)][size(layer)]; }
  static void fill_signs(const Json& examples, bdl::MatrixView<double> out) {
    const bdl::Index channels = std::ssize(examples.front()), lanes = out.rows / channels;
    std::fill_n(out.data, out.size(), 1.0);
    for (bdl::Index i = 0; i < std::ssize(examples); ++i)
      for (bdl::Index c = 0; c < channels; ++c)
        out(c * lanes + i % lanes, i / lanes) = examples[size(i)][size(c)].get<double>();
  }
  Json samples_;
  std::vector<bdl::Shape> outputs_;
};

}  // namespace golden
