#!/bin/sh
# clang-tidy over the library, after `cmake --preset clang`. Arguments: the sources to check, default all of src.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- $(find src -name '*.cpp' | sort)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 clang-tidy -p build/clang --quiet >"$log" 2>&1 || status=$?
sed '/^[0-9]* warnings\{0,1\} .*generated\.$/d' "$log"
exit "$status"
