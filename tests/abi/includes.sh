#!/bin/sh
# Includes in src go down the layers only; linalg/blas.cpp alone sees BLAS, linalg/lapack.cpp LAPACK, optimize libLBFGS and NLopt,
# likelihood Boost; extern "C" is said in c_api only (and in parallel/blas_system.cpp and blas_private.cpp, which ask BLAS about itself).
set -eu
cd "$(dirname "$0")/../../src"
find . -name '*.[ch]pp' -o -name '*.def' | sort | xargs awk '
  BEGIN {
    split("base parallel:options rng linalg optimize data:likelihood network model curvature posterior prior methods evidence " \
          "steps ranks train predict:metrics:io search c_api", layers)
    for (i in layers) { n = split(layers[i], folders, ":"); for (j = 1; j <= n; j++) layer[folders[j]] = i + 0 }
  }
  function wrong(what) { printf "src/%s:%d: %s\n", substr(FILENAME, 3), FNR, what; bad = 1 }
  function folder_of(path) { sub(/\/.*/, "", path); return path }
  FNR == 1 {
    here = folder_of(substr(FILENAME, 3))
    if (!(here in layer)) wrong("folder " here " belongs to no layer")
  }
  /^[ \t]*#[ \t]*include/ {
    header = $0
    gsub(/^[^"<]*["<]|[">].*$/, "", header)
    if (header == "cblas.h" && FILENAME != "./linalg/blas.cpp") wrong(header " outside linalg/blas.cpp")
    if (header == "lapacke.h" && FILENAME != "./linalg/lapack.cpp") wrong(header " outside linalg/lapack.cpp")
    if (header ~ /^(f77blas|cblas_|lapack\.h|lapacke_)/) wrong(header " is not used")
    if (header ~ /^boost\// && here != "likelihood") wrong(header " outside likelihood")
    if (header ~ /^(nlopt|lbfgs)\.h$/ && here != "optimize") wrong(header " outside optimize")
    if ($0 !~ /"/ || header ~ /^bdl\//) next
    there = folder_of(header)
    if (!(there in layer)) wrong("include \"" header "\" does not start with a folder of src")
    else if (there != here && layer[there] >= layer[here]) wrong(here " must not include " header)
  }
  /extern[ \t]*"C"/ && here != "c_api" && FILENAME !~ /^\.\/parallel\/blas_(system|private)\.cpp$/ { wrong("extern \"C\" outside c_api") }
  END { exit bad }'
