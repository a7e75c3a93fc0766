#!/bin/sh
# Prints the Python interpreters that get a wheel, one a line: those of variable PYTHONS (names or paths), else the first Python
# of each version from 3.9 to 3.13 that has its headers, found as python3.9 ... in PATH or by pyenv.
set -eu
fits() { # interpreter
  "$1" -c '
import os, sys, sysconfig
headers = os.path.isfile(os.path.join(sysconfig.get_paths()["include"], "Python.h"))
sys.exit(not (headers and (3, 9) <= sys.version_info[:2] <= (3, 13)))' 2>/dev/null
}

if [ -n "${PYTHONS-}" ]; then
  for python in $PYTHONS; do
    fits "$python" || { echo "$python is no Python 3.9 to 3.13 with its headers" >&2; exit 1; }
    command -v "$python"
  done
  exit
fi
others=
if command -v pyenv >/dev/null; then others="$(pyenv root)/versions"; fi
for minor in 9 10 11 12 13; do
  for python in "/usr/bin/python3.$minor" "python3.$minor" ${others:+"$others/3.$minor".*/bin/python3}; do
    if fits "$python"; then command -v "$python"; break; fi
  done
done
