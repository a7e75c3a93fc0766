#!/bin/sh
# Builds the libbdl that packages bring along, to build/packages/prefix. It needs the C library and libgcc_s of the system and
# nothing else: OpenBLAS, LAPACKE, libLBFGS and the C++ runtime are inside libbdl.so, libnlopt.so (LGPL) lies beside it. It has
# no MPI, as a package for all machines cannot choose one. tests/install/check.sh (step private) tests the same build.
set -eu
cd "$(dirname "$0")/.."
folder=build/packages
prefix=$(pwd)/$folder/prefix
archive() { # name: the archive's path, as the compiler finds it
  path=$(c++ -print-file-name="$1")
  [ -f "$path" ] || { echo "there is no $1, which packages link; on Debian: sh tests/packages.sh" >&2; exit 1; }
  echo "$path"
}

lbfgs=$(archive liblbfgs.a)
archive libstdc++.a >/dev/null
[ "$(uname -m)" = x86_64 ] || { echo 'packages are made on x86-64' >&2; exit 1; }
mkdir -p $folder
cc -O2 -fPIC -c packaging/older_glibc.c -o $folder/older_glibc.o
cmake -S . -B $folder/build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR=lib -DBDL_BLAS=private -DBDL_BUILD_MPI=OFF \
  -DBDL_BUILD_TESTS=ON -DBDL_WERROR=ON -DBDL_LBFGS_LIBRARY="$lbfgs" \
  -DCMAKE_SHARED_LINKER_FLAGS="-static-libstdc++ $(pwd)/$folder/older_glibc.o -Wl,--wrap=hypot,--wrap=arc4random" -DCMAKE_INSTALL_RPATH="\$ORIGIN" >/dev/null
cmake --build $folder/build --target bdl --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
rm -rf "$prefix"
cmake --install $folder/build --prefix "$prefix" >/dev/null
nlopt=$(ldd "$prefix/lib/libbdl.so" | sed -n 's/.*libnlopt.* => \([^ ]*\) .*/\1/p')
cp -L "$nlopt" "$prefix/lib/"
sh packaging/licences.sh "$prefix/share/doc/bdl/licences"
sh packaging/self-contained.sh "$prefix/lib"
