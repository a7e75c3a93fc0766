#!/bin/sh
# usage: check.sh STEP BUILD WORK  One step of using libbdl as an installed package; `install` comes first.
set -eu
step=$1 build=$2 work=$3
here=$(cd "$(dirname "$0")" && pwd)
prefix=$work/prefix
strict='-Wall -Wextra -Wpedantic -Werror'
libdir() { dirname "$(find "$prefix" -name libbdl.so)"; }
pc() { PKG_CONFIG_PATH=$(libdir)/pkgconfig pkg-config "$@" bdl; }

case $step in
  install) # moved after it was installed: a package must not remember where it was built or installed
    cmake --install "$build" --prefix "$work/staged" >/dev/null
    mv "$work/staged" "$prefix"
    ! grep -rIl -e "$work/staged" -e "$(cd "$build" && pwd)" "$prefix" ;;
  headers) # each one alone, as the oldest languages promised
    for header in "$prefix"/include/bdl/*.h; do
      cc -std=c99 $strict -I "$prefix/include" -fsyntax-only -x c - <<END
#include "bdl/$(basename "$header")"
typedef int not_empty;
END
      c++ -std=c++11 $strict -I "$prefix/include" -fsyntax-only -x c++ - <<END
#include "bdl/$(basename "$header")"
END
    done ;;
  pkg-config)
    cc -std=c99 $strict $(pc --cflags) "$here/consumer.c" -o "$work/consumer" $(pc --libs)
    [ "$(pc --modversion)" = "$(cat "$here/../../VERSION")" ]
    LD_LIBRARY_PATH=$(libdir) "$work/consumer"
    if [ -f "$(libdir)/libbdl_mpi.so" ]; then # one rank needs no launcher
      cc -std=c99 $strict "$here/../../examples/mpi.c" -o "$work/mpi" \
        $(PKG_CONFIG_PATH=$(libdir)/pkgconfig pkg-config --cflags --libs bdl_mpi)
      LD_LIBRARY_PATH=$(libdir) "$work/mpi" "$here/../../examples/data/digits.bin"
    fi ;;
  cmake)
    cmake -S "$here" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
    cmake --build "$work/cmake" >/dev/null
    "$work/cmake/consumer" ;;
  dlopen)
    cc -std=c99 $strict $(pc --cflags) "$here/dlopen.c" -o "$work/dlopen" -ldl
    "$work/dlopen" "$(libdir)/libbdl.so.0" ;;
  hardened) # as checksec looks at libraries
    library=$(libdir)/libbdl.so
    has() { # what, pattern, readelf's arguments
      printf '  %-44s' "$1"
      if readelf -W $3 "$library" | grep -Eq "$2"; then echo yes; else echo no; return 1; fi
    }
    has 'relocations are read-only (RELRO)' 'GNU_RELRO' -l
    has 'all are bound at the start (BIND_NOW)' 'BIND_NOW' -d
    has 'stack is not executable' 'GNU_STACK.* RW +0x' -l
    has 'stack protector' '__stack_chk_fail' --dyn-syms
    has 'fortified functions' '__[a-z]+_chk' --dyn-syms
    ! has 'relocations in code (TEXTREL)' 'TEXTREL' -d
    ! has 'path to other libraries (RPATH)' 'RPATH|RUNPATH' -d
    ! has 'debug information' '\.debug_info' -S
    ! has 'symbols beyond the exported ones' ' \.symtab ' -S
    case $(uname -m) in x86_64)
      has 'shadow stacks (CET)' 'SHSTK' -n
      printf '  %-44s' 'branch targets are marked (CET)'
      objdump -d --disassemble=bdl_version "$library" | grep -q endbr64 || { echo no; exit 1; }
      echo yes ;;
    esac
    printf '  %s bytes\n' "$(stat -Lc %s "$library")" ;;
  *) echo "unknown step $step" >&2; exit 2 ;;
esac
