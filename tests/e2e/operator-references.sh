#!/usr/bin/env bash
# Under the gate's own defaults: what a resource names comes late, goes while it is served, and comes back. Nobody is
# told that the resource has failed, it is looked after all the while, and what serves is not restarted.
source "$(dirname "$(realpath "$0")")/lib.sh"
k() { kube -n "$ns" "$@"; }
at() { k get "$1" -o "jsonpath=$2"; }
is() { [ "$(at "$1" "$2")" = "$3" ]; }
state_of='{.status.state}'
missing='{.status.conditions[?(@.type=="ReferencesResolved")].message}'
restart_mark='{.spec.template.metadata.annotations.stackgate\.dev/inputs}'
ports='{.spec.ports[*].port}'
key() { k create secret generic late-key --from-literal="REGISTRY_API_KEY=$1" >/dev/null; }
told() { says "$1" "$2" at inferenceservice/late "$missing"; }
tells() { [[ $(at inferenceservice/late "$missing") == *"$1"* ]]; }
says_nothing() { is inferenceservice/late "$missing" ''; }
warnings() { k get events -o json | jq -r '[.items[] | select(.involvedObject.name == "late" and .type == "Warning") | .reason] | unique | join(" ")'; }
metrics() { curl -s --noproxy '*' "http://127.0.0.1:$gate_metrics/metrics" | grep '^stackgate_api_requests_total'; }
# calls: to the API server, without those that keep watches and lease alive.
calls() { metrics | awk '!/resource="leases[.]/ && !/verb="watch"/ { sum += $2 } END { print sum + 0 }'; }
# watches: how often a watch of Secrets was begun.
watches() { metrics | awk '/resource="secrets"/ && /verb="watch"/ { sum += $2 } END { print sum + 0 }'; }
# serve N: what a Deployment's controller says when N pods are available.
serve() {
  local generation
  generation=$(at deployment/late '{.metadata.generation}')
  api PATCH "/apis/apps/v1/namespaces/$ns/deployments/late/status" -H 'Content-Type: application/merge-patch+json' \
    -d "{\"status\": {\"observedGeneration\": $generation, \"replicas\": $1, \"updatedReplicas\": $1, \"readyReplicas\": $1, \"availableReplicas\": $1}}" >/dev/null
}

start_operator "$script" --no-admission --kubeconfig "$state/kubeconfig" --namespaces "$ns" --lease-namespace "$ns" --lease-seconds 3 \
  --renew-seconds 2 --retry-seconds 1 || { not_ok "the operator starts" && exit 1; }
"$KUBECTL" --kubeconfig "$state/kubeconfig" -n "$ns" get inferenceservice -w -o jsonpath='{.metadata.name} {.status.state}{"\n"}' >"$scratch/states" 2>&1 &
watcher=$!
trap 'kill $watcher 2>/dev/null; finish' EXIT
# With two, the reconciler would now and then hear of a Secret before the rules can see it.
same "one watch of Secrets serves the rules and the reconciler" 1 "$(watches)"

# --- The Secret comes two seconds after the resource
json "$samples/minimal/inferenceservices.yaml" | jq '.metadata.name = "late" | .spec.authSecret = "late-key"' | k create -f - >/dev/null
check "a resource whose Secret is not there is told so" until_true 20 tells 'spec.authSecret: there is no such Secret'
told "… in the gate's words" '[required-secret-missing]'
same "… and waits" Pending "$(at inferenceservice/late "$state_of")"
check "… with its children made" k get deployment/late service/late serviceaccount/late
sleep 2
key first
check "… until the Secret comes" until_true 20 says_nothing
same "… which is nothing to warn of" '' "$(warnings)"

# --- The Secret goes while the resource is served
serve 1
check "it is served" until_true 20 is inferenceservice/late "$state_of" Ready
mark=$(at deployment/late "$restart_mark")
check "… by pods that know their Secret" test -n "$mark"
k delete secret late-key >/dev/null
check "a Secret that goes is told" until_true 20 tells 'there is no such Secret'
same "… of a resource that still serves" Ready "$(at inferenceservice/late "$state_of")"
warned() { [ "$(warnings)" = SecretNotFound ]; }
check "… with an event" until_true 10 warned
same "… and pods that serve are not restarted" "$mark" "$(at deployment/late "$restart_mark")"
k patch service/late --type json -p '[{"op": "replace", "path": "/spec/ports/0/port", "value": 1234}]' >/dev/null
check "a child that is changed by hand is repaired all the same" until_true 20 is service/late "$ports" 8000
k patch inferenceservice/late --type merge -p '{"spec": {"replicas": 2}}' >/dev/null
check "… and a change of the resource carried out" until_true 20 is deployment/late '{.spec.replicas}' 2
serve 2
check "… while it is served" until_true 20 is inferenceservice/late "$state_of" Ready
told "… and the Secret is missed" 'late-key'
sleep 1
before=$(calls)
sleep 3
same "… which costs no request" "$before" "$(calls)"

# --- And comes back
key first
check "a Secret that comes back is missed no more" until_true 20 says_nothing
same "… and as it is the same one, nothing restarts" "$mark" "$(at deployment/late "$restart_mark")"
k delete secret late-key >/dev/null
until_true 20 tells 'there is no such Secret'
k create secret generic late-key --from-literal=OTHER=key >/dev/null
check "one that comes back without its key is told" until_true 20 tells 'has no key REGISTRY_API_KEY'
same "… and restarts nothing" "$mark" "$(at deployment/late "$restart_mark")"
k patch secret late-key -p '{"stringData": {"REGISTRY_API_KEY": "second"}}' >/dev/null
restarted() { says_nothing && [ "$(at deployment/late "$restart_mark")" != "$mark" ]; }
check "… until it has another key: then pods restart" until_true 20 restarted

# --- A Secret that does not come
json "$samples/minimal/inferenceservices.yaml" | jq '.metadata.name = "never" | .spec.authSecret = "never-key"' | k create -f - >/dev/null
missed() { k get events -o json | jq -r '.items[] | select(.involvedObject.name == "never") | [.type, .reason, .count] | map(tostring) | join(" ")'; }
sleep 5
same "what has been missing for a moment is nothing to warn of" '' "$(missed)"
is_missed() { [ "$(missed)" = "Warning SecretNotFound 1" ]; }
check "what does not come is, of a resource that waits, too" until_true 15 is_missed
sleep 5
check "… once" is_missed

same "at no time has the resource failed" '' "$(grep Failed "$scratch/states")"
check "… as far as could be seen" grep -q 'late Ready' "$scratch/states"
check "the operator never crashed" alive "$script"
