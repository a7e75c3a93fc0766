#!/bin/sh
# Runs the table of bad calls under valgrind: no bad access, and no leak with a frame of libbdl or of the wrapper.
# usage: sh valgrind.sh, where the package is installed (R_LIBS).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
OPENBLAS_NUM_THREADS=1 R -d "valgrind --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
  --num-callers=40 --log-file=$log" --vanilla --no-echo -e '
library(bdl)
tests <- commandArgs(TRUE)
for (file in c("helper-data.R", "helper-bad-calls.R")) source(file.path(tests, file))
space <- bad_call_space()
results <- Map(fails_as_said, bad_calls, names(bad_calls), list(space))
failures <- Filter(Negate(isTRUE), unname(results))
cat(length(results), "bad calls,", length(failures), "did not fail as they should\n")
for (failure in failures) cat(failure, "\n")
rm(space)
gc()
' --args "$here/bdl/tests/testthat"
# A report is a paragraph of the log.
reports=$(sed 's/^==[0-9]*== \{0,1\}//' "$log" | awk 'BEGIN { RS = "" } /(libbdl|bdl\.so)/ && /( at 0x| by 0x)/')
sed -n '/ERROR SUMMARY/p;/definitely lost:/p' "$log"
[ -z "$reports" ] || { echo "$reports"; exit 1; }
echo "no report has a frame of libbdl or of the wrapper"
