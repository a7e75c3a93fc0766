#!/bin/sh
# Quickstart from a fresh clone on Debian 12: installs what is missing, builds, trains a Bayesian neural network, searches its
# hyper-parameters, and trains a convolutional network on digits.
set -eu
cd "$(dirname "$0")/.."
sh tests/packages.sh build
[ -f build/release/CMakeCache.txt ] || cmake --preset release
cmake --build --preset release --target example_quickstart example_search example_digits --parallel "$(nproc)"
build/release/examples/quickstart
build/release/examples/search
build/release/examples/digits
