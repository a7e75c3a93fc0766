#!/bin/sh
# usage: check.sh PACKAGE.tar.gz  R CMD check --as-cran of a built package, which must find nothing. Without the PDF manual, for
# which Debian's TeX would be installed, and without what needs the network. The package has the library's version, and needs a
# library of the same minor version.
set -eu
read -r version <"$(dirname "$0")/../../VERSION"
tar xOf "$1" bdl/DESCRIPTION | grep -qx "Version: $version"
tar xOf "$1" bdl/DESCRIPTION | grep -q "^SystemRequirements: libbdl (>= ${version%.*}) "
export LC_ALL=C.UTF-8 _R_CHECK_CRAN_INCOMING_REMOTE_=false _R_CHECK_SYSTEM_CLOCK_=0
R CMD check --as-cran --no-manual "$1"
checked=$(basename "$1" | sed 's/_.*//').Rcheck
grep -q '^Status: OK' "$checked/00check.log"
grep -q ' SKIP 0 ' "$checked/tests/testthat.Rout" # what may be skipped elsewhere runs here
