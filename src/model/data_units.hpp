// Scales that data give a model.
#pragma once

#include "data/moments.hpp"
#include "model/model.hpp"

namespace bdl {

/// Returns the number of consecutive inputs that share mean and scale: the pixels of an image's channel.
template <class T>
Index inputs_together(const Model<T>& model);
/// Fails if moments of the data of that name are not usable, as after an overflow.
ColumnMoments checked_moments(ColumnMoments moments, const char* name);

}  // namespace bdl
