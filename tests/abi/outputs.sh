#!/bin/sh
# usage: outputs.sh CC CXX INCLUDE ...  The type system tells inputs from outputs: constant memory and inputs are refused where a
# function writes, in C (as a warning) and in C++.
set -eu
c=$1 cxx=$2
shift 2
for folder in "$@"; do includes="${includes-} -I $folder"; done

expect() { # 1: compiles, 0: does not; call
  expected=$1 call=$2
  program="#include \"bdl/bdl.h\"
bdl_status call(bdl_posterior* q, const double* read, double* write) { (void)q; (void)read; (void)write; return $call; }"
  printf '%s\n' "$program" | "$c" -std=c99 -Wall -Werror $includes -fsyntax-only -x c - 2>/dev/null && in_c=1 || in_c=0
  printf '%s\n' "$program" | "$cxx" -std=c++11 $includes -fsyntax-only -x c++ - 2>/dev/null && in_cxx=1 || in_cxx=0
  [ "$in_c$in_cxx" = "$expected$expected" ] && return
  printf '%s\n  compiles in C: %s, in C++: %s, expected %s\n' "$call" "$in_c" "$in_cxx" "$expected"
  exit 1
}

expect 1 'bdl_posterior_mean(q, bdl_f64_out(write, 1, 3))'
expect 1 'bdl_posterior_solve(q, bdl_f64(read, 1, 3), bdl_f64_out(write, 1, 3))'
expect 1 'bdl_posterior_set_dropout(q, bdl_as_input(bdl_f64_out(write, 1, 3)))'
expect 0 'bdl_posterior_mean(q, bdl_f64(write, 1, 3))'
expect 0 'bdl_posterior_mean(q, bdl_f64_out(read, 1, 3))'
expect 0 'bdl_posterior_mean(q, bdl_strided_out(read, BDL_F64, 1, 3, 3, 1))'
expect 0 'bdl_posterior_mean(q, bdl_column_major_out(read, BDL_F64, 1, 3))'
expect 0 'bdl_posterior_mean(q, bdl_none())'
expect 0 'bdl_posterior_solve(q, bdl_f64_out(write, 1, 3), bdl_f64_out(write, 1, 3))'
expect 0 'bdl_posterior_set_dropout(q, bdl_none_out())'
