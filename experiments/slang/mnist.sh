#!/bin/sh
# MNIST (table 3). experiments/slang/mnist.sh [FLAGS] fills epochs.csv and mnist.csv in build/mnist (or --results FOLDER) and
# keeps checkpoints there: what is there is not done again, and a run that was killed goes on. mnist.sh --quick does a little
# with random numbers in place of the digits. Other flags go to build/release/experiments/mnist: --recipe tuned or paper, --ranks 1,8,
# --epochs 100, --validation 0 (train on all 60,000). Data: BDL_DATA (default ../shared/data).
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data=${BDL_DATA:-../shared/data}
results=build/mnist
if [ "${1-}" = --quick ]; then
  shift
  data=$work/small
  results=$work
  python3 experiments/bong/stand_in.py "$data"
  set -- --quick yes --ranks 2 "$@"
fi
[ -d "$data/mnist" ] || { echo "mnist.sh: no folder $data/mnist; set BDL_DATA" >&2; exit 1; }
if [ ! -x build/release/experiments/mnist ]; then
  sh tests/packages.sh build
  cmake --preset release
  cmake --build --preset release --parallel "$(nproc)"
fi
for part in train t10k; do
  gzip -dc "$data/mnist/$part-images-idx3-ubyte.gz" >"$work/$part-images"
  gzip -dc "$data/mnist/$part-labels-idx1-ubyte.gz" >"$work/$part-labels"
done
for kind in images-idx3 labels-idx1; do
  gzip -dc "$data/fashion-mnist/t10k-$kind-ubyte.gz" >"$work/fashion-${kind%-*}"
done
build/release/experiments/mnist --data "$work" --results "$results" "$@"
