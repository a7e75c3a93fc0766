#!/bin/sh
# Makes the package of C and C++: a prefix with the library that brings its dependencies along, headers, pkg-config and CMake
# files, and the quickstart with its data.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$root/build/packages/c
name=libbdl-$(cat "$root/VERSION")-linux-x86_64
rm -rf "$work"
mkdir -p "$work/$name/share/doc/bdl/examples/data" "$work/$name/share/doc/bdl/examples/support" "$root/dist"
cp -a "$root/build/packages/prefix/." "$work/$name/"
cp "$root/examples/quickstart.c" "$work/$name/share/doc/bdl/examples/"
cp "$root"/examples/support/* "$work/$name/share/doc/bdl/examples/support/"
cp "$root"/examples/data/yacht*.csv "$work/$name/share/doc/bdl/examples/data/"
tar -C "$work" --owner=0 --group=0 --sort=name -czf "$root/dist/$name.tar.gz" "$name"
