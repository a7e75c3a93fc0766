#!/bin/sh
# Names of the public functions follow the rules of bdl.h: bdl_X_get_Y beside bdl_X_set_Y and nowhere else, no other reader of
# what is set, a count for everything with an index; and every comment says since when a function exists.
set -eu
cd "$(dirname "$0")/../../include/bdl"
awk '
  /^\/\*\*/ { comment = "" }
  /^(\/\*\*| \*)/ { comment = comment $0 }
  /^BDL_API / {
    match($0, /bdl_[a-z0-9_]+\(/)
    name = substr($0, RSTART, RLENGTH - 1)
    all[name] = FILENAME
    text = comment
    gsub(/[ *]+/, " ", text)
    if (text !~ /Since [0-9]+\.[0-9]+\./) wrong(name, "has no \"Since\"")
  }
  function wrong(name, what) { printf "include/bdl/%s: %s %s\n", all[name], name, what; bad = 1 }
  END {
    for (name in all) {
      noun = name
      if (sub(/_get_/, "_set_", noun) && !(noun in all) && !(noun "s" in all)) wrong(name, "reads what nothing sets")
      noun = name
      if (sub(/_set_/, "_", noun) && noun in all) wrong(noun, "reads what is set, without get")
    }
    exit bad
  }' *.h
