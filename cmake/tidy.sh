#!/bin/sh
# clang-tidy after `cmake --preset clang`. Arguments: the sources to check, default the library and its benchmarks.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- $(find src bench -name '*.cpp' | sort)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
# The analyzer gives up on a function after so many states; kernels that are inlined whole would take it a minute each.
set_option='--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang'
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 clang-tidy -p build/clang --quiet $set_option --extra-arg=max-nodes=20000 \
  >"$log" 2>&1 || status=$?
sed '/^[0-9]* warnings\{0,1\} .*generated\.$/d' "$log"
exit "$status"
