#!/usr/bin/env bash
# Every header compiles alone, so that its includes are complete whoever includes it first.
#   headers.sh [--alone] [COMPILER] [GENERATED_INCLUDE_DIR]     "ok HEADER" or "not ok HEADER" and the compiler's words
# --alone: without those that a source of the same name includes first; a build that is not unity (dev, lint) proves these.
set -euo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.."
alone=''
[ "${1:-}" != --alone ] || { alone=1 && shift; }
export compiler=${1:-g++-12} generated=${2:-build/release/generated}

check() {
  local words
  # Compiled through an including line: a header as main file would warn about its #pragma once.
  # libpq keeps its header in a folder of its own.
  words=$(printf '#include "%s"\n' "$1" | "$compiler" -std=c++23 -fsyntax-only -I. -I/usr/include/postgresql -I"$generated" -x c++ - 2>&1) &&
    echo "ok $1 compiles alone" && return
  printf 'not ok %s compiles alone\n%s\n' "$1" "$(grep -m3 error: <<<"$words")"
  return 1
}
export -f check
# shellcheck disable=SC2016 # for the inner shell
find services crds validators certs cluster_state webhook reconcile tests -name '*.hpp' | sort |
  while read -r header; do
    case "$compiler $header" in # like the sources, in tidy.sh
      *clang*graph/forward.hpp | *clang*graph/layers.hpp | *clang*graph/*serving.hpp | *clang*graph/step_operations.hpp | *clang*learn/training.hpp)
        echo "skip $header: clang refuses libtorch's headers" >&2 && continue ;;
    esac
    if [ -n "$alone" ] && [ "$(grep -s -m1 '^#include' "${header%.hpp}.cpp")" = "#include \"$header\"" ]; then continue; fi
    printf '%s\0' "$header"
  done | xargs -0 -n1 -P"$(nproc)" bash -c 'check "$1"' check
