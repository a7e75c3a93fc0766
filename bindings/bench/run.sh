#!/bin/sh
# usage: run.sh PREFIX [GIGABYTES]  What calls cost from Python, R and Julia beyond C, and what training on a large array adds to the
# memory. libbdl is installed in PREFIX; PYTHON and R_LIBS may say where the packages are.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
library=$(find "$1" -name libbdl.so.0)
program=$(mktemp)
trap 'rm -f "$program"' EXIT
export OPENBLAS_NUM_THREADS=1 BDL_LIBRARY="$library"
julia="julia --project=$here/../julia/BDL.jl"

cc -O2 -I"$1/include" "$here/step.c" "$library" -Wl,-rpath,"$(dirname "$library")" -o "$program"
in_c=$(for i in 1 2 3 4 5; do "$program" 50000; done | sort -n | head -n 1)
echo "A step of a tiny model in C takes $in_c us; beyond that, from"
"${PYTHON:-python3}" "$here/overhead.py" "$in_c"
Rscript "$here/overhead.R" "$in_c"
$julia "$here/overhead.jl" "$in_c"
echo 'Memory that training on a large array adds:'
"${PYTHON:-python3}" "$here/memory.py" "${2-1}"
Rscript "$here/memory.R" "${2-1}"
$julia "$here/memory.jl" "${2-1}"
