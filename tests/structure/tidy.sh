#!/usr/bin/env bash
# clang-tidy over the sources of a build folder, one check for each file that the compiler reads: a source, or several in
# one where the build is a unity build (a quarter of the time, most of which goes into headers). What has passed is not
# looked at again until a source, a header of the project, the compile command, the checks or clang-tidy change.
#   tidy.sh BUILD_DIR
# shellcheck disable=SC2317 # functions are called in the shell of xargs
set -uo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.." || exit
export build=${1:?usage: tidy.sh BUILD_DIR}
checks=$({ clang-tidy-19 --version && find . -name build -prune -o -name .clang-tidy -print0 | sort -z | xargs -0 cat tests/structure/tidy.sh; } | sha256sum)
export checks

# sources_of FILE: itself, or those that it includes, when it is a part of a unity build; relative to the project.
sources_of() {
  local prefix=$PWD/
  case $1 in
    */Unity/unity_*) sed -n "s|^#include \"$prefix\(.*\)\"|\1|p" "$1" ;;
    *) echo "${1#"$prefix"}" ;;
  esac
}

# contents FILE COMMAND: the file and the project's headers in it, as sha256sum writes them.
contents() {
  local dependencies
  dependencies=$(cd "$build" && eval "${2% -o *} -MM -MT contents $1") && tr -d '\134' <<<"${dependencies#contents:}" | xargs sha256sum
}

check() {
  local file=$1 command name record words now
  command=$(jq -r --arg file "$file" 'first(.[] | select(.file == $file) | .command)' "$build/compile_commands.json")
  name=$(sources_of "$file" | head -1)
  record=$build/tidy/$name.passed
  if [ "$(head -n 1 "$record" 2>/dev/null)" = "$checks $command" ] &&
    tail -n +2 "$record" | sha256sum --check --status 2>/dev/null; then
    sources_of "$file" | sed 's/^/ok /; s/$/ has passed before/'
    return
  fi
  now=$(contents "$file" "$command") || now='' # Unknown: the result is not kept.
  # A unity file includes sources: that is what it is.
  if words=$(clang-tidy-19 -p "$build" --quiet --checks=-bugprone-suspicious-include --config-file=.clang-tidy "$file" 2>&1); then
    sources_of "$file" | sed 's/^/ok /'
    [ -z "$now" ] || { mkdir -p "${record%/*}" && printf '%s\n' "$checks $command" "$now" >"$record"; }
  else
    printf 'not ok %s\n%s\n' "$name" "$(grep -E ' (error|warning): ' <<<"$words" | sort -u | head -20)"
    grep -qE ' (error|warning): ' <<<"$words" || tail -5 <<<"$words"
    return 1
  fi
}
export -f check contents sources_of

# What nobody compiles here: the graph and the learner, because clang refuses libtorch's headers (services/model/CMakeLists.txt).
files=() compiled=$(mktemp)
while read -r file; do
  sources=$(sources_of "$file" | grep -v '^tests/\|^build/')
  [ -z "$sources" ] || { files+=("$file") && echo "$sources" >>"$compiled"; }
done < <(jq -r '.[].file' "$build/compile_commands.json")
status=0
while read -r source; do
  case $source in
    services/model/graph/* | services/trainer/learn/* | */export/* | */learn_library/* | */group_library/*)
      echo "skip $source: clang refuses libtorch's headers" ;;
    */generate_perplexity_table.cpp) echo "skip $source: run by hand, in no build" ;;
    *) echo "not ok $source" && echo "It is not compiled in $build" && status=1 ;;
  esac
done < <(git ls-files -co --exclude-standard '*.cpp' ':!tests/' | sort | comm -23 - <(sort "$compiled"))
rm -f "$compiled"
# shellcheck disable=SC2016 # for the inner shell
printf '%s\0' "${files[@]}" | xargs -0 -n1 -P"${TIDY_JOBS:-$(nproc)}" bash -c 'check "$1"' check || status=1
exit $status
