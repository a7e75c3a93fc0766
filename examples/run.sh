#!/bin/sh
# Quickstart from a fresh clone on Debian 12: installs what is missing, builds, trains a Bayesian neural network.
set -eu
cd "$(dirname "$0")/.."
sh tests/packages.sh build
if [ ! -d build/release ]; then cmake --preset release; fi
cmake --build --preset release --target example_quickstart
build/release/examples/quickstart
