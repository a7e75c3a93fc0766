#!/bin/sh
# usage: self-contained.sh FOLDER  Checks that the shared libraries below FOLDER find all that they need there, but for what
# every Linux system has: the C library and libgcc_s.
set -eu
find "$1" -name '*.so*' -type f >"${TMPDIR:-/tmp}/libraries.$$"
trap 'rm -f "${TMPDIR:-/tmp}/libraries.$$"' EXIT
[ -s "${TMPDIR:-/tmp}/libraries.$$" ]
root=$(cd "$1" && pwd -P)
while read -r library; do
  foreign=$(env -u LD_LIBRARY_PATH ldd "$library" | awk -v root="$root/" '
    $1 ~ /^(linux-vdso|lib(c|m|dl|rt|pthread|gcc_s)\.so|\/lib.*\/ld-linux)/ { next }
    index($3, root) != 1 { print $1 }' | grep -v '^libR' || true)
  [ -z "$foreign" ] || { echo "$library needs $foreign" >&2; exit 1; }
done <"${TMPDIR:-/tmp}/libraries.$$"
