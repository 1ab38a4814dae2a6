#!/usr/bin/env bash
# A release's life: a leader that dies or leaves, an upgrade with changed definitions, a roll-back, the removal.
source "$(dirname "$(realpath "$0")")/lib.sh"
source "$here/operator.sh"
operator_up
on() { kube -n "$operator_ns" "$@"; }
k create configmap rails --from-literal=config.yml='models: []' >/dev/null
k apply --validate=false -f - >/dev/null <<'YAML'
apiVersion: stackgate.dev/v1alpha1
kind: StackGuardrail
metadata: {name: rails}
spec:
  nimEndpoint: {baseURL: "http://llm:8000/v1"}
  configStore: {pvc: {create: true, size: 1Gi, volumeAccessMode: ReadWriteOnce}}
YAML
await "a resource is Ready" 60 '.status.state == "Ready"' stackguardrail rails

# --- Fail-over. The proof that a leader works is a deleted child that comes back.
leader() { on get lease stackgate-operator -o json | jq -r '.spec.holderIdentity | split("_")[0]'; }
repaired() { # NAME LIMIT_MS
  k delete service rails --wait=false >/dev/null
  if watch_for 30 '.metadata.deletionTimestamp | not' service rails && ((took <= $2)); then
    ok "$1 ($took ms)"
  else
    not_ok "$1 within $2 ms" "$took ms; $(operator_look)"
  fi
}
old=$(leader)
container=$(on get pod "$old" -o jsonpath='{.status.containerStatuses[0].containerID}')
check "the leader's process is killed" "$node_scripts/exec.sh" "$state" ctr -n k8s.io tasks kill --signal SIGKILL "${container#containerd://}"
repaired "another one works after the lease has run out" $((lease_seconds * 1000 + 2000))
check "… and the killed one is started again" until_true 60 operator_rolled 5
old=$(leader)
on delete pod "$old" --wait=false >/dev/null
another_leads() { [[ $(leader) != "$old" && -n $(leader) ]]; }
check "a leader that leaves hands over when it has drained" until_true 10 another_leads
repaired "… and the new one works" 4000
operator_rolled 60

# --- Upgrade: the definition of an earlier release lacks a field; the chart's hook brings the new one first.
# release TAG [FLAG...]: as Helm does it: hooks first, then the rest.
release() {
  render "$@" -json >"$scratch/all.json" || return 1
  jq -c 'select(.metadata.annotations["helm.sh/hook"])' "$scratch/all.json" >"$scratch/hooks.json"
  jq -c 'select(.metadata.annotations["helm.sh/hook"] | not)' "$scratch/all.json" >"$scratch/release.json"
  on delete job -l app.kubernetes.io/part-of=stackgate >/dev/null 2>&1
  apply_all "$scratch/hooks.json" && on wait --for=condition=Complete job/stackgate-crds --timeout=60s &&
    kube delete -f "$scratch/hooks.json" && apply_all "$scratch/release.json" && operator_rolled 90
}
definition=crd/stackguardrails.stackgate.dev
field='.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.labels'
kube get "$definition" -o json | jq "del($field)" | kube replace --validate=false -f - >/dev/null
same "an earlier definition is in place" null "$(kube get "$definition" -o json | jq -c "$field.type")"
tag=$(sha256sum "$operator_binary" | cut -c1-12)
pods=$(k get pods -o jsonpath='{.items[*].metadata.uid}')
operator_image "$tag-next" || not_ok "the next image is imported"
check "the upgrade goes through" release "$tag-next" -is-upgrade
same "… with the new definition" '"object"' "$(kube get "$definition" -o json | jq -c "$field.type")"
same "… in both pods" "$operator_repository:$tag-next" "$(on get pods -o json | jq -r '[.items[] | select(.metadata.deletionTimestamp | not) | .spec.containers[0].image] | unique | join(" ")')"
check "a field of the new definition reaches the workload" k patch stackguardrail rails --type merge -p '{"spec": {"labels": {"team": "a"}}}'
await_pod "… as a label of its pod" 60 '.metadata.labels.team == "a" and any(.status.conditions[]?; .type == "Ready" and .status == "True")' app=rails
k patch stackguardrail rails --type merge -p '{"spec": {"labels": null}}' >/dev/null
await "the workload is as it was" 60 '.status.state == "Ready" and .status.observedGeneration == .metadata.generation' stackguardrail rails
pods=$(k get pods -o json | jq -r '[.items[] | select(.metadata.deletionTimestamp | not) | .metadata.uid] | sort | join(" ")')
check "a roll-back goes through" release "$tag" -is-upgrade
says "… and serves" StackGuardrail dry_run stackguardrails "$good_guardrail"
refused "… and refuses" 'spec.nimEndpoint.baseURL' dry_run stackguardrails "$bad_guardrail"
sleep 2 # time enough to do harm
same "no workload was restarted for it" "$pods" "$(k get pods -o json | jq -r '[.items[] | select(.metadata.deletionTimestamp | not) | .metadata.uid] | sort | join(" ")')"

# --- Removal
check "the release is removed" kube delete --timeout=90s -f "$scratch/release.json"
same "resources stay" stackguardrail.stackgate.dev/rails "$(k get stackguardrails -o name)"
same "… and run on" 1 "$(k get deployment rails -o jsonpath='{.status.availableReplicas}')"
same "nothing of ours has a finalizer" "" "$(k get stackgate,deployments,services,configmaps,pods -o json |
  jq -r '.items[] | select((.metadata.finalizers // []) != []) | "\(.kind) \(.metadata.name)"')"
k delete stackguardrail rails --timeout=20s >/dev/null
gone "without an operator a resource can be deleted" 20 stackguardrail rails
gone "… and its workload goes with it" 60 deployment rails
same "… but not the users' claim" persistentvolumeclaim/rails-pvc "$(k get pvc -o name)"
check "the operator's namespace can be removed" kube delete namespace "$operator_ns" --timeout=90s
