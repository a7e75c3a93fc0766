#!/bin/sh
# Builds the Debian packages of this system's release from a copy of the source tree, and has lintian look at them.
# DEBFULLNAME and DEBEMAIL: who maintains the packages, as for Debian's own tools.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
version=$(cat "$root/VERSION")
work=$root/build/packages/debian
source=$work/libbdl-$version
revision=${BDL_DEBIAN_REVISION-1}
maintainer="${DEBFULLNAME:-libbdl developers} <${DEBEMAIL:-libbdl@example.org}>"
rm -rf "$work"
mkdir -p "$source" "$root/dist"
(cd "$root" && tar cf - --exclude=__pycache__ --exclude='*.so*' --exclude='*.egg-info' --exclude=bindings/python/build \
  CMakeLists.txt VERSION LICENSE cmake include mpi pkgconfig src bindings examples) | tar xf - -C "$source"
cp -r "$root/packaging/debian" "$source/"
sed -i "s|@MAINTAINER@|$maintainer|" "$source/debian/control"
date=$(date -R -u -d "@${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}")
cat >"$source/debian/changelog" <<CHANGELOG
libbdl ($version-$revision) unstable; urgency=medium

  * Release $version; CHANGELOG.md has what is new.

 -- $maintainer  $date
CHANGELOG

cd "$source"
# The objects are those of the release preset, which ccache may have.
BDL_CMAKE_FLAGS=-DBDL_WERROR=ON CCACHE_BASEDIR="${CCACHE_BASEDIR:-$source}" \
  dpkg-buildpackage --build=binary --no-sign >"$work/build.log" 2>&1 || { tail -n 60 "$work/build.log"; exit 1; }
rm -f "$root"/dist/*.deb
cp "$work"/*.deb "$root/dist/"
lintian --fail-on error,warning --tag-display-limit 0 "$work"/*.changes
