#!/usr/bin/env bash
# Format, shell scripts and spelling, as checks "ok NAME" / "not ok NAME".
set -uo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.." || exit

failed=0
check() { # NAME COMMAND...
  local words
  if words=$("${@:2}" 2>&1); then
    echo "ok $1"
  else
    printf 'not ok %s\n%s\n' "$1" "$words"
    failed=1
  fi
}
mapfile -t sources < <(git ls-files -co --exclude-standard '*.cpp' '*.hpp')
mapfile -t scripts < <(git ls-files -co --exclude-standard '*.sh' dev .ci/run)
mapfile -t texts < <(git ls-files -co --exclude-standard | grep -vE '^(LICENSE|tests/fuzz/corpus/|services/guardrail/detect/(training_text|language_words))|golden') # words of other languages

# shellcheck disable=SC2317 # called through check
format() {
  local files
  files=$(clang-format-19 --dry-run --Werror "${sources[@]}" 2>&1 | sed -n 's/^\([^: ]*\):.*error: .*/\1/p' | sort -u)
  [ -z "$files" ] || { echo "$files" && return 1; }
}
check "the sources are formatted (./dev fmt does it)" format
check "shellcheck finds nothing" shellcheck "${scripts[@]}"
check "codespell finds nothing" codespell --quiet-level 34 "${texts[@]}"
exit "$failed"
