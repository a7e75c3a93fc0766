#!/bin/sh
# The table of defaults: our untuned fits beside those of scikit-learn, on regressions and classifications. run.sh [FLAGS] fills
# build/defaults/results.csv (or RESULTS), where rows that exist are not computed again, and prints the tables. Flags:
# --datasets yacht,iris, --methods bdl,sklearn-mlp, --splits 5, --budget SECONDS, --jobs 2. run.sh --quick runs a little of
# two small sets. Data: BDL_DATA (default ../shared/data). PYTHON: an interpreter that imports bdl and scikit-learn; without it,
# the package is built into a virtual environment in build/defaults. Where the interpreter has torch and ivon-opt or
# laplace-torch, these are compared too: nothing is downloaded here.
set -eu
here=experiments/defaults
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data=${BDL_DATA:-../shared/data}
results=${RESULTS:-build/defaults/results.csv}
quick=no
if [ "${1-}" = --quick ]; then
  shift
  quick=yes
  data=$work
  results=$work/results.csv
  mkdir -p "$work/uci/yacht"
  gzip -c examples/data/yacht.csv >"$work/uci/yacht/data.csv.gz"
  gzip -c examples/data/yacht_test_rows.csv >"$work/uci/yacht/test_rows.csv.gz"
  set -- --datasets yacht,iris --splits 1 --quick "$@"
fi
[ -d "$data" ] || { echo "run.sh: no folder $data; set BDL_DATA" >&2; exit 1; }
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
if [ -z "${PYTHON-}" ]; then
  PYTHON=build/defaults/python/bin/python
  if [ ! -x "$PYTHON" ]; then
    sh tests/packages.sh
    /usr/bin/python3 -m venv --system-site-packages build/defaults/python
  fi
  # Again each time, so that it is the library of this source tree.
  "$PYTHON" -m pip install --quiet --no-index --no-build-isolation ./bindings/python
fi
"$PYTHON" $here/main.py --data "$data" --results "$results" "$@"
"$PYTHON" $here/report.py "$results" >"$work/report.md"
if [ $quick = yes ]; then
  cat "$work/report.md"
  ! grep -q 'failed' "$results" || { cat "$results" >&2; exit 1; }
else
  echo "tables: $PYTHON $here/report.py $results experiments/results/defaults.md"
fi
