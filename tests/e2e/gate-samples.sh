#!/usr/bin/env bash
# Every sample is accepted: by kubectl apply, as a dry run, by server-side apply; and `stackgate validate` agrees.
source "$(dirname "$(realpath "$0")")/lib.sh"
gate_up

for set in minimal full; do
  for file in "$samples/$set"/*.yaml; do
    name=$set/$(basename "$file" .yaml)
    check "$name passes as a dry run" kube -n "$ns" apply --dry-run=server -f "$file"
    check "$name is accepted by kubectl apply" kube -n "$ns" apply -f "$file"
    says "$name applied again changes nothing" unchanged kube -n "$ns" apply -f "$file"
    check "$name is accepted by server-side apply" kube -n "$ns" apply --server-side --force-conflicts --field-manager e2e -f "$file"
    check "$name passes 'stackgate validate'" "$gate_binary" validate "$file"
    check "$name is deleted" kube -n "$ns" delete -f "$file" --wait=false
  done
done
check "the stack that fits together is accepted" kube -n "$ns" apply -f "$samples/stack.yaml"
check "kubectl get stackgate lists it" kube -n "$ns" get stackgate

# kubectl's client-side apply keeps the whole object in an annotation of at most 256 KiB.
for crd in "$repo"/crds/*.yaml; do
  size=$(kube get -f "$crd" -o json | jq '.metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"] | utf8bytelength')
  check "$(basename "$crd") fits the annotation of kubectl apply with a third to spare ($size bytes)" test "$size" -lt 174762
done
for kind in $(kube api-resources --api-group stackgate.dev -o name); do
  says "kubectl explain describes $kind" DESCRIPTION kube explain "$kind.spec"
done
