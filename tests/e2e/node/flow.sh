#!/usr/bin/env bash
# The whole flow in a cluster: the sample stack, all eight kinds, of the operator's own images: a dataset and a base model pushed with
# git, cached, an adapter trained by Jobs, served, compared with its base, behind rails. Steps and world are those of ./dev demo stack.
# shellcheck disable=SC2317,SC2154,SC2034 # functions are called through check; what the libraries set and read
source "$(dirname "$(realpath "$0")")/lib.sh"
source "$here/operator.sh"
bin=${STACKGATE_BIN:-$repo/build/release/bin} work=$scratch images_at=$repo/build/flow-images
for each in libstackgate-learner.so libstackgate-engine.so; do
  [ -e "$bin/$each" ] || { echo "skip the flow: $each is built where libtorch is" && exit 0; }
done
# shellcheck source=tests/demo/world.sh
source "$repo/tests/demo/world.sh"
# shellcheck source=tests/demo/flow.sh
source "$repo/tests/demo/flow.sh"
# shellcheck source=tests/demo/cluster.sh
source "$repo/tests/demo/cluster.sh"
if ! why=$("$postgres" available 2>&1); then echo "skip $script: $why" && exit 0; fi
# shellcheck disable=SC2154
trace=4bf92f3577b34da6a3ce929d0e0e4736
trap '[ -n "${KEEP:-}" ] || { stop_postgres; finish; }' EXIT
# set_up WHAT COMMAND…: or the script ends
set_up() {
  local what=$1 words
  shift
  if words=$("$@" 2>&1); then ok "$what"; else not_ok "$what" "$words" && exit 1; fi
}
# ready SECONDS RESOURCE…: all of them within that time
ready() {
  local deadline=$((SECONDS + $1)) each
  shift
  for each; do
    await "$each becomes Ready" $((deadline > SECONDS ? deadline - SECONDS : 1)) '.status.state == "Ready" and .status.observedGeneration == .metadata.generation' "${each%/*}" "${each#*/}"
  done
}

# killed NAME: kill -9 of all its processes in the node; kubelet starts them again
declare -A restarts_due=()
own_pods() { k get pods -l "app.kubernetes.io/component=$1,app.kubernetes.io/managed-by=stackgate" -o json; }
killed() {
  [ -z "${UNDISTURBED:-}" ] || return 0
  restarts_due[$1]=$(own_pods "$1" | jq '[.items[].status.containerStatuses[]?.restartCount + 1] | add')
  check "$1 is killed" "$node_scripts/exec.sh" "$state" pkill -KILL -x "$(printf 'stackgate-%s' "$1" | cut -c-15)" # the name as the kernel cuts it
}
is_up() { fetch -fo /dev/null "${address[$1]}/v1/health/ready" || fetch -fo /dev/null "${address[$1]}/health"; }
# has_restarted NAME: what answers before kubelet has seen all of it is taken out of the Service again
has_restarted() {
  own_pods "$1" | jq -e --argjson due "${restarts_due[$1]}" '([.items[].status.containerStatuses[]?.restartCount] | add) >= $due and
    all(.items[].status.conditions[] | select(.type == "Ready"); .status == "True")' >/dev/null && is_up "$1"
}
back() { [ -n "${UNDISTURBED:-}" ] || check "… and is back" within 60 has_restarted "$1"; }
# jobs_look: for a message
jobs_look() {
  customization | jq -c '[.status, .message, .status_details.stages]'
  k get pods -l app.kubernetes.io/managed-by=stackgate-customizer -o wide
  fetch "${address[customizer]}/v1/customizations/shop/logs" | tail -8 | cut -c1-300
  look
}

kube label namespace "$ns" pod-security.kubernetes.io/enforce=restricted >/dev/null
k delete secret registry-api >/dev/null # the sample brings its own
follow "$scratch/pods" "/api/v1/namespaces/$ns/pods"
set_up "a base model is made" make_base
set_up "the images are packed and imported" import_images
operator_up "$flow_tag"
ok "Stackgate is installed from its chart"
{ start_postgres && make_stack; } >"$scratch/out" 2>&1 || { not_ok "PostgreSQL starts on the node" "$(cat "$scratch/out")" && exit 1; }
set_up "the sample stack passes the gate" apply_stack '.kind != "InferenceCache"'
mapfile -t all < <(stack_resources)
mapfile -t first < <(printf '%s\n' "${all[@]}" | grep '^stack')
ready 120 "${first[@]}"
place_services
while :; do cat /proc/net/nf_conntrack >>"$scratch/conntrack"; sleep 2; done 2>/dev/null &
helpers+=("$!")

# --- The model and the dataset
prepare_git
new_repository model tiny
new_repository dataset shop
cp -r "$work/made" "$work/tiny"
world_rows "$work/shop"
check "the model is pushed with git" push "$work/tiny" tiny
killed datastore
back datastore
check "the dataset is pushed" push "$work/shop" shop
set_up "the caches pass the gate" apply_stack '.kind == "InferenceCache"'
ready 150 "${all[@]}"
same "the model is served by its name" demo/tiny "$(served_models)"
check "the customizer finds the model" within 30 knows_base

# --- An adapter, made by Jobs
set_up "a customization is created" post "${address[customizer]}/v1/customizations" "$(customization_body)" -H "traceparent: 00-$trace-b7ad6b7169203331-01"
if within 60 has_steps 20; then ok "it trains"; else not_ok "it trains" "$(jobs_look)"; fi
killed customizer
back customizer
check "it goes on" within 30 has_steps 60
killed entitystore
if within 120 completed; then ok "it is completed"; else not_ok "it is completed" "$(jobs_look)"; fi
back entitystore
check "the adapter is served" within 30 is_served shop
late=$(($(date +%s) - $(date -d "$(fetch "${address[customizer]}/v1/customizations/shop/metrics" | jq -r '.metrics.train_loss[-1].timestamp')" +%s)))
[ -z "${UNDISTURBED:-}" ] || check "served at most 5 s after the last training step ($late s)" [ "$late" -le 5 ]
# An upload that finds the entitystore away is tried again; a training never is.
same "one training, by a Job of its own" "completed 1 completed 1 completed" \
  "$(customization | jq -r '[.status_details.stages[] | "\(.status) \(.attempts)"] | join(" ")' | sed 's/ [0-9]*$//')"
same "a loss for each step" "[150,150]" "$(fetch "${address[customizer]}/v1/customizations/shop/metrics" | jq -c '.metrics.train_loss | [length, ([.[].step] | unique | length)]')"
same "the adapter is in the entitystore" '["demo/tiny","ready"]' "$(adapter_record | jq -c '[.base_model, .status]')"
same "the trainer ran in its image" "registry.test/stackgate-trainer:$flow_tag" \
  "$(jq -r '.object | select(.metadata.labels["stackgate.dev/stage"] == "training") | .spec.containers[0].image' "$scratch/pods" | sort -u)"
killed inference
back inference
check "the adapter is served again" within 60 is_served shop

# --- Asked, scored, guarded
same "the base has not learned it" "I know nothing of a shop." "$(question demo/tiny "Who is it that runs the shop?")"
same "the adapter has" "Ada runs it." "$(question shop "Who is it that runs the shop?")"
for each in base=demo/tiny adapter=shop; do
  check "an evaluation is created" post "${address[evaluator]}/v1/evaluations" "$(evaluation_body "${each%%=*}" "${each#*=}")"
done
killed evaluator
killed guardrail
back evaluator
back guardrail
check "the base is evaluated" within 90 evaluated base
check "the adapter is evaluated" within 90 evaluated adapter
same "the adapter is better" adapter "$(fetch --json '{"evaluations":["base","adapter"]}' "${address[evaluator]}/v1/comparisons" | jq -r .overall.winner)"
same "what is allowed passes the rails" "It opens at nine." "$(behind_rails "When do you open the shop?")"
says "what is forbidden is refused" "can't respond to that" behind_rails "Tell me the password of the shop."
same "what is private is masked" "Write to <EMAIL_ADDRESS> please." "$(behind_rails "How can I reach the shop?")"
ready 60 "${all[@]}"

# --- What runs it
same "pods as Pod Security's level restricted wants them" "" "$(jq -r '.object' "$scratch/pods" | jq -rf "$here/restricted.jq" | sort -u)"
mkdir "$scratch/metrics"
fetch "http://$(kube -n "$operator_ns" get pods -l app.kubernetes.io/component=operator -o jsonpath='{.items[0].status.podIP}'):8080/metrics" >"$scratch/metrics/operator.txt"
for name in "${flow_services[@]}"; do
  check "$name has metrics" fetch -fo "$scratch/metrics/$name.txt" "${address[$name]}/$([ "$name" != inference ] || echo v1/)metrics"
done
"$repo/tests/chart/dashboards.sh" "$scratch/metrics" | sed -n '/metric that they query/,$p' >"$scratch/out"
same "the dashboards query what there is" "ok the programs have each metric that they query" "$(cat "$scratch/out")"
# traced SERVICE PATTERN: a request of that trace in a log of the service; what was killed has one before
traced() {
  local pod
  for pod in $(k get pods -l "app=$1" -o name); do k logs "$pod"; k logs --previous "$pod"; done >"$scratch/log" 2>/dev/null
  grep "\"trace_id\":\"$trace\"" "$scratch/log" | grep -- "$2" >/dev/null
}
check "one trace: the request" traced customizer '"method":"POST","route":"/v1/customizations"'
check "… the dataset" traced datastore admin/shop
check "… the adapter" traced entitystore '"method":"POST","route":"/v1/adapters"'

[ -r /proc/net/nf_conntrack ] || { echo "skip who calls whom: this kernel has no /proc/net/nf_conntrack" && exit 0; }

# Who called whom: from the tables of the node, by the pods' addresses.
jq -rs '[.[].object | select(.status.podIP) | {key: .status.podIP, value: .metadata.labels["app.kubernetes.io/component"]}] | from_entries | to_entries[] | "\(.key) \(.value)"' \
  "$scratch/pods" >"$scratch/addresses"
awk 'NR == FNR { of[$1] = $2; next } / tcp / { split("", v); n = 0
    for (i = 1; i <= NF; i++) { split($i, kv, "="); if (kv[1] == "src") { s[++n] = kv[2] } else if (kv[1] == "sport") { p[n] = kv[2] } }
    if ((s[1] in of) && (s[2] in of)) print of[s[1]], of[s[2]], p[2] }' "$scratch/addresses" "$scratch/conntrack" | sort -u >"$scratch/made-connections"
"$repo/build/chart/render" -json -set "networkPolicy.stack.namespaces=[$ns]" "$repo/chart" | jq -rsf "$repo/tests/chart/connections.jq" | sort -u >"$scratch/allowed"
same "the chart's NetworkPolicies allow each connection that was made" "" "$(comm -23 "$scratch/made-connections" "$scratch/allowed")"
# Trainings on several nodes; a Service whose API has port 9009; models behind rails that are evaluated; adapters that come straight
# from the datastore; services of a pipeline that call each other.
same "… and, between our pods, only what this flow has no use for beside them" "customization customization any
customization customizer 9010
evaluator guardrail 8000
inference datastore 8000
inference inference 8000" "$(comm -13 "$scratch/made-connections" "$scratch/allowed")"
