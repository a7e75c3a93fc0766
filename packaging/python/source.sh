#!/bin/sh
# usage: source.sh FOLDER  Copies the Python package's own sources, without what building left among them.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
cd "$root/bindings/python"
tar chf - --exclude=__pycache__ --exclude='*.so*' pyproject.toml setup.py MANIFEST.in README.md bdl native | tar xf - -C "$1"
cp "$root/LICENSE" "$1/"
mkdir -p "$1/libbdl"
cp "$root/VERSION" "$1/libbdl/"
