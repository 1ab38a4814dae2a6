#!/usr/bin/env bash
# Updates and deletions: immutable fields, ratcheting, finalizers, used caches, namespaces that go away.
source "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/lib.sh"

# A resource from before the gate, with a fault.
json "$samples/minimal/stackguardrails.yaml" | jq "$gate_fault"' | .metadata.name = "old" |
  .metadata.finalizers = ["example.com/hold"]' >"$scratch/old.json"
kube -n "$ns" create -f "$scratch/old.json" >/dev/null
gate_up

patch() { kube -n "$ns" patch "$1" "$2" --type merge -p "$3" "${@:4}"; }

says "what was wrong before and is untouched only warns" 'patched' patch sgr old '{"spec":{"replicas":2}}'
words=$(patch sgr old '{"spec":{"replicas":3}}' 2>&1)
says "… and the warning names the field" "$gate_fault_field" echo "$words"
refused "a new fault on the same resource is refused" 'spec.replicas' patch sgr old '{"spec":{"replicas":-1}}'
words=$(patch sgr old '{"spec":{"replicas":-1}}' 2>&1 | grep -v '^Warning')
same "… which are only one" 1 "$(grep -cE '^\* |is invalid: .' <<<"$words")"
same "… and not that one" 0 "$(grep -c requests.cpu <<<"$words")"
check "a label may be added to it" kube -n "$ns" label sgr old team=a
check "its status may be written" api PATCH "/apis/stackgate.dev/v1alpha1/namespaces/$ns/stackguardrails/old/status" \
  --fail -H 'Content-Type: application/merge-patch+json' -d '{"status":{"state":"Failed"}}'
check "it may be deleted" kube -n "$ns" delete sgr old --wait=false
check "its finalizer may be removed while it goes, faults and all" patch sgr old '{"metadata":{"finalizers":null}}'
same "it is gone" "" "$(kube -n "$ns" get sgr old --ignore-not-found -o name)"

# Immutable fields.
apply -f "$samples/minimal/inferencecaches.yaml" >/dev/null
refused "a cache's source cannot be changed" 'spec.source' patch icache llm-cache \
  '{"spec":{"source":{"registry":{"modelPuller":"registry.example.com/other:1.0.0"}}}}'
refused "a cache's size cannot be changed" 'spec.storage' patch icache llm-cache '{"spec":{"storage":{"pvc":{"size":"200Gi"}}}}'

# What a download that has begun does not take up.
status() { api PATCH "/apis/stackgate.dev/v1alpha1/namespaces/$ns/inferencecaches/llm-cache/status" --fail \
  -H 'Content-Type: application/merge-patch+json' -d "{\"status\":$1}" >/dev/null; }
words=$(patch icache llm-cache '{"spec":{"userID":1000}}' 2>&1)
same "a cache whose download has not begun takes another user without a word" 0 "$(grep -c cache-job-exists <<<"$words")"
status '{"state":"Failed"}'
says "one whose Job exists takes it with a warning" "kubectl delete job llm-cache -n $ns" patch icache llm-cache '{"spec":{"userID":2000}}'
status '{"state":"Ready"}'
says "… and one that is complete" '[cache-job-exists]' patch icache llm-cache '{"spec":{"userID":3000}}'

# A claim that cannot grow.
jq -cn '{kind: "List", apiVersion: "v1", items: [
  {apiVersion: "storage.k8s.io/v1", kind: "StorageClass", metadata: {name: "fixed"}, provisioner: "example.com/none"},
  {apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: {name: "rails-pvc"}, spec: {storageClassName: "fixed",
    accessModes: ["ReadWriteMany"], resources: {requests: {storage: "1Gi"}}}}]}' | kube -n "$ns" apply -f - >/dev/null
json "$samples/minimal/stackguardrails.yaml" | jq '.metadata.name = "rails" |
  .spec.configStore = {pvc: {create: true, size: "1Gi", volumeAccessMode: "ReadWriteMany"}}' >"$scratch/rails.json"
check "a resource with a claim of its own is accepted" apply -f "$scratch/rails.json"
api PATCH "/api/v1/namespaces/$ns/persistentvolumeclaims/rails-pvc/status" -H 'Content-Type: application/merge-patch+json' \
  -d '{"status":{"phase":"Bound"}}' >/dev/null
grown() { patch pvc rails-pvc '{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}' --dry-run=server; }
refused "the API server lets no claim grow whose class does not allow it" 'can be resized' grown
larger='{"spec":{"configStore":{"pvc":{"size":"2Gi"}}}}'
refused "a size that the claim's class does not allow is refused, with the class" 'StorageClass "fixed"' patch sgr rails "$larger"
kube patch storageclass fixed --type merge -p '{"allowVolumeExpansion":true}' >/dev/null
says "… and accepted the moment the class allows it" patched patch sgr rails "$larger"
check "… as the API server accepts the claim" until_true 10 grown
kube delete storageclass fixed >/dev/null
refused "a claim whose class is gone cannot grow either" 'is gone' patch sgr rails '{"spec":{"configStore":{"pvc":{"size":"3Gi"}}}}'

# Used caches.
json "$samples/minimal/inferenceservices.yaml" | jq '.metadata.name = "user" | .spec.storage.nimCache.name = "llm-cache"' >"$scratch/user.json"
apply -f "$scratch/user.json" >/dev/null 2>&1
refused "a cache in use cannot be deleted, and the user is named" 'user' kube -n "$ns" delete icache llm-cache --wait=false
dry_deletion() { api DELETE "/apis/stackgate.dev/v1alpha1/namespaces/$ns/inferencecaches/llm-cache?dryRun=All" | jq -r .message; }
says "… not even as a dry run" 'user' dry_deletion
check "it is still there" kube -n "$ns" get icache llm-cache
kube -n "$ns" delete isvc user --wait=false >/dev/null
check "without a user it can be deleted" kube -n "$ns" delete icache llm-cache --wait=false

# A namespace that goes away: the namespace controller deletes collections, kind by kind, until nothing is left.
apply -f "$samples/minimal/inferencecaches.yaml" >/dev/null
apply -f "$scratch/user.json" >/dev/null 2>&1
kube delete namespace "$ns" --wait=false >/dev/null
for _ in 1 2 3; do
  for plural in inferencecaches inferenceservices; do api DELETE "/apis/stackgate.dev/v1alpha1/namespaces/$ns/$plural" >/dev/null; done
done
same "a namespace with a cache and its user empties itself" "" "$(kube -n "$ns" get icache,isvc -o name 2>/dev/null)"
