#!/bin/sh
# Fuzzes for a long time, on all cores: every target for its share of MINUTES, one after the other. What was found so far is kept in
# FOLDER (default build/fuzz), so a later run goes on from there: FOLDER/TARGET/ has the inputs, FOLDER/failures/ those that
# broke something, FOLDER/log has a line for each run. The last line says how many failures there are.
#
# usage: tests/fuzz/long.sh MINUTES [FOLDER]     BDL_FUZZ_CORES: of the machine's; BDL_FUZZ_TARGETS: "api checkpoint"
set -u
minutes=${1:?usage: tests/fuzz/long.sh MINUTES [FOLDER]}
cd "$(dirname "$0")/../.." || exit 1
folder=${2:-build/fuzz}
cores=${BDL_FUZZ_CORES:-$(nproc)}
targets=${BDL_FUZZ_TARGETS:-api checkpoint safetensors npy description options}
[ -x build/clang/fuzz/fuzz_api ] || { echo 'build the targets first: cmake --preset clang && cmake --build --preset clang' >&2; exit 1; }
seconds=$((minutes * 60 / $(echo "$targets" | wc -w)))
mkdir -p "$folder/failures"
export OPENBLAS_NUM_THREADS=1 BDL_FUZZ_COVERAGE=1
export ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

fuzz() { # target, its number of the core
  words=tests/fuzz/fuzz_$1.dict
  seeds=tests/fuzz/corpus/$1
  build/clang/fuzz/fuzz_"$1" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=4096 -max_len=8192 -reload=1 -print_final_stats=1 \
    $([ -f "$words" ] && echo "-dict=$words") -artifact_prefix="$folder/failures/$1-" "$folder/$1" $([ -d "$seeds" ] && echo "$seeds") \
    >"$folder/$1.$2.txt" 2>&1
}

for target in $targets; do
  mkdir -p "$folder/$target"
  for core in $(seq "$cores"); do fuzz "$target" "$core" & done
  wait
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$target".*.txt | awk '{ n += $1 } END { print n + 0 }')
  echo "$(date -u +%FT%TZ) $target: $executions executions in $seconds s on $cores cores, $(ls "$folder/$target" | wc -l) inputs kept" | tee -a "$folder/log"
done
awk '{ n += $3 } END { print n " executions in all runs" }' "$folder/log"
failures=$(ls "$folder/failures" | wc -l)
echo "$failures failures"
[ "$failures" = 0 ]
