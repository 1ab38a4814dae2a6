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
leads_again() { [ "$(said '"message":"leading"')" -ge 2 ]; }
check "another process leads" until_true 30 leads_again
sleep 4
same "after a restart nothing flaps" "$before" "$(for each in inferenceservice/foreign stackdatastore/store inferencepipeline/search; do taken "$each"; done)"
same "… and no event is told again" "$told" "$(events)"

# --- Children that lose their owner
strip() { for each in "$@"; do k patch "$each" --type json -p '[{"op": "remove", "path": "/metadata/ownerReferences"}]' >/dev/null; done; }
owned() { local of=$1 each; shift; for each in "$@"; do [ "$(at "$each" "$owner")" = "$of" ] || return; done; }
service n9
until_true 20 is inferenceservice/n9 "$reason" Starting
children=(serviceaccount/n9 role/n9 rolebinding/n9 service/n9 deployment/n9)
theirs=$(at inferenceservice/n9 "$uid") was=$(for each in "${children[@]}"; do at "$each" "$uid"; done)
before=$(taken inferenceservice/n9)
k patch deployment n9 --type json -p '[{"op": "remove", "path": "/metadata/ownerReferences"}, {"op": "replace", "path": "/spec/replicas", "value": 7}]' >/dev/null
strip "${children[@]:0:4}"
check "children whose owner references were removed are taken back" until_true 10 owned "$theirs" "${children[@]}"
check "… and what else was changed is put back" until_true 10 is deployment/n9 '{.spec.replicas}' 1
same "… the very same objects" "$was" "$(for each in "${children[@]}"; do at "$each" "$uid"; done)"
same "… without a word in the status" "$before" "$(taken inferenceservice/n9)"
k patch inferenceservice n9 --type merge -p '{"spec": {"nodeSelector": {"disk": "ssd"}}}' >/dev/null
check "… and stay ours to change" until_true 10 is deployment/n9 '{.spec.template.spec.nodeSelector.disk}' ssd
k patch inferenceservice n9 --type json -p '[{"op": "remove", "path": "/spec/nodeSelector"}]' >/dev/null
check "… or to take fields from" until_true 10 is deployment/n9 '{.spec.template.spec.nodeSelector}' ''

# What the garbage collector does for `kubectl delete --cascade=orphan`
stop "$script"
strip "${children[@]}"
k delete inferenceservice n9 --wait=false >/dev/null
service n9 '.spec.image.tag = "2"'
operator_up
theirs=$(at inferenceservice/n9 "$uid")
check "orphans are taken back by a resource that is made anew" until_true 20 owned "$theirs" "${children[@]}"
same "… the very same objects" "$was" "$(for each in "${children[@]}"; do at "$each" "$uid"; done)"
second() { at deployment/n9 '{.spec.template.spec.containers[0].image}' | grep -q ':2$'; }
check "… and follow it" until_true 10 second

# Whose orphan it is, its labels say
k create deployment other --image=x >/dev/null
k label deployment other app.kubernetes.io/managed-by=stackgate app.kubernetes.io/component=guardrail app.kubernetes.io/instance=other >/dev/null
k annotate deployment other stackgate.dev/plan=1.1 >/dev/null
service other
check "an orphan of another resource is left alone" until_true 10 is inferenceservice/other "$reason" NameTaken
same "… and owned by nobody" "" "$(at deployment/other "$owner")"
json "$samples/minimal/inferencecaches.yaml" | jq '.metadata.name = "weights"' | k create --validate=false -f - >/dev/null
claim() { k get persistentvolumeclaim -o json | jq -r '.items[] | select(.metadata.labels["app.kubernetes.io/instance"] == "weights") | "persistentvolumeclaim/" + .metadata.name'; }
has_claim() { [ -n "$(claim)" ]; }
until_true 20 has_claim
strip "$(claim)"
check "a claim that was taken from its cache is not taken back" until_true 10 is inferencecache/weights "$reason" NameTaken
same "… and owned by nobody" "" "$(at "$(claim)" "$owner")"
check "… and the cache says what to do" grep -q 'storage.pvc.create: false' <<<"$(at inferencecache/weights "$message")"

# A resource of another kind that goes
json "$samples/minimal/stackguardrails.yaml" | jq '.metadata.name = "twin"' | k create --validate=false -f - >/dev/null
until_true 20 exists deployment/twin
service twin
check "a name that a resource of another kind has is taken" until_true 10 is inferenceservice/twin "$reason" NameTaken
k delete stackguardrail twin --wait=false >/dev/null
k delete deployment,service,role,rolebinding,serviceaccount -l app=twin >/dev/null
has_twin() { owned "$(at inferenceservice/twin "$uid")" deployment/twin service/twin; }
check "… until that one is gone" until_true 35 has_twin

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
