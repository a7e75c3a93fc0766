#pragma once

#include <string>
#include <string_view>

namespace bdl {

/// Text from a file as it may appear in a message: at most 60 bytes, no control characters. Valid UTF-8 stays
/// valid.
std::string shown(std::string_view text);

}  // namespace bdl
