// Checksums of an archive, in its metadata, where other readers ignore them:
//   "crc32c.NAME"  CRC-32C of the bytes of tensor NAME
//   "crc32c"       CRC-32C of what the header says: of every other entry of the metadata, in the order of the
//   keys, its key
//                  and value; then of every tensor, in the order of the names, name, dtype and lengths; a
//                  zero byte after each of these texts, and one more after the lengths.
// Each is eight hexadecimal digits, in lower case. A file has all of them, or none: files without them are
// older, or another program's, and are read unchecked; one that lacks some is damaged.
#pragma once

#include <span>

#include "io/safetensors_header.hpp"

namespace bdl {

/// The metadata with the checksums of the tensors. Fails with ERROR_INVALID_ARGUMENT where it has one of
/// these keys already.
Metadata with_checksums(const Metadata& metadata, std::span<const Tensor> tensors);

/// Compares what the header says with its checksum; takes the checksums out of the metadata and, of tensors,
/// into their entries. Fails with ERROR_FORMAT.
void take_checksums(ArchiveHeader& header);

/// Fails with ERROR_FORMAT naming the tensor if its bytes are others than were written.
void check_bytes(const NamedEntry& tensor, std::span<const std::byte> bytes);

}  // namespace bdl
