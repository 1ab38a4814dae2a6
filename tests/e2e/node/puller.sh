#!/usr/bin/env bash
# Our own puller as an InferenceCache's Job: its image, the plan's variables, its claim, its rights and its report, with
# an nginx on the node as the registry.
source "$(dirname "$(realpath "$0")")/lib.sh"
source "$here/operator.sh"
source "$here/registry.sh"
operator_up
import_image "the puller's image" 40 "$puller_image" "${PULLER:-$bin/stackgate-puller}"

# --- A model of 60 MB that comes in some seconds, so that somebody can look.
mkdir -p "$scratch/web/model/tokenizer"
for part in 1 2 3; do head -c 20000000 /dev/urandom >"$scratch/web/model/model-0000$part-of-00003.safetensors"; done
echo '{"model_type": "llama"}' >"$scratch/web/model/config.json"
echo '{}' >"$scratch/web/model/tokenizer/tokenizer.json"
add_sums "$scratch/web/model"
registry_up 'location /model/ { limit_rate 3m; } location /closed/ { return 401; }'
cache whole model
cache refused closed/
await "the status tells how far the download is" 60 '.status.state == "InProgress" and .status.progress.percent > 0 and .status.progress.percent < 100 and
  .status.progress.totalBytes > 60000000' inferencecache whole
check "the puller is killed on the way" "$node_scripts/exec.sh" "$state" pkill -KILL -x stackgate-pulle # the name as the kernel cuts it
await "the status tells that it is tried again" 30 'any(.status.conditions[]?; .reason == "Retrying")' inferencecache whole
await "the model is there all the same" 120 '.status.state == "Ready" and .status.progress.percent == 100 and
  .status.progress.downloadedBytes == .status.progress.totalBytes' inferencecache whole
same "the profile is named" 1 "$(k get inferencecache whole -o json | jq '.status.profiles | length')"
check "the second pod went on where the first one stood" grep -qE '^GET 206 /model/model-[^ ]* "bytes=[1-9]' "$scratch/pulls.log"
same "no weights were fetched from their beginning twice" "$(printf '1 /model/model-0000%d-of-00003.safetensors\n' 1 2 3)" \
  "$(grep -E '^GET 20[06] [^ ]*safetensors "-"' "$scratch/pulls.log" | awk '{print $3}' | sort | uniq -c | sed 's/^ *//')"
same "the key of authSecret goes with each request" '"Bearer key"' "$(grep -F stackgate-puller "$scratch/pulls.log" | grep -oE '"[^"]*" [^ ]*$' | grep -oE '^"[^"]*"' | sort -u)"

volume=$(k get pvc -o json | jq -r '.items[] | select(.metadata.name | startswith("whole")) | .spec.volumeName')
folder=$(kube get pv "$volume" -o json | jq -r '.spec.hostPath.path // .spec.local.path // .spec.csi.volumeAttributes.path // empty')
on_claim() { "$node_scripts/exec.sh" "$state" sh -c "cd '$folder' && sha256sum --check --quiet - && ls -A" <"$scratch/web/model/SHA256SUMS" | sort | tr '\n' ' '; }
same "the claim holds it, byte for byte, and nothing else" ".stackgate-model.json config.json model-00001-of-00003.safetensors \
model-00002-of-00003.safetensors model-00003-of-00003.safetensors tokenizer " "$(on_claim 2>&1)"

await "a refused key is told in words to act on" 30 'any(.status.conditions[]?; (.message | contains("401 Unauthorized")) and
  (.message | contains("REGISTRY_API_KEY")))' inferencecache refused
same "the report names the reason" Unauthorized "$(k get configmap refused-puller -o json | jq -r .data.reason)"
same "the pod ends with the exit code of a refusal" 3 \
  "$(k get pods -l job-name=refused -o json | jq '[.items[].status.containerStatuses[]?.state.terminated.exitCode | numbers][0]')"
