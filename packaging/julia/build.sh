#!/bin/sh
# Makes the package of Julia that brings libbdl along.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$root/build/packages/julia
prefix=$root/build/packages/prefix
rm -rf "$work"
mkdir -p "$work/BDL.jl/lib" "$root/dist"
(cd "$root/bindings/julia/BDL.jl" && tar cf - --exclude=Manifest.toml .) | tar xf - -C "$work/BDL.jl"
cp -L "$prefix/lib/libbdl.so.0" "$prefix/lib/libnlopt.so.0" "$work/BDL.jl/lib/"
cp -r "$prefix/share/doc/bdl/licences" "$work/BDL.jl/"
tar -C "$work" --owner=0 --group=0 --sort=name -czf "$root/dist/BDL.jl-$(cat "$root/VERSION")-linux-x86_64.tar.gz" BDL.jl
