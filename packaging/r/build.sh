#!/bin/sh
# Makes two packages of R: the source package, which is compiled against an installed libbdl, and one that is compiled already
# and brings libbdl along, for R of this version (x.y) or later on x86-64 Linux.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$root/build/packages/r
export BDL_PREFIX="$root/build/packages/prefix" LC_ALL=C.UTF-8 OPENBLAS_NUM_THREADS=1
rm -rf "$work"
mkdir -p "$work/library" "$root/dist"
cd "$work"
LD_LIBRARY_PATH=$BDL_PREFIX/lib R CMD build "$root/bindings/r/bdl" >build.log 2>&1 || { cat build.log; exit 1; }
source=$(ls bdl_*.tar.gz)
cp "$source" "$root/dist/"

R CMD INSTALL --library=library "$source" >install.log 2>&1 || { cat install.log; exit 1; }
cp -L "$BDL_PREFIX/lib/libbdl.so.0" "$BDL_PREFIX/lib/libnlopt.so.0" library/bdl/libs/
cp -r "$BDL_PREFIX/share/doc/bdl/licences" library/bdl/
strip --strip-unneeded library/bdl/libs/bdl.so
patchelf --set-rpath '$ORIGIN' library/bdl/libs/bdl.so
sh "$root/packaging/self-contained.sh" library/bdl/libs
built=$(sed -n 's/^Built: R \([0-9]*[.][0-9]*\).*/\1/p' library/bdl/DESCRIPTION)
tar -C library --owner=0 --group=0 --sort=name -czf "$root/dist/${source%.tar.gz}_R${built}_linux-x86_64.tar.gz" bdl
