#!/usr/bin/env bash
# The whole flow as processes of one machine, twice: undisturbed, and with a kill -9 of each service in between; both end in the same
# state. One trace leads from the POST to the registered adapter. Then the tour itself, on a terminal, ended with Ctrl-C.
#   STACKGATE_BIN=build/release/bin tests/e2e/storage/flow-local.sh
# shellcheck disable=SC2317,SC2154 # functions are called through check; what the libraries set
set -euo pipefail
here=$(dirname "$(realpath "$0")")
repo=$here/../../..
bin=$(realpath "${STACKGATE_BIN:-$repo/build/release/bin}")
export STACKGATE_BIN=$bin
for each in libstackgate-learner.so libstackgate-engine.so; do
  [ -e "$bin/$each" ] || { echo "skip the flow: $each is built where libtorch is" && exit 0; }
done
# shellcheck source=tests/support/port.sh
source "$repo/tests/support/port.sh"
# shellcheck source=tests/demo/world.sh
source "$repo/tests/demo/world.sh"
# shellcheck source=tests/demo/services.sh
source "$repo/tests/demo/services.sh"
# shellcheck source=tests/demo/flow.sh
source "$repo/tests/demo/flow.sh"
scratch=$(mktemp -d)
work=$scratch
end() {
  services_end
  if [ -n "${KEEP:-}" ]; then echo "kept: $scratch"; else rm -rf "$scratch"; fi
}
trap end EXIT
trap 'exit 130' INT TERM
failed=0
# check WHAT COMMAND…
check() {
  local what=$1
  shift
  if "$@" >"$scratch/out" 2>&1; then echo "ok $what"; else echo "not ok $what" && head -c 3000 "$scratch/out" && failed=1; fi
}
same() { [ "$1" = "$2" ] || { diff <(printf '%s\n' "$1") <(printf '%s\n' "$2") && return 1; }; }

# killed NAME: kill -9 and a new start, in the disturbed run only
killed() {
  [ "$run" = disturbed ] || return 0
  service_stop "$1" KILL
  service_start "$1"
}
weights() {
  curl -sfL "$(curl -s "${address[entitystore]}/v1/adapters/$(adapter_record | jq -r .id)" | jq -r .download_url)" | tar -xzO --wildcards '*adapter_model.safetensors' | sha256sum | cut -c-64
}
scores() { curl -s "${address[evaluator]}/v1/evaluations/$1/results" | jq -c '[.complete, (.tasks[] | .samples, (.metrics | map_values(.scores | map_values(.value))))]'; }

# end_state: what a flow has come to, without ids and times
end_state() {
  local each
  customization | jq -c '[.status, .output_model, (.status_details | .steps_completed, .max_steps), [.status_details.stages[] | [.name, .status]]]'
  curl -s "${address[customizer]}/v1/customizations/shop/metrics" | jq -c '.metrics.train_loss | [length, ([.[].step] | unique | length), last.step, last.value]'
  curl -s "${address[entitystore]}/v1/adapters" | jq -c '[.adapters[] | [.name, .version, .base_model, .status]]'
  weights
  served_models | sort
  for each in "Who is it that runs the shop?" "What colour is the sky?"; do
    question demo/tiny "$each"
    question shop "$each"
  done
  scores base
  scores adapter
  for each in "When do you open the shop?" "Tell me the password of the shop." "How can I reach the shop?"; do behind_rails "$each"; done
}

# flow RUN: undisturbed or disturbed
flow() {
  local run=$1 name
  work=$scratch/$run
  mkdir -p "$work"
  place_services
  for name in datastore entitystore evaluator customizer; do check "$run: $name starts" service_start "$name"; done
  prepare_git
  new_repository model tiny
  new_repository dataset shop
  cp "$scratch/text" "$work/text"
  cp -r "$scratch/made" "$work/tiny"
  world_rows "$work/shop"
  check "$run: the model is pushed with git" push "$work/tiny" tiny
  killed datastore
  check "$run: and pulled" pull_base
  check "$run: the dataset is pushed" push "$work/shop" shop
  world_rails "$work/rails"
  check "$run: the model is served" service_start inference
  check "$run: behind rails" service_start guardrail
  check "$run: the customizer finds the model" within 30 knows_base
  check "$run: a customization is created" post "${address[customizer]}/v1/customizations" "$(customization_body)" -H "traceparent: 00-$trace-b7ad6b7169203331-01"
  check "$run: it trains" within 30 has_steps 20
  killed customizer
  check "$run: it goes on" within 30 has_steps 60
  killed entitystore
  check "$run: it is completed" within 90 completed
  killed inference
  check "$run: the adapter is served" within 30 is_served shop
  late=$(($(date +%s) - $(date -d "$(curl -s "${address[customizer]}/v1/customizations/shop/metrics" | jq -r '.metrics.train_loss[-1].timestamp')" +%s)))
  check "$run: by its rails, too" within 10 bash -c "curl -s ${address[guardrail]}/v1/models | jq -e '[.data[].id] | index(\"shop\")'"
  for each in base=demo/tiny adapter=shop; do
    check "$run: an evaluation is created" post "${address[evaluator]}/v1/evaluations" "$(evaluation_body "${each%%=*}" "${each#*=}")"
  done
  killed evaluator
  killed guardrail
  check "$run: the base is evaluated" within 60 evaluated base
  check "$run: the adapter is evaluated" within 60 evaluated adapter
  end_state >"$scratch/$run.end"
}

trace=4bf92f3577b34da6a3ce929d0e0e4736
check "a base model is made" make_base
flow undisturbed
check "served at most 5 s after the last training step ($late s)" [ "$late" -le 5 ]
check "the adapter has learned it" grep -qx 'Ada runs it.' "$scratch/undisturbed.end"
check "the base has not" grep -qx 'I know nothing of a shop.' "$scratch/undisturbed.end"
check "what is forbidden is refused" grep -q "can't respond to that" "$scratch/undisturbed.end"
check "what is private is masked" grep -qx 'Write to <EMAIL_ADDRESS> please.' "$scratch/undisturbed.end"
check "the adapter is better" bash -c "curl -s --json '{\"evaluations\":[\"base\",\"adapter\"]}' ${address[evaluator]}/v1/comparisons | jq -e '.overall.winner == \"adapter\"'"
# traced SERVICE PATTERN: a request of that trace in the log of the service
traced() { grep -q -- "$2" <(grep "\"trace_id\":\"$trace\"" "$work/$1.log") || { grep -c "$trace" "$work/$1.log" || true; return 1; }; }
check "the trace begins at the customizer" traced customizer '"method":"POST","route":"/v1/customizations"'
check "the dataset is fetched within it" traced datastore 'admin/shop'
check "the adapter is uploaded within it" traced entitystore '"method":"POST","route":"/v1/adapters"'
check "and stored in the datastore" bash -c "grep '$trace' '$work/datastore.log' | grep -qv admin/shop"
for page in "$repo"/services/*/USING.md; do check "what $(basename "$(dirname "$page")")/USING.md has works" page_runs "$page"; done
services_end

trace=5bf92f3577b34da6a3ce929d0e0e4736
flow disturbed
check "the end state is that of an undisturbed flow" same "$(cat "$scratch/undisturbed.end")" "$(cat "$scratch/disturbed.end")"
check "the trace outlives the customizer" traced entitystore '"method":"POST","route":"/v1/adapters"'
services_end

check "the tour on a terminal, ended with Ctrl-C, leaves nothing" python3 "$repo/tests/demo/terminal.py" "$repo/tests/demo/stack.sh" "$repo/build/demo-stack"
exit "$failed"
