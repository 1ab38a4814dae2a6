#!/usr/bin/env bash
# stackgate-evaluator with stackgate-inference as its endpoint: a small model that has learned three sentences is asked to choose
# and to complete; its choices are held against what is worked out here from /v1/completions.
#   STACKGATE_BIN=build/release/bin tests/e2e/evaluator/inference.sh
# shellcheck disable=SC2317,SC2154 # functions are called through check; lib.sh sets variables
set -euo pipefail
# shellcheck source=tests/e2e/evaluator/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
[ -e "$bin/libstackgate-engine.so" ] || { echo "skip the evaluator before the inference server: it was built without libtorch" && exit 0; }
for _ in {1..120}; do
  echo "There is a stone grey as they say."
  echo "There is a leaf green as they say."
  echo "This is a nice safe wish."
done >"$scratch/text"
"$bin/stackgate-trainer" make-tiny --text "$scratch/text" --output "$scratch/model" --steps 60 --hidden 64 --vocabulary 400 --threads 1 >"$scratch/trained" 2>&1 ||
  { echo "not ok make-tiny makes a model" && tail -5 "$scratch/trained" && exit 1; }
: >"$scratch/tiny.log"
"$bin/stackgate-inference" --model "$scratch/model" --served-model-name tiny --threads 1 --listen 127.0.0.1:0 --data-dir "$scratch/tiny.data" \
  --log-format json --drain-wait 0s >"$scratch/tiny.log" 2>&1 &
pids+=($!)
await tiny $! || exit 1
within 30 curl -sf "$url/v1/health/ready" >/dev/null || exit 1
model=$url
start_datastore || exit 1

mkdir "$scratch/rows"
cat >"$scratch/rows/test.jsonl" <<'ROWS'
{"start": "There is a stone", "ends": ["grey as they say.", "green as they say.", "safe wish."], "right": 0}
{"start": "There is a leaf", "ends": ["grey as they say.", "green as they say.", "safe wish."], "right": 1}
{"start": "This is a nice", "ends": ["grey as they say.", "safe wish.", "leaf"], "right": 1}
{"start": "This is a nice", "ends": ["stone grey as they say.", "leaf", "safe wish."], "right": 0}
ROWS
cat >"$scratch/rows/ends.yaml" <<'YAML'
task: ends
output_type: multiple_choice
test_split: test
doc_to_text: "{{ start }}"
doc_to_choice: ends
doc_to_target: right
metric_list:
  - metric: acc
  - metric: acc_norm
metadata: {version: 1.0}
YAML
cat >"$scratch/rows/completed.yaml" <<'YAML'
task: completed
output_type: generate_until
test_split: test
doc_to_text: "{{ start }}"
doc_to_target: "{{ ends[right] }}"
generation_kwargs: {until: ["\n"], max_gen_toks: 12, do_sample: false, temperature: 0.0}
filter_list:
  - name: stripped
    filter:
      - function: remove_whitespace
      - function: take_first
metric_list:
  - metric: exact_match
metadata: {version: 1.0}
YAML
dataset ends "$scratch/rows/test.jsonl" "$scratch/rows/ends.yaml" "$scratch/rows/completed.yaml"
start_evaluator server || exit 1

post "$(printf '{"name":"tiny","model_endpoint":"%s/v1","framework":"custom","dataset":"ada/ends","tasks":["ends","completed"]}' "$model")" >"$scratch/created"
check "it is created" jq -e '.status != null and .id != null' "$scratch/created"
check "and ends" within 60 has_ended tiny
check "completed" bash -c "curl -s $url/v1/evaluations/tiny | jq -e '.status == \"completed\"'"

# By hand: each choice's log-probabilities behind the start, from the endpoint itself.
cat >"$scratch/by_hand.py" <<'PYTHON'
import json, sys, urllib.request
model, rows = sys.argv[1], [json.loads(line) for line in open(sys.argv[2])]
def ask(prompt):
    body = {"model": "tiny", "prompt": prompt, "max_tokens": 1, "temperature": 0, "echo": True, "logprobs": 1}
    request = urllib.request.Request(model + "/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))["choices"][0]["logprobs"]
acc = norm = 0
for row in rows:
    sums = []
    for end in row["ends"]:
        prompt = row["start"] + " " + end
        got = ask(prompt)
        where = zip(got["text_offset"], got["tokens"], got["token_logprobs"])
        # A token over the boundary belongs to what follows it.
        sums.append(sum(value for at, token, value in where if at + len(token) > len(row["start"]) and at < len(prompt)))
    best = max(range(len(sums)), key=lambda i: sums[i])
    best_norm = max(range(len(sums)), key=lambda i: sums[i] / len(row["ends"][i]))
    acc += best == row["right"]
    norm += best_norm == row["right"]
print(acc / len(rows), norm / len(rows))
PYTHON
read -r acc norm <<<"$(python3 "$scratch/by_hand.py" "$model" "$scratch/rows/test.jsonl")"
number() { jq -n "$1 == $2"; }
# found METRIC: the first score of that metric, whatever filter it is of
found() { results tiny | jq -r --arg t "$1" --arg m "$2" '.tasks[$t].metrics | to_entries | map(select(.key == $m)) | .[0].value.scores | to_entries | map(select(.key | startswith($m))) | .[0].value.value'; }
check "its choices are those of the log-probabilities: $acc" same true "$(number "$(found ends acc)" "$acc")"
check "by characters, too: $norm" same true "$(number "$(found ends acc_norm)" "$norm")"
check "what it has learned it knows" bash -c "[ '$(number "$(found ends acc)" 0.75)' = true ]"
check "it completes what it has learned" bash -c "v='$(found completed exact_match)'; [ \"\$v\" = 0.75 ] || { echo \"\$v\"; curl -s '$url/v1/evaluations/tiny/samples?task=completed'; exit 1; }"

# The same on a server that is not there yet: it may come later than the evaluation.
post "$(printf '{"name":"later","model_endpoint":"%s/v1","model":"tinny","framework":"custom","dataset":"ada/ends","tasks":["ends"]}' "$model")" >/dev/null
waits() { curl -s "$url/v1/evaluations/later" | jq -r .status_details.message | grep -q 'did you mean "tiny"'; }
check "a model that it does not serve is waited for" within 15 waits
exit $failed
