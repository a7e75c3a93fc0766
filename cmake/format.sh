#!/bin/sh
# Format of all C and C++ sources: `cmake/format.sh` names the files that are off, `cmake/format.sh --fix` rewrites them.
set -eu
cd "$(dirname "$0")/.."
sources() { find include src tests examples experiments bench -name '*.[ch]' -o -name '*.[ch]pp'; }
case "${1-}" in
  --fix) sources | xargs clang-format -i ;;
  '') problems=$(sources | xargs clang-format --dry-run --Werror 2>&1) && exit 0
      printf '%s\n' "$problems" | sed -n 's/^\([^ :]*\):[0-9:]* error: .*/\1/p; /^[^ ]*: .*not found/p' | sort -u
      exit 1 ;;
  *) echo "usage: $0 [--fix]" >&2; exit 2 ;;
esac
