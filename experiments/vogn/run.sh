#!/bin/sh
# Osawa et al. (2019): LeNet-5, AlexNet and ResNet-18 on CIFAR-10 by every method, what temperature, prior and draws do to
# VOGN, out-of-distribution detection, defaults, permuted MNIST. experiments/vogn/run.sh [RESULTS] fills the tables of RESULTS
# (default experiments/results/vogn, where the measured ones are); what is there already is not done again, and a long training
# that was stopped goes on from its checkpoint. Cheap and telling experiments come first. SEEDS, and epochs by
# EPOCHS_LENET5, EPOCHS_ALEXNET, EPOCHS_RESNET18, EPOCHS_CONTINUAL. Data: BDL_DATA (default ../shared/data).
# run.sh --quick [RESULTS] does a little of everything with images made up, in seconds.
set -eu
cd "$(dirname "$0")/../.."
quick=
if [ "${1-}" = --quick ]; then
  shift
  quick=--quick
  results=${1-build/vogn}
else
  results=${1-experiments/results/vogn}
fi
data=${BDL_DATA:-../shared/data}
[ -n "$quick" ] || [ -d "$data/mnist" ] || { echo "run.sh: no folder $data/mnist; set BDL_DATA" >&2; exit 1; }
if [ ! -x build/release/experiments/vogn ]; then
  sh tests/packages.sh build
  cmake --preset release
  cmake --build --preset release --parallel "$(nproc)"
fi
mkdir -p "$results"
run() { build/release/experiments/vogn "$@" --data "$data" --results "$results" --seeds "${SEEDS-1}" $quick; }
run lenet5 --epochs "${EPOCHS_LENET5-30}"
run continual --epochs "${EPOCHS_CONTINUAL-10}"
run effects
run outside
run defaults
if [ -z "$quick" ]; then
  run alexnet --epochs "${EPOCHS_ALEXNET-20}"
  run resnet18 --epochs "${EPOCHS_RESNET18-10}"
  sh experiments/slang/uci.sh --results "$results" --methods map,vogn,ivon --splits "${SPLITS-20}" --rank 0
fi
python3 experiments/vogn/report.py "$results"
