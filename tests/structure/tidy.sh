#!/usr/bin/env bash
# clang-tidy over every source of a build folder, one check per file. What has passed is not looked at again until the
# file, a header of the project that it includes, its compile command, the checks or clang-tidy change.
#   tidy.sh BUILD_DIR [FILE...]
set -uo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.." || exit
export build=${1:?usage: tidy.sh BUILD_DIR [FILE...]}
shift
files=("$@")
((${#files[@]} > 0)) || mapfile -t files < <(git ls-files -co --exclude-standard "*.cpp" ":!tests/")
checks=$({ clang-tidy-19 --version && find . -name build -prune -o -name .clang-tidy -print0 | sort -z | xargs -0 cat tests/structure/tidy.sh; } | sha256sum)
export checks

# contents FILE COMMAND: the file and the project's headers in it, as sha256sum writes them.
contents() {
  local dependencies
  dependencies=$(cd "$build" && eval "${2% -o *} -MM -MT contents $OLDPWD/$1") &&
    tr -d '\134' <<<"${dependencies#contents:}" | xargs sha256sum
}

check() {
  local command record=$build/tidy/$1.passed words now
  command=$(jq -r --arg file "$PWD/$1" 'first(.[] | select(.file == $file) | .command)' "$build/compile_commands.json")
  if [ -z "$command" ]; then
    printf 'not ok %s\nIt is not compiled in %s\n' "$1" "$build"
    return 1
  fi
  if [ "$(head -n 1 "$record" 2>/dev/null)" = "$checks $command" ] &&
    tail -n +2 "$record" | sha256sum --check --status 2>/dev/null; then
    echo "ok $1 has passed before"
    return
  fi
  now=$(contents "$1" "$command") || now='' # Unknown: the result is not kept.
  if words=$(clang-tidy-19 -p "$build" --quiet "$1" 2>&1); then
    echo "ok $1"
    [ -z "$now" ] || { mkdir -p "${record%/*}" && printf '%s\n' "$checks $command" "$now" >"$record"; }
  else
    printf 'not ok %s\n%s\n' "$1" "$(grep -E ' (error|warning): ' <<<"$words" | sort -u | head -20)"
    grep -qE ' (error|warning): ' <<<"$words" || tail -5 <<<"$words"
    return 1
  fi
}
export -f check contents
# shellcheck disable=SC2016 # for the inner shell
printf '%s\0' "${files[@]}" | xargs -0 -n1 -P"$(nproc)" bash -c 'check "$1"' check
