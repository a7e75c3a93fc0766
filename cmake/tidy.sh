#!/bin/sh
# clang-tidy after `cmake --preset clang`. Arguments: the sources to check, default the library and its benchmarks.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- $(find src bench -name '*.cpp' | sort)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Without precompiled headers, all of which would be looked through for every file.
sed 's/ -Xclang -include\(-pch\)\{0,1\} -Xclang [^ ]*cmake_pch[^ ]*//g' build/clang/compile_commands.json \
  >"$work/compile_commands.json"
# The analyzer follows nulls, leaks and errors where memory and callers' data are handled; it is slow, and has nothing to
# say about kernels. It gives up on a function after so many states.
nodes='--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=max-nodes=20000'
tidy() { # -h: sources at the boundary, -v: the others; more flags
  which=$1
  shift
  grep $which -E '^(\./)?src/(base|c_api|io|search)/' "$work/sources" |
    xargs -r -P "$(nproc)" -n 1 clang-tidy -p "$work" --quiet $nodes "$@" >>"$work/log" 2>&1
}
status=0
printf '%s\n' "$@" >"$work/sources"
tidy -h || status=$?
tidy -v '--checks=-clang-analyzer-*' || status=$?
sed '/^[0-9]* warnings\{0,1\} .*generated\.$/d' "$work/log"
exit "$status"
