#!/bin/sh
# Every public function has an example: lines of a program of examples/reference between two comments with its name in brackets.
set -eu
cd "$(dirname "$0")/../.."
functions=$(sed -n 's/^\(BDL_API\|BDL_MPI_API\|static inline\) [^(]*[ *]\(bdl_[a-z0-9_]*\)(.*/\2/p' include/bdl/*.h)
status=0
for function in $functions; do
  marks=$(cat examples/reference/*.c | grep -c "^ */\\*.*\\[$function\\].*\\*/" || true)
  [ "$marks" -ge 2 ] && [ $((marks % 2)) = 0 ] && continue
  echo "$function has $marks marks in examples/reference, expected 2, 4, ..."
  status=1
done
for mark in $(grep -ho '\[bdl_[a-z0-9_]*\]' examples/reference/*.c | tr -d '[]' | sort -u); do
  echo "$functions" | grep -qx "$mark" && continue
  echo "examples/reference shows $mark, which no header has"
  status=1
done
exit $status
