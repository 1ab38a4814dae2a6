#!/usr/bin/env bash
# Customizations recorded in MLflow, by its documented REST: parameters, losses, how they ended, files that describe them; while it
# is away, takes no files, and while the service is killed. W&B's keys of requests are nowhere in plain text.
#   STACKGATE_BIN=build/release/bin tests/e2e/customizer/trackers.sh
# shellcheck disable=SC2154,SC2317 # what the library sets; functions that check calls
set -euo pipefail
# shellcheck source=tests/e2e/customizer/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
suite=$(dirname "$(realpath "$0")")
[ -e "$bin/libstackgate-learner.so" ] || { echo "skip the customizer's trackers: libstackgate-learner.so is built where libtorch is" && exit 0; }
start_datastore || exit 1
start_entitystore || exit 1
make_model || exit 1
mkdir -p "$scratch/rows/training" "$scratch/rows/validation"
for i in {1..24}; do echo '{"prompt":"The colour of thing '$((i % 9))' is","completion":" green."}'; done >"$scratch/rows/training/a.jsonl"
head -4 "$scratch/rows/training/a.jsonl" >"$scratch/rows/validation/a.jsonl"
(cd "$scratch/rows" && dataset colours training/a.jsonl validation/a.jsonl)
python3 "$suite/../model/mlflow_server.py" >"$scratch/mlflow.port" 2>>"$scratch/mlflow.log" &
pids+=("$!")
within 5 test -s "$scratch/mlflow.port"
mlflow=http://127.0.0.1:$(cat "$scratch/mlflow.port")
export MLFLOW_TRACKING_USERNAME=me MLFLOW_TRACKING_PASSWORD=word MLFLOW_EXPERIMENT_NAME="my tuning"
start_customizer --tracking-url "$mlflow" || exit 1
# run NAME FILTER: of its record there
run() { curl -s "$mlflow/state" | jq -e --arg name "$1" "[.runs[] | select(.name == \$name)] | length == 1 and (.[0] | $2)" >/dev/null; }
shown() { curl -s "$mlflow/state" | jq -c .; }
recorded() { within 15 run "$1" "$2" || { shown && return 1; }; }
mode() { curl -s -d "$1" "$mlflow/mode"; }
# place NAME: of its files there
place() { curl -s "$mlflow/state" | jq -r --arg name "$1" '.runs[] | select(.name == $name) | .artifact_uri | sub("mlflow-artifacts:/"; "")'; }
# file NAME FILE: its content; files NAME: what there is
file() { curl -sf -u me:word "$mlflow/api/2.0/mlflow-artifacts/artifacts/$(place "$1")/$2"; }
files() { curl -s "$mlflow/state" | jq -r --arg place "$(place "$1")/" '[.files | keys[] | select(startswith($place)) | ltrimstr($place)] | join(" ")'; }
has_files() { same "config.json customization.json customization.log metrics.csv" "$(files "$1")"; }

check "one is created" is_created "$(body first '' '"max_steps":20,"val_check_interval":5')"
check "it is completed" becomes first completed
check "MLflow has it to its end" recorded first '.status[-1] == "FINISHED"'
check "its losses, each step once" run first '[.metrics[] | select(.[0] == "train_loss") | .[1]] | unique | length == 20'
check "of validation, too" run first '[.metrics[] | select(.[0] == "val_loss") | .[1]] | unique | contains([5, 10, 15, 20])'
check "its parameters" run first '.params.lora_rank == "4" and (.params.dataset_commit | test("^[0-9a-f]{40}$")) and .params.max_steps == "20"'
check "its id" run first ".tags.customization == \"$(record first | jq -r .id)\""
check "its adapter" run first ".tags.adapter == \"$(record first | jq -r .output_model)\" and (.tags.adapter_sha256 | test(\"^[0-9a-f]{64}\$\"))"
check "its files" has_files first
check "its record, as GET shows it" same "$(record first | jq -S .)" "$(file first customization.json | jq -S .)"
config() { file first config.json >"$scratch/config.json" && jq -e '.max_steps == 20 and .val_check_interval == 5 and .lora_rank == 4' "$scratch/config.json"; }
check "its configuration" config
by_hand() {
  "$bin/stackgate-trainer" --model "$models/acme/tiny" --train "$scratch/rows/training/a.jsonl" --validation "$scratch/rows/validation/a.jsonl" \
    --config "$scratch/config.json" --output "$scratch/by-hand" >"$scratch/by-hand.out" || return 1
  same "$(jq -r 'select(.event == "step") | "\(.step),\(.loss)"' "$scratch/by-hand.out")" "$(losses)"
}
losses() { curl -s "$url/v1/customizations/first/metrics" | jq -r '.metrics.train_loss[] | "\(.step),\(.value)"'; }
check "with which the trainer learns the same" by_hand
check "its losses as a table" same "$(losses)" "$(file first metrics.csv | tail -n +2 | cut -d, -f1,2)"
check "its log" same "$(curl -s "$url/v1/customizations/first/logs")" "$(file first customization.log)"

mode files-fail
check "one is created while files fail" is_created "$(body failing)"
check "and completed" becomes failing completed
check "its end is recorded" recorded failing '.status[-1] == "FINISHED"'
check "without files" same "" "$(files failing)"
stop_customizer KILL
mode ok
start_customizer --tracking-url "$mlflow" || exit 1
check "they come later, after a kill, too" within 15 has_files failing

for mode in no-files files-off s3; do
  mode $mode
  check "$mode: one is created" is_created "$(body $mode)"
  check "$mode: and completed" becomes $mode completed
  check "$mode: and recorded to its end" recorded $mode '.status[-1] == "FINISHED" and .tags.adapter != null'
  check "$mode: without files" same "" "$(files $mode)"
  check "$mode: it has no warning of that" same '[]' "$(record $mode | jq -c .warnings)"
done
check "the log has a line of each reason" same 3 "$(grep -c 'MLflow does not take the files of customizations' "$scratch/customizer.log")"

mode error
check "one is created while it is away" is_created "$(body away)"
check "and completed" becomes away completed
stop_customizer KILL
mode ok
start_customizer --tracking-url "$mlflow" || exit 1
check "it is recorded later, after a kill, too" recorded away '.status[-1] == "FINISHED" and ([.metrics[] | select(.[0] == "train_loss") | .[1]] | unique | length == 20)'
check "with its files" within 5 has_files away
check "the log has one line of it" same 1 "$(grep -c 'a tracker cannot be reached' "$scratch/customizer.log")"

key=0123456789wandbkey
with_key() { curl -s -o "$scratch/answer" -w '%{http_code}' -H "wandb-api-key: $key" --json "$1" "$url/v1/customizations"; }
check "a key that cannot be kept safe is refused" same 422 "$(with_key "$(body keyed)")"
stop_customizer
STACKGATE_TRACKER_ENCRYPTION_KEY=secret start_customizer --tracking-url "$mlflow" --tracker-url http://127.0.0.1:1 || exit 1
check "with an encryption key it is taken" same 201 "$(with_key "$(body keyed)")"
check "a tracker that is nowhere stops nothing" becomes keyed completed
check "the key is nowhere in plain text" bash -c "! grep -rqaF $key '$scratch/customizer.data' '$scratch/customizer.log' && ! curl -s $url/v1/customizations/keyed | grep -q $key"
exit "$failed"
