#!/bin/sh
# The convolutional networks of Osawa et al. (2019) with every method, side by side after equal epochs: LeNet-5 on MNIST,
# AlexNet and ResNet-18 on the first 10,000 images of CIFAR-10. experiments/networks/run.sh [RESULTS] fills
# RESULTS/networks.csv (default build/networks); what is there already is not done again. Data: BDL_DATA (default
# ../shared/data). An hour on two cores. run.sh --quick [RESULTS] does a little of everything with images made up.
set -eu
cd "$(dirname "$0")/../.."
quick=
if [ "${1-}" = --quick ]; then
  shift
  quick=--quick
fi
results=${1-build/networks}
data=${BDL_DATA:-../shared/data}
[ -n "$quick" ] || [ -d "$data/mnist" ] || { echo "run.sh: no folder $data/mnist; set BDL_DATA" >&2; exit 1; }
if [ ! -x build/release/experiments/networks ]; then
  sh tests/packages.sh build
  cmake --preset release
  cmake --build --preset release --parallel "$(nproc)"
fi
mkdir -p "$results"
for network in lenet5 alexnet resnet18; do
  build/release/experiments/networks $network --data "$data" --results "$results" $quick
done
cat "$results/networks.csv"
