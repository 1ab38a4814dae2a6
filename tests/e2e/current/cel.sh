#!/usr/bin/env bash
# What the CRDs say in CEL, on a server that understands it, and with the same verdict from the gate's rules.
# shellcheck disable=SC2154 # lib.sh sets them
source "$(dirname "$(realpath "$0")")/../lib.sh"

# rule id | sample | what is done to it (jq)
table() {
  cat <<'ROWS'
cache-source-exactly-one|inferencecaches|del(.spec.source.registry)
cache-source-exactly-one|inferencecaches|.spec.source.datastore = {endpoint: "http://datastore:8000", repository: "a/b"}
pipeline-dependency-unknown|inferencepipelines|.spec.services[0].dependencies[0].name = "nobody"
queue-dialect-needs-queue|stackcustomizers|.spec.scheduler = {type: "gang", queueDialect: "kai"}
tracker-incomplete|stackcustomizers|.spec.experimentTracker = {secretName: "tracker"}
url-user-info|stackcustomizers|.spec.trackingServer.endpoint = "http://me:word@mlflow:5000"
evaluator-datastore-suffix|stackevaluators|.spec.datastore.endpoint = "http://datastore:8000"
guardrail-base-url|stackguardrails|.spec.nimEndpoint.baseURL = "http://llm:8000"
configstore-exactly-one|stackguardrails|.spec.configStore = {}
configstore-exactly-one|stackguardrails|.spec.configStore.pvc = {name: "config"}
gpu-missing|inferenceservices|.spec.resources.limits = {memory: "1Gi"}
scale-bounds|inferenceservices|.spec.scale = {enabled: true, minReplicas: 3, maxReplicas: 2}
root-with-non-root|stackcustomizers|.spec.modelDownloadJobs.securityContext = {runAsNonRoot: true, runAsUser: 0}
pvc-create-incomplete|stackdatastores|del(.spec.pvc.size)
env-value-source|inferenceservices|.spec.env = [{name: "A", valueFrom: {}}]
env-value-twice|inferenceservices|.spec.env = [{name: "A", value: "x", valueFrom: {secretKeyRef: {name: "s", key: "k"}}}]
evaluation-image-missing|stackevaluators|del(.spec.evaluationImages.rag)
gpu-requests-differ-from-limits|inferenceservices|.spec.resources.requests = {"nvidia.com/gpu": 2}
ingress-and-route|stackentitystores|.spec.expose = {ingress: {enabled: true, host: "a.example.com"}, httpRoute: {enabled: true, parentRefs: [{name: "g"}]}}
resource-name|inferencecaches|.metadata.name = ("a" * 64)
resource-name|stackentitystores|.metadata.name = ("a" * 64)
otel-endpoint-missing|stackevaluators|.spec.otel = {enabled: true}
scale-excludes-replicas|inferenceservices|.spec.replicas = 2 | .spec.scale = {enabled: true, maxReplicas: 4}
scale-excludes-multinode|inferenceservices|.spec.multiNode = {size: 2} | .spec.scale = {enabled: true, maxReplicas: 4}
seccomp-profile|stackentitystores|.spec.podSecurityContext = {seccompProfile: {type: "Localhost"}}
pvc-name-missing|stackdatastores|.spec.pvc = {create: false}
scale-max-missing|inferenceservices|.spec.scale = {enabled: true}
multinode-size-missing|inferenceservices|.spec.multiNode = {tensorParallelism: 1}
toleration-key|inferenceservices|.spec.tolerations = [{operator: "Equal", value: "x"}]
toleration-value|inferencecaches|.spec.tolerations = [{key: "a", operator: "Exists", value: "x"}]
toleration-seconds|stackguardrails|.spec.tolerations = [{key: "a", effect: "NoSchedule", tolerationSeconds: 5}]
cache-volume-read-only|inferencecaches|.spec.storage.pvc.volumeAccessMode = "ReadOnlyMany"
datastore-replicas-without-volume|stackdatastores|del(.spec.pvc) | .spec.replicas = 2
queue-name-missing|stackcustomizers|.spec.scheduler = {type: "queue", queueDialect: "kai"}
pipeline-dependency-disabled|inferencepipelines|.spec.services[1].enabled = false
pipeline-env-pair|inferencepipelines|del(.spec.services[0].dependencies[0].envName)
ROWS
}

offline() { "$gate_binary" validate --output json "$1" | jq -r '.[] | "\(.rule) \(.path): \(.message) \(.fix)"'; }

for file in "$samples"/{minimal,full}/*.yaml; do
  check "$(basename "$(dirname "$file")")/$(basename "$file" .yaml) satisfies the CEL rules" dry_run <(json "$file")
done
same "every CEL rule of the CRDs is tried below" "$(grep -ohE ' \[[a-z]+(-[a-z]+)+\]' "$repo"/crds/*.yaml | tr -d ' []' | sort -u)" \
  "$({ table | cut -d'|' -f1 && echo cache-immutable; } | sort -u)"
while IFS='|' read -r rule plural change; do # the last field keeps its own bars
  json "$samples/minimal/$plural.yaml" | jq "$change" >"$scratch/$rule.json"
  refused "$plural, $change: the server alone says $rule" "[$rule]" dry_run "$scratch/$rule.json"
  says "… and so does 'stackgate validate'" "$rule" offline "$scratch/$rule.json"
done < <(table)

# Transition rules: what was stored cannot change.
apply -f "$samples/minimal/inferencecaches.yaml" >/dev/null
refused "the server alone keeps a cache's storage" '[cache-immutable]' \
  kube -n "$ns" patch icache llm-cache --type merge -p '{"spec":{"storage":{"pvc":{"size":"200Gi"}}}}'

# With the gate in front: one refusal that names all, although the server would stop at CEL.
gate_up
json "$samples/minimal/stackguardrails.yaml" | jq '.spec.nimEndpoint.baseURL = "http://llm:8000" | .spec.replicas = -1 | .spec.configStore = {}' >"$scratch/many.json"
words=$(dry_run "$scratch/many.json")
for field in spec.nimEndpoint.baseURL spec.replicas spec.configStore; do
  says "the gate's refusal comes first and names $field" "$field: " echo "$words"
done
says "the user is told by name who asks" 'admin' grep -m1 -o '"user":"admin"' "$state/$script.log"

# Strict decoding: unknown fields are faults for the server too.
json "$samples/minimal/stackguardrails.yaml" | jq '.spec.replica = 1' >"$scratch/unknown.json"
refused "strict decoding refuses an unknown field" 'spec.replica' \
  api POST "/apis/stackgate.dev/v1alpha1/namespaces/$ns/stackguardrails?dryRun=All&fieldValidation=Strict" --fail-with-body \
  -H 'Content-Type: application/json' --data-binary "@$scratch/unknown.json"
says "… and the rules name the one that was meant" 'replicas' offline "$scratch/unknown.json"
