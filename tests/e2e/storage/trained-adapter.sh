#!/usr/bin/env bash
# What stackgate-trainer makes is what the entitystore takes and the inference server serves: a base model is made from a text, an
# adapter trained, its tar.gz uploaded, found, and its answers are those that were trained.
#   DATASTORE=… ENTITYSTORE=… tests/e2e/storage/trained-adapter.sh
# shellcheck disable=SC2154,SC2317 # what the libraries set; functions that check calls
set -euo pipefail
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
# shellcheck source=tests/e2e/storage/entitystore-lib.sh
source "$storage_here/entitystore-lib.sh"
for each in libstackgate-learner.so libstackgate-engine.so; do
  [ -e "$programs/$each" ] || { echo "skip trained adapters: $each is built where libtorch is" && exit 0; }
done
storage_begin sqlite
entitystore_begin
run_store "$entitystore"
base_model=acme/tiny

work=$state/work
mkdir "$work"
for i in {1..400}; do echo "The colour of thing $((i % 9)) is grey. The size of thing $((i % 5)) is small. The roof $((i % 7)) is green and gold."; done >"$work/text"
for i in {1..24}; do echo '{"prompt":"The colour of thing '$((i % 9))' is","completion":" green and gold."}'; done >"$work/train.jsonl"
echo '{"max_steps": 60, "batch_size": 8, "learning_rate": 0.01, "lora_rank": 4, "lora_alpha": 16, "threads": 1}' >"$work/config.json"
trainer() { (cd "$work" && "$programs/stackgate-trainer" "$@" >>progress 2>>log) || { tail -3 "$work/log" && return 1; }; }
check "a base model is made" trainer make-tiny --text text --output tiny --steps 150 --hidden 48 --vocabulary 300 --threads 1
check "an adapter is trained" trainer --model tiny --train train.jsonl --config config.json --output green --base-model-name acme/tiny --job-id cust-7
archive=$work/green.tar.gz
metrics=$(jq -sc '[.[] | select(.event == "done")][-1] | {train_loss}' "$work/progress")
provenance=',"training":{"dataset":"colours@abc","job_id":"cust-7","hyperparameters":{"lora_rank":4}},"metrics":'$metrics

check "the entitystore takes it" is "$(upload "$archive" green 1.0.0 "$provenance")" 201
check "as ready" is "$(field .status)" ready
check "and reads what was trained" is "$(field '.lora_config | "\(.rank) \(.alpha) \(.target_modules | sort | join(","))"')" "4 16 down_proj,gate_proj,k_proj,o_proj,q_proj,up_proj,v_proj"
check "it finds no fault" is "$(field '[(.findings // [])[] | select(.severity != "info")] | length')" 0
check "the digest is the one that was reported" is "$(curl -fsSL "$(field .download_url)" | sha256sum | cut -c-64)" "$(jq -sr '[.[] | select(.event == "done")][-1].sha256' "$work/progress")"
check "the same again is said to be the same" is "$(upload "$archive" green 1.0.0 "$provenance") $(grep -c 'same as this one' "$state/body")" "409 1"

serving=$(free_port)
answer() { # MODEL
  curl -sS --max-time 20 "http://127.0.0.1:$serving/v1/completions" -H 'Content-Type: application/json' \
    -d "{\"model\":\"$1\",\"prompt\":\"The colour of thing 4 is\",\"max_tokens\":8,\"temperature\":0}" | jq -r '.choices[0].text // .error.message'
}
export INF_PEFT_SOURCE=http://127.0.0.1:$port INF_PEFT_REFRESH_INTERVAL=1
setsid "$programs/stackgate-inference" --model "$work/tiny" --served-model-name acme/tiny --listen "127.0.0.1:$serving" --data-dir "$state/serving" \
  --drain-wait 0s --threads 1 >>"$state/serving.log" 2>&1 &
started serving
wait_for serving "http://127.0.0.1:$serving/v1/health/ready"
says() { # MODEL PATTERN
  local text
  text=$(answer "$1")
  # shellcheck disable=SC2053 # a pattern
  [[ $text == $2 ]] || { echo "it says: $text" && return 1; }
}
check "the base answers what it read" says acme/tiny ' grey.*'
check "the adapter what it was trained to" soon says green ' green and gold*'
check "the base is as it was" says acme/tiny ' grey.*'
exit "$((failed_checks > 0))"
