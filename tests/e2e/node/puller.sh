#!/usr/bin/env bash
# Our own puller as an InferenceCache's Job: its image, the plan's variables, its claim, its rights and its report, with
# an nginx on the node as the registry.
source "$(dirname "$(realpath "$0")")/lib.sh"
source "$here/operator.sh"
puller_image=registry.test/stackgate-puller:tested
operator_up
nginx=${NGINX:-$(PATH=$PATH:/usr/sbin type -P nginx || echo "$kube_cache/tools/nginx/usr/sbin/nginx")}
[ -x "$nginx" ] || { echo "skip puller: there is no nginx" && exit 0; }
binary=${PULLER:-$repo/build/release/bin/stackgate-puller}
words=$(IMAGE_LIMIT_MB=40 "$repo/tests/cluster/image.sh" "$puller_image" "$scratch/puller.tar" "$binary" 2>&1 &&
  "$node_scripts/exec.sh" "$state" ctr -n k8s.io images import - <"$scratch/puller.tar" 2>&1) ||
  { not_ok "the puller's image is built and imported" "$words" && exit 1; }

# --- A model of 60 MB that comes in some seconds, so that somebody can look.
mkdir -p "$scratch/web/model/tokenizer"
for part in 1 2 3; do head -c 20000000 /dev/urandom >"$scratch/web/model/model-0000$part-of-00003.safetensors"; done
echo '{"model_type": "llama"}' >"$scratch/web/model/config.json"
echo '{}' >"$scratch/web/model/tokenizer/tokenizer.json"
(cd "$scratch/web/model" && find . -type f -printf '%P\n' | xargs sha256sum >"$scratch/sums") && mv "$scratch/sums" "$scratch/web/model/SHA256SUMS"
chmod -R a+rX "$scratch"
cat >"$scratch/nginx.conf" <<NGINX
daemon off; master_process off; pid $scratch/nginx.pid; error_log $scratch/nginx.err;
events {}
http {
  client_body_temp_path $scratch/b; proxy_temp_path $scratch/p; fastcgi_temp_path $scratch/f; uwsgi_temp_path $scratch/u; scgi_temp_path $scratch/s;
  log_format pulls '\$request_method \$status \$uri "\$http_range" "\$http_authorization" \$http_user_agent';
  access_log $scratch/pulls.log pulls;
  root $scratch/web;
  server { listen 8099; location /model/ { limit_rate 3m; } location /closed/ { return 401; } }
}
NGINX
"$nginx" -e "$scratch/nginx.err" -c "$scratch/nginx.conf" &
helpers+=("$!")
address=$(kube get nodes -o jsonpath='{.items[0].status.addresses[?(@.type=="InternalIP")].address}')
until_true 10 fetch -f -o /dev/null "http://$address:8099/model/SHA256SUMS" || { not_ok "nginx answers on the node" "$(cat "$scratch/nginx.err")" && exit 1; }

# cache NAME FOLDER
cache() {
  jq -n --arg name "$1" --arg endpoint "http://$address:8099/$2" --arg image "$puller_image" '{apiVersion: "stackgate.dev/v1alpha1", kind: "InferenceCache",
    metadata: {name: $name}, spec: {source: {registry: {endpoint: $endpoint, authSecret: "registry-api", modelPuller: $image}},
    storage: {pvc: {create: true, size: "1Gi", volumeAccessMode: "ReadWriteOnce"}}}}' | k apply --validate=false -f - >/dev/null || not_ok "$1 is admitted"
}
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
