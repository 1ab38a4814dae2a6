#!/usr/bin/env bash
# Two stackgate-evaluators on one PostgreSQL: one dies behind each of its writes, and the other ends the evaluation with the same
# results, asking nothing that was stored.
#   STACKGATE_BIN=build/release/bin tests/e2e/storage/evaluator.sh
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail
# shellcheck source=tests/e2e/evaluator/lib.sh
source "$(dirname "$(realpath "$0")")/../evaluator/lib.sh"
start_endpoint
start_datastore || exit 1
mkdir "$scratch/rows"
for i in $(seq 24); do printf '{"question":"say answer %d","answer":"answer %d"}\n' "$i" "$((i % 3 == 0 ? i + 1 : i))"; done >"$scratch/rows/qa.jsonl"
dataset qa "$scratch/rows/qa.jsonl"
control '{"delay_ms":30}'
STACKGATE_DATABASE_URL=$("$here/../../support/postgres.sh" start "$scratch/postgres" | tail -1)
STACKGATE_DATABASE_PASSWORD=$(cat "$scratch/postgres/password")
export STACKGATE_DATABASE_URL STACKGATE_DATABASE_PASSWORD
"$bin/stackgate-evaluator" migrate --log-format json >"$scratch/out" 2>&1 || { cat "$scratch/out" && exit 1; }

similar() {
  printf '{"name":"%s","model_endpoint":"http://%s/v1","framework":"similarity-metrics","dataset":"ada/qa","api_key":"sk-1","params":{%s}}' "$1" "$endpoint" \
    '"prompt":"{{ item.question }}","reference":"{{ item.answer }}","parallelism":2,"max_retries":0'
}
# What must be the same whoever computed it.
outcome() {
  results "$1" | jq -cS '{complete, tasks}'
  curl -s "$url/v1/evaluations/$1/samples?limit=100" | jq -cS '.data'
}

start_evaluator survivor --lease 2s --max-evaluations 1 || exit 1
post "$(similar whole)" >/dev/null
check "an evaluation ends" within 30 is_in whole completed
whole=$(outcome whole)
check "with results" bash -c "[ '$(score whole similarity-metrics em em)' != null ]"
kill "$evaluator_pid"
wait "$evaluator_pid" 2>/dev/null || true

for point in created queued running answers:1 answers:5 samples:1 samples:4 progress:1 progress:2 event:1 finish; do
  name=${point/:/-}
  forget
  # The one that dies is alone until then, so that it is the one that works.
  export STACKGATE_FAIL_POINT=$point
  if evaluator_binary=$bin/evaluator_fail_points start_evaluator victim --lease 2s --max-evaluations 1; then
    victim=$evaluator_pid
    curl -s --max-time 20 --json "$(similar "$name")" "$url/v1/evaluations" >/dev/null || true
    check "$point: the replica dies" within 20 bash -c "! kill -0 $victim 2>/dev/null"
    wait "$victim" 2>/dev/null || true
  fi
  unset STACKGATE_FAIL_POINT
  start_evaluator survivor --lease 2s --max-evaluations 1 || exit 1
  check "$point: another one ends it" within 30 is_in "$name" completed
  check "$point: with the same results" same "$whole" "$(outcome "$name")"
  check "$point: nothing was asked twice but what was under way" bash -c \
    "curl -s http://$endpoint/seen | jq -e '(.questions | length) == 24 and ([.questions[] | select(. > 1)] | length) <= 2 and ([.questions[]] | max) <= 2'"
  check "$point: its end is told once" same 1 "$(curl -s "$url/v1/evaluations/$name/events" | jq '[.data[].message | select(. == "completed")] | length')"
  kill "$evaluator_pid"
  wait "$evaluator_pid" 2>/dev/null || true
done

# Both at once: one works, the other takes over when it is killed.
start_evaluator one --lease 2s --max-evaluations 1 || exit 1
one=$url one_pid=$evaluator_pid
start_evaluator two --lease 2s --max-evaluations 1 || exit 1
two_pid=$evaluator_pid
control '{"delay_ms":200}'
post "$(similar taken)" >/dev/null
some_done() { [ "$(curl -s "$url/v1/evaluations/taken/samples" | jq '.data | length')" -ge 3 ]; }
check "it has begun" within 10 some_done
works() { curl -s "$1/metrics" | grep -q '^stackgate_evaluator_running 1'; }
if works "$one"; then
  kill -9 "$one_pid"
  wait "$one_pid" 2>/dev/null || true
else
  kill -9 "$two_pid"
  wait "$two_pid" 2>/dev/null || true
  url=$one
fi
check "the other replica goes on" within 40 is_in taken completed
check "to the same results" same "$whole" "$(outcome taken)"
post "$(similar drained)" >/dev/null
check "no key is left" same 0 "$(PGPASSWORD=$STACKGATE_DATABASE_PASSWORD psql -At "$STACKGATE_DATABASE_URL" -c "SELECT count(*) FROM evaluation WHERE name <> 'drained' AND secrets <> ''")"
exit $failed
