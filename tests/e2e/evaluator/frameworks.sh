#!/usr/bin/env bash
# Every native framework over HTTP: each folder of frameworks/ is a data set, a request, what the models answer, and the scores that
# were worked out by hand; its case.json has the derivation.
#   STACKGATE_BIN=build/release/bin tests/e2e/evaluator/frameworks.sh [CASE…]
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail
# shellcheck source=tests/e2e/evaluator/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
start_endpoint
start_datastore || exit 1
start_evaluator server || exit 1
control '{"models":["main-model","judge","embedder"]}'

is_created() { [ "$(status --json "$1" "$url/v1/evaluations")" = 201 ] || { cat "$scratch/answer" && return 1; }; }
# differing CASE FILE: the scores of case.json that the results do not have, within 1e-6 (vectors have 24 bits)
differing() {
  jq -c --slurpfile got <(results "$1") '
    ($got[0].tasks // {}) as $tasks |
    [.scores | paths(numbers) as $p | {path: $p, want: getpath($p), got: $tasks[$p[0]].metrics[$p[1]].scores[$p[2]].value}] +
    [(.nan_counts // {}) | paths(numbers) as $p | {path: ($p + ["nan_count"]), want: getpath($p), got: $tasks[$p[0]].metrics[$p[1]].scores[$p[2]].stats.nan_count}] |
    if length == 0 then ["nothing is compared"] else map(select(.got == null or ((.got - .want) | fabs) > 1e-6)) end' "$2"
}
has_scores() {
  local wrong
  wrong=$(differing "$1" "$2")
  [ "$wrong" = "[]" ] || { echo "$wrong" && results "$1" && return 1; }
}
# has_record EVALUATION TASK FILTER: true for the task's samples
has_record() { curl -s "$url/v1/evaluations/$1/samples?task=$2&limit=100" | jq -e ".data | $3" || { curl -s "$url/v1/evaluations/$1/samples?task=$2" && return 1; }; }

for folder in "$here"/frameworks/*/; do
  name=$(basename "$folder")
  [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
  mapfile -t files < <(cd "$folder/data" && find . -type f -printf '%P\n' | sort)
  (cd "$folder/data" && dataset "$name" "${files[@]}")
  control "$(jq -c '{rules}' "$folder/case.json")"
  body=$(jq -c --arg name "$name" --arg url "http://$endpoint/v1" \
    '.request + {name: $name, dataset: ("ada/" + $name), model_endpoint: $url} | walk(if . == "ENDPOINT" then $url else . end)' "$folder/case.json")
  check "$name: created" is_created "$body"
  check "$name: completed" within 40 is_in "$name" completed
  check "$name: has the scores that were worked out by hand" has_scores "$name" "$folder/case.json"
  while IFS=$'\t' read -r task filter; do
    check "$name: $filter" has_record "$name" "$task" "$filter"
  done < <(jq -r '.records // {} | to_entries[] | .key as $task | .value[] | $task + "\t" + .' "$folder/case.json")
done
exit "$failed"
