#!/usr/bin/env bash
# Our own guardrail as a StackGuardrail: its image with Python, the plan's variables, probes and read-only root, rails from a
# ConfigMap that is reloaded, and actions.py apart from the server.
source "$(dirname "$(realpath "$0")")/lib.sh"
source "$here/operator.sh"
source "$here/registry.sh"
guardrail_image=registry.test/stackgate-guardrail
operator_up
IMAGE_PYTHON=yes import_image "the guardrail's image" 60 "$guardrail_image:tested" "$bin/stackgate-guardrail"

# --- A model's endpoint on the node
address=$(kube get nodes -o jsonpath='{.items[0].status.addresses[?(@.type=="InternalIP")].address}')
HOST=0.0.0.0 python3 "$repo/tests/e2e/guardrail/upstream.py" "$scratch/port" &
helpers+=("$!")
until_true 10 test -e "$scratch/port" || { not_ok "the model's endpoint starts" && exit 1; }
upstream=$address:$(cat "$scratch/port")

# store REFUSAL: the ConfigMap: a self check, sensitive data, a refusal of one's own; and one configuration with actions.py.
store() {
  cat >"$scratch/config.yml" <<'YAML'
models: [{type: main, engine: openai, model: main-model}]
rails:
  config:
    sensitive_data_detection: {input: {entities: [EMAIL_ADDRESS]}}
  input: {flows: [self check input, mask sensitive data on input, "look around"]}
YAML
  cat >"$scratch/prompts.yml" <<'YAML'
prompts:
  - task: self_check_input
    content: "Is this fine? CHECK: {{ user_input }}"
YAML
  printf 'define bot refuse to respond\n  "%s' "$1" >"$scratch/rails.co"
  cat >>"$scratch/rails.co" <<'COLANG'


define flow look around
  $found = execute look_around(text=$user_message)
  if $found
    bot $found
    stop
COLANG
  cp "$here/guardrail-actions.py" "$scratch/actions.py"
  k create configmap rails --dry-run=client -o json --from-file="$scratch/config.yml" --from-file="$scratch/prompts.yml" \
    --from-file="$scratch/rails.co" --from-file="$scratch/actions.py" | k apply -f - >/dev/null
}
store 'Rather not."'
k create secret generic endpoint --from-literal=INFERENCE_ENDPOINT_API_KEY=endpoint-key >/dev/null
jq -n --arg image "$guardrail_image" --arg url "http://$upstream/v1" '{apiVersion: "stackgate.dev/v1alpha1", kind: "StackGuardrail",
  metadata: {name: "rails"}, spec: {image: {repository: $image, tag: "tested"}, configStore: {configMap: {name: "rails"}},
  nimEndpoint: {baseURL: $url, apiKeySecret: "endpoint"}}}' | k apply --validate=false -f - >/dev/null || not_ok "the guardrail is admitted"
server_log() { k logs -l app=rails --tail=40 2>&1 | cut -c1-400; }
if watch_for 90 '.status.state == "Ready"' stackguardrail rails; then
  ok "the guardrail becomes Ready ($took ms)"
else
  not_ok "the guardrail becomes Ready (waited 90 s)" "$(look stackguardrail rails && server_log)"
  exit 1
fi
at=http://$(k get service rails -o jsonpath='{.spec.clusterIP}'):8000
ask() { # TEXT [URL]
  fetch --max-time 15 "${2:-$at}/v1/chat/completions" -H 'Content-Type: application/json' \
    -d "{\"messages\": [{\"role\": \"user\", \"content\": \"$1\"}]}" | jq -r '.choices[0].message.content // .'
}
same "what the rails allow is answered through its Service" "echo: Hello" "$(ask Hello)"
same "what they forbid is refused" "Rather not." "$(ask "a forbidden thing")"
same "what they mask is masked" "echo: I am <EMAIL_ADDRESS>" "$(ask "I am ann@example.com")"
check "the Secret's key goes to the endpoint" grep -q 'Bearer endpoint-key' <(fetch "http://$upstream/seen")
says "models are the endpoint's" main-model fetch "$at/v1/models"
says "its configurations are listed" '"valid":true' fetch "$at/v1/configs"
says "the metrics are where the plan's ServiceMonitor looks" stackgate_guardrail_rails_total fetch "$at/metrics"

# --- actions.py
pod=$(k get pods -l app=rails -o jsonpath='{.items[0].metadata.name}')
same "the pod's user, root file system and rights are the plan's" '[true,true,["ALL"]]' "$(k get pod "$pod" -o json |
  jq -c '[(.spec.securityContext.runAsNonRoot // .spec.containers[0].securityContext.runAsNonRoot), .spec.containers[0].securityContext.readOnlyRootFilesystem, .spec.containers[0].securityContext.capabilities.drop]')"
same "an action of actions.py runs in the pod" "user 65532, no new rights, filtered" "$(ask "who are you")"
same "it opens no connection" PermissionError "$(ask "connect to $address $(cat "$scratch/port")")"
same "it writes no file beyond its limit, and none at the root" "OSError OSError" "$(ask "write")"
same "it takes no memory beyond its limit" MemoryError "$(ask "take memory")"
same "it finds no key" "no key" "$(ask "find the key")"
same "an exception blocks" "Rather not." "$(ask "raise it")"
same "the server answers as before" "echo: Hello" "$(ask Hello)"

# The same image as root, which the plan never is: actions have a user of their own.
jq -n --arg image "$guardrail_image:tested" --arg url "http://$upstream/v1" '{apiVersion: "v1", kind: "Pod", metadata: {name: "root", labels: {app: "root"}},
  spec: {terminationGracePeriodSeconds: 1, volumes: [{name: "store", configMap: {name: "rails"}}], containers: [{name: "main", image: $image,
    args: ["--config-store", "/store", "--inference-url", $url, "--listen", "0.0.0.0:8000", "--data-dir", "/tmp/data"],
    securityContext: {runAsUser: 0}, readinessProbe: {httpGet: {path: "/v1/health", port: 8000}, periodSeconds: 1},
    volumeMounts: [{name: "store", mountPath: "/store"}]}]}}' | k apply -f - >/dev/null
await_pod "a server that is root starts" 60 'any(.status.conditions[]?; .type == "Ready" and .status == "True")' app=root
as_root=http://$(k get pod root -o jsonpath='{.status.podIP}'):8000
same "its actions are not root" "user 65534, no new rights, filtered" "$(ask "who are you" "$as_root")"
k delete pod root --wait=false >/dev/null

# --- A changed ConfigMap. A note on the pod has the kubelet look at its volumes now, not within a minute.
changed() { k annotate pod "$pod" "looked-at=$RANDOM" --overwrite >/dev/null; }
refuses_with() { [ "$(ask forbidden)" = "$1" ] || { changed && false; }; }
store 'Changed."'
changed
check "a changed ConfigMap is read again" until_true 75 refuses_with Changed.
store 'Unfinished'
changed
broken() { fetch "$at/v1/configs" | jq -e '.[0].valid == false and (.[0].error | contains("rails.co:2"))' || { changed && false; }; }
check "one that does not compile is told of, with its line" until_true 75 broken
same "the last good one answers" Changed. "$(ask forbidden)"
says "the log has the fault" 'rails.co:2' server_log
says "and a metric" 'stackgate_guardrail_configuration_loads_total{outcome="failed"}' fetch "$at/metrics"
same "the guardrail stays Ready" Ready "$(k get stackguardrail rails -o jsonpath='{.status.state}')"
same "its pod is the same, and was not restarted" "$pod 0" \
  "$(k get pods -l app=rails -o jsonpath='{range .items[*]}{.metadata.name} {.status.containerStatuses[0].restartCount}{end}')"
store 'Cured."'
changed
check "a cure is read" until_true 75 refuses_with Cured.
k delete pod "$pod" --wait=false >/dev/null
gone "the server ends when it is told to" 30 pod "$pod"
