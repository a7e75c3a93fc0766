#!/bin/sh
# usage: check.sh STEP ...  Installs packages of dist/ in clean environments, runs the quickstart there, and compares its figures
# with those of a build from source (build/release, or BDL_BUILD). At the end it prints a table: package, size, command, seconds
# and processor time from nothing to the end of the quickstart, figures.
#   wheels   each wheel in a fresh virtual environment of its Python, without a compiler
#   sdist    the source distribution in a fresh virtual environment; compiles libbdl
#   r        both packages of R in fresh libraries
#   julia    the package of Julia in a fresh depot, without a network
#   c        the package of C and C++
#   deb      the Debian packages in a fresh chroot, C, Python, R, R from source; needs root and mmdebstrap, and Debian's mirror
#   quick    wheels, r, julia and c;  all: everything
# Downloads (NumPy and scikit-learn, or Debian's own packages) happen before the clock starts.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${BDL_BUILD:-$root/build/release}
wheels=$root/build/packages/wheelhouse # NumPy and others, kept for the next time
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(cat "$root/VERSION")
data=$root/examples/data
export OPENBLAS_NUM_THREADS=1 LC_ALL=C.UTF-8
unset LD_LIBRARY_PATH PYTHONPATH R_LIBS R_LIBS_USER BDL_LIBRARY BDL_ROOT BDL_PREFIX PKG_CONFIG_PATH
mkdir -p "$wheels"
: >"$work/table"

figures() { grep -E '^test RMSE|intervals hold|^learned noise'; }
clock() { # sets wall and cpu, the processor time of all commands so far
  wall=$(date +%s.%N)
  times >"$work/times"
  cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; ++i) { split($i, t, /[ms]/); s += 60 * t[1] + t[2] } print s }' "$work/times")
}
begin() {
  clock
  began=$wall cpu_began=$cpu
}
row() { # package, file or its size, command: a line of the table for the figures in $work/output, with the time since begin
  clock
  seconds=$(echo "$wall $began $cpu $cpu_began" | awk '{ printf "%.0f s | %.0f s", $1 - $2, $3 - $4 }')
  figures <"$work/output" >"$work/figures"
  if diff "$work/reference" "$work/figures"; then equal=equal; else equal=DIFFERENT; fi
  size=$2
  [ ! -f "$root/dist/$2" ] || size=$(stat -c %s "$root/dist/$2")
  printf '| %s | %s MB | %s | %s | %s |\n' "$1" "$(echo "$size" | awk '{ printf "%.1f", $1 / 1e6 }')" "$3" "$seconds" $equal >>"$work/table"
  [ $equal = equal ]
}

[ -x "$build/examples/quickstart" ] || { echo "build/release has no quickstart: cmake --preset release && cmake --build --preset release" >&2; exit 1; }
"$build/examples/quickstart" "$data/yacht.csv" "$data/yacht_test_rows.csv" | figures >"$work/reference"
[ "$(wc -l <"$work/reference")" = 5 ]

wheels() {
  sh "$root/packaging/pythons.sh" >"$work/pythons"
  while read -r python; do
    tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
    wheel=$(cd "$root/dist" && ls "bdl-$version-$tag-$tag"-manylinux*.whl)
    "$python" -m pip download --quiet --disable-pip-version-check --only-binary :all: --dest "$wheels/$tag" numpy scikit-learn
    rm -rf "$work/venv"
    begin
    "$python" -m venv "$work/venv"
    CC=false CXX=false "$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-index --find-links "$wheels/$tag" "$root/dist/$wheel"
    "$work/venv/bin/python" "$root/examples/quickstart.py" >"$work/output"
    row "wheel, Python $("$python" -c 'import platform; print(platform.python_version())')" "$wheel" "pip install $wheel"
    sh "$root/packaging/self-contained.sh" "$work"/venv/lib/python*/site-packages/bdl "$work"/venv/lib/python*/site-packages/bdl.libs
    "$work/venv/bin/python" -c 'import bdl.lowlevel as b; i = b.bdl_build_info(); print(i); assert "within libbdl" in i'
  done <"$work/pythons"
}

sdist() {
  rm -rf "$work/venv"
  begin
  /usr/bin/python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check "$root/dist/bdl-$version.tar.gz"
  "$work/venv/bin/python" "$root/examples/quickstart.py" >"$work/output"
  row 'sdist' "bdl-$version.tar.gz" "pip install bdl-$version.tar.gz"
}

r() {
  for file in $(cd "$root/dist" && ls "bdl_$version"*.tar.gz); do
    case $file in *_linux-*) kind='R, compiled' prefix= ;; *) kind='R, source' prefix=$root/build/packages/prefix ;; esac
    rm -rf "$work/r"
    mkdir "$work/r"
    begin
    BDL_PREFIX=$prefix R CMD INSTALL --library="$work/r" "$root/dist/$file" >"$work/install.log" 2>&1 || { cat "$work/install.log"; return 1; }
    R_LIBS=$work/r Rscript "$root/examples/quickstart.R" >"$work/output"
    row "$kind" "$file" "R CMD INSTALL $file"
    [ -n "$prefix" ] || sh "$root/packaging/self-contained.sh" "$work/r/bdl/libs"
  done
}

julia() {
  file=BDL.jl-$version-linux-x86_64.tar.gz
  rm -rf "$work/julia"
  mkdir -p "$work/julia/depot/registries/Empty"
  # Pkg downloads Julia's registry of packages where there is none, though BDL.jl needs nothing of it.
  printf 'name = "Empty"\nuuid = "5b0e7a52-3d1f-4c64-9a0b-6f2d8c41e7b4"\nrepo = "none"\n[packages]\n' >"$work/julia/depot/registries/Empty/Registry.toml"
  offline=
  if unshare --net true 2>/dev/null; then offline='unshare --net'; fi
  begin
  tar -C "$work/julia" -xzf "$root/dist/$file"
  export JULIA_DEPOT_PATH="$work/julia/depot"
  $offline julia --color=no -e 'using Pkg; Pkg.develop(path = ARGS[1])' "$work/julia/BDL.jl" >"$work/install.log" 2>&1 ||
    { cat "$work/install.log"; return 1; }
  $offline julia --color=no "$root/examples/quickstart.jl" >"$work/output"
  row 'Julia' "$file" "Pkg.develop(path = \"BDL.jl\")"
  sh "$root/packaging/self-contained.sh" "$work/julia/BDL.jl/lib"
  # The way without Pkg.
  export JULIA_DEPOT_PATH="$work/julia/empty"
  $offline julia --color=no -e 'push!(LOAD_PATH, ARGS[1]); using BDL; print(BDL.build_info())' "$work/julia/BDL.jl" >"$work/output"
  grep 'BLAS: within libbdl' "$work/output"
  unset JULIA_DEPOT_PATH
}

c() {
  file=libbdl-$version-linux-x86_64.tar.gz
  prefix=$work/c/${file%.tar.gz}
  rm -rf "$work/c"
  mkdir -p "$work/c"
  begin
  tar -C "$work/c" -xzf "$root/dist/$file"
  examples=$prefix/share/doc/bdl/examples
  cc -std=gnu99 "$examples/quickstart.c" "$examples/support/dataset.c" -o "$work/c/quickstart" \
    $(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config --cflags --libs bdl) -Wl,-rpath,"$prefix/lib" -lm
  "$work/c/quickstart" "$examples/data/yacht.csv" "$examples/data/yacht_test_rows.csv" >"$work/output"
  row 'C' "$file" 'cc $(pkg-config --cflags --libs bdl)'
  cmake -S "$root/tests/install" -B "$work/c/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
  cmake --build "$work/c/build" >/dev/null
  "$work/c/build/consumer"
  sh "$root/packaging/self-contained.sh" "$prefix/lib"
}

deb() {
  base=${BDL_CHROOT:-${TMPDIR:-/tmp}/bdl-bookworm.tar} # kept for the next time
  if [ ! -f "$base" ]; then
    mmdebstrap --quiet --variant=apt --format=tar bookworm "$base.new"
    mv "$base.new" "$base"
  fi
  chroot=$work/chroot
  mkdir "$chroot"
  tar -C "$chroot" -xf "$base" --exclude=./dev
  mkdir -p "$chroot/dev" "$chroot/packages"
  for device in null zero random urandom; do cp -a /dev/$device "$chroot/dev/"; done
  cp /etc/resolv.conf "$chroot/etc/"
  printf 'Dpkg::Use-Pty "0";\n' >"$chroot/etc/apt/apt.conf.d/90no-terminal"
  cp "$root"/dist/*.deb "$chroot/packages/"
  cp -r "$root/examples" "$chroot/"
  inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive OPENBLAS_NUM_THREADS=1 chroot "$chroot" "$@"; }
  inside apt-get -qq update
  language() { # name, packages of dist/, packages of Debian, command of the quickstart
    files= size=0
    for package in $2; do
      file=$(cd "$root/dist" && ls "$package"_*.deb)
      files="$files ./packages/$file"
      size=$((size + $(stat -c %s "$root/dist/$file")))
    done
    inside apt-get -qq install --download-only --no-install-recommends $files $3 >/dev/null
    begin
    inside apt-get -qq install --no-install-recommends $files $3 >"$work/install.log" 2>&1 || { cat "$work/install.log"; return 1; }
    inside sh -c "$4" >"$work/output"
    row "Debian, $1" "$size" "apt install $(echo "$files" | sed 's| ./packages/| ./|g; s/^ //')"
  }
  language C 'libbdl0 libbdl-dev' 'gcc libc6-dev pkg-config' 'cd /tmp && cp -r /usr/share/doc/libbdl-dev/examples . && cd examples &&
    cc quickstart.c support/dataset.c -o quickstart $(pkg-config --cflags --libs bdl) -lm && ./quickstart data/yacht.csv data/yacht_test_rows.csv'
  language Python 'libbdl0 python3-bdl' '' 'python3 /examples/quickstart.py'
  language R 'libbdl0 r-cran-bdl' '' 'Rscript /examples/quickstart.R'
  # The source package of R, compiled against libbdl-dev.
  inside apt-get -qq purge r-cran-bdl >/dev/null 2>&1
  cp "$root/dist/bdl_$version.tar.gz" "$chroot/packages/"
  language 'R from source' 'libbdl0 libbdl-dev' 'r-base-dev pkg-config' \
    "R CMD INSTALL /packages/bdl_$version.tar.gz >/dev/null 2>&1 && Rscript /examples/quickstart.R && R CMD REMOVE bdl 2>/dev/null"
  inside apt-get -qq purge libbdl0 libbdl-dev python3-bdl >"$work/install.log" 2>&1
  find "$chroot/usr" -name 'libbdl*' -o -name 'bdl' >"$work/left"
  [ ! -s "$work/left" ] || { echo 'left after purging:'; cat "$work/left"; return 1; }
}

for step in "$@"; do
  case $step in
    quick) set -- wheels r julia c ;;
    all) set -- wheels r julia c deb sdist ;;
    *) set -- "$step" ;;
  esac
  for name in "$@"; do
    case $name in
      wheels | sdist | r | julia | c | deb) $name ;;
      *) echo "unknown step $name" >&2; exit 2 ;;
    esac
  done
done
printf '| package | size | command | first result after | processor time | figures |\n| --- | --- | --- | --- | --- | --- |\n'
cat "$work/table"
