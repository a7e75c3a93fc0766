#!/bin/sh
# usage: detects.sh CC INCLUDE ...  check.sh tells changes that break programs from additions: a small library of the public headers,
# which are copied and changed, is compared with the one before.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
compiler=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fresh() { # the headers and the library as they are
  rm -rf "$work/include"
  mkdir -p "$work/include/bdl" "$work/before"
  for folder in "$@"; do cp "$folder"/bdl/*.h "$work/include/bdl"; done
  cat >"$work/library.c" <<'END'
#include "bdl/bdl.h"
const char* bdl_status_name(bdl_status status) { return status ? "error" : "OK"; }
const char* bdl_last_error(void) { return ""; }
bdl_status bdl_posterior_mean(const bdl_posterior* posterior, bdl_matrix_out mean) { return posterior && mean.data ? 0 : 1; }
bdl_status bdl_posterior_kl(const bdl_posterior* q, const bdl_posterior* p, double* kl) { return q && p && kl ? 0 : 1; }
bdl_status bdl_model_create_mlp(bdl_dtype dtype, const int64_t* sizes, int32_t count, bdl_activation activation, int32_t bias,
                                bdl_likelihood likelihood, bdl_model** model) {
  return dtype && sizes && count && activation && bias && likelihood && model ? 0 : 1;
}
END
}

build() { "$compiler" -std=c99 -g -shared -fPIC -I "$work/include" "$work/library.c" -o "$work/$1"; }

expect() { # 0: compatible, 1: not; what; program of sed for headers and library
  expected=$1 what=$2
  fresh $folders
  cp -r "$work/include" "$work/library.c" "$work/before"
  sed -i "$3" "$work"/include/bdl/*.h "$work/library.c"
  ! diff -r "$work/include" "$work/before/include" >/dev/null || ! cmp -s "$work/library.c" "$work/before/library.c" ||
    { echo "$what: nothing has changed"; exit 1; }
  build changed.so
  got=0
  sh "$here/check.sh" "$work/changed.so" "$work/stored.abi" "$work/include/bdl" >"$work/report" 2>&1 || got=1
  [ "$got" = "$expected" ] && return
  printf '%s: check.sh gives %s, expected %s\n' "$what" "$got" "$expected"
  cat "$work/report"
  exit 1
}

folders=$*
fresh $folders
build stored.so
sh "$here/describe.sh" "$work/stored.so" "$work/stored.abi" "$work/include/bdl"

expect 1 'a status has another number' 's/BDL_ERROR_LABEL = 4/BDL_ERROR_LABEL = 24/'
expect 1 'two statuses are swapped' 's/BDL_ERROR_SHAPE = 2/BDL_ERROR_SHAPE = 3/; s/BDL_ERROR_NOT_FINITE = 3/BDL_ERROR_NOT_FINITE = 2/'
expect 1 'an activation is removed' '/^ *BDL_TANH = /d'
expect 1 'a structure has one more member' '/^typedef struct bdl_matrix_out {/a int32_t added;'
expect 1 'members of a structure are swapped' 's/^  int64_t rows;/  int64_t kept;/; s/^  int64_t cols;/  int64_t rows;/; s/^  int64_t kept;/  int64_t cols;/'
expect 1 'a member has another type' 's/^  int64_t row_stride;/  int32_t row_stride;/'
expect 1 'a function is removed' '/^bdl_status bdl_posterior_kl(/d'
expect 1 'an argument has another type' 's/double\* kl/float* kl/'
expect 0 'a status is appended' '/^ *BDL_STATUS_FORCE_INT32/i BDL_ADDED = 99,'
expect 0 'a function is added' '/^const char\* bdl_last_error/a BDL_API int32_t bdl_added(void) { return 1; }'
