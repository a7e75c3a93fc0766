// Makes layers of all kinds (layers.def). Each kind is a class that only its file knows.
#pragma once

#include "network/layer.hpp"
#include "network/line.hpp"

namespace bdl {

template <class T>
using LayerPointer = std::shared_ptr<const Layer<T>>;

#define BDL_LAYER(kind, make) \
  template <class T>          \
  LayerPointer<T> make(LineReader& line, const Shape& input, const Placement& at);
#include "network/layers.def"
#undef BDL_LAYER

template <class T>
LayerPointer<T> make_activation(const Shape& shape, bdl_activation activation);

/// Makes the layer that changes the layout of its inputs, which no description names.
template <class T>
LayerPointer<T> make_repacking(const Shape& shape, Layout to);

/// Copies examples from columns to packets, or adds them; places of absent examples become 0.
template <class T>
void to_packets(const PacketMap& map, ConstMatrixView<T> columns, bool add, MatrixView<T> packets);
/// Copies examples from packets to columns, or adds them.
template <class T>
void to_columns(const PacketMap& map, ConstMatrixView<T> packets, bool add, MatrixView<T> columns);

/// Reads the options "stride" and "pad" of convolutions and pools. Fails, naming the line, if the kernel does
/// not fit.
ConvShape read_window(LineReader& line, const Shape& input, Index kernel, Index default_stride);

}  // namespace bdl
