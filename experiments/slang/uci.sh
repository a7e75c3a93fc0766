#!/bin/sh
# The UCI regression benchmark (table 2) with default options. experiments/slang/uci.sh [FLAGS] fills uci.csv in build/uci
# (or --results FOLDER), where finished splits are not run again, and prints the verdicts; uci.sh --quick runs a little
# of one data set. Other flags go to build/release/experiments/uci: --datasets yacht,energy, --splits 5, --methods slang,
# --methods mc-dropout --dropout-rate 0.1. The verdicts stay in verdict.txt. Data: BDL_DATA (default ../shared/data).
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data=${BDL_DATA:-../shared/data}/uci
results=build/uci
if [ "${1-}" = --quick ]; then
  shift
  data=$work/small
  results=$work
  mkdir -p "$data/yacht"
  gzip -c examples/data/yacht.csv >"$data/yacht/data.csv.gz"
  gzip -c examples/data/yacht_test_rows.csv >"$data/yacht/test_rows.csv.gz"
  set -- --datasets yacht --splits 1 --epochs 20 --samples 50 "$@"
fi
[ -d "$data" ] || { echo "uci.sh: no folder $data; set BDL_DATA" >&2; exit 1; }
if [ ! -x build/release/experiments/uci ]; then
  sh tests/packages.sh build
  cmake --preset release
  cmake --build --preset release --parallel "$(nproc)"
fi
mkdir -p "$results"
for folder in "$data"/*/; do
  name=$(basename "$folder")
  mkdir "$work/$name"
  for file in data test_rows; do gzip -dc "$folder/$file.csv.gz" >"$work/$name/$file.csv"; done
done
# Splits run in parallel, so BLAS itself stays on one thread.
OPENBLAS_NUM_THREADS=1 build/release/experiments/uci --folder "$work" --results "$results" --threads "$(nproc)" "$@" \
  >"$work/verdict.txt"
cat "$work/verdict.txt"
[ "$work" = "$results" ] || cp "$work/verdict.txt" "$results/verdict.txt"
