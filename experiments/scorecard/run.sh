#!/bin/sh
# The scorecard: every method with its default options, over sets of many kinds. run.sh [FLAGS] fills build/scorecard/results.csv
# (or RESULTS), where rows that exist are not computed again. Flags: --sets yacht,iris, --methods default,laplace,
# --budget SECONDS, --jobs 2, --again, --held-back. run.sh --quick takes a minute and needs no data. Data: BDL_DATA (default
# ../shared/data). PYTHON: an interpreter that imports bdl and scikit-learn; without it, the package is built into a virtual
# environment in build/scorecard. Where the interpreter has torch and ivon-opt or laplace-torch, these take part.
set -eu
here=experiments/scorecard
cd "$(dirname "$0")/../.."
data=${BDL_DATA:-../shared/data}
results=${RESULTS:-build/scorecard/results.csv}
if [ "${1-}" = --quick ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  results=$work/results.csv
  data=$work
fi
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
if [ -z "${PYTHON-}" ]; then
  PYTHON=build/scorecard/python/bin/python
  if [ ! -x "$PYTHON" ]; then
    sh tests/packages.sh
    /usr/bin/python3 -m venv --system-site-packages build/scorecard/python
  fi
  # Again each time, so that it is the library of this source tree.
  "$PYTHON" -m pip install --quiet --no-index --no-build-isolation ./bindings/python
fi
"$PYTHON" $here/main.py --data "$data" --results "$results" "$@"
if [ "${1-}" = --quick ]; then
  "$PYTHON" $here/report.py "$results"
  ! grep -q 'TypeError\|KeyError\|process ended' "$results" || { cat "$results" >&2; exit 1; }
else
  echo "tables: $PYTHON $here/report.py $results experiments/results/scorecard.md"
  echo "what baselines say of their intervals: $PYTHON $here/report.py $results --mark src/methods/methods.def"
fi
