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
# A program that asks whether header and library fit is refused by a library older than its headers (docs/developers/abi.md).
sed -i "s/^ bdl_check_version@BDL_0 .*/ bdl_check_version@BDL_0 $version/" "$source/debian/libbdl0.symbols"
# An entry for each version of CHANGELOG.md; one that has no date yet gets that of the last commit.
today=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}
sed -n 's/^## \[\([0-9.]*\)\] - \(.*\)/\1 \2/p' "$root/CHANGELOG.md" | while read -r release day; do
  when=$(date -R -u -d "$day" 2>/dev/null || date -R -u -d "@$today")
  printf 'libbdl (%s-%s) unstable; urgency=medium\n\n  * Release %s; CHANGELOG.md of the sources has what is new.\n\n -- %s  %s\n\n' \
    "$release" "$revision" "$release" "$maintainer" "$when"
done >"$source/debian/changelog"

# The packages are attached to releases of libbdl and not uploaded to Debian, so no bug of Debian asks for them.
for package in $(sed -n 's/^Package: //p' "$source/debian/control"); do
  echo "$package: initial-upload-closes-no-bugs" >"$source/debian/$package.lintian-overrides"
done

cd "$source"
# The objects are those of the release preset, which ccache may have.
BDL_CMAKE_FLAGS=-DBDL_WERROR=ON CCACHE_BASEDIR="${CCACHE_BASEDIR:-$source}" \
  dpkg-buildpackage --build=binary --no-sign >"$work/build.log" 2>&1 || { tail -n 60 "$work/build.log"; exit 1; }
rm -f "$root"/dist/*.deb
cp "$work"/*.deb "$root/dist/"
lintian --allow-root --fail-on error,warning "$work"/*.changes
