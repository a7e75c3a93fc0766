#!/bin/sh
# usage: reproducible.sh [quick]  Compiles the library twice, in two folders of other names and lengths, and compares bytes:
# the whole of it (minutes), or some objects that have debug information, file names in messages and kernels.
set -eu
scope=${1:-all}
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
objects='Unity/unity_c_api_0_cxx.cxx Unity/unity_base_0_cxx.cxx Unity/unity_parallel_0_cxx.cxx linalg/triangular.cpp'

build() { # folder
  mkdir -p "$1"
  (cd "$source" && tar cf - CMakeLists.txt VERSION cmake include mpi pkgconfig src) | tar xf - -C "$1"
  # CCACHE_DISABLE: the second build is one. GCC may order debug information by where it maps a precompiled header, which
  # differs from run to run; the machine code is the same with and without.
  cmake -S "$1" -B "$1/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBDL_BUILD_TESTS=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
    -DCMAKE_C_FLAGS_RELEASE='-O3 -DNDEBUG -g' -DCMAKE_CXX_FLAGS_RELEASE='-O3 -DNDEBUG -g' >/dev/null
  targets=bdl
  [ "$scope" = all ] || targets=$(for object in $objects; do echo "src/CMakeFiles/bdl_core.dir/$object.o"; done)
  CCACHE_DISABLE=1 ninja -C "$1/build" $targets >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}

sums() { # folder
  if [ "$scope" = all ]; then files=build/lib/libbdl.so; else files=$(cd "$1" && find build/src -name '*.o'); fi
  (cd "$1" && sha256sum $files | sort)
}

build "$work/a"
build "$work/another/folder/of/builds"
sums "$work/a" >"$work/first"
sums "$work/another/folder/of/builds" >"$work/second"
diff "$work/first" "$work/second"
[ -s "$work/first" ]
