# Sourced, after lib.sh. The scenario of the disturbed runs, as lines of JSON: see tests/chaos/stage.hpp.
# shellcheck shell=bash disable=SC2034,SC2154

# More than the sample stack has, so that there is something to take away and a child of every type: a selector of nodes,
# metrics, an Ingress; a generated key (multi-node); an autoscaler and an HTTPRoute.
richer='if .kind == "InferenceService" and .metadata.name == "llm" then
    .spec += {nodeSelector: {disk: "ssd"}, metrics: {enabled: true}, labels: {team: "a"}}
    | .spec.expose.ingress = {enabled: true, host: "llm.example.com"}
  elif .kind == "StackGuardrail" then .spec += {metrics: {enabled: true}, nodeSelector: {disk: "ssd"}}
  else . end'
nodes='.metadata.name = "nodes" | .spec.multiNode = {size: 2, tensorParallelism: 1, pipelineParallelism: 2}'
scaled='.metadata.name = "scaled" | .spec.resources.requests = {cpu: "1"} | .spec.expose.httpRoute = {enabled: true, parentRefs: [{name: "public"}]}
  | .spec.scale = {enabled: true, maxReplicas: 3, metrics: [
    {type: "Resource", resource: {name: "cpu", target: {type: "Utilization", averageUtilization: 70}}}]}'

scenario_before() {
  {
    objects "$samples/stack.yaml" | jq -c 'select(.apiVersion != "stackgate.dev/v1alpha1")'
    jq -cn '{apiVersion: "v1", kind: "Secret", metadata: {name: "guardrail-db"}, stringData: {password: "example"}}'
  } | jq -c '{stage: "before", create: .}'
}

scenario_create() {
  {
    objects "$samples/stack.yaml" | jq -c "select(.apiVersion == \"stackgate.dev/v1alpha1\") | $richer"
    for each in "$nodes" "$scaled"; do objects "$samples/minimal/inferenceservices.yaml" | jq -c "$each"; done
  } | jq -c '{stage: "create", create: .}'
}

# A field that a kind does not have, the API server drops without a word; the gate does not.
scenario_admitted() {
  check "the gate admits the resources of the scenario" "$gate_binary" validate - < <({ scenario_before && scenario_create; } | jq .create)
}

# Fields go, a number rises, an entry of a pipeline goes, a Secret changes.
scenario_update() {
  jq -c '.stage = "update"' <<'JSON'
{"plural": "inferenceservices", "name": "llm", "patch": {"spec": {"nodeSelector": null, "metrics": {"enabled": false}, "labels": null, "replicas": 3, "expose": {"ingress": null}}}}
{"plural": "inferenceservices", "name": "llm", "patch": [{"op": "remove", "path": "/spec/env/3"}]}
{"plural": "stackguardrails", "name": "guardrail", "patch": {"spec": {"metrics": null, "nodeSelector": null}}}
{"plural": "stackentitystores", "name": "entitystore", "patch": {"spec": {"replicas": 3}}}
{"plural": "inferenceservices", "name": "scaled", "patch": {"spec": {"scale": null, "expose": {"httpRoute": null}}}}
{"plural": "inferencepipelines", "name": "search", "patch": [{"op": "remove", "path": "/spec/services/1"}]}
{"plural": "secrets", "name": "evaluator-db", "patch": {"data": {"password": "bmV3"}}}
JSON
}

# Somebody else's hand: children changed and deleted.
scenario_drift() {
  jq -c '.stage = "drift"' <<'JSON'
{"plural": "deployments", "name": "llm", "patch": {"metadata": {"labels": {"app.kubernetes.io/component": "other"}}, "spec": {"replicas": 9}}}
{"plural": "services", "name": "guardrail", "delete": true}
{"plural": "deployments", "name": "guardrail", "delete": true}
{"plural": "services", "name": "llm", "patch": {"spec": {"type": "LoadBalancer"}}}
{"plural": "roles", "name": "customizer", "patch": {"rules": []}}
JSON
}

# For long runs: the same two changes again and again.
scenario_swing() {
  jq -c . <<'JSON'
{"stage": "back", "plural": "inferenceservices", "name": "llm", "patch": {"spec": {"replicas": 1, "nodeSelector": null, "metrics": {"enabled": false}}}}
{"stage": "back", "plural": "stackguardrails", "name": "guardrail", "patch": {"spec": {"replicas": 1}}}
{"stage": "forth", "plural": "inferenceservices", "name": "llm", "patch": {"spec": {"replicas": 2, "nodeSelector": {"disk": "ssd"}, "metrics": {"enabled": true}}}}
{"stage": "forth", "plural": "stackguardrails", "name": "guardrail", "patch": {"spec": {"replicas": 2}}}
JSON
}

# What an undisturbed run must show, or the disturbed ones would prove little.
claims_create=(--whole create)
claims_update=(--gone update:ingresses/llm --gone update:servicemonitors/guardrail --gone update:inferenceservices/reranker
  --gone update:horizontalpodautoscalers/scaled --gone update:httproutes/scaled)

chaos=$(dirname "$gate_binary")/chaos
optional_apis() {
  kube apply -f "$here/optional-crds.yaml" >/dev/null && until_true 20 kube get servicemonitors,leaderworkersets,httproutes -A
}
