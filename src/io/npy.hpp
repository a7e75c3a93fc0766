// NumPy's file format (.npy, versions 1 to 3): a magic string, a header that is a Python dictionary, and an
// array.
#pragma once

#include "io/file_array.hpp"

namespace bdl {

/// Returns the array of such a file as rows of examples; shapes are read as by rows_in_order(). Fails with
/// ERROR_FORMAT unless every byte is accounted for.
FileArray view_npy(std::span<const std::byte> bytes);

}  // namespace bdl
