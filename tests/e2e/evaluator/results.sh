#!/usr/bin/env bash
# Results that a framework leaves in a repository of the datastore instead of its output, fetched from there when it has ended.
#   STACKGATE_BIN=build/release/bin tests/e2e/evaluator/results.sh
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail
# shellcheck source=tests/e2e/evaluator/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
start_datastore || exit 1
echo "Results of evaluations." >"$scratch/README.md"
dataset results "$scratch/README.md"
mkdir "$scratch/bin"
# The framework: task "nothing" leaves no results.
cat >"$scratch/bin/lm_eval" <<'LM_EVAL'
#!/bin/sh
echo "results go to $STACKGATE_RESULTS"
[ "$STACKGATE_TASKS" != nothing ] || exit 0
file() { printf '{"key":"file","value":{"path":"%s/%s","content":"%s","encoding":"base64"}}\n' "${STACKGATE_RESULTS##*/}" "$1" "$(base64 -w0)"; }
{
  printf '{"key":"header","value":{"summary":"results"}}\n'
  printf '{"results":{"gsm8k":{"exact_match,none":0.5}},"versions":{"gsm8k":3}}' | file llama/results_2026-01-01.json
  printf '{"doc_id":%d,"doc":{"q":1},"target":"a","filtered_resps":["b"],"filter":"none","metrics":["exact_match"],"exact_match":%d}\n' 0 1 1 0 | file llama/samples_gsm8k_2026-01-01.jsonl
} | curl -sf -u ada:correct-horse -H 'Content-Type: application/x-ndjson' --data-binary @- \
  "$STACKGATE_DATASTORE_URL/api/datasets/ada/results/commit/main" >/dev/null
LM_EVAL
chmod +x "$scratch/bin/lm_eval"
harness() {
  printf '{"name":"%s","framework":"lm-eval-harness","model_endpoint":"http://127.0.0.1:9/v1","model":"llama","tasks":["%s"]}' "$1" "$2"
}
is_created() { [ "$(status --json "$1" "$url/v1/evaluations")" = 201 ] || { cat "$scratch/answer" && return 1; }; }
PATH=$scratch/bin:$PATH start_evaluator server --results-repository ada/results || exit 1
check "a framework that leaves its results in the datastore" is_created "$(harness first gsm8k)"
check "is completed" within 20 is_in first completed
check "with its scores" same 0.5 "$(score first gsm8k exact_match exact_match)"
check "and records of its samples" bash -c "curl -s $url/v1/evaluations/first/samples | jq -e '[.data[].record.scores.exact_match] == [1, 0]'"
check "one that leaves none" is_created "$(harness nothing nothing)"
check "fails" within 20 is_in nothing failed
check "and says so" bash -c "curl -s $url/v1/evaluations/nothing | jq -e '.status_details.message | contains(\"no whole results\")'"
check "another's results are not taken for it" same '{}' "$(results nothing | jq -c .tasks)"
check "a repository that is none is refused" bash -c "! $bin/stackgate-evaluator --results-repository results --data-dir $scratch/x --listen 127.0.0.1:0 2>$scratch/refused && grep -q 'ada/results' $scratch/refused"
exit "$failed"
