#!/usr/bin/env bash
# The alerting rules of chart/alerts.yaml, in promtool's judgement ($PROMTOOL), each of them firing and silent; and the
# guide has a row for each.
set -uo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
repo=$(realpath "$here/../..")
promtool=${PROMTOOL:-$(command -v promtool)} || { echo "skip alerts: \$PROMTOOL names no promtool (Debian's package prometheus has it)" && exit; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
check() { # NAME COMMAND...
  local words
  if words=$("${@:2}" 2>&1); then
    echo "ok $1"
  else
    failed=1
    printf 'not ok %s\n%s\n' "$1" "$words"
  fi
}
# hold RULES: they do what alerts.yaml beside this script says
# shellcheck disable=SC2317 # called through check
hold() {
  sed "s|RULES|$1|" "$here/alerts.yaml" >"$scratch/test.yaml"
  "$promtool" test rules "$scratch/test.yaml"
}
# shellcheck disable=SC2317
not_hold() { ! hold "$1"; }

rules=$repo/chart/alerts.yaml
mapfile -t names < <(sed -nE 's/^ *- alert: ([A-Za-z]+).*/\1/p' "$rules")
check "there are alerts" test "${#names[@]}" -gt 5
check "promtool finds no fault with them" "$promtool" check rules "$rules"
check "each fires for its fault and is silent without" hold "$rules"
for name in "${names[@]}"; do
  sed "s/alert: $name\b/alert: Another/" "$rules" >"$scratch/rules.yaml"
  check "without $name that would not hold" not_hold "$scratch/rules.yaml"
  check "the guide says what to do about $name" grep -qE "^\|[^|]*\b$name\b[^|]*\|" "$repo/chart/OPERATING.md"
done
told=$(sed -nE '/^\| Stackgate/s/^\|([^|]*)\|.*/\1/p' "$repo/chart/OPERATING.md" | grep -oE 'Stackgate[A-Za-z]+' | sort)
check "the guide speaks of no other" test "$told" = "$(printf '%s\n' "${names[@]}" | sort)"
exit $failed
