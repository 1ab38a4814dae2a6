#!/usr/bin/env bash
# OpenAI's client from npm as a second opinion on what stackgate-evaluator asks: made of the same rows, its requests must be the
# same; and what stackgate-inference answers it must be what the evaluator has scored.
#   STACKGATE_BIN=build/release/bin tests/e2e/evaluator/openai.sh
# shellcheck disable=SC2317,SC2154 # functions are called through check; lib.sh sets variables
set -euo pipefail
# shellcheck source=tests/e2e/evaluator/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
build=$here/../../../build
# shellcheck source=tests/e2e/inference/client-dir.sh
source "$here/../inference/client-dir.sh"
client_dir "$here/../inference" "$build"
mkdir -p "$scratch/npm" "$scratch/rows" "$scratch/asked"
ln -s "$(realpath "$client/node_modules")" "$scratch/npm/node_modules"
cp "$here"/openai.mjs "$here/../inference/client/check.mjs" "$scratch/npm"

# --- Choices, completions and chats over the same rows; calls of tools; documents to search.
cat >"$scratch/rows/test.jsonl" <<'ROWS'
{"start": "There is a stone", "ends": ["grey as they say.", "green as they say.", "safe wish."], "right": 0}
{"start": "There is a leaf", "ends": ["grey as they say.", "green as they say.", "safe wish."], "right": 1}
{"start": "This is a nice", "ends": ["grey as they say.", "safe wish.", "leaf"], "right": 1}
{"start": "Ünïcode \"quoted\"\tand a tab", "ends": ["é", "\\"], "right": 0}
ROWS
cat >"$scratch/rows/ends.yaml" <<'YAML'
task: ends
output_type: multiple_choice
test_split: test
doc_to_text: "{{ start }}"
doc_to_choice: ends
doc_to_target: right
metric_list: [{metric: acc}]
metadata: {version: 1.0}
YAML
cat >"$scratch/rows/completed.yaml" <<'YAML'
task: completed
output_type: generate_until
test_split: test
doc_to_text: "{{ start }}"
doc_to_target: "{{ ends[right] }}"
generation_kwargs: {until: ["\n", "wish"], max_gen_toks: 12, do_sample: false, temperature: 0.0}
metric_list: [{metric: exact_match}]
metadata: {version: 1.0}
YAML
tool='{"type":"function","function":{"name":"add","description":"adds","parameters":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}}}'
call='{"id":"c1","type":"function","function":{"name":"add","arguments":"{\"a\":1}"}}'
printf '%s\n' "{\"messages\":[{\"role\":\"user\",\"content\":\"sum?\"}],\"tools\":[$tool],\"tool_calls\":[]}" \
  "{\"messages\":[{\"role\":\"system\",\"content\":\"be brief\"},{\"role\":\"user\",\"content\":\"sum?\"},{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[$call]},{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"1\"}],\"tools\":[$tool],\"tool_calls\":[]}" \
  >"$scratch/rows/calls.jsonl"
for word in stone leaf wish say nice; do printf '{"_id":"%s","title":"","text":"There is a %s here."}\n' "$word" "$word"; done >"$scratch/rows/corpus.jsonl"
printf '%s\n' '{"_id":"q1","text":"a stone"}' '{"_id":"q2","text":"the leaf, the leaf"}' >"$scratch/rows/queries.jsonl"
printf 'query-id\tcorpus-id\tscore\nq1\tstone\t1\nq2\tleaf\t1\n' >"$scratch/rows/qrels.tsv"

start_endpoint
start_datastore || exit 1
dataset ends "$scratch"/rows/{test.jsonl,ends.yaml,completed.yaml}
dataset calls "$scratch/rows/calls.jsonl"
dataset searched "$scratch"/rows/{corpus.jsonl,queries.jsonl,qrels.tsv}
start_evaluator server || exit 1
# evaluate NAME URL FRAMEWORK DATASET MEMBERS PARAMS: to its end; what was asked goes to asked/NAME.json
evaluate() {
  forget
  post "$(printf '{"name":"%s","model_endpoint":"%s/v1","api_key":"sk-second","framework":"%s","dataset":"ada/%s"%s,"params":{"parallelism":1,"max_retries":0%s}}' \
    "$1" "$2" "$3" "$4" "$5" "$6")" >"$scratch/created"
  check "the evaluation $1 ends" within 30 has_ended "$1"
  check "completed" bash -c "[ '$(state "$1")' = completed ] || { cat '$scratch/created'; curl -s '$url/v1/evaluations/$1'; exit 1; }"
  seen >"$scratch/asked/$1.json"
}
# evaluate_all PREFIX URL
evaluate_all() {
  evaluate "$1ends" "$2" custom ends ',"tasks":["ends"]' ''
  evaluate "$1completed" "$2" custom ends ',"tasks":["completed"]' ''
  evaluate "$1chat" "$2" custom ends ',"tasks":["completed"]' ',"format":"chat","top_p":0.5,"temperature":0.25'
  evaluate "$1searched" "$2" retriever searched ",\"embeddings\":{\"model_endpoint\":\"$2/v1\",\"api_key\":\"sk-second\"}" ',"cutoffs":[1]'
}
evaluate_all '' "http://$endpoint"
evaluate calls "http://$endpoint" bfcl calls '' ''
node "$scratch/npm/openai.mjs" requests "http://$endpoint" "$scratch" || failed=1

if [ ! -e "$bin/libstackgate-engine.so" ]; then
  echo "skip the evaluator and OpenAI's client before the inference server: it was built without libtorch"
  exit "$failed"
fi
for _ in {1..120}; do printf '%s\n' "There is a stone grey as they say." "There is a leaf green as they say." "This is a nice safe wish."; done >"$scratch/text"
"$bin/stackgate-trainer" make-tiny --text "$scratch/text" --output "$scratch/model" --steps 60 --hidden 64 --vocabulary 400 --threads 1 >"$scratch/trained" 2>&1 ||
  { echo "not ok make-tiny makes a model" && tail -5 "$scratch/trained" && exit 1; }
evaluator=$url
: >"$scratch/tiny.log"
"$bin/stackgate-inference" --model "$scratch/model" --served-model-name tiny --threads 1 --listen 127.0.0.1:0 --data-dir "$scratch/tiny.data" \
  --log-format json --drain-wait 0s >"$scratch/tiny.log" 2>&1 &
pids+=($!)
await tiny $! || exit 1
within 30 curl -sf "$url/v1/health/ready" >/dev/null || exit 1
model=$url url=$evaluator
evaluate_all tiny- "$model"
mkdir "$scratch/records"
for name in ends completed chat searched; do curl -s "$url/v1/evaluations/tiny-$name/samples?limit=100" >"$scratch/records/$name.json"; done
node "$scratch/npm/openai.mjs" answers "$model" "$scratch" || failed=1
exit "$failed"
