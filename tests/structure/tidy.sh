#!/usr/bin/env bash
# clang-tidy over every source of a build folder, one check per file.
#   tidy.sh BUILD_DIR [FILE...]
set -uo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.." || exit
export build=${1:?usage: tidy.sh BUILD_DIR [FILE...]}
shift
files=("$@")
((${#files[@]} > 0)) || mapfile -t files < <(git ls-files -co --exclude-standard "*.cpp" ":!tests/")
check() {
  local words
  if words=$(clang-tidy-19 -p "$build" --quiet "$1" 2>/dev/null); then
    echo "ok $1"
  else
    printf 'not ok %s\n%s\n' "$1" "$(grep -E ': (error|warning): ' <<<"$words" | head -20)"
    return 1
  fi
}
export -f check
# shellcheck disable=SC2016 # for the inner shell
printf '%s\0' "${files[@]}" | xargs -0 -n1 -P"$(nproc)" bash -c 'check "$1"' check
