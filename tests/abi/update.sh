#!/bin/sh
# Stores the ABI of build/release as the one later builds are compared with. Run it when functions were added.
set -eu
here=$(dirname "$0")
exec sh "$here/describe.sh" "$here/../../build/release/lib/libbdl.so" "$here/bdl.abi"
