#!/bin/sh
# usage: mpich.sh BUILD WORK  Builds libbdl_mpi and its test by MPICH in WORK/mpich, beside Open MPI's of the build, and runs it on 1 to 4
# ranks. Programs are named in full: which MPI is the system's `mpicc` and `mpirun` does not matter. Another MPI: MPICC, MPIEXEC.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
work=$2/mpich
mpicc=${MPICC:-mpicc.mpich} mpiexec=${MPIEXEC:-mpiexec.mpich}
export OPENBLAS_NUM_THREADS=1
mkdir -p "$work"

compile() { # file, flags ... MPICH's MPI_STATUSES_IGNORE is the address 1, of which GCC says that it has no room
  file=$1
  shift
  "$mpicc" -std=c99 -O1 -Wall -Wextra -Werror -Wno-stringop-overflow -I"$root/include" -I"$build/include" "$file" "$@" -L"$build/lib" -lbdl -lm \
    -Wl,-rpath,"$build/lib"
}
compile "$root/mpi/bdl_mpi.c" -D_POSIX_C_SOURCE=200809L -fPIC -shared -Wl,-soname,libbdl_mpi.so.0 \
  -Wl,--version-script="$root/mpi/bdl_mpi.map" -Wl,--no-undefined -o "$work/libbdl_mpi.so.0"
compile "$root/tests/mpi/mpi_ranks.c" -D_XOPEN_SOURCE=700 "$work/libbdl_mpi.so.0" -Wl,-rpath,"$work" -o "$work/mpi_ranks"
ldd "$work/mpi_ranks" | grep -q libmpich
if ldd "$work/mpi_ranks" | grep 'libmpi\.so'; then echo 'two MPIs in one program' >&2; exit 1; fi

run() { timeout 60 "$mpiexec" -n "$@"; }
run 1 "$work/mpi_ranks" handles
for ranks in 2 3 4; do run $ranks "$work/mpi_ranks" train; done
run 2 "$work/mpi_ranks" late | grep -q 'late: noticed' # it ends by an abort
if run 2 "$work/mpi_ranks" killed >"$work/killed" 2>&1; then echo 'a rank was killed, and nobody noticed'; exit 1; fi
