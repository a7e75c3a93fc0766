#!/bin/sh
# The experiments of "Bayesian Online Natural Gradient" and two drifting streams. experiments/bong/run.sh [RESULTS]
# fills RESULTS (default build/bong) with one CSV for each experiment and report.md with all tables; what is there
# already is not done again. Data: BDL_DATA (default ../shared/data). run.sh --quick [RESULTS] does a little of
# everything with random numbers in place of the data.
set -eu
here=experiments/bong
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quick=no
data=${BDL_DATA:-../shared/data}
results=build/bong
if [ "${1-}" = --quick ]; then
  shift
  quick=yes
  data=$work/data
  results=$work/results
  python3 $here/stand_in.py "$data"
fi
results=${1-$results}
for folder in mnist sarcos; do
  [ -d "$data/$folder" ] || { echo "run.sh: no folder $data/$folder; set BDL_DATA" >&2; exit 1; }
done
if [ ! -x build/release/experiments/bong ]; then
  sh tests/packages.sh build
  cmake --preset release
  cmake --build --preset release --parallel "$(nproc)"
fi
mkdir -p "$results"
gzip -dc "$data/sarcos/sarcos_inv_test.csv.gz" >"$work/sarcos.csv"
for part in train t10k; do
  gzip -dc "$data/mnist/$part-images-idx3-ubyte.gz" >"$work/$part-images"
  gzip -dc "$data/mnist/$part-labels-idx1-ubyte.gz" >"$work/$part-labels"
done
# Runs go in parallel, so BLAS itself stays on one thread. Only the timing has the machine to itself.
export OPENBLAS_NUM_THREADS=1
start=$(date +%s)
for experiment in tune stream sensitivity drift cost; do
  threads=$(nproc)
  [ $experiment = cost ] && threads=1
  build/release/experiments/bong $experiment --data "$work" --results "$results" --threads "$threads" --quick $quick
  echo "$experiment: done after $(($(date +%s) - start)) s"
done
python3 $here/report.py "$results" >"$results/report.md"
[ $quick = yes ] || echo "tables: $results/report.md; figures: sh tests/packages.sh plot; /usr/bin/python3 $here/plot.py $results experiments/results"
