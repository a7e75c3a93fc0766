// NumPy's file format (.npy, versions 1 to 3): a magic string, a header that is a Python dictionary, and an
// array.
#pragma once

#include "io/file_array.hpp"

namespace bdl {

/// The array of such a file in memory as rows of examples: one dimension is one column, and of three or more
/// all but the first are columns. Trusts nothing: ERROR_FORMAT unless every byte is accounted for.
FileArray view_npy(std::span<const std::byte> bytes);

}  // namespace bdl
