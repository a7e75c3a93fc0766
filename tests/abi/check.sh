#!/bin/sh
# usage: check.sh LIBBDL  Compares its ABI with the stored one. Additions are compatible; every other change fails.
set -eu
here=$(dirname "$0")
now=$(mktemp)
trap 'rm -f "$now"' EXIT
sh "$here/describe.sh" "$1" "$now"
abidiff --no-added-syms "$here/bdl.abi" "$now"
abidiff "$here/bdl.abi" "$now" >/dev/null || echo 'compatible additions: store them with tests/abi/update.sh'
