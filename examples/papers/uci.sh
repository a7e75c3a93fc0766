#!/bin/sh
# The UCI regression benchmark with default options: examples/papers/uci.sh --datasets yacht,energy --splits 5
# Other flags go to build/release/examples/uci. Data: BDL_DATA (default ../shared/data).
set -eu
cd "$(dirname "$0")/../.."
data=${BDL_DATA:-../shared/data}/uci
datasets=bostonHousing,concrete,energy,kin8nm,naval-propulsion-plant,power-plant,wine-quality-red,yacht
[ "${1-}" = --datasets ] && { datasets=$2; shift 2; }
[ -d "$data" ] || { echo "uci.sh: no folder $data; set BDL_DATA" >&2; exit 1; }
if [ ! -x build/release/examples/uci ]; then
  sh tests/packages.sh build
  cmake --preset release
  cmake --build --preset release --parallel "$(nproc)"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in $(echo "$datasets" | tr , ' '); do
  mkdir "$work/$name"
  for file in data test_rows; do gzip -dc "$data/$name/$file.csv.gz" >"$work/$name/$file.csv"; done
done
# Splits run in parallel, so BLAS itself stays on one thread.
OPENBLAS_NUM_THREADS=1 build/release/examples/uci --folder "$work" --datasets "$datasets" --threads "$(nproc)" "$@"
