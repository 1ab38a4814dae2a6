#!/usr/bin/env bash
# stackgate-customizer with processes of this machine: datastore, entitystore and a tiny model; an adapter made from a POST, seen on its
# way; cancelled, killed, tried again.
#   STACKGATE_BIN=build/release/bin tests/e2e/customizer/local.sh
# shellcheck disable=SC2154,SC2317 # what the library sets; functions that check calls
set -euo pipefail
# shellcheck source=tests/e2e/customizer/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
[ -e "$bin/libstackgate-learner.so" ] || { echo "skip the local customizer: libstackgate-learner.so is built where libtorch is" && exit 0; }
start_datastore || exit 1
start_entitystore || exit 1
make_model || exit 1
mkdir -p "$scratch/rows/training" "$scratch/rows/validation"
for i in {1..24}; do echo '{"prompt":"The colour of thing '$((i % 9))' is","completion":" green and gold."}'; done >"$scratch/rows/training/a.jsonl"
head -4 "$scratch/rows/training/a.jsonl" >"$scratch/rows/validation/a.jsonl"
printf '{"prompt":"a","completion":"b"}\n{"prompt":"a"}\n' >"$scratch/rows/broken.jsonl"
(cd "$scratch/rows" && dataset colours training/a.jsonl validation/a.jsonl && dataset broken broken.jsonl)
start_customizer || exit 1

check "its model is known" bash -c "curl -sf $url/v1/customization/targets | jq -e '.data[0].name == \"acme/tiny@1.0\" and .pagination.total_results == 1'"
check "every fault at once" bash -c "[ \$(curl -s --json '{\"name\":\"A\",\"model\":\"acme/tyni\",\"dataset\":\"ada/colours\",\"hyperparameters\":{\"lora_rnk\":1,\"learning_rate\":-1}}' $url/v1/customizations | jq '.detail | length') = 4 ]"
check "the nearest model is named" grep -q "acme/tiny" <(curl -s --json "$(body a ',"description":"x"' | sed s/tiny/tyni/)" "$url/v1/customizations")
check "a dataset that is not there" refused "$(body a | sed s,ada/colours,ada/none,)" 422 "there is no dataset ada/none"
check "a line that is none, with file and line" refused "$(body a | sed s,ada/colours,ada/broken,)" 422 'broken.jsonl:2: lacks \"completion\"'
check "a dry run checks and stores nothing" bash -c "curl -sf --json '$(body dry)' '$url/v1/customizations?dry_run=true' | jq -e '.status == \"created\" and has(\"id\") == false and (.dataset | test(\"@[0-9a-f]{40}\$\"))' && [ \$(curl -s -o /dev/null -w '%{http_code}' $url/v1/customizations/dry) = 404 ]"

check "one is created" is_created "$(body first ',"output_model":"ada/green@1.0.0","tags":["t"]')"
curl -sN --max-time 60 -H 'Accept: text/event-stream' "$url/v1/customizations/first/events" >"$scratch/events" &
events=$!
check "its name is taken" refused "$(body first)" 409 "DELETE /v1/customizations/first"
check "it is completed" becomes first completed
wait "$events" || true
check "events came, and their stream ended with it" grep -q 'TrainingJobCompleted' "$scratch/events"
check "each stage once" same "completed 1 completed 1 completed 1" "$(record first | jq -r '[.status_details.stages[] | "\(.status) \(.attempts)"] | join(" ")')"
check "all of it is done" bash -c "curl -s $url/v1/customizations/first | jq -e '.status_details | .percentage_done == 100 and .steps_completed == 20 and .val_loss != null and (.metrics.metrics.train_loss | length) >= 10'"
check "the loss has fallen" bash -c "curl -s $url/v1/customizations/first/metrics | jq -e '.metrics.train_loss | first.value > last.value'"
check "the adapter is ready" bash -c "curl -s '$entitystore/v1/adapters?namespace=ada&name=green' | jq -e '.adapters | length == 1 and .[0].status == \"ready\" and .[0].version == \"1.0.0\"'"
id=$(record first | jq -r .id)
adapter=$(curl -s "$entitystore/v1/adapters?namespace=ada&name=green" | jq -r '.adapters[0].id')
check "with its job and the dataset's commit" bash -c "curl -s $entitystore/v1/adapters/$adapter/provenance | jq -e --arg id $id '.. | strings | select(. == \$id)' && curl -s $entitystore/v1/adapters/$adapter/provenance | grep -qE 'ada/colours@[0-9a-f]{40}'"
check "what its stages wrote" bash -c "curl -s $url/v1/customizations/first/logs | grep -q '\[upload-1\] .*adapter'"
check "the same as NeMo's job, by its id" bash -c "curl -sf $url/v1/customization/jobs/$id | jq -e '.name == \"first\" and .hyperparameters.lora.adapter_dim == 4'"
check "lists by state" bash -c "curl -sg '$url/v1/customizations?filter[state]=completed' | jq -e '.pagination.total_results == 1'"
check "commands that need no addresses want none" env -i "$bin/stackgate-customizer" check --models-dir "$models"
check "NeMo's body" bash -c "curl -s --json '{\"name\":\"job\",\"config\":\"acme/tiny\",\"dataset\":{\"namespace\":\"ada\",\"name\":\"colours\"},\"hyperparameters\":{\"epochs\":1}}' $url/v1/customization/jobs | grep -q 'is no configuration of the catalogue'"
check "no token is in records, logs and events" bash -c "! grep -rqE 'progress_token|Bearer [0-9a-f]{64}' $scratch/customizer.log"
check "a report with another token is refused" same 401 "$(status -H 'Authorization: Bearer x' --json '{"event":"step","step":1}' "http://127.0.0.1:$callback_port/v1/customizations/$id/progress")"
check "openapi has each route" bash -c "curl -sf $url/openapi.json | jq -e '.openapi == \"3.1.0\" and .paths[\"/v1/customizations/{name}/retry\"].post and .components.schemas.Customization.properties.hyperparameters.properties.lora_rank.maximum'"
check "metrics" bash -c "curl -s $url/metrics | grep -q '^stackgate_customizer_customizations_total{state=\"completed\"} 1'"
key() { curl -s -H 'Idempotency-Key: k' --json "$1" "$url/v1/customizations"; }
keyed=$(key "$(body keyed)" | jq -r .id)
check "a key is one customization" same "$keyed" "$(key "$(body keyed)" | jq -r .id)"
check "and no other" grep -q "another body" <(key "$(body other)")
many_keyed() { # six at once: one customization, and 201 for all
  local i
  for i in {1..6}; do curl -s -o /dev/null -w '%{http_code}\n' -H 'Idempotency-Key: many' --json "$(body many)" "$url/v1/customizations" & done | sort | uniq -c | xargs
}
check "of six who bring it at once, too" same "6 201" "$(many_keyed)"
check "a filter that is none is named" bash -c "curl -sg '$url/v1/customizations?filter[stat]=x' | grep -q 'did you mean filter\[state\]'"
check "lists by a model without its version" bash -c "curl -sg '$url/v1/customizations?filter[model]=acme/tiny&page_size=1' | jq -e '.pagination.total_results >= 2'"

long='"max_steps":4000'
check "a long one is created" is_created "$(body long '' "$long")"
steps_of() { record "$1" | jq .status_details.steps_completed; }
has_steps() { [ "$(steps_of "$1")" -ge "$2" ]; }
check "it trains" within 30 has_steps long 5
group=$(stage_group long training-1)
check "its trainer is there" kill -0 -- "-$group"
check "one that runs is not deleted" same 409 "$(status -X DELETE "$url/v1/customizations/long")"
check "another waits for its turn" bash -c "curl -s --json '$(body waits)' $url/v1/customizations >/dev/null"
waits_its_turn() { record waits | jq -e '.message | test("waits for 1 other training")' >/dev/null; }
check "and says why" within 20 waits_its_turn
check "cancel" same 200 "$(status -X POST "$url/v1/customizations/long/cancel")"
check "it is cancelled" becomes long cancelled
has_ended_all() { ! kill -0 -- "-$group" 2>/dev/null; }
check "its trainer has ended" within 5 has_ended_all
check "whose turn it was is completed" becomes waits completed
check "cancelling twice is a conflict" same 409 "$(status -X POST "$url/v1/customizations/long/cancel")"
check "it is deleted" same 204 "$(status -X DELETE "$url/v1/customizations/long")"
check "and gone" same 404 "$(status "$url/v1/customizations/long")"

check "one is created before the service is killed" is_created "$(body killed ',"output_model":"ada/killed@1.0.0"' '"max_steps":300,"checkpoint_interval":50')"
check "it trains" within 30 has_steps killed 20
stop_customizer KILL
start_customizer || exit 1
check "its training goes on as if nothing were" becomes killed completed
check "with one attempt at each stage" same "1 1 1" "$(record killed | jq -r '[.status_details.stages[].attempts] | join(" ")')"
check "and every step once" bash -c "curl -s $url/v1/customizations/killed/metrics | jq -e '[.metrics.train_loss[].step] | length == (unique | length) and last == 300'"

check "one whose trainer is killed" is_created "$(body shot '' '"max_steps":400,"checkpoint_interval":20')"
check "trains" within 30 has_steps shot 60
kill -9 -- "-$(stage_group shot training-1)"
check "is tried again behind its checkpoint" becomes shot completed
check "in a second attempt" same 2 "$(stage shot 1 attempts)"

kill "$entitystore_pid" && { wait "$entitystore_pid" || true; } 2>/dev/null
stop_customizer
start_customizer --upload-limit 1s || exit 1
check "one is created while the entitystore is away" is_created "$(body late ',"output_model":"ada/late@1.0.0"')"
check "its upload fails" becomes late failed
check "its message states that it is trained" bash -c "curl -s $url/v1/customizations/late | jq -e '.message | test(\"the adapter is trained, its upload has failed\")'"
check "it is not done, whatever the training says" bash -c "curl -s $url/v1/customizations/late | jq -e '.status_details.percentage_done < 100'"
start_entitystore || exit 1
stop_customizer
start_customizer || exit 1
check "retry" same 200 "$(status -X POST "$url/v1/customizations/late/retry")"
check "it is completed" becomes late completed
check "without a second training" same 1 "$(stage late 1 attempts)"
check "its adapter is ready" bash -c "curl -s '$entitystore/v1/adapters?namespace=ada&name=late' | jq -e '.adapters[0].status == \"ready\"'"
check "retrying what is completed is a conflict" same 409 "$(status -X POST "$url/v1/customizations/late/retry")"

stop_customizer
printf '# people\nsecret-token-1\n' >"$scratch/tokens"
start_customizer --token-file "$scratch/tokens" || exit 1
check "with a token file it wants a token" same 401 "$(status "$url/v1/customizations")"
check "one of the file" same 200 "$(status -H 'Authorization: Bearer secret-token-1' "$url/v1/customizations")"
exit "$failed"
