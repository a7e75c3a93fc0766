// Options that earlier versions had and this one has not: what a checkpoint may say of them.
#pragma once

#include <span>

#include "io/record.hpp"

namespace bdl {

/// Values are as a checkpoint has them.
struct DeletedOption {
  const char* name;
  const char* default_value;         ///< What it did is what this version does.
  const char* same_value = nullptr;  ///< Another value that did the same, or null.
};

std::span<const DeletedOption> deleted_options();

/// Fails with ERROR_FORMAT naming the option if the file has a deleted one with a value of another meaning.
void check_deleted_options(const RecordReader& record);

}  // namespace bdl
