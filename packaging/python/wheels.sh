#!/bin/sh
# Builds one wheel for each interpreter of packaging/pythons.sh on the one library of packaging/library.sh, and has auditwheel
# vendor libnlopt and name the oldest Linux that each runs on.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$root/build/packages/python
prefix=$root/build/packages/prefix
tools=$root/build/packages/tools
mkdir -p "$work" "$root/dist"
[ -x "$tools/bin/auditwheel" ] || python3 -m venv "$tools"
"$tools/bin/python" -m pip install --quiet --disable-pip-version-check -r "$root/packaging/python/requirements.txt"

rm -rf "$work/source" "$work/raw" "$root"/dist/bdl-*.whl
sh "$root/packaging/python/source.sh" "$work/source"
mkdir -p "$work/source/bdl/licences"
cp "$prefix"/share/doc/bdl/licences/*.txt "$work/source/bdl/licences/"
sh "$root/packaging/pythons.sh" >"$work/pythons"
[ -s "$work/pythons" ] || { echo 'there is no Python 3.9 to 3.13 with its headers: set PYTHONS' >&2; exit 1; }
while read -r python; do
  rm -rf "$work/source/build" "$work/raw"
  BDL_ROOT=$prefix CFLAGS='-g0 -O2' LDFLAGS=-Wl,--strip-all PIP_CONSTRAINT=$root/packaging/python/requirements.txt \
    "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$work/raw" "$work/source"
  PATH=$tools/bin:$PATH LD_LIBRARY_PATH=$prefix/lib auditwheel repair --wheel-dir "$root/dist" "$work"/raw/bdl-*.whl \
    >"$work/auditwheel.log" 2>&1 || { cat "$work/auditwheel.log"; exit 1; }
done <"$work/pythons"
for wheel in "$root"/dist/bdl-*.whl; do printf '%s bytes  %s\n' "$(stat -c %s "$wheel")" "${wheel##*/}"; done
