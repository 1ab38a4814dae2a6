#!/usr/bin/env bash
# stackgate-evaluator with the real datastore and an endpoint that answers by rules: evaluations created, refused, followed,
# cancelled, deleted; endpoints, judges and data that are away, slow, or lie.
#   STACKGATE_BIN=build/release/bin tests/e2e/evaluator/server.sh
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail
# shellcheck source=tests/e2e/evaluator/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
start_endpoint
start_datastore || exit 1
mkdir "$scratch/rows"
for i in $(seq 40); do printf '{"question":"say answer %d","answer":"answer %d"}\n' "$i" "$i"; done >"$scratch/rows/qa.jsonl"
printf '%s\n' '{"question":"say right","answer":"right"}' '{"question":"status 400","answer":"x"}' '{"question":"lie","answer":"x"}' \
  '{"question":"nan","answer":"x"}' '{"question":"say wrong","answer":"right"}' >"$scratch/rows/hard.jsonl"
for i in $(seq 60); do printf '{"question":"slow 100 say answer %d","answer":"answer %d"}\n' "$i" "$i"; done >"$scratch/rows/slow.jsonl"
printf '{"question":"a","answer":"b"}\n[1]\n{"question":\n' >"$scratch/rows/broken.jsonl"
dataset qa "$scratch/rows/qa.jsonl"
dataset hard "$scratch/rows/hard.jsonl"
dataset slow "$scratch/rows/slow.jsonl"
dataset broken "$scratch/rows/broken.jsonl"
# sqlite:…/server.data/evaluator.db
start_evaluator server --lease 2s --patience 1h --entitystore-url "http://$endpoint" || exit 1

# similar NAME DATASET [MEMBERS [PARAMS]]: the body of an evaluation of similarity
similar() {
  printf '{"name":"%s","model_endpoint":"http://%s/v1","framework":"similarity-metrics","dataset":"ada/%s"%s,"params":{%s}}' "$1" "$endpoint" "$2" \
    "${3:-}" "\"prompt\":\"{{ item.question }}\",\"reference\":\"{{ item.answer }}\",\"parallelism\":4,\"max_retries\":0${4:-}"
}
is_created() { [ "$(status --json "$1" "$url/v1/evaluations")" = 201 ] || { cat "$scratch/answer" && return 1; }; }
# refused BODY STATUS WORDS
refused() {
  local got
  got=$(status --json "$1" "$url/v1/evaluations${4:-}")
  if [ "$got" != "$2" ] || ! grep -qF -- "$3" "$scratch/answer"; then echo "$got" && cat "$scratch/answer" && return 1; fi
}

check "health in four spellings" bash -c "for p in /health /v1/health /v1/health/live /v1/health/ready; do curl -sf $url\$p >/dev/null || exit 1; done"
check "an evaluation is created" is_created "$(similar first qa ',"api_key":"sk-secret-1"')"
check "its place is in Location" bash -c "curl -si --json '$(similar place qa)' $url/v1/evaluations | grep -qi '^location: /v1/evaluations/place'"
check "its name is taken" refused "$(similar first qa)" 409 "DELETE"
check "it is completed" within 20 is_in first completed
check "every answer was right" same 1 "$(score first similarity-metrics em em)"
check "its data set is pinned" bash -c "curl -s $url/v1/evaluations/first | jq -r .dataset | grep -qE '^hf://datasets/ada/qa@[0-9a-f]{40}$'"
check "progress is 100" bash -c "curl -s $url/v1/evaluations/first/status | jq -e '.progress == 100 and .task_status[\"similarity-metrics\"] == \"completed\" and .samples.done == 40'"
check "the endpoint got the key" bash -c "curl -s http://$endpoint/seen | grep -q 'Bearer sk-secret-1'"
check "nobody else did" bash -c "! curl -s $url/v1/evaluations/first | grep -q sk-secret && curl -s $url/v1/evaluations/first | grep -q '\"api_key\":\"\*\*\*\*\*\*\"' && ! grep -rq sk-secret $scratch/server.log"
check "no more than four questions at once" bash -c "[ \$(curl -s http://$endpoint/seen | jq .most_at_once) -le 8 ]"
check "records of samples by pages" bash -c "
  page=\$(curl -s '$url/v1/evaluations/first/samples?limit=30'); after=\$(jq .next_after <<<\"\$page\")
  [ \$after = 29 ] && curl -s \"$url/v1/evaluations/first/samples?limit=30&after=\$after\" | jq -e '(.data | length) == 10 and .next_after == null and .data[0].record.output_text == \"answer 31\"'"
check "all of it as a zip" bash -c "curl -s '$url/v1/evaluations/first/results?format=zip' >$scratch/a.zip && cd $scratch && rm -rf unpacked && python3 -m zipfile -e a.zip unpacked &&
  jq -e .complete unpacked/results.json && [ \$(wc -l <unpacked/similarity-metrics.jsonl) = 40 ] && grep -q completed unpacked/log.txt"
check "its log as text" bash -c "curl -s $url/v1/evaluations/first/logs | grep -q ' completed$'"
check "its events in order" bash -c "curl -s $url/v1/evaluations/first/events | jq -e '[.data[].message] | index(\"created\") < index(\"running\") and .[-1] == \"completed\"'"
check "the same by id, and as NeMo's job" bash -c "id=\$(curl -s $url/v1/evaluations/first | jq -r .id); curl -sf $url/v1/evaluation/jobs/\$id | jq -e '.name == \"first\"' && curl -sf $url/v1/evaluation/jobs/\$id/results | jq -e .complete"
check "lists by state" bash -c "within() { :; }; curl -sg '$url/v1/evaluations?filter[state]=completed&page_size=1' | jq -e '.object == \"list\" and .pagination.page_size == 1 and .pagination.total_results >= 1 and (.data | length) == 1'"
check "a state that is none is named" bash -c "curl -sg '$url/v1/evaluations?filter[state]=complete' | grep -q 'did you mean'"

check "no JSON is 400" refused '{"name":' 400 ""
check "a member given twice is 400" refused '{"name":"a","name":"b"}' 400 "duplicate"
check "every fault at once" bash -c "[ \$(curl -s --json '{\"name\":\"A\",\"model_endpoint\":\"ftp://x\",\"framework\":\"custom\",\"num_fewshto\":1}' $url/v1/evaluations | jq '.detail | length') -ge 4 ]"
check "a dry run checks and stores nothing" bash -c "curl -sf --json '$(similar dry qa)' '$url/v1/evaluations?dry_run=true' | jq -e '.status == \"created\" and has(\"id\") == false' && [ \$(curl -s -o /dev/null -w '%{http_code}' $url/v1/evaluations/dry) = 404 ]"
check "a dry run names faults" refused "$(similar dry nowhere)" 422 "there is no data set ada/nowhere" "?dry_run=true"
check "a data set that is not there" refused "$(similar none nowhere)" 422 "there is no data set ada/nowhere"
check "a revision that is not there" refused "$(similar none qa@v9)" 422 'revision \"v9\"'
check "rows that are none, with file and line" refused "$(similar none broken)" 422 "broken.jsonl:2"
check "all of them" grep -qF "broken.jsonl:3" "$scratch/answer"
check "the mask is no key" refused "$(similar none qa ',"api_key":"******"')" 422 "write the key itself"

check "hard answers are taken" is_created "$(similar hard hard)"
check "and cost a sample each, not the run" within 20 is_in hard completed
check "those without scores are counted" bash -c "curl -s $url/v1/evaluations/hard/status | jq -e '.samples.failed == 3 and .samples.done == 5'"
check "its message says so" bash -c "curl -s $url/v1/evaluations/hard | jq -e '.status_details.message | contains(\"3 of 5\")'"
check "an event says why" bash -c "curl -s $url/v1/evaluations/hard/logs | grep -q 'sample 1: .*400'"
check "the mean is of the others" same 0.5 "$(score hard similarity-metrics em em)"

control '{"models":["main-model","tuned"],"adapters":[{"id":"a1","name":"tuned","version":"3","base_model":"llama","status":"ready","created_at":"2026-01-01T00:00:00Z"}]}'
check "a model that is an adapter of the entitystore" is_created "$(similar tuned qa ',"model":"tuned"')"
check "is named with its version" bash -c "curl -s $url/v1/evaluations/tuned | jq -e '.adapter.version == \"3\" and .adapter.base_model == \"llama\" and .warnings == []'"
check "in the results, too" within 20 bash -c "curl -s $url/v1/evaluations/tuned/results | jq -e '.complete and .custom_fields.adapter.id == \"a1\"'"
control '{"adapters":[{"id":"a2","name":"tuned","version":"4","status":"pending","created_at":"2026-02-01T00:00:00Z"}]}'
check "one that is not ready is taken" is_created "$(similar untuned qa ',"model":"tuned"')"
check "with a warning" bash -c "curl -s $url/v1/evaluations/untuned | jq -e '.warnings[0].loc == [\"body\",\"model\"] and (.warnings[0].msg | contains(\"pending\"))'"
check "and runs" within 20 is_in untuned completed
control '{"models":["main-model"],"adapters":[]}'

control '{"status":503}'
check "an endpoint that is away is no reason to refuse" is_created "$(similar waits qa)"
waits() { curl -s "$url/v1/evaluations/waits" | jq -e '.status == "running" and (.status_details.message | startswith("waits for the model: "))'; }
check "it is waited for, and its message says so" within 15 waits
control '{"status":0}'
check "and asked when it is there" within 20 is_in waits completed
check "with no trace of waiting" bash -c "curl -s $url/v1/evaluations/waits | jq -e '.status_details.message == \"\"'"

check "a model that the endpoint does not serve is waited for" is_created "$(similar unserved qa ',"model":"main-modle"')"
meant() { curl -s "$url/v1/evaluations/unserved" | jq -r .status_details.message | grep -q 'did you mean "main-model"'; }
check "and its name is guessed" within 10 meant
check "one that waits is cancelled" bash -c "curl -sf -X POST $url/v1/evaluations/unserved/cancel >/dev/null"
check "at once" within 10 is_in unserved cancelled

check "a slow one" is_created "$(similar slow slow)"
part() { results slow | jq -e '.complete == false and .tasks["similarity-metrics"].samples.total > 0 and .tasks["similarity-metrics"].samples.total < 60'; }
check "has results of a part" within 10 part
check "is not deleted while it runs" bash -c "[ \$(curl -s -o /dev/null -w '%{http_code}' -X DELETE $url/v1/evaluations/slow) = 409 ]"
timeout 20 curl -sN -H 'Accept: text/event-stream' "$url/v1/evaluations/slow/events" >"$scratch/events" &
follower=$!
check "is cancelled" bash -c "curl -sf -X POST $url/v1/evaluations/slow/cancel | jq -e '.status == \"cancelling\" or .status == \"cancelled\"'"
check "soon" within 10 is_in slow cancelled
check "who follows its events sees the end, and the stream ends" bash -c "
  for _ in \$(seq 100); do kill -0 $follower 2>/dev/null || break; sleep 0.1; done; ! kill -0 $follower 2>/dev/null && grep -q '\"cancelled\"' $scratch/events && grep -q '^id: ' $scratch/events"
check "what it had is kept" bash -c "[ \$(curl -s $url/v1/evaluations/slow/samples | jq '.data | length') -gt 0 ]"
check "is deleted then" bash -c "[ \$(curl -s -o /dev/null -w '%{http_code}' -X DELETE $url/v1/evaluations/slow) = 204 ]"
check "and its name is free" is_created "$(similar slow qa)"
check "a cancelled one cannot be cancelled again" bash -c "[ \$(curl -s -o /dev/null -w '%{http_code}' -X POST $url/v1/evaluations/unserved/cancel) = 409 ]"

judge() {
  printf '{"name":"%s","model_endpoint":"http://%s/v1","framework":"llm-as-judge","dataset":"ada/hard","judge":{"model_endpoint":"http://%s/v1","model":"main-model"},"params":{%s}}' \
    "$1" "$endpoint" "$2" '"response":"{{ item.answer }}","judge_prompt":"say [[7]] {{ sample.output_text }}","scores":{"rating":{"pattern":"\\[\\[(\\d+)\\]\\]"}},"max_retries":0'
}
check "a judge rates" is_created "$(judge judged "$endpoint")"
check "each of them" within 20 is_in judged completed
check "as it says" same 7 "$(score judged llm-as-judge llm-judge rating)"

compare() {
  local got
  got=$(status --json "$1" "$url/v1/comparisons")
  if [ "$got" != "$2" ] || ! grep -q -- "$3" "$scratch/answer"; then echo "$got" && cat "$scratch/answer" && return 1; fi
}
check "evaluations are compared" compare '{"evaluations":["first","waits"]}' 200 '"overall"'
check "one that nobody has" compare '{"evaluations":["first","nobody"]}' 422 'there is no evaluation'
check "one that was cancelled" compare '{"evaluations":["first","unserved"]}' 409 'is cancelled'
check "one alone" compare '{"evaluations":["first"]}' 422 'evaluations'
check "others' data unless it is forced" compare '{"evaluations":["first","hard"]}' 422 'force'
check "forced" compare '{"evaluations":["first","hard"],"force":true}' 200 '"forced":true'
check "pages for browsers" bash -c "curl -sf $url/ | grep -q first && curl -sf $url/evaluations/first | grep -qi '<table'"

kept=$url
printf '#!/bin/sh\nexec env PATH=/nowhere "%s" "$@"\n' "$bin/stackgate-evaluator" >"$scratch/without-python"
chmod +x "$scratch/without-python"
evaluator_binary=$scratch/without-python start_evaluator plain || exit 1
programs=$(printf '{"name":"programs","model_endpoint":"http://%s/v1","framework":"bigcode-eval-harness","dataset":"ada/qa","tasks":["qa"]}' "$endpoint")
check "where programs cannot be run none is asked for" refused "$programs" 422 "programs cannot be run: "
check "in the form of a finding" bash -c "jq -e '.detail[0].type == \"evaluation-sandbox\" and .detail[0].loc == [\"body\", \"framework\"] and (.detail[0].msg | contains(\"engine\"))' '$scratch/answer'"
kill "$evaluator_pid"
url=$kept
kill "$datastore_pid"
wait "$datastore_pid" 2>/dev/null || true
check "without the datastore an evaluation is not taken, and may be tried again" refused "$(similar later qa)" 503 "the data set cannot be looked at"
start_evaluator unchecked --validation off --lease 2s || exit 1
check "without validation it is" is_created "$(similar later qa)"
waits_for_data() { curl -s "$url/v1/evaluations/later" | jq -e '.status_details.message | startswith("waits for the datastore: ")'; }
check "and waits for its data" within 20 waits_for_data
start_datastore_again() { local kept=$url; start_datastore && url=$kept; }
start_datastore_again || exit 1
check "which it reads when they are there" within 30 is_in later completed
check "pinned then" bash -c "curl -s $url/v1/evaluations/later | jq -r .dataset | grep -qE '@[0-9a-f]{40}$'"

# A restart asks nothing twice but what was under way.
forget
check "a slow one again" is_created "$(similar again slow)"
some_done() { [ "$(curl -s "$url/v1/evaluations/again/samples" | jq '.data | length')" -ge 10 ]; }
check "has some samples" within 10 some_done
kill -9 "$evaluator_pid"
wait "$evaluator_pid" 2>/dev/null || true
start_evaluator unchecked --validation off --lease 2s || exit 1
check "killed, it is completed at the next start" within 30 is_in again completed
check "all of it" same 1 "$(score again similarity-metrics em em)"
check "nothing was asked twice but what was under way" bash -c "curl -s http://$endpoint/seen | jq -e '([.questions[] | select(. > 1)] | length) <= 4 and ([.questions[]] | max) <= 2 and (.questions | length) == 60'"
check "metrics count them" bash -c "curl -s $url/metrics | grep -q '^stackgate_evaluator_known_answers_total [1-9]'"
check "no key is left in the database" same 0 "$(python3 -c "import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM evaluation WHERE secrets <> \'\' OR request LIKE \'%sk-secret%\'').fetchone()[0])" \
  "$scratch/server.data/evaluator.db")"
check "nor in its files" bash -c "! grep -rqa sk-secret $scratch/server.data"
exit $failed
