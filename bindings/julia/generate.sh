#!/bin/sh
# Generates BDL.jl/src/LibBDL.jl from the public headers: sh generate.sh DIR, where DIR/bdl/version.h is the build's.
set -eu
[ $# -eq 1 ] || { echo "usage: $0 DIR_OF_bdl/version.h" >&2; exit 2; }
includes=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$here/../.."
swig -python -doxygen -DBDL_TREE -xmlout "$scratch/tree.xml" -outdir "$scratch" -o "$scratch/ignored.c" \
  -Iinclude "-I$includes" bindings/bdl.i
python3 "$here/generate.py" "$scratch/tree.xml" "$here/BDL.jl/src/LibBDL.jl" \
  "$(sed -n 's/^#define BDL_VERSION_STRING "\(.*\)"$/\1/p' "$includes/bdl/version.h")"
