#!/bin/sh
# Builds the site into build/site: sh docs/build.sh. Every code block of every page runs; the build fails if one fails.
# sh docs/build.sh WORK takes the packages that tests/bindings/check.sh has installed to WORK, instead of installing its own.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
mkdir -p build/docs/doxygen
work=$(cd "${1-build/docs}" && pwd)
export CMAKE_GENERATOR=Ninja LC_ALL=C.UTF-8 OPENBLAS_NUM_THREADS=1
export BDL_DATA="${BDL_DATA:-$root/../shared/data}"

if [ $# = 0 ]; then
  sh tests/packages.sh
  sh tests/julia.sh
  [ -f build/release/CMakeCache.txt ] || cmake --preset release
  cmake --build --preset release --parallel "$(nproc)"
  rm -rf "$work/prefix"
  cmake --install build/release --prefix "$work/prefix" >/dev/null
fi
BDL_LIBRARY=$(find "$work/prefix" -name libbdl.so.0)
PKG_CONFIG_PATH=$(dirname "$BDL_LIBRARY")/pkgconfig
export BDL_LIBRARY PKG_CONFIG_PATH LD_LIBRARY_PATH="${BDL_LIBRARY%/*}" R_LIBS="$work/r" JULIA_DEPOT_PATH="$work/julia"

if [ $# = 0 ]; then
  mkdir -p "$work/r"
  R CMD INSTALL --library="$work/r" bindings/r/bdl
fi

python=build/docs/python/bin/python
[ -x $python ] || /usr/bin/python3 -m venv --system-site-packages build/docs/python
$python -m pip install --quiet --requirement docs/requirements.txt
BDL_ROOT="$work/prefix" $python -m pip install --quiet --force-reinstall --no-deps --no-build-isolation ./bindings/python

doxygen docs/Doxyfile
$python -m sphinx --fail-on-warning --keep-going --quiet -j "$(nproc)" -b html -d build/docs/doctrees docs build/site
$python docs/_ext/links.py build/site
$python docs/_ext/readme.py
