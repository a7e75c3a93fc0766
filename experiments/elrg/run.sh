#!/bin/sh
# Tomczak, Swaroop and Turner (2020), tables 2 to 4 and figures 1 to 3: every method beside the others.
# experiments/elrg/run.sh [RESULTS] fills the tables of RESULTS (default build/elrg); what is there already is not done again,
# and a run that was stopped goes on from its checkpoint. Data: BDL_DATA (default ../shared/data). Several hours of two cores.
# run.sh --quick [RESULTS] does a little of everything with images made up.
set -eu
cd "$(dirname "$0")/../.."
quick=
if [ "${1-}" = --quick ]; then
  shift
  quick=--quick
fi
results=${1-build/elrg}
data=${BDL_DATA:-../shared/data}
[ -n "$quick" ] || [ -d "$data/mnist" ] || { echo "run.sh: no folder $data/mnist; set BDL_DATA" >&2; exit 1; }
if [ ! -x build/release/experiments/elrg ]; then
  sh tests/packages.sh build
  cmake --preset release
  cmake --build --preset release --parallel "$(nproc)"
fi
mkdir -p "$results"
experiments='figure1 table2 figure2 table3-mnist table3-fashion table3-cifar10 estimators estimators-compare table4'
[ -z "$quick" ] || experiments='figure1 table2 table3-mnist estimators estimators-compare'
for experiment in $experiments; do
  build/release/experiments/elrg $experiment --data "$data" --results "$results" $quick
done
cat "$results/elrg.csv"
