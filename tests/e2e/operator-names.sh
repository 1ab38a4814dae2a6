#!/usr/bin/env bash
# Names that others have, and children that lose their owner: what is told, how often, and what is taken back.
source "$(dirname "$(realpath "$0")")/lib.sh"
k() { kube -n "$ns" "$@"; }

operator_up() {
  start "$script" "$gate_binary" operator --no-admission --kubeconfig "$state/kubeconfig" --namespaces "$ns" --listen 127.0.0.1:0 \
    --metrics-listen 127.0.0.1:0 --health-listen 127.0.0.1:0 --lease-namespace "$ns" --lease-seconds 3 --renew-seconds 2 \
    --retry-seconds 1 --log-format json --log-level debug --references warn --other-references warn
}
log() { cat "$state/$script.log"; }
said() { log | grep -c "$1"; }
service() { # NAME [JQ]
  json "$samples/minimal/inferenceservices.yaml" | jq --arg n "$1" ".metadata.name = \$n | ${2:-.}" | k create --validate=false -f - >/dev/null
}
exists() { k get "$@" >/dev/null 2>&1; }
at() { k get "$1" -o "jsonpath=$2"; }
is() { [ "$(at "$1" "$2")" = "$3" ]; }
reason='{.status.conditions[?(@.type=="Ready")].reason}'
message='{.status.conditions[?(@.type=="Ready")].message}'
owner='{.metadata.ownerReferences[*].uid}'
uid='{.metadata.uid}'
events() { k get events -o json | jq -r '[.items[] | [.involvedObject.name, .type, .reason, .count] | map(tostring) | join(" ")] | sort[]'; }

kube get namespace "$ns" >/dev/null 2>&1 || kube create namespace "$ns" >/dev/null
operator_up

# --- Names of strangers, through a restart
k create deployment foreign --image=x >/dev/null
k create -f - >/dev/null <<'YAML'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: store-pvc}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
YAML
service reranker
service foreign
json "$samples/minimal/stackdatastores.yaml" | jq '.metadata.name = "store" | .spec.pvc = {create: true, size: "1Gi", volumeAccessMode: "ReadWriteOnce"}' |
  k create --validate=false -f - >/dev/null
json "$samples/minimal/inferencepipelines.yaml" | jq '.metadata.name = "search" | .spec.services[0].name = "reranker"' |
  k create --validate=false -f - >/dev/null
for each in inferenceservice/foreign stackdatastore/store inferencepipeline/search; do
  check "$each is told that its name is taken" until_true 20 is "$each" "$reason" NameTaken
done
sleep 4
same "what only a person can cure is one warning" "1" \
  "$(log | jq -c 'select(.level == "warning" and .resource == "InferenceService '"$ns"'/foreign")' | wc -l)"
taken() { at "$1" '{.metadata.resourceVersion} {.status}'; }
before=$(for each in inferenceservice/foreign stackdatastore/store inferencepipeline/search; do taken "$each"; done) told=$(events)
stop "$script"
operator_up
until_true 30 test "$(said leading)" -gt 0
sleep 4
same "after a restart nothing flaps" "$before" "$(for each in inferenceservice/foreign stackdatastore/store inferencepipeline/search; do taken "$each"; done)"
same "… and no event is told again" "$told" "$(events)"

# --- The cure, long after the intervals have grown
until_true 90 grep -q '"message":"reconcile waits".*/foreign".*"failures":15' "$state/$script.log"
longest=$(log | jq -s 'map(select(.message == "reconcile waits") | .again_in_ms) | max')
check "a name is looked at again every 30 s at least: the longest wait was $longest ms" test "$longest" -le 30000
k delete deployment foreign >/dev/null
made() { k get deployment foreign -o "jsonpath=$owner" | grep -q .; }
check "… so its cure is noticed" until_true 35 made
check "… and told" until_true 10 is inferenceservice/foreign "$reason" Starting
check "the operator never crashed" alive "$script"
stop "$script"
