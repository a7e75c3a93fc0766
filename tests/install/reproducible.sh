#!/bin/sh
# usage: reproducible.sh [quick]  Compiles the library twice, in two folders of other names and lengths, and compares code and
# data: of the whole library (minutes), or of some objects with kernels and with file names in messages. Debug information must
# not name the folder, but is not compared: with precompiled headers GCC may order it differently from run to run.
set -eu
scope=${1:-all}
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
objects='Unity/unity_c_api_0_cxx.cxx Unity/unity_base_0_cxx.cxx Unity/unity_parallel_0_cxx.cxx linalg/triangular.cpp'

build() { # folder
  mkdir -p "$1"
  (cd "$source" && tar cf - CMakeLists.txt VERSION cmake include mpi pkgconfig src) | tar xf - -C "$1"
  # CCACHE_DISABLE: the second build is one.
  cmake -S "$1" -B "$1/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBDL_BUILD_TESTS=OFF \
    -DCMAKE_C_FLAGS_RELEASE='-O3 -DNDEBUG -g' -DCMAKE_CXX_FLAGS_RELEASE='-O3 -DNDEBUG -g' >/dev/null
  targets=bdl
  [ "$scope" = all ] || targets=$(for object in $objects; do echo "src/CMakeFiles/bdl_core.dir/$object.o"; done)
  CCACHE_DISABLE=1 ninja -C "$1/build" $targets >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}

sums() { # folder
  if [ "$scope" = all ]; then files=build/lib/libbdl.so; else files=$(cd "$1" && find build/src -name '*.o' | sort); fi
  for file in $files; do
    if grep -qF "$work" "$1/$file"; then echo "$file names the folder of its build" >&2; return 1; fi
    objcopy --strip-debug --remove-section=.note.gnu.build-id "$1/$file" "$work/code"
    echo "$(sha256sum <"$work/code") $file"
  done
}

build "$work/a"
build "$work/another/folder/of/builds"
sums "$work/a" >"$work/first"
sums "$work/another/folder/of/builds" >"$work/second"
diff "$work/first" "$work/second"
[ -s "$work/first" ]
