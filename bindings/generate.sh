#!/bin/sh
# usage: generate.sh [--check] INCLUDE  Writes the layers that are generated from bdl.i and the public headers; INCLUDE holds
# the build's bdl/version.h. --check fails where they are not what is stored. Needs SWIG 4.1 and Python.
set -eu
[ "$1" = --check ] && check=1 && shift || check=
includes=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
generated='bindings/python/bdl/lowlevel.py bindings/python/native/lowlevel_wrap.c
  bindings/r/bdl/R/bdl.R bindings/r/bdl/R/constants.R bindings/r/bdl/man/bdl_library.Rd bindings/r/bdl/src/bdl_wrap.c
  bindings/julia/BDL.jl/src/LibBDL.jl'

if [ "$check" ]; then
  copy=$(mktemp -d)
  trap 'rm -rf "$copy"' EXIT
  cp -r bindings include "$copy"
  for file in $generated; do rm "$copy/$file"; done
  sh "$copy/bindings/generate.sh" "$includes"
  for file in $generated; do diff -u "$file" "$copy/$file" | head -n 40; cmp -s "$file" "$copy/$file" || exit 1; done
  exit 0
fi

swig -python -threads -doxygen -module lowlevel -Iinclude "-I$includes" -outdir bindings/python/bdl \
  -o bindings/python/native/lowlevel_wrap.c bindings/bdl.i
sh bindings/r/generate.sh "$includes"
sh bindings/julia/generate.sh "$includes"
