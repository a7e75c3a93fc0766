#!/bin/sh
# The logistic regressions, convergence runs and the curve of the SLANG paper. experiments/slang/run.sh [RESULTS]
# fills RESULTS (default build/slang) with CSV files, posteriors and report.md; what is there already is not done
# again. Data: BDL_DATA (default ../shared/data). run.sh --quick [RESULTS] does a little of everything with random
# numbers in place of the data.
set -eu
here=experiments/slang
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quick=no
data=${BDL_DATA:-../shared/data}
results=build/slang
if [ "${1-}" = --quick ]; then
  shift
  quick=yes
  data=$work/data
  results=$work/results
  python3 $here/stand_in.py "$data"
fi
results=${1-$results}
[ -d "$data/libsvm" ] || { echo "run.sh: no folder $data/libsvm; set BDL_DATA" >&2; exit 1; }
if [ ! -x build/release/experiments/slang ]; then
  sh tests/packages.sh build
  cmake --preset release
  cmake --build --preset release --parallel "$(nproc)"
fi
mkdir -p "$results"
for name in australian_scale breast_cancer_scale a1a a1a.t usps_3vs5; do
  gzip -dc "$data/libsvm/$name.gz" >"$work/$name"
done
# Runs go in parallel, so BLAS itself stays on one thread.
export OPENBLAS_NUM_THREADS=1
start=$(date +%s)
for experiment in table1 metrics figures convergence curve; do
  build/release/experiments/slang $experiment --data "$work" --results "$results" --threads "$(nproc)" --quick $quick
  echo "$experiment: done after $(($(date +%s) - start)) s"
done
published=
[ -f "$data/slang_table1/published.csv" ] && published=$data/slang_table1/published.csv
python3 $here/report.py "$results" "$published" >"$results/report.md"
[ $quick = yes ] || echo "tables: $results/report.md; figures: sh tests/packages.sh plot; /usr/bin/python3 $here/plot.py $results experiments/results"
