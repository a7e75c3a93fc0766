#!/bin/sh
# usage: describe.sh LIBBDL OUT [HEADERS]  Writes libbdl's ABI: its functions and the types of the public headers, nothing behind.
set -eu
abidw --headers-dir "${3:-$(dirname "$0")/../../include/bdl}" --drop-private-types --exported-interfaces-only --no-show-locs \
  --no-corpus-path --no-comp-dir-path --no-elf-needed --type-id-style hash --out-file "$2" "$1"
sed -i "s|path='.*/src/|path='src/|" "$2" # not the folder it was built in
