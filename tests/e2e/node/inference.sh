#!/usr/bin/env bash
# Our own inference server as an InferenceService: its image, the plan's variables and probes, and a model that our puller put on
# a claim.
source "$(dirname "$(realpath "$0")")/lib.sh"
source "$here/operator.sh"
source "$here/registry.sh"
inference_image=registry.test/stackgate-inference
[ -e "$bin/libstackgate-engine.so" ] || { echo "skip inference: it was built without libtorch" && exit 0; }
operator_up
import_image "the puller's image" 40 "$puller_image" "$bin/stackgate-puller"
IMAGE_ENV=STACKGATE_DATA_DIR=/tmp/stackgate \
  import_image "the inference server's image" 0 "$inference_image:tested" "$bin/stackgate-inference" "$bin/libstackgate-engine.so"

# --- A small model that has learned one sentence, from a registry onto a claim.
for i in {1..300}; do echo "The colour of thing $((i % 9)) is grey, and of thing $((i % 5)) it is green."; done >"$scratch/text"
mkdir -p "$scratch/web"
words=$("$bin/stackgate-trainer" make-tiny --text "$scratch/text" --output "$scratch/web/model" --steps 60 --hidden 64 --vocabulary 400 2>&1) ||
  { not_ok "make-tiny makes a model" "$words" && exit 1; }
add_sums "$scratch/web/model"
registry_up ''
cache tiny model
await "the model is on its claim" 120 '.status.state == "Ready"' inferencecache tiny

# service NAME [JQ]: an InferenceService of ours over that model, changed by the jq program.
service() {
  jq -n --arg name "$1" --arg image "$inference_image" '{apiVersion: "stackgate.dev/v1alpha1", kind: "InferenceService",
    metadata: {name: $name}, spec: {image: {repository: $image, tag: "tested"}, authSecret: "registry-api",
    storage: {nimCache: {name: "tiny"}}, resources: {limits: {"nvidia.com/gpu": 1}}, env: [{name: "STACKGATE_SERVED_MODEL_NAME", value: "tiny"}]}}' | jq "${2:-.}" |
    k apply --validate=false -f - >/dev/null || not_ok "$1 is admitted"
}
server_log() { k logs -l "app=$1" --tail=5 2>&1 | cut -c1-400; }
service llm
if watch_for 120 '.status.state == "Ready"' inferenceservice llm; then
  ok "the service becomes Ready ($took ms)"
else
  not_ok "the service becomes Ready (waited 120 s)" "$(look inferenceservice llm && server_log llm)"
fi
at=http://$(k get service llm -o jsonpath='{.spec.clusterIP}'):8000
same "it serves the model by the name that its environment gives" tiny "$(fetch "$at/v1/models" | jq -r '.data[0].id')"
answer() {
  fetch "$at/v1/completions" -H 'Content-Type: application/json' \
    -d '{"model": "tiny", "prompt": "The colour of thing 3 is", "max_tokens": 5, "temperature": 0}'
}
says "it answers what the model has learned" grey answer
stream() {
  fetch "$at/v1/chat/completions" -H 'Content-Type: application/json' \
    -d '{"model": "tiny", "stream": true, "max_tokens": 5, "messages": [{"role": "user", "content": "The colour"}]}'
}
says "a chat is streamed to its end" 'data: [DONE]' stream
says "the metrics are where the plan's ServiceMonitor looks" 'vllm:generation_tokens' fetch "$at/v1/metrics"
pod=$(k get pods -l app=llm -o jsonpath='{.items[0].metadata.name}')
same "no restart was needed" 0 "$(k get pod "$pod" -o jsonpath='{.status.containerStatuses[0].restartCount}')"
k delete pod "$pod" --wait=false >/dev/null
gone "the server ends when it is told to" 30 pod "$pod"

# --- What it refuses is told by the status, in the server's words.
service refused '.spec.env += [{name: "STACKGATE_DEVICE", value: "cuda"}]'
await_pod "a device that is not there ends the server" 60 'any(.status.containerStatuses[]?; .restartCount > 0 or .state.terminated.exitCode == 1)' app=refused
says "… in words to act on" 'use --device cpu' server_log refused
