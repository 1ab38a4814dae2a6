#!/usr/bin/env bash
# stackgate-evaluator with a collector: one trace from the POST to the results, over a restart, to the models that are asked, and of a
# workflow; figures of stages, questions and tokens.
#   STACKGATE_BIN=build/release/bin tests/e2e/evaluator/traces.sh
# shellcheck disable=SC2016,SC2317 # jq's variables; functions are called through check
set -euo pipefail
# shellcheck source=tests/e2e/evaluator/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
start_endpoint
start_datastore || exit 1
mkdir "$scratch/rows" "$scratch/collected" "$scratch/bin"
for i in $(seq 8); do printf '{"question":"slow 300 say answer %d","answer":"answer %d"}\n' "$i" "$i"; done >"$scratch/rows/qa.jsonl"
dataset qa "$scratch/rows/qa.jsonl"
python3 "$here/../storage/otlp/collector.py" "$scratch/collector.port" "$scratch/collected" &
pids+=($!)
within 10 test -s "$scratch/collector.port"
OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:$(cat "$scratch/collector.port")
export OTEL_EXPORTER_OTLP_ENDPOINT OTEL_EXPORTER_OTLP_PROTOCOL=http/json OTEL_EXPORTER_OTLP_COMPRESSION=none OTEL_BSP_SCHEDULE_DELAY=200
cat >"$scratch/bin/lm_eval" <<'LM_EVAL'
#!/bin/sh
mkdir -p "$STACKGATE_OUTPUT/llama"
echo '{"results":{"gsm8k":{"exact_match,none":0.5}}}' >"$STACKGATE_OUTPUT/llama/results_2026-01-01T00-00-00.json"
LM_EVAL
chmod +x "$scratch/bin/lm_eval"
PATH=$scratch/bin:$PATH
start_evaluator traced --lease 2s || exit 1

trace=0af7651916cd43dd8448eb211c80319c
# create BODY: within that trace
create() { curl -s -H "traceparent: 00-$trace-b7ad6b7169203331-01" --json "$1" "$url/v1/evaluations" | jq -e .id >/dev/null; }
similar() {
  printf '{"name":"%s","model_endpoint":"http://%s/v1","framework":"similarity-metrics","dataset":"ada/qa","params":{"prompt":"{{ item.question }}","reference":"{{ item.answer }}","parallelism":2}}' "$1" "$endpoint"
}
# spans FILTER: of all spans, as a list with their attributes as an object
spans() {
  cat "$scratch"/collected/traces-*.json 2>/dev/null | jq -s "[.[].resourceSpans[].scopeSpans[].spans[] |
    . + {attributes: ([(.attributes // [])[] | {(.key): (.value | to_entries[0].value)}] | add // {})}] | $1"
}
holds() { [ "$(spans "$1")" = true ] || { spans 'map([.name, .traceId, .spanId, .parentSpanId, .attributes])' | jq -c '.[]' && return 1; }; }
check "an evaluation is created within a trace" create "$(similar first)"
check "and ends" within 20 is_in first completed
of_first='map(select(.name == "evaluation" and .attributes["evaluation.name"] == "first"))[0] as $run'
check "its run is a span below the request that created it" within 5 holds "$of_first | . as \$all |
  \$run.traceId == \"$trace\" and (\$all | any(.spanId == \$run.parentSpanId and .parentSpanId == \"b7ad6b7169203331\" and (.name | startswith(\"POST\"))))"
check "it says what was run, and how it ended" holds "$of_first | \$run.attributes | .[\"evaluation.framework\"] == \"similarity-metrics\" and .[\"evaluation.state\"] == \"completed\""
check "its stages follow each other below it" holds "$of_first | [map(select(.parentSpanId == \$run.spanId and .kind == 1)) | sort_by(.startTimeUnixNano)[].name] == [\"data\", \"endpoints\", \"task\"]"
check "the task counts its samples" holds "$of_first | map(select(.name == \"task\" and .parentSpanId == \$run.spanId))[0].attributes | .[\"evaluation.samples\"] == \"8\" and .[\"evaluation.samples_without_scores\"] == \"0\""
check "each call to the model is a span of the task" holds "$of_first | map(select(.name == \"task\" and .parentSpanId == \$run.spanId))[0] as \$task | map(select(.parentSpanId == \$task.spanId and .kind == 3)) | length == 8"
check "and the model gets the trace" bash -c "curl -s http://$endpoint/seen | jq -e '[.bodies[].traceparent] | length == 8 and all(startswith(\"00-$trace-\"))'"
check "the datastore's calls are below the data" holds "$of_first | map(select(.name == \"data\" and .parentSpanId == \$run.spanId))[0] as \$data | map(select(.parentSpanId == \$data.spanId and .kind == 3)) | length >= 1"

check "another one" create "$(similar again)"
some_done() { [ "$(curl -s "$url/v1/evaluations/again/samples" | jq '.data | length')" -ge 2 ]; }
check "has begun" within 10 some_done
kill -9 "$evaluator_pid"
wait "$evaluator_pid" 2>/dev/null || true
start_evaluator traced --lease 2s || exit 1
check "ends after a restart" within 30 is_in again completed
check "within the same trace" within 5 holds "map(select(.name == \"evaluation\" and .attributes[\"evaluation.name\"] == \"again\")) | length == 1 and .[0].traceId == \"$trace\" and .[0].attributes[\"evaluation.again\"] == true"

check "one whose framework is a program" create '{"name":"program","framework":"lm-eval-harness","model_endpoint":"http://127.0.0.1:9/v1","model":"llama","tasks":["gsm8k"]}'
check "ends" within 20 is_in program completed
check "it is a stage, too" within 5 holds 'map(select(.name == "evaluation" and .attributes["evaluation.name"] == "program"))[0] as $run | any(.name == "workflow" and .parentSpanId == $run.spanId)'

run_lines() {
  cat "$scratch"/collected/logs-*.json | jq -s "[.[].resourceLogs[].scopeLogs[].logRecords[] | select(.traceId == \"$trace\" and .body.stringValue == \"evaluation\")] | length >= 4" | grep -qx true
}
check "log lines of a run carry its trace" within 5 run_lines
# figure PATTERN: a line of /metrics
figure() { curl -s "$url/metrics" >"$scratch/metrics" && { grep -q "$1" "$scratch/metrics" || { grep -v _bucket "$scratch/metrics" && return 1; }; }; }
check "figures of stages" figure '^stackgate_evaluator_stage_seconds_count{stage="task"} [1-9]'
check "of tokens" figure '^stackgate_evaluator_tokens_total{whom="model",kind="completion"} [1-9]'
check "of questions" figure '^stackgate_evaluator_questions_total{whom="model",outcome="answered"} [1-9]'
check "of evaluations" figure '^stackgate_evaluator_evaluations_total{state="completed",framework="similarity-metrics"} [1-9]'
exit "$failed"
