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
  needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  for name in $needed; do
    case $name in ld-linux* | libR.so | libc.so* | libm.so* | libdl.so* | librt.so* | libpthread.so* | libgcc_s.so*) continue ;; esac
    found=$(env -u LD_LIBRARY_PATH ldd "$library" | awk -v name="$name" '$1 == name { print $3 }')
    for root in $roots; do case $found in "$root"*) continue 2 ;; esac; done
    echo "$library needs $name, which is ${found:-nowhere}" >&2
    exit 1
  done
done <"$list"
