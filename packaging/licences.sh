#!/bin/sh
# usage: licences.sh FOLDER  Copies the licences of libbdl and of all that is compiled into the libraries of
# packaging/library.sh, as Debian states them for the versions that are installed.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
cd "$1"
stated() { # name, Debian package
  cp "/usr/share/doc/$2/copyright" "$1.txt"
}
cp "$root/LICENSE" libbdl.txt
cp "$root/packaging/licences.txt" README.txt
sed -n '/^ Boost Software License - Version 1.0/,/^$/{s/^ //; s/^[.]$//; p}' \
  "/usr/share/doc/$(dpkg-query -S /usr/include/boost/math/special_functions/beta.hpp | sed 's/:.*//')/copyright" >boost.txt
[ -s boost.txt ]
stated openblas libopenblas-serial-dev
stated lapack liblapacke-dev
stated liblbfgs liblbfgs-dev
stated nlopt libnlopt-dev
stated random123 librandom123-dev
stated nlohmann-json nlohmann-json3-dev
stated gcc "$(dpkg-query -S "$(cd / && realpath "$(c++ -print-file-name=libstdc++.a)")" | sed 's/:.*//')"
cp -L /usr/share/common-licenses/LGPL-2.1 LGPL-2.1.txt
cp -L /usr/share/common-licenses/GPL-3 GPL-3.txt
