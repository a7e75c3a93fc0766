#!/bin/sh
# Generalised linear models beside R's and scikit-learn's: writes experiments/results/glm.md (half an hour).
# run.sh --quick takes a minute and writes to the terminal. Needs the packages bdl of R and Python, MASS and scikit-learn.
# PYTHON: an interpreter that imports bdl.
set -eu
cd "$(dirname "$0")"
repeats=1000 wide=20 rows=100000 quick= page=../results/glm.md
if [ "${1-}" = --quick ]; then repeats=10 wide=1 rows=2000 quick=--quick; fi
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

tables() {
  cat <<'END'
# Generalised linear models beside R's

Written by `sh experiments/glm/run.sh`.

## Coefficients and standard errors

The largest differences from `lm()` and `glm()` on data sets of R: of coefficients in standard errors, of standard errors
relative to R's. The flat prior has the precision 1e-8. Means of posteriors differ from modes, which R gives, where rows
are few: Gaussian models have no such difference.

END
  Rscript against_r.R $quick
  cat <<END

The second table is of other likelihoods and links. With many copies of the rows (a tenth as many of \`housing\`), the
posterior is narrow, and its mean is the mode. For \`glm.nb\`, probit and cloglog, R's standard errors come from the
expected information and libbdl's from the observed one, so these still differ.

## Intervals of few rows

The share of $repeats data sets in which 95 % intervals contain the true slope, a new observation, and the true mean at a
new point. Data have standard normal inputs and noise; the prior is the default. A standard error is 0.007.

END
  Rscript coverage.R "$repeats"
  cat <<END

## More columns than rows

20 rows, with means over $wide data sets. *Sparse*: one of independent columns matters. *Dense*: five hidden columns
explain all, as in spectra.

END
  "${PYTHON:-python3}" wide.py "$wide"
  cat <<END

## Time

$rows rows and 20 columns, on one thread.

END
  Rscript time.R "$rows"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tables >"$work/page"
if [ -n "$quick" ]; then cat "$work/page"; else cp "$work/page" "$page"; fi
