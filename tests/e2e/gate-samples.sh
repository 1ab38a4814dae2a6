#!/usr/bin/env bash
# Every sample is accepted: by kubectl apply, as a dry run, by server-side apply; and `stackgate validate` agrees.
source "$(dirname "$(realpath "$0")")/lib.sh"
gate_up

for set in minimal full; do
  for file in "$samples/$set"/*.yaml; do
    name=$set/$(basename "$file" .yaml)
    check "$name passes as a dry run" kube -n "$ns" apply --dry-run=server -f "$file"
    check "$name is accepted by kubectl apply" kube -n "$ns" apply -f "$file"
    check "$name may be applied again" kube -n "$ns" apply -f "$file"
    check "$name is accepted by server-side apply" kube -n "$ns" apply --server-side --force-conflicts --field-manager e2e -f "$file"
    check "$name passes 'stackgate validate'" "$gate_binary" validate "$file"
    check "$name is deleted" kube -n "$ns" delete -f "$file" --wait=false
  done
done
words=$(kube -n "$ns" apply -f "$samples/stack.yaml" 2>&1)
same "the stack that fits together is accepted" 0 "$?"
same "… without a warning" "" "$(grep -i warning <<<"$words")"
check "kubectl get stackgate lists it" kube -n "$ns" get stackgate
