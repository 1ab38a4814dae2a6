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
head -5 "$scratch/rows/qa.jsonl" >"$scratch/rows/few.jsonl"
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

# One that dies behind each of its writes, from the first to the last: created, queued, running, answers, samples, progress, events, end.
dataset few "$scratch/rows/few.jsonl"
few() { similar "$1" | sed 's|ada/qa|ada/few|'; }
post "$(few whole-few)" >/dev/null
check "a small evaluation ends" within 30 is_in whole-few completed
few=$(outcome whole-few)
kill "$evaluator_pid"
wait "$evaluator_pid" 2>/dev/null || true
writes=0
while ((writes < 60)); do
  name=any-$((writes + 1))
  forget
  # The one that dies is alone until then, so that it is the one that works.
  export STACKGATE_FAIL_POINT=any:$((writes + 1))
  evaluator_binary=$bin/evaluator_fail_points start_evaluator victim --lease 2s --max-evaluations 1 || exit 1
  victim=$evaluator_pid
  unset STACKGATE_FAIL_POINT
  curl -s --max-time 20 --json "$(few "$name")" "$url/v1/evaluations" >/dev/null || true
  dead_or_done() { ! kill -0 "$victim" 2>/dev/null || is_in "$name" completed; }
  within 20 dead_or_done || true
  sleep 0.2 # its last write is its end
  if kill -0 "$victim" 2>/dev/null; then break; fi
  wait "$victim" 2>/dev/null || true
  writes=$((writes + 1))
  start_evaluator survivor --lease 2s --max-evaluations 1 || exit 1
  check "write $writes: another one ends it" within 30 is_in "$name" completed
  check "write $writes: with the same results" same "$few" "$(outcome "$name")"
  check "write $writes: nothing was asked twice but what was under way" bash -c \
    "curl -s http://$endpoint/seen | jq -e '(.questions | length) == 5 and ([.questions[] | select(. > 1)] | length) <= 2 and ([.questions[]] | max) <= 2'"
  check "write $writes: its end is reported once" same 1 "$(curl -s "$url/v1/evaluations/$name/events" | jq '[.data[].message | select(. == "completed")] | length')"
  kill "$evaluator_pid"
  wait "$evaluator_pid" 2>/dev/null || true
done
check "it dies behind $writes writes, and then no more" test "$writes" -ge 12 -a "$writes" -lt 60
kill "$victim"
wait "$victim" 2>/dev/null || true

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
