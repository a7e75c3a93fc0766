#!/bin/sh
# usage: describe.sh LIBBDL OUT [HEADERS]  Writes libbdl's ABI: its functions and the types of the public headers, nothing behind.
# It is read from debug information: where LIBBDL has none, what it exports is compiled once more in the folder of its build.
set -eu
library=$1
if ! objdump -h "$library" | grep -q ' \.debug_info '; then
  build=$(dirname "$library")/..
  cmake --build "$build" --target bdl_abi >"$2" 2>&1 || { cat "$2"; exit 1; }
  library=$build/abi/libbdl.so
fi
abidw --headers-dir "${3:-$(dirname "$0")/../../include/bdl}" --drop-private-types --exported-interfaces-only --no-show-locs \
  --no-corpus-path --no-comp-dir-path --no-elf-needed --type-id-style hash --out-file "$2" "$library"
sed -i "s|path='.*/src/|path='src/|" "$2" # not the folder it was built in
