#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bdl {

/// CRC-32C (Castagnoli; reflected polynomial 0x82F63B78, as in iSCSI, RFC 3720 section 12.1): detects every
/// burst of up to 32 wrong bits. To go on from `previous`, the value of the bytes before.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous = 0);

}  // namespace bdl
