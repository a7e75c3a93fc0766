#!/bin/sh
# Makes the source tarball of what is committed.
set -eu
cd "$(dirname "$0")/.."
version=$(cat VERSION)
mkdir -p dist
git archive --format=tar.gz --prefix="libbdl-$version/" --output="dist/libbdl-$version.tar.gz" HEAD
