#!/bin/sh
# usage: check.sh STEP BUILD WORK  One step of using libbdl as an installed package; `install` comes first.
set -eu
step=$1 build=$2 work=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
prefix=$work/prefix
strict='-Wall -Wextra -Wpedantic -Werror'
libdir() { dirname "$(find "$prefix" -name libbdl.so)"; }
not() { if "$@"; then return 1; fi; } # "!" does not end a script that has set -e
pc() { PKG_CONFIG_PATH=$(libdir)/pkgconfig pkg-config "$@" bdl; }

case $step in
  install) # moved after it was installed: a package must not remember where it was built or installed
    cmake --install "$build" --prefix "$work/staged" >/dev/null
    mv "$work/staged" "$prefix"
    not grep -rIl -e "$work/staged" -e "$(cd "$build" && pwd)" "$prefix" ;;
  headers) # each one alone, as the oldest languages promised and newer ones, without a word whatever is asked of compilers
    own="$strict -Wconversion -Wsign-conversion -Wshadow -Wundef -Wcast-qual -Wcast-align -Wredundant-decls"
    in_c="$own -Wstrict-prototypes -Wmissing-prototypes -Wc++-compat"
    in_cxx="$own -Wold-style-cast -Wuseless-cast -Wzero-as-null-pointer-constant -Wdouble-promotion"
    everything='-Weverything -Wno-padded -Wno-c++98-compat -Wno-c++98-compat-pedantic -Werror'
    for header in "$prefix"/include/bdl/*.h; do
      text=$(printf '#include "bdl/%s"\ntypedef int not_empty;\n' "$(basename "$header")")
      accept() { # compiler, flags ...
        printf '%s\n' "$text" | "$@" -I "$prefix/include" -fsyntax-only -
      }
      for language in c99 c11; do accept cc -x c -std=$language $in_c; done
      for language in c++11 c++20; do accept c++ -x c++ -std=$language $in_cxx; done
      if command -v clang >/dev/null; then
        accept clang -x c -std=c99 $everything
        for language in c++11 c++20; do accept clang++ -x c++ -std=$language $everything; done
      fi
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
    for target in bdl::bdl bdl::bdl_static; do
      cmake -S "$here" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DBDL_TARGET=$target >/dev/null
      cmake --build "$work/cmake" >/dev/null
      "$work/cmake/consumer"
    done
    ldd "$work/cmake/consumer" >"$work/needed"
    not grep libbdl "$work/needed" ;;
  static) # archives of all that has them: the same numbers, also within a library; no names but the library's own
    for kind in shared static; do
      libs=$(pc --libs)
      [ $kind = shared ] || libs="-Wl,-Bstatic $(pc --static --libs) -Wl,-Bdynamic"
      cc -std=gnu99 $(pc --cflags) -I "$root/examples" "$root/examples/quickstart.c" "$root"/examples/support/*.c -o "$work/$kind" $libs -lm
      (cd "$root" && LD_LIBRARY_PATH=$(libdir) OPENBLAS_NUM_THREADS=1 "$work/$kind" | grep -v seconds) >"$work/$kind.txt"
    done
    diff "$work/shared.txt" "$work/static.txt"
    ldd "$work/static" >"$work/needed"
    not grep -E 'libbdl|stdc|blas' "$work/needed"
    cc -shared -o "$work/host.so" -Wl,--whole-archive "$(libdir)/libbdl.a" -Wl,--no-whole-archive $libs -Wl,--no-undefined
    nm -g --defined-only "$(libdir)/libbdl.a" | awk 'NF == 3 && $2 ~ /[A-TX-Z]/ { print $3 }' | sort -u >"$work/names"
    grep -q '^bdl_optimizer_fit$' "$work/names"
    not grep -vE '^bdl_|^_ZNK?3bdl' "$work/names" ;;
  subproject) # within another project, which gets bdl::bdl and nothing else, or what it asks for. This tests CMake, so nothing is
    # optimised; each source is compiled alone by Clang: it includes what it needs, and none of its names hides another.
    parent=$(dirname "$build")/parent # objects of the last time are kept
    rm -f "$parent/CMakeCache.txt"
    parent() { # argument of cmake ...
      cmake -S "$here/subproject" -B "$parent" -DBDL_SOURCE="$root" -DBDL_WERROR=ON \
        -DCMAKE_C_COMPILER="$(command -v clang)" -DCMAKE_CXX_COMPILER="$(command -v clang++)" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 \
        -DCMAKE_UNITY_BUILD=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON "$@" >/dev/null
      cmake --build "$parent" >/dev/null
      "$parent/consumer"
    }
    files() { # where they are installed
      cmake --install "$parent" --prefix "$1" >/dev/null
      (cd "$1" && find . -type f)
    }
    parent -DBUILD_SHARED_LIBS=OFF
    ldd "$parent/consumer" >"$work/needed"
    not grep libbdl "$work/needed"
    [ "$(files "$work/alone")" = ./bin/consumer ]
    cmake --build "$parent" --target help >"$work/targets"
    not grep -E 'test_|example_|experiment_|bench_|fuzz|mpi' "$work/targets"
    not grep -E '^(BUILD_TESTING|MPI_)' "$parent/CMakeCache.txt"
    parent -DBUILD_SHARED_LIBS=ON -DBDL_INSTALL=ON
    ldd "$parent/consumer" | grep -q libbdl
    files "$work/both" | grep -c -e '/libbdl\.so\.' -e '/bdl/bdl\.h' -e '/bdlConfig\.cmake' -e '/bdl\.pc' | grep -qx 4 ;;
  private) # BLAS within the library: nothing of it is seen outside, and its products are those of the system's
    refuse() { # what is said, argument of cmake ...
      said=$1
      shift
      not cmake -S "$root" -B "$work/refused" "$@" >/dev/null 2>"$work/said"
      tr -s '\n ' '  ' <"$work/said" | grep -q "$said"
      rm -rf "$work/refused"
    }
    refuse 'expected system or private' -DBDL_BLAS=other
    refuse 'BUILD_SHARED_LIBS=ON and BDL_BUILD_STATIC=OFF' -DBDL_BLAS=private -DBUILD_SHARED_LIBS=OFF
    own=$root/build/packages/build # the library of packages; objects of the last time are kept
    sh "$root/packaging/library.sh" >/dev/null
    cmake --build "$own" --target bdl_golden bdl_bits test_threads >/dev/null
    ldd "$own/lib/libbdl.so" >"$work/needed"
    not grep -iE 'blas|lapack|gfortran' "$work/needed"
    nm -D "$own/lib/libbdl.so" >"$work/names"
    grep -q ' bdl_optimizer_fit' "$work/names"
    not grep -iE 'blas|lapack|[sd](gemm|gemv|trsv|potrf|stemr)' "$work/names"
    cc -std=gnu99 $strict $(pc --cflags) "$here/private.c" -o "$work/private" "$own/lib/libbdl.so" -pthread
    info() { # folder of the library: which OpenBLAS, with which kernels
      LD_LIBRARY_PATH=$1 "$work/private" | sed 's/.*(//; s/ [A-Z_]*THREAD.*//'
    }
    info=$(LD_LIBRARY_PATH=$own/lib "$work/private")
    case $info in *'BLAS: within libbdl (OpenBLAS '*) ;; *) echo "$info"; exit 1 ;; esac
    for file in "$root"/tests/golden/*.json; do "$own/tests/bdl_golden" "$file" >/dev/null; done
    for threads in 1 4; do OPENBLAS_NUM_THREADS=$threads "$own/tests/bdl_bits" >"$work/bits.$threads"; done
    diff "$work/bits.1" "$work/bits.4"
    if [ "$(info "$own/lib")" = "$(info "$(libdir)" || true)" ]; then
      OPENBLAS_NUM_THREADS=1 "$build/tests/bdl_bits" >"$work/bits.system"
      diff "$work/bits.system" "$work/bits.1"
    fi
    for kernels in Prescott Haswell; do
      for group in test_product_threads test_fork_threads; do OPENBLAS_CORETYPE=$kernels "$own/tests/test_threads" $group; done
    done >/dev/null
    printf '  %s bytes\n' "$(stat -Lc %s "$own/lib/libbdl.so")" ;;
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
    not has 'relocations in code (TEXTREL)' 'TEXTREL' -d
    not has 'path to other libraries (RPATH)' 'RPATH|RUNPATH' -d
    not has 'debug information' '\.debug_info' -S
    not has 'symbols beyond the exported ones' ' \.symtab ' -S
    case $(uname -m) in x86_64)
      has 'shadow stacks (CET)' 'SHSTK' -n
      printf '  %-44s' 'branch targets are marked (CET)'
      objdump -d --disassemble=bdl_version "$library" | grep -q endbr64 || { echo no; exit 1; }
      echo yes ;;
    esac
    printf '  %s bytes\n' "$(stat -Lc %s "$library")" ;;
  *) echo "unknown step $step" >&2; exit 2 ;;
esac
