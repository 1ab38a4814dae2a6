#!/usr/bin/env bash
# The definitions and samples against a real API server without the gate: structural schemas, defaults, columns, explain,
# list types, the status subresource, and what the schemas alone refuse.
source "$(dirname "$(realpath "$0")")/lib.sh"

kinds=(inferenceservices inferencecaches inferencepipelines stackdatastores stackentitystores stackcustomizers
  stackevaluators stackguardrails)

for plural in "${kinds[@]}"; do
  crd=$(kube get crd "$plural.stackgate.dev" -o json)
  same "$plural is established, its names are accepted and its schema is structural" "Established NamesAccepted" \
    "$(jq -r '[.status.conditions[] | select(.status == "True") | .type] | sort | join(" ")' <<<"$crd")"
  short=$(jq -r '.spec.names.shortNames[0]' <<<"$crd")
  check "$plural can be had by its short name $short" kube -n "$ns" get "$short"
done
same "all eight are in the category stackgate" "${#kinds[@]}" \
  "$(kube -n "$ns" get stackgate 2>&1 | grep -c 'No resources' | sed 's/^1$/8/')"

# explain FIELD TEXT
explain() { says "kubectl explain $1 tells of it" "$2" kube explain "$1"; }
explain inferenceservice "OpenAI-compatible"
explain inferenceservice.spec.authSecret REGISTRY_API_KEY
explain inferenceservice.spec.storage.sharedMemorySizeLimit 16Gi
explain inferencecache.spec.source "exactly one"
explain inferencepipeline.spec.services.dependencies.envName address
explain stackdatastore.spec.secrets.gitAdminSecret GIT_ADMIN_PASSWORD
explain stackcustomizer.spec.scheduler.type gang
explain stackevaluator.spec.datastore.endpoint /v1/hf
explain stackguardrail.spec.nimEndpoint.baseURL /v1
explain stackguardrail.status.state "all replicas are available"
undescribed=0
for plural in "${kinds[@]}"; do
  undescribed=$((undescribed + $(kube explain "$plural" --recursive=false 2>/dev/null | grep -c '<empty>')))
done
same "no kind is without a description" 0 "$undescribed"

for set in minimal full; do
  for plural in "${kinds[@]}"; do
    file=$samples/$set/$plural.yaml
    check "$set/$plural passes as a dry run, checked by kubectl too" kube -n "$ns" apply --dry-run=server -f "$file"
    check "$set/$plural passes by server-side apply" kube -n "$ns" apply --server-side --dry-run=server -f "$file"
  done
done
check "the stack passes as a dry run" kube -n "$ns" apply --dry-run=server -f "$samples/stack.yaml"
for plural in "${kinds[@]}"; do
  if kube -n "$ns" apply --dry-run=server -f "$samples/bad/$plural.yaml" >"$scratch/words" 2>&1; then
    not_ok "bad/$plural is refused by the schema alone"
  else
    # Otherwise the gate would never be asked.
    same "bad/$plural is refused by the server, not by kubectl" 1 "$(grep -c 'is invalid' "$scratch/words")"
  fi
done
refused "the sample with typing mistakes is refused by kubectl" "unknown field" kube -n "$ns" apply --dry-run=server -f "$samples/typos.yaml"

# Empty texts where they have a meaning, and null where Kubernetes' own types take it for one.
while IFS='|' read -r kind change; do
  json "$samples/minimal/$kind.yaml" | jq "$change" >"$scratch/object.json"
  check "$kind with $change is accepted" kube -n "$ns" create --dry-run=server --validate=false -f "$scratch/object.json"
done <<'T'
inferenceservices|.spec.storage.nimCache = {name: "llm-cache", profile: ""}
inferenceservices|.spec.env = [{name: "A", value: ""}, {name: "B", value: null}, {name: "C"}]
inferenceservices|.spec.nodeSelector = {"node-role.kubernetes.io/gpu": ""}
inferenceservices|.spec.tolerations = [{key: "", operator: "Exists", value: ""}]
inferencecaches|.spec.storage.pvc += {storageClass: "", subPath: ""}
stackdatastores|.spec.annotations = {a: ""} | .spec.labels = {b: ""}
T

# columns KIND HEADINGS [WIDE_HEADINGS]
columns() {
  check "$1 can be created" kube -n "$ns" apply -f "$samples/minimal/$1.yaml"
  same "kubectl get $1 has the columns that a person wants" "$2" "$(kube -n "$ns" get "$1" | head -1 | tr -s ' ' | sed 's/ $//')"
  same "kubectl get $1 -o wide has more" "$3" "$(kube -n "$ns" get "$1" -o wide | head -1 | tr -s ' ' | sed 's/ $//')"
}
columns inferenceservices "NAME STATE READY REPLICAS CACHE AGE" "NAME STATE READY REPLICAS CACHE IMAGE TAG REASON AGE"
columns inferencecaches "NAME STATE PERCENT PVC AGE" "NAME STATE PERCENT PVC SIZE REASON AGE"
columns inferencepipelines "NAME STATE REASON AGE" "NAME STATE REASON MESSAGE AGE"
columns stackdatastores "NAME STATE READY REPLICAS AGE" "NAME STATE READY REPLICAS BUCKET TAG REASON AGE"
columns stackentitystores "NAME STATE READY REPLICAS AGE" "NAME STATE READY REPLICAS TAG REASON AGE"
columns stackcustomizers "NAME STATE READY REPLICAS AGE" "NAME STATE READY REPLICAS SCHEDULER TAG REASON AGE"
columns stackevaluators "NAME STATE READY REPLICAS AGE" "NAME STATE READY REPLICAS WORKFLOWS TAG REASON AGE"
columns stackguardrails "NAME STATE READY REPLICAS AGE" "NAME STATE READY REPLICAS ENDPOINT TAG REASON AGE"

# --- Defaults: where the parent is there, and nowhere else
stored() { kube -n "$ns" get "$1" "$2" -o json | jq -c "$3"; }
same "scheduler.type is gang by default" '{"type":"gang"}' "$(stored stackcustomizer customizer .spec.scheduler)"
same "evaluator: levels and validation have their defaults" '["INFO",true]' \
  "$(stored stackevaluator evaluator '[.spec.evalLogLevel, .spec.enableValidation]')"
same "guardrail: the key has its default" '"INFERENCE_ENDPOINT_API_KEY"' "$(stored stackguardrail guardrail .spec.nimEndpoint.apiKeyKey)"
same "a database port is 5432 by default" 5432 "$(stored stackdatastore datastore .spec.databaseConfig.port)"
same "no feature turns itself on" '[null,null,null,null]' \
  "$(stored stackguardrail guardrail '[.spec.otel, .spec.metrics, .spec.expose, .spec.replicas]')"
kube -n "$ns" patch stackguardrail guardrail --type merge -p '{"spec":{"otel":{"enabled":false},"expose":{"service":{}}}}' >/dev/null
same "otel has all its defaults as soon as it is there" \
  '{"disableLogging":false,"enabled":false,"excludedUrls":["health"],"exporterConfig":{"logsExporter":"otlp","metricsExporter":"otlp","tracesExporter":"otlp"},"logLevel":"INFO"}' \
  "$(stored stackguardrail guardrail .spec.otel)"
same "a Service has its defaults" '{"port":8000,"type":"ClusterIP"}' "$(stored stackguardrail guardrail .spec.expose.service)"

# --- The status subresource
status() { api PATCH "/apis/stackgate.dev/v1alpha1/namespaces/$ns/$1/status" -H 'Content-Type: application/merge-patch+json' -d "$2" | jq -r '.message // "accepted"'; }
kube -n "$ns" patch stackguardrail guardrail --type merge -p '{"status":{"state":"Ready"}}' >/dev/null
same "users cannot write the status" null "$(stored stackguardrail guardrail .status)"
same "a whole status is accepted" accepted "$(status stackguardrails/guardrail '{"status":{"state":"Ready","availableReplicas":1,
  "observedGeneration":3,"conditions":[{"type":"Ready","status":"True","reason":"Available","message":"All pods are ready.","observedGeneration":3,
  "lastTransitionTime":"2026-01-02T03:04:05Z"}]}}')"
same "kubectl get shows it" "guardrail Ready 1" "$(kube -n "$ns" get stackguardrail guardrail --no-headers | awk '{print $1, $2, $3}')"
for case in "stackguardrails/guardrail PVCCreated" "inferencepipelines/assistant Pending" "inferencecaches/llm-cache PVC-Created" \
  "inferenceservices/llm ready"; do
  read -r object state_word <<<"$case"
  words=$(status "$object" "{\"status\":{\"state\":\"$state_word\"}}")
  if [[ $words == *status.state* ]]; then ok "$object cannot be in state $state_word"; else not_ok "$object cannot be in state $state_word" "$words"; fi
done
same "a cache has states of its own" accepted "$(status inferencecaches/llm-cache '{"status":{"state":"PVCCreated","pvc":"llm-cache-pvc",
  "progress":{"downloadedBytes":5,"totalBytes":10,"percent":50},"profiles":[{"name":"a","config":{"tp":"1"}}]}}')"
same "a pipeline reports its services" accepted \
  "$(status inferencepipelines/assistant '{"status":{"state":"NotReady","services":{"assistant-llm":"Pending"}}}')"

# --- What the schemas alone refuse: KIND, change to the minimal sample, field that is named
while IFS='|' read -r kind change field; do
  json "$samples/minimal/$kind.yaml" | jq "$change" >"$scratch/object.json"
  refused "$kind with $change is refused at $field" "$field" kube -n "$ns" create --dry-run=server --validate=false -f "$scratch/object.json"
done <<'T'
inferenceservices|del(.spec)|spec: Required
inferenceservices|del(.spec.image.tag)|spec.image.tag: Required
inferenceservices|del(.spec.authSecret)|spec.authSecret: Required
inferenceservices|del(.spec.resources)|spec.resources: Required
inferenceservices|.spec.authSecret = ""|spec.authSecret
inferenceservices|.spec.replicas = -1|spec.replicas
inferenceservices|.spec.replicas = "2"|spec.replicas
inferenceservices|.spec.image.pullPolicy = "always"|spec.image.pullPolicy: Unsupported
inferenceservices|.spec.expose.service.port = 65536|spec.expose.service.port
inferenceservices|.spec.expose.service.port = 0|spec.expose.service.port
inferenceservices|.spec.resources.limits.memory = "16GB"|spec.resources.limits.memory
inferenceservices|.spec.resources.limits.memory = -1|spec.resources.limits.memory
inferenceservices|.spec.resources.limits.cpu = 0.5|spec.resources.limits.cpu
inferenceservices|.spec.env = [{name: "A"}, {name: "A"}]|spec.env[1]: Duplicate
inferenceservices|.spec.env = [{value: "x"}]|spec.env.name: Required
inferenceservices|.spec.image.pullSecrets = ["a", "a"]|spec.image.pullSecrets[1]: Duplicate
inferenceservices|.spec.livenessProbe.probe.successThreshold = 2|spec.livenessProbe.probe.successThreshold
inferenceservices|.spec.startupProbe.probe.periodSeconds = 0|spec.startupProbe.probe.periodSeconds
inferenceservices|.spec.metrics.serviceMonitor.interval = "30"|spec.metrics.serviceMonitor.interval
inferenceservices|.spec.tolerations = [{effect: "NoRun"}]|spec.tolerations.effect: Unsupported
inferenceservices|.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution = [{}]|topologyKey: Required
inferenceservices|.spec.multiNode.size = 0|spec.multiNode.size
inferencecaches|del(.spec.storage.pvc)|spec.storage.pvc: Required
inferencecaches|.spec.source.registry.model.tensorParallelism = 2|spec.source.registry.model.tensorParallelism
inferencecaches|.spec.source.registry.model.tensorParallelism = "0"|spec.source.registry.model.tensorParallelism
inferencecaches|.spec.proxy.httpsProxy = "proxy:3128"|spec.proxy.httpsProxy
inferencecaches|.spec.userID = -1|spec.userID
inferencepipelines|.spec.services = []|spec.services
inferencepipelines|.spec.services[1].name = .spec.services[0].name|spec.services[1]: Duplicate
inferencepipelines|del(.spec.services[0].spec.authSecret)|spec.services.spec.authSecret: Required
inferencepipelines|.spec.services[0].name = "0llm"|spec.services.name
stackdatastores|del(.spec.secrets.lfsJwtSecret)|spec.secrets.lfsJwtSecret: Required
stackdatastores|del(.spec.databaseConfig.credentials.passwordKey)|spec.databaseConfig.credentials.passwordKey: Required
stackdatastores|.spec.objectStoreConfig = {}|spec.objectStoreConfig.endpoint: Required
stackentitystores|del(.spec.databaseConfig)|spec.databaseConfig: Required
stackentitystores|.spec.datastore.endpoint = "datastore:8000"|spec.datastore.endpoint
stackcustomizers|del(.spec.trainingConfig.workspacePVC)|spec.trainingConfig.workspacePVC: Required
stackcustomizers|.spec.scheduler.type = "volcano"|spec.scheduler.type: Unsupported
stackcustomizers|.spec.modelDownloadJobs.ttlSecondsAfterFinished = -1|spec.modelDownloadJobs.ttlSecondsAfterFinished
stackevaluators|del(.spec.evaluationImages)|spec.evaluationImages: Required
stackevaluators|.spec.evalLogLevel = "info"|spec.evalLogLevel: Unsupported
stackguardrails|del(.spec.configStore)|spec.configStore: Required
stackguardrails|del(.spec.nimEndpoint.baseURL)|spec.nimEndpoint.baseURL: Required
stackguardrails|.spec.configStore.configMap = "guardrail-config"|spec.configStore.configMap
T
