#!/bin/sh
# Comments must be understood without the name under them. This counts those in src, include and bindings (files that are
# written by hand) that open with a fragment: Of, What, That, By, From, The same. Prints their places; fails from 30 on.
set -eu
cd "$(dirname "$0")/../.."
generated='bindings/(python/(bdl/lowlevel[.]py|native/lowlevel_wrap[.]c)|r/bdl/(R/(bdl|constants)[.]R|src/bdl_wrap[.]c)|julia/BDL[.]jl/src/LibBDL[.]jl)'
git ls-files src include bindings | grep -E '[.]([ch]pp|[ch]|def|py|R|jl|i|sh)$' | grep -Ev "^$generated$" | xargs awk '
  FNR == 1 { inside = 0 }
  {
    comment = $0 ~ /^[ \t]*(\/\/|\*|#|"""|\/\*)/ && $0 !~ /^[ \t]*#[ \t]*(include|define|if|else|elif|endif|undef|pragma|error)/
    if (comment && !inside && $0 ~ /^[ \t]*(\/\/+|\*|#+\047?|"""|\/\*\*?)[ \t]*(Of|What|That|By|From|The same)([^A-Za-z0-9_]|$)/) {
      printf "%s:%d:%s\n", FILENAME, FNR, $0
      ++count
    }
    inside = comment
  }
  END { printf "%d comments open with Of, What, That, By, From or The same, at most 29 may\n", count; exit count > 29 }'
