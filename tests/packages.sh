#!/bin/sh
# Installs the Debian packages that are missing: with argument "build" those that building needs, with "plot" those of the
# figures' scripts, with "dist" those of `make dist` and `make check`, else all that building and checking need. Root or sudo.
set -eu
wanted='build-essential cmake ninja-build xz-utils
  libopenblas-dev liblapacke-dev liblbfgs-dev librandom123-dev libboost-dev nlohmann-json3-dev libnlopt-dev
  libcmocka-dev'
case "${1-}" in
  build) ;;
  plot) wanted='python3 python3-matplotlib' ;;
  *) # the serial one beside that with threads, which stays the system's choice, not in its place
  wanted="$wanted libopenblas-pthread-dev libopenblas-serial-dev pkg-config python3
  clang libclang-rt-dev clang-format clang-tidy lld abigail-tools valgrind libc6-dbg patchelf
  libopenmpi-dev openmpi-bin libmpich-dev mpich python3-mpi4py r-cran-rmpi
  swig python3-dev python3-venv python3-pip python3-setuptools python3-wheel
  python3-numpy python3-sklearn python3-pandas python3-matplotlib python3-tqdm python3-pytest
  r-base-dev r-cran-testthat r-cran-knitr r-cran-rmarkdown r-cran-mass devscripts qpdf
  doxygen nodejs libjs-katex" ;;
esac
[ "${1-}" != dist ] || wanted="$wanted debhelper dh-python dh-r lintian mmdebstrap"

missing=
for package in $wanted; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "installing$missing"
if [ "$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi
install() {
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}
# Package lists may be absent or too old; refreshing them is only then worth its time.
install 2>/dev/null || { $sudo apt-get update -qq && install; }
