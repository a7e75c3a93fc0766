// Checksums of an archive, kept in its metadata, where other readers ignore them:
//
// "crc32c.NAME" is the CRC-32C of the bytes of tensor NAME.
//
// "crc32c" is the CRC-32C of the header's content: for every other entry of the metadata, in the order of the
// keys, its key and value; then for every tensor, in the order of the names, its name, dtype and lengths. A
// zero byte follows each of these texts, and one more the lengths.
//
// Each is written as eight lower-case hexadecimal digits. A file has all of them or none: files without them
// are older, or written by another program, and are read unchecked; a file that lacks some is damaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "io/safetensors_header.hpp"

namespace bdl {

/// Returns the metadata with all checksums added. Fails with ERROR_INVALID_ARGUMENT if one of these keys is
/// there already.
Metadata with_checksums(const Metadata& metadata, std::span<const Tensor> tensors);

/// Checks the header against its checksum, and moves the tensors' checksums from the metadata into their
/// entries. Fails with ERROR_FORMAT.
void extract_checksums(ArchiveHeader& header);

/// Fails with ERROR_FORMAT, naming the tensor, if its bytes do not match its checksum.
void check_bytes(const NamedEntry& tensor, std::span<const std::byte> bytes);

/// Returns the CRC-32C (Castagnoli; reflected polynomial 0x82F63B78, as in iSCSI, RFC 3720 section 12.1) of
/// the bytes. `previous` is the value for the bytes before them. It detects every burst of up to 32 wrong
/// bits.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous = 0);

}  // namespace bdl
