#!/bin/sh
# usage: check.sh STEP BUILD WORK  One step of checking the packages of the other languages against libbdl as it was installed to
# WORK/prefix (tests/install/check.sh install): the generated layers, their stubs, each package's own suite, and the cases that
# all languages run, which need the packages installed by the steps before.
set -eu
step=$1 build=$(cd "$2" && pwd)
work=$(cd "$3" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
prefix=$work/prefix
library=$(find "$prefix" -name libbdl.so.0)
PKG_CONFIG_PATH=$(dirname "$library")/pkgconfig
export PKG_CONFIG_PATH OPENBLAS_NUM_THREADS=1 JULIA_DEPOT_PATH="$work/julia" BDL_LIBRARY="$library" R_LIBS="$work/r"
python=$work/python/bin/python
julia="julia --project=$root/bindings/julia/BDL.jl --color=no"

case $step in
  generated) sh "$root/bindings/generate.sh" --check "$prefix/include" ;;
  stubs) /usr/bin/python3 "$root/tests/bindings/stubs.py" ;;
  python)
    # Debian's packages serve as the dependencies: nothing is downloaded.
    /usr/bin/python3 -m venv --system-site-packages "$work/python"
    BDL_ROOT=$prefix "$python" -m pip install --quiet --no-index --no-build-isolation "$root/bindings/python"
    cd "$work"
    "$python" -m pytest -q -rs -p no:cacheprovider "$root/bindings/python/tests" >pytest.txt || { cat pytest.txt; exit 1; }
    cat pytest.txt
    ! grep -q '^SKIPPED' pytest.txt ;; # everything that may be skipped elsewhere runs here
  r)
    mkdir -p "$R_LIBS"
    cd "$work"
    R CMD build "$root/bindings/r/bdl"
    sh "$root/bindings/r/check.sh" bdl_*.tar.gz
    R CMD INSTALL --no-docs bdl_*.tar.gz
    sh "$root/bindings/r/valgrind.sh" ;;
  julia) $julia "$root/bindings/julia/BDL.jl/test/runtests.jl" ;;
  quickstarts) # the same figures in every language, from another folder
    figures() { grep -E '^test RMSE|intervals hold|^learned noise|^test accuracy|^sure of'; }
    data=$root/examples/data
    cd "$work"
    "$build/examples/quickstart" "$data/yacht.csv" "$data/yacht_test_rows.csv" | figures >quickstart.c
    "$build/examples/digits" "$data/digits.bin" | figures >digits.c
    for name in quickstart digits; do
      "$python" "$root/examples/$name.py" | figures >$name.py
      Rscript "$root/examples/$name.R" | figures >$name.R
      $julia "$root/examples/$name.jl" | figures >$name.jl
      cat $name.c
      for language in py R jl; do diff $name.c "$name.$language"; done
    done ;;
  fixtures)
    sh "$root/tests/fixtures/run.sh" "$build" "python=$python $root/tests/fixtures/fixtures.py" \
      "r=Rscript $root/tests/fixtures/fixtures.R" "julia=$julia $root/tests/fixtures/fixtures.jl" ;;
  defaults) # what the estimators take where nothing is said is the same in every language, and so is what comes of it
    cd "$work"
    "$python" "$root/tests/defaults/defaults.py" >defaults.py.txt
    Rscript "$root/tests/defaults/defaults.R" | sed 's/ *$//' >defaults.R.txt
    $julia "$root/tests/defaults/defaults.jl" >defaults.jl.txt
    for language in R jl; do diff defaults.py.txt "defaults.$language.txt"; done ;;
  mpi) # ranks of Open MPI in every language have the results of one process
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 \
      OMPI_MCA_hwloc_base_binding_policy=none LD_LIBRARY_PATH="${library%/*}"
    ranks() { # how many, program ...
      n=$1
      shift
      timeout 120 mpirun.openmpi -n "$n" "$@"
    }
    cd "$work"
    ranks 2 "$python" "$root/examples/mpi.py"
    ranks 2 "$build/examples/mpi" "$root/examples/data/digits.bin"
    for n in 2 3 4; do
      ranks $n "$python" "$root/tests/mpi/ranks.py" $n mpi4py
      ranks $n Rscript "$root/tests/mpi/ranks.R" $n Rmpi
    done
    for n in 2 3; do ranks $n $julia "$root/tests/mpi/ranks.jl" $n; done ;;
  *) echo "unknown step $step" >&2; exit 2 ;;
esac
