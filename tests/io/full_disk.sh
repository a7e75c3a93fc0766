#!/bin/sh
# usage: full_disk.sh BUILD  A disk that is full, of file systems that exist: saves onto a tmpfs of 256 kB, in a namespace of its own, until nothing
# fits. The last whole file loads, nothing else is left. Needs the right to mount (root, or user namespaces).
set -eu
kills=$(cd "$1" && pwd)/tests/bdl_kills
exec unshare -Urm sh -c '
  set -eu
  mount -t tmpfs -o size=256k tmpfs /mnt
  cd /mnt
  "$1" /mnt 2 >/dev/null                                  # a file of 100 kB, replaced by another
  head -c 100000 /dev/zero >ballast                       # now a second one does not fit
  before=$(cksum <belief.safetensors)
  if "$1" /mnt 2 >report 2>&1; then echo "saved onto a full disk"; exit 1; fi
  cat report
  grep -q "belief.safetensors: cannot write: No space left on device" report
  [ "$(cksum <belief.safetensors)" = "$before" ]
  [ "$(ls -A)" = "$(printf "ballast\nbelief.safetensors\nreport")" ]
' sh "$kills"
