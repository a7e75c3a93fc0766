// NumPy's file format (.npy, versions 1 to 3): a magic string, a header that is a Python dictionary, and an
// array.
#pragma once

#include <span>

#include "base/array.hpp"

namespace bdl {

/// The array of such a file in memory as rows of examples: one dimension is one column, and of three or more
/// all but the first are columns. Trusts nothing: ERROR_FORMAT unless every byte is accounted for.
Array view_npy(std::span<const std::byte> bytes);

/// Bytes of an element.
std::size_t width_of(std::int32_t dtype);

/// Elements of `width` bytes must lie where the processor can read them: ERROR_FORMAT unless they do.
void check_alignment(const std::byte* data, std::size_t width);

/// Of an array in memory with these lengths, the last one running fastest: its rows as above.
Array rows_in_order(const std::byte* data, std::int32_t dtype, std::span<const Index> shape);

}  // namespace bdl
