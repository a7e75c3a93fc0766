#!/bin/sh
# Makes the source distribution: the Python package with the sources of libbdl in folder libbdl, which setup.py compiles.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$root/build/packages/sdist
rm -rf "$work"
sh "$root/packaging/python/source.sh" "$work"
(cd "$root" && tar cf - CMakeLists.txt VERSION LICENSE cmake include mpi pkgconfig src) | tar xf - -C "$work/libbdl"
mkdir -p "$root/dist"
cd "$work"
python3 setup.py --quiet sdist --dist-dir "$root/dist"
