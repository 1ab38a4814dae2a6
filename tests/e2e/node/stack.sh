#!/usr/bin/env bash
# The sample stack, all eight kinds, as pods: ready, scaled, rolled, restarted by a Secret, drained, deleted.
source "$(dirname "$(realpath "$0")")/lib.sh"
source "$here/operator.sh"
operator_up

plurals=(inferenceservices inferencecaches inferencepipelines stackdatastores stackentitystores stackcustomizers stackevaluators stackguardrails)
for plural in "${plurals[@]}"; do follow "$scratch/$plural" "/apis/stackgate.dev/v1alpha1/namespaces/$ns/$plural"; done
follow "$scratch/deployments" "/apis/apps/v1/namespaces/$ns/deployments"
follow "$scratch/jobs" "/apis/batch/v1/namespaces/$ns/jobs"

k delete secret registry-api >/dev/null
kube create --dry-run=client --validate=false -o json -f "$repo/crds/samples/stack.yaml" |
  jq -c --arg tag 1 "if .kind == \"List\" then .items[] else . end | del(.metadata.namespace) | $(cat "$here/stack.jq")" >"$scratch/stack.json"
check "the sample stack is admitted" k apply --validate=false -f "$scratch/stack.json"
mapfile -t resources < <(jq -r 'select(.apiVersion == "stackgate.dev/v1alpha1") | "\(.kind | ascii_downcase)/\(.metadata.name)"' "$scratch/stack.json")
resources+=(inferenceservice/embedder inferenceservice/reranker) # the pipeline's
deadline=$((SECONDS + 150)) # for all of them
for resource in "${resources[@]}"; do
  await "$resource becomes Ready" $((deadline > SECONDS ? deadline - SECONDS : 1)) '.status.state == "Ready"' "${resource%/*}" "${resource#*/}"
done
same "the pipeline tells the state of its services" '{"embedder":"Ready","reranker":"Ready"}' \
  "$(k get inferencepipeline search -o json | jq -cS '.status.services // .status.states')"

# --- How long the status lags behind what it tells, and whether it went straight there.
cat "${plurals[@]/#/$scratch/}" >"$scratch/resources"
jq -nr --slurpfile resources "$scratch/resources" --slurpfile deployments "$scratch/deployments" --slurpfile jobs "$scratch/jobs" '
  def first_time(f): [.[] | select(f) | .t] | min;
  [$resources[] | {key: "\(.object.kind) \(.object.metadata.name)"}] | unique_by(.key)[] | .key as $key | ($key | split(" ")) as [$kind, $name]
  | ([$resources[] | select(.object.kind == $kind and .object.metadata.name == $name)] | first_time(.object.status.state == "Ready")) as $told
  | (if $kind == "InferenceCache" then
       [$jobs[] | select(.object.metadata.name == $name)] | first_time(any(.object.status.conditions[]?; .type == "Complete"))
     else [$deployments[] | select(.object.metadata.name == $name)] | first_time(.object.status.availableReplicas == .object.spec.replicas) end) as $was
  | select($was and $told) | "\(($told - $was) * 1000 | floor) \($key)"' | sort -n >"$scratch/lags"
read -r lag slowest < <(tail -1 "$scratch/lags")
check "status follows its workload within two seconds (slowest: $slowest, ${lag:-?} ms; median $(awk '{a[NR] = $1} END {print a[int((NR + 1) / 2)]}' "$scratch/lags") ms)" \
  test "${lag:-99999}" -le 2000
# back_and_forth: resources that came back to a state which they had left. A cache waits for its pod's claim between the
# Job and the pod: both are "not begun".
back_and_forth() {
  jq -sr 'group_by("\(.object.kind)/\(.object.metadata.name)")[] | (.[0].object | "\(.kind)/\(.metadata.name)") as $name
    | [.[].object.status.state // "none" | if $name | startswith("InferenceCache/") then sub("^(Started|Pending)$"; "not begun") else . end] | [., .[1:] + [null]] | transpose | map(select(.[0] != .[1])[0])
    | select((unique | length) != length) | "\($name): \(join(" → "))"' "$scratch/resources"
}
same "no resource came back to a state that it had left" "" "$(back_and_forth)"

# --- What pods were given
pod_of() { k get pods -l "app=$1" -o json | jq -r '[.items[] | select(.metadata.deletionTimestamp | not)][0].metadata.name'; }
ask() { fetch "http://$(k get pod "$(pod_of "$1")" -o jsonpath='{.status.podIP}'):8000$2"; }
says "a service gets its database without the password" 'STACKGATE_DATABASE_URL=postgresql://datastore@postgres' ask datastore /standin/environment
same "… which is in a file" change-me "$(ask datastore /standin/file/run/secrets/stackgate/database/password)"
check "a Service answers at its port" fetch -f "http://$(k get service llm -o jsonpath='{.spec.clusterIP}'):8000/v1/health/ready"

# --- Scaled, rolled, restarted
k patch inferenceservice llm --type merge -p '{"spec": {"replicas": 2}}' >/dev/null
await "a service scales up" 60 '.status.state == "Ready" and .status.availableReplicas == 2' inferenceservice llm
k patch inferenceservice llm --type merge -p '{"spec": {"replicas": 1}}' >/dev/null
await "… and down" 60 '.status.state == "Ready" and .status.availableReplicas == 1' inferenceservice llm
k patch inferenceservice llm --type merge -p '{"spec": {"image": {"tag": "2"}}}' >/dev/null
await "a new tag rolls out" 60 '.status.state == "Ready" and .metadata.generation == .status.observedGeneration' inferenceservice llm
await_pod "… to the pod" 60 '.spec.containers[0].image == "registry.test/workload:2" and any(.status.conditions[]?; .type == "Ready" and .status == "True")' app=llm
before=$(pod_of entitystore)
k patch secret entitystore-db --type merge -p '{"stringData": {"password": "another"}}' >/dev/null
await_pod "a changed Secret makes new pods" 60 ".metadata.name != \"$before\" and any(.status.conditions[]?; .type == \"Ready\" and .status == \"True\")" app=entitystore
gone "… and ends the old one" 60 pod "$before"
same "… which see the new content" another "$(ask entitystore /standin/file/run/secrets/stackgate/database/password)"

# --- Drained
node=$(kube get nodes -o jsonpath='{.items[0].metadata.name}')
check "the node is drained of the stack" kube drain "$node" --pod-selector "app.kubernetes.io/managed-by=stackgate,app in (llm, datastore)" \
  --delete-emptydir-data --force --ignore-daemonsets --timeout=90s
await "a drained service says why it does not run" 30 \
  'any(.status.conditions[]?; .type == "Ready" and .status == "False" and (.message | contains("unschedulable")))' inferenceservice llm
kube uncordon "$node" >/dev/null
for name in inferenceservice/llm stackdatastore/datastore; do
  await "$name is Ready again" 60 '.status.state == "Ready"' "${name%/*}" "${name#*/}"
done

# --- A child that somebody changes or deletes comes back.
k delete service guardrail >/dev/null
check "a deleted child comes back" until_true 10 k get service guardrail
k patch deployment guardrail --type merge -p '{"spec": {"replicas": 5}}' >/dev/null
await "a changed child is put right" 10 '.spec.replicas == 2' deployment guardrail

# --- Deleted
claims() { k get pvc -o json | jq -r '[.items[] | select(.metadata.deletionTimestamp | not) | .metadata.name] | join(" ")'; }
same "claims before" "customizer-pvc datastore-pvc embedder-pvc llm-cache-pvc" "$(claims)"
k delete inferencepipeline,inferenceservice --all --timeout=60s >/dev/null
k delete stackgate --all --timeout=60s >/dev/null
children() {
  k get deployments,services,jobs,roles,rolebindings,configmaps,serviceaccounts,pods -l app.kubernetes.io/managed-by=stackgate -o name
}
no_children() { [ -z "$(children)" ]; }
check "children go with their resources" until_true 90 no_children || children
cache_claims_gone() { [[ $(claims) != *cache* && $(claims) != *embedder* ]]; }
check "a cache's claim goes with it" until_true 60 cache_claims_gone
same "claims with users' data stay" "customizer-pvc datastore-pvc" "$(claims)"
