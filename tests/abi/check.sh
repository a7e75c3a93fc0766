#!/bin/sh
# usage: check.sh LIBBDL [STORED HEADERS]  Compares its ABI with the stored one. Additions are compatible; every other change fails.
set -eu
here=$(dirname "$0")
stored=${2:-$here/bdl.abi}
now=$(mktemp)
trap 'rm -f "$now"' EXIT
sh "$here/describe.sh" "$1" "$now" ${3+"$3"}
abidiff --no-added-syms "$stored" "$now"
abidiff "$stored" "$now" >/dev/null || echo 'compatible additions: store them with tests/abi/update.sh'
