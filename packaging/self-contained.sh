#!/bin/sh
# usage: self-contained.sh FOLDER ...  Checks that the shared libraries below the folders find all that they need there, but for
# what every Linux system has (the C library and libgcc_s) and R itself.
set -eu
list=$(mktemp)
trap 'rm -f "$list"' EXIT
roots=$(for folder in "$@"; do (cd "$folder" && printf '%s ' "$(pwd -P)/"); done)
find $roots -name '*.so*' -type f >"$list"
[ -s "$list" ]
while read -r library; do
  foreign=$(env -u LD_LIBRARY_PATH ldd "$library" | awk -v roots="$roots" '
    $1 ~ /^(linux-vdso|libR|lib(c|m|dl|rt|pthread|gcc_s)\.so|\/lib.*\/ld-linux)/ { next }
    { n = split(roots, root, " "); for (i = 1; i <= n; ++i) if (index($3, root[i]) == 1) next; print $1 }')
  [ -z "$foreign" ] || { echo "$library needs $foreign" >&2; exit 1; }
done <"$list"
