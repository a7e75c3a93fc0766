#!/bin/sh
# Everything that is checked about libbdl, from a fresh clone on a bare Debian 12: packages, build, tests, static
# checks, fuzzing, installed package, ABI, packages of all languages, examples, sanitizers. Last line: "N passed, M
# failed", counting tests and checks.
#
# usage: tests/run.sh          everything
#        tests/run.sh quick    for daily work: release build, tests in C and C++, golden files, identical results, format, symbols, ABI
set -u
scope=${1:-all}
case $scope in all | quick) ;; *) echo 'usage: tests/run.sh [quick]' >&2; exit 2 ;; esac
cd "$(dirname "$0")/.." || exit 1
jobs=$(nproc)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export LC_ALL=C CMAKE_GENERATOR=Ninja CMAKE_BUILD_PARALLEL_LEVEL="$jobs"
export OPENBLAS_THREAD_TIMEOUT=10 # checks run side by side: waiting threads of BLAS sleep soon
export BDL_DATA="${BDL_DATA:-$(pwd)/../shared/data}"
if command -v ccache >/dev/null; then # compiles again only what has changed, in every clone
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR="${CCACHE_BASEDIR:-$(pwd)}"
  export CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
fi
start=$(date +%s)
: >"$work/passed" >"$work/failed" >"$work/times" # a line for each test or check
: >"$work/said" # the last lines of the tests that failed

elapsed() { echo $(($(date +%s) - start)); }

section() { printf '\n=== %s (after %d s)\n' "$1" "$(elapsed)"; }

fail() {
  printf 'FAILED: %s\n' "$1"
  printf '  %s\n' "$1" >>"$work/failed"
}

check() { # what, command ...: one check
  what=$1
  shift
  printf -- '--- %s\n' "$what"
  began=$(elapsed)
  if "$@"; then echo "$what" >>"$work/passed"; else fail "$what"; return 1; fi
  printf '%d %s\n' $(($(elapsed) - began)) "$what" >>"$work/times"
}

build() { # preset
  cmake --preset "$1" -DBDL_DATA="$BDL_DATA" >"$work/configure" 2>&1 || { cat "$work/configure"; return 1; }
  cmake --build --preset "$1"
}

suite() { # preset [command prefix ...]: builds, then runs the tests, each of which counts
  preset=$1
  shift
  section "tests, preset $preset"
  check "build of $preset" build "$preset" || return
  "$@" ctest --preset "$preset" -j "$jobs" 2>&1 | tee "$work/ctest"
  grep -q ' Test  *#[0-9]*:' "$work/ctest" || fail "$preset: no test ran"
  sed -n 's/.* Test  *#[0-9]*: \([^ ]*\) .*  *Passed .*/\1/p' "$work/ctest" >>"$work/passed"
  sed -n "s/.* Test  *#[0-9]*: \([^ ]*\) .*  *Passed  *\([0-9.]*\) sec.*/\2 $preset: \1/p" "$work/ctest" >>"$work/times"
  for test in $(sed -n '/^The following tests FAILED/,$s/^[\t ]*[0-9]* - \([^ ]*\) .*/\1/p' "$work/ctest"); do
    fail "$preset: $test"
    sed -n "/Test *#[0-9]*: $test [ .]*\*\*\*/,/^ *[0-9]*\/[0-9]* Test\|^ *Start/p" "$work/ctest" |
      grep -v '^ *Start\|   OK \]\|^$' | tail -n 12 >>"$work/said"
  done
}

memcheck() { # program ...
  suppressions=tests/valgrind.supp
  [ -f "$suppressions" ] && set -- --suppressions="$suppressions" "$@"
  OPENBLAS_NUM_THREADS=1 valgrind --quiet --leak-check=full --error-exitcode=1 "$@"
}

bits() { # one and two threads give identical results, whatever the number of BLAS's
  for blas_threads in 1 2 4; do
    OPENBLAS_NUM_THREADS=$blas_threads $release/tests/bdl_bits >"$work/bits.$blas_threads" ||
      { grep 'failed: \|on two threads' "$work/bits.$blas_threads"; return 1; }
    diff "$work/bits.1" "$work/bits.$blas_threads" || return 1
  done
}

fuzz() { # seconds for each target, which begin with the stored inputs
  for target in build/clang/fuzz/fuzz_*; do
    name=${target##*/fuzz_} words=tests/fuzz/${target##*/}.dict
    mkdir -p "$work/inputs/$name"
    ASAN_OPTIONS=allocator_may_return_null=1 OPENBLAS_NUM_THREADS=1 "$target" -seed=1 $([ -f "$words" ] && echo "-dict=$words") -max_total_time="$1" \
      -artifact_prefix="$work/" "$work/inputs/$name" $([ -d "tests/fuzz/corpus/$name" ] && echo "tests/fuzz/corpus/$name") >"$work/fuzz" 2>&1 ||
      { tail -n 60 "$work/fuzz"; return 1; }
  done
}

static_checks() {
  section 'static checks, shared library'
  check 'format' sh cmake/format.sh
  check 'include directions' sh tests/abi/includes.sh
  check 'openings of comments' sh tests/abi/comments.sh
  check 'symbols' sh tests/abi/symbols.sh $release/lib/libbdl.so
  check 'ABI' sh tests/abi/check.sh $release/lib/libbdl.so
}

installed() {
  section 'installed package'
  check 'the same bits from another folder' sh tests/install/reproducible.sh quick
  check 'libbdl_mpi by MPICH, 1 to 4 ranks' sh tests/mpi/mpich.sh $release "$work"
  package hardened headers pkg-config cmake static subproject private dlopen
  packaged # the library that step private has built
}

package() { # step ...
  for step in "$@"; do
    check "package: $step" sh tests/install/check.sh "$step" $release "$work"
  done
}

bindings() { # step ...
  for step in "$@"; do
    section "bindings: $step"
    check "bindings: $step" sh tests/bindings/check.sh "$step" $release "$work"
  done
}

packaged() { # each package but Debian's, for the Python and R of this system, is built and installed in a clean environment
  section 'packages of libbdl'
  check 'packages are built' make --no-print-directory PYTHONS=/usr/bin/python3 wheels sdist r julia c || return
  for step in wheels r julia c; do check "package: $step, quickstart in a clean environment" env PYTHONS=/usr/bin/python3 sh packaging/check.sh "$step"; done
}

documents() {
  section 'golden file, examples, documents'
  golden
  check 'examples/run.sh' sh examples/run.sh
  for name in matrix model posterior methods optimizer predict metrics checkpoint; do
    check "examples/reference/$name.c under valgrind" memcheck $release/examples/reference/$name
  done
  check 'UCI benchmark, small run' sh experiments/slang/uci.sh --quick
  check 'MNIST, small run' sh experiments/slang/mnist.sh --quick
  check 'online experiments, small run' sh experiments/bong/run.sh --quick
  check 'SLANG experiments, small run' sh experiments/slang/run.sh --quick "$work/slang"
  check 'table of defaults, small run' env PYTHON="$work/python/bin/python" sh experiments/defaults/run.sh --quick
  check 'scorecard, small run' env PYTHON="$work/python/bin/python" sh experiments/scorecard/run.sh --quick
  check 'grid of rates, small run' "$work/python/bin/python" experiments/defaults/grid.py "$work/grid.csv" \
    --datasets iris --epochs 2
  check 'options of classifiers, small run' "$work/python/bin/python" experiments/defaults/validation.py \
    "$work/validation.csv" --datasets iris --folds 2 --epochs 2
  check 'a billion rows, small run' $release/examples/large_data callback 1000000000 3000
  check 'exact regression on many rows, small run' $release/examples/large_data exact 200000 100
  check "README's picture" "$work/python/bin/python" docs/images/hero.py "$work/hero.svg"
  check "README's badges" python3 docs/images/badges.py --check
  check 'prose' python3 docs/_ext/prose.py
  check 'convolutional networks, small run' sh experiments/networks/run.sh --quick "$work/networks"
  check 'ELRG-VI, small run' sh experiments/elrg/run.sh --quick "$work/elrg"
  check 'VOGN and its kin, small run' sh experiments/vogn/run.sh --quick "$work/vogn"
  check 'new rows of a fitted model, small run' "$work/python/bin/python" experiments/defaults/updates.py --quick
  check 'streams by default, small run' "$work/python/bin/python" experiments/defaults/streams.py --quick
  check 'benchmarks and performance page, small run' python3 bench/performance.py --quick --output "$work/performance"
}

linear_models() { # needs the packages of R and Python
  section 'linear models'
  check "linear models beside R's, small run" env PYTHON="$work/python/bin/python" R_LIBS="$work/r" sh experiments/glm/run.sh --quick
}

site() { # every code block of the documentation runs
  section 'site'
  check 'site with all examples' sh docs/build.sh "$work"
}

summary() {
  section 'summary'
  echo 'seconds of the slowest:'
  sort -rn "$work/times" | head -n 20
  [ -s "$work/failed" ] && { echo 'failed:'; cat "$work/failed" "$work/said"; }
  printf '%d passed, %d failed\n' "$(wc -l <"$work/passed")" "$(wc -l <"$work/failed")"
  [ ! -s "$work/failed" ]
}

golden() {
  check 'golden file, SLANG' $release/tests/bdl_golden tests/golden/slang.json
  check 'golden file, online rules' $release/tests/bdl_golden tests/golden/bong.json
  check 'golden file, networks' $release/tests/bdl_golden tests/golden/network.json
  check 'golden file, low-rank covariances' $release/tests/bdl_golden tests/golden/elrg.json
  check 'golden file, VOGN and its kin' $release/tests/bdl_golden tests/golden/vogn.json
  check 'golden file, evidence of Laplace' $release/tests/bdl_golden tests/golden/evidence.json
  check 'two threads have the bits of one, every method' bits
}

section 'packages'
check 'Debian packages' sh tests/packages.sh
[ "$scope" = all ] && check 'Julia' sh tests/julia.sh

suite release
release=build/release

if [ "$scope" = quick ]; then
  static_checks
  section 'golden files'
  golden
  summary
  exit
fi

# One build with Clang serves warnings, address and undefined sanitizers, clang-tidy and fuzzing. The static checks, on one core,
# run beside it.
static_checks >"$work/beside" 2>&1 &
suite clang
wait
cat "$work/beside"
check 'clang-tidy' /usr/bin/python3 cmake/tidy.py

# The following checks use one core each, so one half of them runs beside the other half.
package install
{ installed; bindings julia; } >"$work/beside" 2>&1 &
check 'fuzz targets, 6 s each' fuzz 6
bindings generated stubs python r
documents
wait
cat "$work/beside"
site >"$work/beside" 2>&1 &

# The runtime of GCC 12 cannot map its shadow memory under some kernels' address randomisation.
if setarch -R true 2>/dev/null; then suite tsan setarch -R; else suite tsan; fi
bindings quickstarts fixtures defaults mpi
linear_models
wait
cat "$work/beside"

summary
