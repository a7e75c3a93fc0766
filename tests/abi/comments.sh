#!/bin/sh
# Comments are sentences that stand alone. This counts those in src, include and bindings (files written by hand) that
# open with a fragment: Of, What, That, By, From, The same. Prints their places; fails if there are 30 or more.
set -eu
cd "$(dirname "$0")/../.."
most=29
git ls-files src include bindings | grep -E '\.([ch]pp|[ch]|def|py|R|jl|i|sh)$' | xargs awk '
  BEGIN { opening = "^[ \t]*(//+!?|\\*|#+\047?|\"\"\"|/\\*\\*?)[ \t]*<?[ \t]*" }
  FNR == 1 { inside = 0 }
  {
    is_comment = $0 ~ "^[ \t]*(//|\\*|#|\"\"\"|/\\*)" && $0 !~ "^[ \t]*#[ \t]*(include|define|if|ifdef|ifndef|else|elif|endif|undef|pragma|error)"
    rest = $0
    sub(opening, "", rest)
    if (is_comment && !inside && rest ~ "^(Of|What|That|By|From|The same)([^A-Za-z0-9_]|$)") {
      printf "%s:%d: %s\n", FILENAME, FNR, $0
      ++count
    }
    inside = is_comment
  }
  END { printf "%d comments begin with Of, What, That, By, From or The same (29 at most)\n", count }' |
  awk -v most="$most" '{ print } END { exit $1 > most }'
