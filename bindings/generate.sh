#!/bin/sh
# usage: generate.sh [--check]  Writes the generated layers of all languages from bdl.i; --check only compares them.
set -eu
cd "$(dirname "$0")/.."
