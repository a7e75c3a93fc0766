#!/bin/sh
# usage: check.sh PACKAGE.tar.gz  R CMD check --as-cran of a built package, which must find nothing. Without the PDF manual, for
# which Debian's TeX would be installed, and without what needs the network.
set -eu
export LC_ALL=C.UTF-8 _R_CHECK_CRAN_INCOMING_REMOTE_=false _R_CHECK_SYSTEM_CLOCK_=0
R CMD check --as-cran --no-manual "$1"
grep -q '^Status: OK' "$(basename "$1" | sed 's/_.*//').Rcheck/00check.log"
