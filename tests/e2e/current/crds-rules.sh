#!/usr/bin/env bash
# What only a current API server does with our definitions: CEL rules, unknown fields, list types in server-side apply.
# Each rule is broken by one change to the minimal sample; `stackgate validate` must then name the same rule.
# shellcheck disable=SC2154 # gate_binary comes with lib.sh
source "$(dirname "$(realpath "$0")")/../lib.sh"

kinds=(inferenceservices inferencecaches inferencepipelines stackdatastores stackentitystores stackcustomizers
  stackevaluators stackguardrails)

# post PLURAL FILE [QUERY]: creates by a raw call with strict decoding; prints "accepted" or why not.
post() {
  api POST "/apis/stackgate.dev/v1alpha1/namespaces/$ns/$1?fieldValidation=Strict${3:-&dryRun=All}" \
    -H "Content-Type: application/${4:-json}" --data-binary "@$2" | jq -r 'if .kind == "Status" then .message else "accepted" end'
}

for set in minimal full; do
  for plural in "${kinds[@]}"; do
    same "$set/$plural passes every rule and strict decoding" accepted "$(post "$plural" "$samples/$set/$plural.yaml" '' yaml)"
  done
done

minimal() { # PLURAL CHANGE: the minimal sample, changed
  [ -s "$scratch/$1.json" ] || json "$samples/minimal/$1.yaml" >"$scratch/$1.json"
  jq "$2" "$scratch/$1.json" >"$scratch/object.json"
}

# The gate's own verdict on the same object; only where it is built.
gate_agrees() { # NAME RULE
  [ -x "$gate_binary" ] || return 0
  local found
  found=$("$gate_binary" validate --output json "$scratch/object.json" 2>/dev/null | jq -r '.[] | select(.severity == "error") | .rule')
  if [ -z "$2" ] || grep -qx -- "$2" <<<"$found"; then ok "$1, and the gate says so too"; else not_ok "$1, and the gate says so too" "it says: $found"; fi
}
[ -x "$gate_binary" ] || echo "skip the gate's verdicts: $gate_binary is not built"

# --- RULE | KIND | change that breaks it
tried=(cache-immutable)  # further below
while IFS='|' read -r rule plural change; do
  tried+=("$rule")
  minimal "$plural" "$change"
  words=$(post "$plural" "$scratch/object.json")
  name="$plural: $change breaks $rule"
  if [[ $words != *"[$rule]"* ]]; then
    not_ok "$name" "$words"
  elif [ "$(grep -oE '\[[a-z-]+\]' <<<"$words" | sort -u | wc -l)" != 1 ]; then
    not_ok "$name and no other rule" "$words"
  else
    ok "$name and no other rule"
  fi
  gate_agrees "$plural: $change breaks $rule" "$rule"
done <<'T'
scale-excludes-replicas|inferenceservices|.spec.replicas = 2 | .spec.scale = {enabled: true, maxReplicas: 4}
scale-excludes-multinode|inferenceservices|.spec.multiNode = {size: 2} | .spec.scale = {enabled: true, maxReplicas: 4}
scale-bounds|inferenceservices|.spec.scale = {enabled: true, minReplicas: 4, maxReplicas: 2}
gpu-missing|inferenceservices|.spec.resources = {}
gpu-missing|inferenceservices|.spec.resources.limits = {memory: "1Gi"}
gpu-requests-differ-from-limits|inferenceservices|.spec.resources.requests = {"nvidia.com/gpu": 2}
gpu-requests-differ-from-limits|inferenceservices|.spec.resources.requests = {"nvidia.com/gpu": "2"}
gpu-requests-differ-from-limits|inferenceservices|.spec.resources.requests = {"amd.com/gpu": 1}
gpu-requests-differ-from-limits|stackguardrails|.spec.resources.requests = {"nvidia.com/gpu": 1}
ingress-and-route|inferenceservices|.spec.expose = {ingress: {enabled: true}, httpRoute: {enabled: true, parentRefs: [{name: "a"}]}}
ingress-and-route|stackdatastores|.spec.expose = {ingress: {enabled: true}, httpRoute: {enabled: true, parentRefs: [{name: "a"}]}}
env-value-twice|inferenceservices|.spec.env = [{name: "A", value: "a", valueFrom: {fieldRef: {fieldPath: "metadata.name"}}}]
env-value-source|inferenceservices|.spec.env = [{name: "A", valueFrom: {}}]
env-value-source|stackcustomizers|.spec.env = [{name: "A", valueFrom: {secretKeyRef: {name: "a", key: "b"}, configMapKeyRef: {name: "a", key: "b"}}}]
root-with-non-root|inferenceservices|.spec.podSecurityContext = {runAsNonRoot: true, runAsUser: 0}
root-with-non-root|stackcustomizers|.spec.modelDownloadJobs.securityContext = {runAsNonRoot: true, runAsUser: 0}
seccomp-profile|stackevaluators|.spec.podSecurityContext.seccompProfile = {type: "Localhost"}
seccomp-profile|stackevaluators|.spec.podSecurityContext.seccompProfile = {type: "RuntimeDefault", localhostProfile: "a.json"}
scale-max-missing|inferenceservices|.spec.scale = {enabled: true}
multinode-size-missing|inferenceservices|.spec.multiNode = {tensorParallelism: 1}
toleration-key|inferenceservices|.spec.tolerations = [{operator: "Equal", value: "x"}]
toleration-key|stackcustomizers|.spec.trainingConfig.tolerations = [{effect: "NoSchedule"}]
toleration-value|inferencecaches|.spec.tolerations = [{key: "a", operator: "Exists", value: "x"}]
toleration-seconds|stackguardrails|.spec.tolerations = [{key: "a", effect: "NoSchedule", tolerationSeconds: 5}]
cache-volume-read-only|inferencecaches|.spec.storage.pvc.volumeAccessMode = "ReadOnlyMany"
datastore-replicas-without-volume|stackdatastores|del(.spec.pvc) | .spec.replicas = 2
queue-name-missing|stackcustomizers|.spec.scheduler = {type: "queue", queueDialect: "kai"}
pipeline-dependency-disabled|inferencepipelines|.spec.services[1].enabled = false
pipeline-env-pair|inferencepipelines|del(.spec.services[0].dependencies[0].envName)
toleration-value|inferencepipelines|.spec.services[0].spec.tolerations = [{key: "a", operator: "Exists", value: "x"}]
resource-name|inferencepipelines|.metadata.name = ("a" * 64)
cache-source-exactly-one|inferencecaches|.spec.source = {}
cache-source-exactly-one|inferencecaches|.spec.source.datastore = {endpoint: "http://datastore:8000", repository: "models/llm"}
pvc-create-incomplete|inferencecaches|del(.spec.storage.pvc.size)
pvc-create-incomplete|stackdatastores|del(.spec.pvc.volumeAccessMode)
pvc-create-incomplete|stackcustomizers|del(.spec.trainingConfig.modelPVC.size)
pvc-create-incomplete|stackguardrails|.spec.configStore = {pvc: {create: true}}
pvc-name-missing|inferencecaches|.spec.storage.pvc = {}
pvc-name-missing|stackdatastores|.spec.pvc = {create: false}
pipeline-dependency-unknown|inferencepipelines|.spec.services[0].dependencies[0].name = "nobody"
pipeline-dependency-unknown|inferencepipelines|.spec.services[0].dependencies[0].name = "assistant-llm"
gpu-missing|inferencepipelines|.spec.services[1].spec.resources.limits = {memory: "1Gi"}
scale-excludes-replicas|inferencepipelines|.spec.services[1].spec += {replicas: 1, scale: {enabled: true, maxReplicas: 4}}
scale-bounds|inferencepipelines|.spec.services[1].spec.scale = {enabled: true, minReplicas: 4, maxReplicas: 2}
url-user-info|stackentitystores|.spec.datastore.endpoint = "http://admin:secret@datastore:8000"
url-user-info|inferencecaches|.spec.proxy.httpsProxy = "http://me@proxy:3128"
url-user-info|stackevaluators|.spec.vectorDB.endpoint = "postgresql://me:secret@pgvector:5432/vectors"
otel-endpoint-missing|stackguardrails|.spec.otel = {enabled: true}
otel-endpoint-missing|stackguardrails|.spec.otel = {enabled: true, exporterConfig: {tracesExporter: "none", metricsExporter: "console"}}
queue-dialect-needs-queue|stackcustomizers|.spec.scheduler = {queueDialect: "kueue"}
queue-dialect-needs-queue|stackcustomizers|.spec.scheduler = {type: "gang", queueDialect: "kai"}
tracker-incomplete|stackcustomizers|.spec.experimentTracker = {secretName: "tracker", apiKeyKey: "apiKey"}
tracker-incomplete|stackcustomizers|.spec.experimentTracker = {secretName: "tracker", encryptionKey: "key"}
tracker-incomplete|stackcustomizers|.spec.experimentTracker = {apiKeyKey: "apiKey", encryptionKey: "key"}
evaluator-datastore-suffix|stackevaluators|.spec.datastore.endpoint = "http://datastore:8000"
evaluator-datastore-suffix|stackevaluators|.spec.datastore.endpoint = "http://datastore:8000/v1/hf/x"
evaluator-datastore-suffix|stackevaluators|.spec.datastore.endpoint = "http://datastore:8000/v1/hf//"
evaluation-image-missing|stackevaluators|del(.spec.evaluationImages.bfcl)
evaluation-image-missing|stackevaluators|.spec.evaluationImages = {}
guardrail-base-url|stackguardrails|.spec.nimEndpoint.baseURL = "http://llm:8000"
guardrail-base-url|stackguardrails|.spec.nimEndpoint.baseURL = "http://llm:8000/v1/chat/completions"
guardrail-base-url|stackguardrails|.spec.nimEndpoint.baseURL = "http://llm:8000/v1//"
guardrail-base-url|stackguardrails|.spec.nimEndpoint.baseURL = "http://llm:8000/V1"
configstore-exactly-one|stackguardrails|.spec.configStore = {}
configstore-exactly-one|stackguardrails|.spec.configStore.pvc = {name: "rails"}
name-reserved|inferenceservices|.metadata.name = "default"
name-reserved|stackdatastores|.metadata.name = "default"
name-reserved|inferencepipelines|.spec.services[0].name = "default"
resource-name|inferenceservices|.metadata.name = ("a" * 64)
resource-name|stackdatastores|.metadata.name = "1datastore"
resource-name|stackguardrails|.metadata.name = "guard.rail"
resource-name|inferencecaches|.metadata.name = ("a" * 64)
T
same "every rule of the definitions is tried" "$(grep -ohE ' \[[a-z]+(-[a-z]+)+\]' "$repo"/crds/*.yaml | tr -d ' []' | sort -u)" \
  "$(printf '%s\n' "${tried[@]}" | sort -u)"

# --- KIND | change that stays within the rules
while IFS='|' read -r plural change; do
  minimal "$plural" "$change"
  same "$plural: $change passes" accepted "$(post "$plural" "$scratch/object.json")"
  if [ -x "$gate_binary" ]; then
    if words=$("$gate_binary" validate "$scratch/object.json" 2>&1); then
      ok "$plural: $change passes the gate too"
    else
      not_ok "$plural: $change passes the gate too" "$words"
    fi
  fi
done <<'T'
inferenceservices|.spec.replicas = 0
inferenceservices|.spec.replicas = 2 | .spec.scale = {enabled: false, maxReplicas: 4}
inferenceservices|.spec.resources.requests.cpu = 1 | .spec.scale = {enabled: true, minReplicas: 2, maxReplicas: 2}
inferenceservices|.spec.tolerations = [{operator: "Exists"}, {key: "a", value: "b"}, {key: "c", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5}]
inferencepipelines|.spec.services[].enabled = false
stackdatastores|del(.spec.pvc) | .spec.replicas = 1
stackcustomizers|.spec.scheduler.type = "queue"
inferenceservices|.spec.resources.requests = {"nvidia.com/gpu": "1"}
inferenceservices|.spec.expose = {ingress: {enabled: true, host: "llm.example.com"}, httpRoute: {enabled: false}}
inferenceservices|.spec.env = [{name: "A", value: "", valueFrom: {fieldRef: {fieldPath: "metadata.name"}}}, {name: "B", value: ""}]
inferenceservices|.spec.env = [{name: "A", value: null, valueFrom: {fieldRef: {fieldPath: "metadata.name"}}}]
inferenceservices|.spec.tolerations = [{key: "", operator: "Exists", value: ""}, {key: "a", operator: "Exists", value: null}]
inferenceservices|.spec.nodeSelector = {"node-role.kubernetes.io/gpu": ""}
inferenceservices|.spec.podSecurityContext = {runAsNonRoot: true, runAsUser: 1}
inferenceservices|.spec.podSecurityContext = {runAsNonRoot: false, runAsUser: 0}
inferenceservices|.spec.storage.nimCache = {name: "llm-cache", profile: ""}
inferenceservices|.metadata.name = ("a" * 40)
inferenceservices|.metadata.name = "default" | .spec.serviceAccountName = "models"
inferencepipelines|.spec.services[0] |= (.name = "default" | .spec.serviceAccountName = "models")
inferencepipelines|.metadata.name = "default"
inferencecaches|.metadata.name = "default"
inferencecaches|.spec.storage.pvc = {name: "models"}
inferencecaches|.spec.storage.pvc.storageClass = ""
inferencecaches|.spec.source = {datastore: {endpoint: "http://datastore:8000", repository: "models/llm"}}
stackguardrails|.spec.otel = {enabled: true, exporterConfig: {tracesExporter: "none", metricsExporter: "console", logsExporter: "none"}}
stackguardrails|.spec.otel = {enabled: true, exporterOtlpEndpoint: "http://collector:4318"}
stackguardrails|.spec.otel = {}
inferencepipelines|.spec.services[0].dependencies[0] |= (del(.envName) | .envValue = null)
stackdatastores|.spec.pvc += {storageClass: "", subPath: ""}
stackguardrails|.spec.nimEndpoint.baseURL = "https://inference.example.com/team/v1"
stackguardrails|.spec.configStore = {pvc: {name: "rails"}}
stackcustomizers|.spec.scheduler = {type: "queue", queueDialect: "kueue"} | .spec.trainingConfig.queueName = "research"
stackevaluators|.spec.datastore.endpoint = "https://data.example.com/team/v1/hf"
stackevaluators|.spec.vectorDB.endpoint = "postgresql://pgvector:5432/vectors"
T

# --- Rules about a change
minimal inferencecaches '.'
same "a cache is created" accepted "$(post inferencecaches "$scratch/object.json" '&')"
change() { # FILTER: replaces the stored cache with what the filter makes of it
  kube -n "$ns" get inferencecache llm-cache -o json | jq "$1" >"$scratch/changed.json"
  api PUT "/apis/stackgate.dev/v1alpha1/namespaces/$ns/inferencecaches/llm-cache" -H 'Content-Type: application/json' \
    --data-binary "@$scratch/changed.json" | jq -r 'if .kind == "Status" then .message else "accepted" end'
}
for filter in '.spec.source.registry.authSecret = "other"' '.spec.storage.pvc.size = "200Gi"' 'del(.spec.source.registry.modelPuller)'; do
  words=$(change "$filter")
  if [[ $words == *'[cache-immutable]'* ]]; then ok "a stored cache: $filter breaks cache-immutable"; else not_ok "a stored cache: $filter breaks cache-immutable" "$words"; fi
done
same "a stored cache may get labels" accepted "$(change '.metadata.labels.team = "a"')"
same "a stored cache may get another proxy" accepted "$(change '.spec.proxy.httpsProxy = "http://proxy:3128"')"

# --- Strict decoding
while IFS='|' read -r plural change field; do
  minimal "$plural" "$change"
  words=$(post "$plural" "$scratch/object.json")
  if [[ $words == *"unknown field \"$field\""* ]]; then ok "$plural: $field is unknown"; else not_ok "$plural: $field is unknown" "$words"; fi
done <<'T'
inferenceservices|.spec.image.pullpolicy = "Always"|spec.image.pullpolicy
inferenceservices|.spec.startupProbe.periodSeconds = 1|spec.startupProbe.periodSeconds
inferencepipelines|.spec.services[0].spec.resource = {}|spec.services[0].spec.resource
stackcustomizers|.spec.trainingConfig.networkConfig = [{name: "A", valueFrom: {}}]|spec.trainingConfig.networkConfig[0].valueFrom
stackguardrails|.spec.configstore = {}|spec.configstore
stackdatastores|.spec.objectStoreConfig = {endpoint: "a:1", bucketName: "abc", accessKey: "x"}|spec.objectStoreConfig.accessKey
T

# --- Server-side apply: two owners of one list, each with an entry of its own
ssa() { # OWNER BODY
  api PATCH "/apis/stackgate.dev/v1alpha1/namespaces/$ns/stackguardrails/guardrail?fieldManager=$1" \
    -H 'Content-Type: application/apply-patch+yaml' --data-binary "$2" | jq -r 'if .kind == "Status" then .message else "accepted" end'
}
owned() {
  jq -c --arg name "FROM_${1^^}" --arg secret "$1" '.spec += {env: [{name: $name, value: "1"}], image: {pullSecrets: [$secret]},
    tolerations: [{key: "a", operator: "Exists"}]}' "$scratch/stackguardrails.json"
}
minimal stackguardrails '.'
for owner in one two; do same "owner $owner adds a variable and a pull secret" accepted "$(ssa "$owner" "$(owned "$owner")")"; done
guardrail=$(kube -n "$ns" get stackguardrail guardrail -o json)
same "env holds the entries of both" '["FROM_ONE","FROM_TWO"]' "$(jq -c '[.spec.env[].name]' <<<"$guardrail")"
same "pullSecrets hold the names of both" '["one","two"]' "$(jq -c .spec.image.pullSecrets <<<"$guardrail")"
words=$(ssa two "$(owned two | jq -c '.spec.tolerations[0].key = "b"')")
if [[ $words == *conflict*tolerations* ]]; then ok "tolerations belong to one owner as a whole"; else not_ok "tolerations belong to one owner as a whole" "$words"; fi
words=$(ssa two "$(owned two | jq -c '.spec.env[0].name = "FROM_ONE" | .spec.env[0].value = "2"')")
if [[ $words == *conflict*FROM_ONE* ]]; then ok "one variable has one owner"; else not_ok "one variable has one owner" "$words"; fi
