#!/bin/sh
# Osawa et al. (2019), continual learning on permuted MNIST: mean accuracy after each task.
# examples/papers/vogn/run.sh [RESULTS] fills RESULTS/continual.csv (default build/vogn); what is there already is not done again.
# Data: BDL_DATA (default ../shared/data). About two hours of a core. run.sh --quick [RESULTS] does a little with images made up.
set -eu
cd "$(dirname "$0")/../../.."
quick=
if [ "${1-}" = --quick ]; then
  shift
  quick=--quick
fi
results=${1-build/vogn}
data=${BDL_DATA:-../shared/data}
[ -n "$quick" ] || [ -d "$data/mnist" ] || { echo "run.sh: no folder $data/mnist; set BDL_DATA" >&2; exit 1; }
if [ ! -x build/release/examples/vogn ]; then
  sh tests/packages.sh build
  cmake --preset release
  cmake --build --preset release --parallel "$(nproc)"
fi
mkdir -p "$results"
build/release/examples/vogn continual --data "$data" --results "$results" $quick
cat "$results/continual.csv"
