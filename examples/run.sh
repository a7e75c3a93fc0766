#!/bin/sh
# Quickstart from a fresh clone on Debian 12: installs what is missing, builds, trains a Bayesian neural network, and
# searches its hyper-parameters.
set -eu
cd "$(dirname "$0")/.."
sh tests/packages.sh build
[ -f build/release/CMakeCache.txt ] || cmake --preset release
cmake --build --preset release --target example_quickstart example_search --parallel "$(nproc)"
build/release/examples/quickstart
build/release/examples/search
