#!/bin/sh
# usage: symbols.sh LIBBDL  What libbdl shows and what it uses: only bdl_* is defined; nothing that ends the
# process, prints, draws hidden random numbers or ties it to one BLAS.
set -eu
library=$1
status=0
report() { # heading, lines
  [ -z "$2" ] && return
  printf '%s:\n%s\n' "$1" "$2"
  status=1
}

names() { nm -D "$1" "$library" | awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u; }
except() { awk -v pattern="$1" '$0 !~ pattern'; }
only() { awk -v pattern="$1" '$0 ~ pattern'; }

report 'defined, but not bdl_*' "$(names --defined-only | except '^(bdl_[a-z0-9_]+|BDL_[0-9]+)$')"
[ -n "$(names --defined-only | only '^bdl_')" ] || report 'defined' 'no bdl_* at all'

ends='abort|exit|_exit|_Exit|quick_exit|raise|kill|__assert(_fail|_perror_fail)?|_ZSt21__glibcxx_assert_fail.*'
prints='v?f?printf|v?dprintf|__v?f?printf_chk|__v?dprintf_chk|puts|fputs|putchar|putc|fputc|perror|psignal'
streams='stdout|stderr|stdin|_ZSt4(cout|cerr|clog)|_ZSt3cin'
random='rand|srand|rand_r|random|srandom|[dlm]rand48|srand48|_ZNSt13random_device.*|nlopt_srand(_time)?'
report 'used, but forbidden in a library' "$(names --undefined-only | only "^($ends|$prints|$streams|$random)\$")"

needed=$(objdump -p "$library" | awk '$1 == "NEEDED" { print $2 }')
report 'linked, but not a generic BLAS' "$(printf '%s\n' "$needed" | only 'openblas|mkl|atlas|blis')"
report 'symbols of one BLAS' "$(nm -D --undefined-only "$library" | awk '$1 == "U" && $2 ~ /^(openblas|goto|mkl|blis)_/ { print $2 }')"
exit "$status"
