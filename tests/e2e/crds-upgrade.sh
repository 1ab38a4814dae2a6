#!/usr/bin/env bash
# stackgate crds --apply, with the rights that the chart's Job gives it: new, the same again, changed, refused, lost on
# the way.
source "$(dirname "$(realpath "$0")")/lib.sh"
"$repo/tests/chart/build.sh" || { not_ok "the chart's renderer can be built" && exit 1; }
"$repo/build/chart/render" -json "$repo/chart" |
  jq -c 'select(.metadata.name == "stackgate-crds" and (.kind | test("^ClusterRole|^ServiceAccount")))' | kube apply -f - >/dev/null ||
  not_ok "the Job's rights can be installed"
kubeconfig_of system:serviceaccount:stackgate-system:stackgate-crds "$scratch/job.kubeconfig"
crds() { "$gate_binary" crds --apply --kubeconfig "$scratch/job.kubeconfig" "$@"; }
change() { kube patch crd "$1.stackgate.dev" --type json -p "$2" >/dev/null; }
generation() { kube get crd "$1.stackgate.dev" -o jsonpath='{.metadata.generation} {.metadata.resourceVersion}'; }
at=/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties

# --- Everything new
kube delete crd -l app.kubernetes.io/part-of=stackgate --wait=true >/dev/null
says "a dry run says what would be created" "inferencecaches.stackgate.dev would be created" crds --dry-run
refused "… and creates nothing" 'not found' kube get crd inferencecaches.stackgate.dev
says "all definitions are created" "stackguardrails.stackgate.dev created" crds
same "… eight of them, and all are served at once" "8" "$(kube get crd -o json |
  jq '[.items[] | select(.spec.group == "stackgate.dev") | select(.status.conditions[] | .type == "Established" and .status == "True")] | length')"
before=$(generation inferencecaches)
says "once more, nothing is to do" "inferencecaches.stackgate.dev unchanged" crds
same "… and nothing was written" "$before" "$(generation inferencecaches)"

# --- Changed: a resource and its data survive
until_true 30 kube get stackgate -A
apply -f "$samples/minimal/inferencecaches.yaml" >/dev/null
cache=$(json "$samples/minimal/inferencecaches.yaml" | jq -r .metadata.name)
uid=$(kube -n "$ns" get inferencecache "$cache" -o jsonpath='{.metadata.uid}')
change inferencecaches "[{\"op\": \"remove\", \"path\": \"$at/proxy\"}, {\"op\": \"add\", \"path\": \"$at/old\", \"value\": {\"type\": \"string\"}},
  {\"op\": \"add\", \"path\": \"$at/groupID/maximum\", \"value\": 5}]"
words=$(crds --dry-run icache)
same "a dry run says what an upgrade would change, by field" "inferencecaches.stackgate.dev would be changed
  ~ spec.groupID: maximum 5 -> 2147483647
  - spec.old (stored values are dropped when their resources are next written)
  + spec.proxy" "$(grep -v 'older than 1.23' <<<"$words")"
same "… and changes nothing" 5 "$(kube get crd inferencecaches.stackgate.dev -o json | jq '.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.groupID.maximum')"
says "the upgrade does it" "inferencecaches.stackgate.dev changed" crds
says "… whoever had applied the definitions before" "unchanged" crds icache
same "the resource is the one it was" "$uid" "$(kube -n "$ns" get inferencecache "$cache" -o jsonpath='{.metadata.uid}')"
install_crds >/dev/null 2>&1
says "definitions that kubectl applied are taken over" "inferencecaches.stackgate.dev" crds icache

# --- Refused: nothing at all is changed then
change stackguardrails '[{"op": "replace", "path": "/spec/names/shortNames", "value": ["guard"]}]'
change inferencecaches '[{"op": "add", "path": "/spec/versions/-", "value": {"name": "v1", "served": true, "storage": false,
  "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}]'
api PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/inferencecaches.stackgate.dev/status \
  -H 'Content-Type: application/merge-patch+json' -d '{"status": {"storedVersions": ["v1alpha1", "v1"]}}' -o /dev/null
refused "a version with stored resources is not dropped" "inferencecaches.stackgate.dev has resources stored as v1," crds
refused "… and no other definition is touched" "Nothing was changed." crds
same "… really" guard "$(kube get crd stackguardrails.stackgate.dev -o jsonpath='{.spec.names.shortNames[0]}')"
api PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/inferencecaches.stackgate.dev/status \
  -H 'Content-Type: application/merge-patch+json' -d '{"status": {"storedVersions": ["v1alpha1"]}}' -o /dev/null
says "a version without stored resources is dropped" "- version v1" crds

# --- Names that another definition has taken
kube delete crd stackguardrails.stackgate.dev --wait=true >/dev/null
kube apply -f - >/dev/null <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: guards.stackgate.dev}
spec:
  group: stackgate.dev
  scope: Namespaced
  names: {kind: Guard, plural: guards, shortNames: [sgr]}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
YAML
kube wait --for=condition=Established --timeout=10s crd/guards.stackgate.dev >/dev/null
refused "a taken name is told in the API server's words" '"sgr" is already in use' crds --timeout 2 sgr
kube delete crd guards.stackgate.dev stackguardrails.stackgate.dev --wait=true >/dev/null
check "… and without the other it goes in" crds

# --- Rights and servers
kube delete clusterrolebinding stackgate-crds >/dev/null
until_true 10 bash -c "! $(printf '%q ' "$KUBECTL" --kubeconfig "$scratch/job.kubeconfig") auth can-i get crd/inferencecaches.stackgate.dev"
refused "without rights it says which one is missing" 'cannot get resource "customresourcedefinitions"' crds
kube delete clusterrole/stackgate-crds serviceaccount/stackgate-crds -n stackgate-system >/dev/null
sed -i 's|https://127.0.0.1:[0-9]*|https://127.0.0.1:1|' "$scratch/job.kubeconfig"
refused "without an API server it says so" '127.0.0.1 port 1' timeout 120 "$gate_binary" crds --apply --kubeconfig "$scratch/job.kubeconfig"
install_crds >/dev/null 2>&1
