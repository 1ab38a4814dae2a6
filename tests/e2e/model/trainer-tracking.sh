#!/usr/bin/env bash
# stackgate-trainer records its run and the adapter in MLflow, and its spans and gauges at a collector: a run that is stopped and
# goes on has one record; a server that is away, slow, broken, lying or takes no files changes neither the bytes of the adapter nor
# how a run ends.
#   TRAINER_BIN=build/release/bin tests/e2e/model/trainer-tracking.sh
# shellcheck disable=SC2317,SC2016 # functions that check calls; the words in single quotes are jq's
set -euo pipefail
here=$(dirname "$(realpath "$0")")
bin=$(realpath "${TRAINER_BIN:-$here/../../../build/release/bin}")
failed=0
[ -e "$bin/libstackgate-learner.so" ] || { echo "skip tracking: the trainer was built without libtorch" && exit 0; }
scratch=$(mktemp -d)
cd "$scratch"
check() { # NAME CONDITION...
  if "${@:2}"; then echo "ok $1"; else echo "not ok $1" && failed=1; fi
}
status() { local out=0; "$@" >out 2>>log || out=$?; echo "$out"; }

for i in {1..300}; do echo "The colour of thing $((i % 9)) is grey, and of thing $((i % 5)) it is green."; done >text
"$bin/stackgate-trainer" make-tiny --text text --output tiny --steps 40 --hidden 32 --vocabulary 400 --threads 1 >/dev/null 2>log
for i in {1..20}; do echo '{"prompt":"thing '"$i"' is","completion":" blue."}'; done >train.jsonl
echo '{"max_steps": 12, "batch_size": 4, "threads": 1, "seed": 7}' >config.json
data=(--model tiny --train train.jsonl --validation train.jsonl --job-id cust-1)

python3 "$here/mlflow_server.py" >port 2>>log &
server=$!
trap 'kill $server 2>/dev/null || true; rm -rf "$scratch"' EXIT
for _ in {1..50}; do
  if [ -s port ]; then break; fi
  sleep 0.1
done
url=http://127.0.0.1:$(cat port)
export MLFLOW_TRACKING_USERNAME=me MLFLOW_TRACKING_PASSWORD=word MLFLOW_EXPERIMENT_NAME="my tuning"
state() { curl -sS "$url/state"; }
record() { state | jq -e --arg run "$1" ".runs[\$run] | $2" >/dev/null || { state | jq -c --arg run "$1" '.runs[$run]' && return 1; }; }

check "a run without a tracker ends with 0" [ "$(status "$bin/stackgate-trainer" "${data[@]}" --config config.json --output plain)" = 0 ]
check "nobody was asked" [ "$(state | jq -c .calls)" = '[]' ]
export MLFLOW_TRACKING_URI=$url
check "a run with one ends with 0" [ "$(status "$bin/stackgate-trainer" "${data[@]}" --config config.json --output recorded)" = 0 ]
check "its experiment is made" [ "$(state | jq -c .experiments)" = '{"my tuning":"1"}' ]
check "its record is finished" record run1 '.status == ["RUNNING", "FINISHED"]'
check "and has its tags" record run1 '.tags == {job_id: "cust-1", dataset: "train.jsonl", base_model: "tiny"} and .name == "cust-1"'
check "and its parameters" record run1 '.params.seed == "7" and .params.batch_size == "4" and .params.lora_rank == "8"'
same_losses() {
  [ "$(jq -c 'select(.event == "step") | [.step, .loss]' out)" = "$(state | jq -c '.runs.run1.metrics[] | select(.[0] == "train_loss") | .[1:]')" ]
}
check "and the losses that were reported" same_losses
check "and the other metrics" record run1 '[.metrics[][0]] | unique == ["grad_norm", "learning_rate", "tokens_per_second", "train_loss", "val_loss"]'
same_bytes() { cmp "plain/adapter_model.safetensors" "$1/adapter_model.safetensors"; }
check "the adapter has the same bytes" same_bytes recorded
file() { curl -sf -u me:word "$url/api/2.0/mlflow-artifacts/artifacts/1/$1/artifacts/adapter/$2"; }
files_of() { state | jq -r --arg place "1/$1/artifacts/" '[.files | keys[] | select(startswith($place)) | ltrimstr($place)] | join(" ")'; }
check "MLflow has its files" [ "$(files_of run1)" = "adapter/adapter_config.json adapter/adapter_model.safetensors adapter/training.json" ]
same_files() {
  for name in adapter_config.json adapter_model.safetensors training.json; do file run1 "$name" | cmp - "recorded/$name" || return 1; done
}
check "with the same bytes" same_files

validated_thrice() { # FILE: of its events; each time is an epoch of five steps
  for _ in {1..100}; do
    if (($(grep -cs '"event":"validation"' "$1" || :) + 0 >= 3)); then break; fi
    sleep 0.1
  done
}
sed 's/12/100000/' config.json >long.json
"$bin/stackgate-trainer" "${data[@]}" --config long.json --output stopped >stopped.out 2>>log &
validated_thrice stopped.out
kill -TERM $!
wait $! || true
check "a stopped one is killed" record run2 '.status == ["RUNNING", "KILLED"]'
"$bin/stackgate-trainer" "${data[@]}" --config long.json --output stopped --resume >resumed.out 2>>log &
validated_thrice resumed.out
kill -TERM $!
wait $! || true
check "and goes on in the same record" record run2 '.status == ["RUNNING", "KILLED", "RUNNING", "KILLED"]'
one_after_the_other() { record run2 '[.metrics[] | select(.[0] == "train_loss") | .[1]] | . == sort and . == unique and length > 20'; }
check "each step once" one_after_the_other
echo '{"max_steps": 12, "learning_rate": 1, "lora_alpha": 1e30, "threads": 1}' >burst.json
check "a run that fails ends with 1" [ "$(status "$bin/stackgate-trainer" "${data[@]}" --config burst.json --output burst)" = 1 ]
check "its record has failed" record run3 '.status == ["RUNNING", "FAILED"]'

check "runs that were stopped or failed have no files" [ "$(files_of run2)$(files_of run3)" = "" ]

run=3
for mode in no-files files-off s3; do
  curl -sS -d "$mode" "$url/mode"
  run=$((run + 1))
  check "$mode: a run ends with 0" [ "$(status "$bin/stackgate-trainer" "${data[@]}" --config config.json --output "$mode")" = 0 ]
  check "$mode: its record is finished" record run$run '.status == ["RUNNING", "FINISHED"] and ([.metrics[] | select(.[0] == "train_loss")] | length == 12)'
  check "$mode: and has no files" [ "$(files_of run$run)" = "" ]
  check "$mode: the log says why" [ "$(grep -c 'MLflow does not take the files of this run' log)" = 1 ]
  : >log
done

for mode in error slow lies away; do
  curl -sS -d "$mode" "$url/mode"
  if [ $mode = away ]; then kill $server; fi
  began=$SECONDS
  check "$mode: a run ends with 0" [ "$(status "$bin/stackgate-trainer" "${data[@]}" --config config.json --output "$mode")" = 0 ]
  check "$mode: with the same bytes" same_bytes "$mode"
  check "$mode: soon" test $((SECONDS - began)) -le 9
  check "$mode: the loss of metrics is in the log" grep -q 'MLflow did not get all metrics' log
  : >log
done
unset MLFLOW_TRACKING_URI

# Spans, gauges and log lines at a collector.
mkdir sent
python3 "$here/../storage/otlp/collector.py" collector.port sent 2>>log &
server=$!
for _ in {1..50}; do
  if [ -s collector.port ]; then break; fi
  sleep 0.1
done
OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:$(cat collector.port)
export OTEL_EXPORTER_OTLP_ENDPOINT OTEL_EXPORTER_OTLP_PROTOCOL=http/json OTEL_EXPORTER_OTLP_COMPRESSION=none
export TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
check "a traced run ends with 0" [ "$(status "$bin/stackgate-trainer" "${data[@]}" --config config.json --output traced)" = 0 ]
check "with the same bytes" same_bytes traced
spans() { cat sent/traces-*.json | jq -s '[.[].resourceSpans[].scopeSpans[].spans[]]'; }
of_spans() { spans | jq -e "$1" >/dev/null || { spans | jq -c '.[] | [.name, .spanId, .parentSpanId]' && return 1; }; }
check "its span is a part of the caller's trace" of_spans 'map(select(.name == "train")) | length == 1 and (.[0] | .traceId == "4bf92f3577b34da6a3ce929d0e0e4736" and .parentSpanId == "00f067aa0ba902b7")'
check "with its steps" of_spans '.[] | select(.name == "train") | any(.attributes[]; .key == "steps" and .value.intValue == "12")'
check "it loads, learns epochs and writes" of_spans '(.[] | select(.name == "train") | .spanId) as $run | [.[] | select(.parentSpanId == $run) | .name] == ["load", "epoch", "epoch", "epoch", "write"]'
check "validations are parts of epochs" of_spans '([.[] | select(.name == "epoch") | .spanId]) as $epochs | [.[] | select(.name == "validation") | .parentSpanId] == $epochs'
gauge() { cat sent/metrics-*.json | jq -es --arg name "$1" 'any(.[].resourceMetrics[].scopeMetrics[].metrics[]; .name == $name and .gauge.dataPoints[0].asDouble > 0)' >/dev/null; }
check "the loss is a gauge" gauge stackgate_trainer_loss
check "and the speed" gauge stackgate_trainer_tokens_per_second
touch sent/refuse
for mode in refusing away; do
  if [ $mode = away ]; then kill $server; fi
  began=$SECONDS
  check "a collector that is $mode: a run ends with 0" [ "$(status "$bin/stackgate-trainer" "${data[@]}" --config config.json --output "collector-$mode")" = 0 ]
  check "with the same bytes" same_bytes "collector-$mode"
  check "soon" test $((SECONDS - began)) -le 9
done
[ "$failed" = 0 ] || tail -n 20 log
exit "$failed"
