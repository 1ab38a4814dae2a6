# Sourced, after lib.sh. An nginx on the node as the registry of models, and our own images on the node.
# shellcheck shell=bash disable=SC2034,SC2154
puller_image=registry.test/stackgate-puller:tested
bin=${STACKGATE_BIN:-$repo/build/release/bin}

# import_image WHAT LIMIT_MB NAME:TAG BINARY [LIBRARY...]: builds the image and hands it to the node, or ends the script.
import_image() {
  local what=$1 limit=$2 words
  shift 2
  words=$(IMAGE_LIMIT_MB=$limit "$repo/tests/cluster/image.sh" "$1" "$scratch/image.tar" "${@:2}" 2>&1 &&
    "$node_scripts/exec.sh" "$state" ctr -n k8s.io images import - <"$scratch/image.tar" 2>&1) ||
    { not_ok "$what is built and imported" "$words" && exit 1; }
  rm "$scratch/image.tar"
}

# add_sums FOLDER: the list of checksums that a plain directory of a model has.
add_sums() {
  (cd "$1" && find . -type f -printf '%P\n' | xargs sha256sum >"$scratch/sums") && mv "$scratch/sums" "$1/SHA256SUMS"
}

# registry_up LOCATIONS: nginx serves $scratch/web on port 8099, with these locations; sets $registry, its URL. Each request is a
# line of $scratch/pulls.log.
registry_up() {
  local nginx
  nginx=${NGINX:-$(PATH=$PATH:/usr/sbin type -P nginx || echo "$kube_cache/tools/nginx/usr/sbin/nginx")}
  [ -x "$nginx" ] || { echo "skip $script: there is no nginx" && exit 0; }
  chmod -R a+rX "$scratch"
  cat >"$scratch/nginx.conf" <<NGINX
daemon off; master_process off; pid $scratch/nginx.pid; error_log $scratch/nginx.err;
events {}
http {
  client_body_temp_path $scratch/b; proxy_temp_path $scratch/p; fastcgi_temp_path $scratch/f; uwsgi_temp_path $scratch/u; scgi_temp_path $scratch/s;
  log_format pulls '\$request_method \$status \$uri "\$http_range" "\$http_authorization" \$http_user_agent';
  access_log $scratch/pulls.log pulls;
  root $scratch/web;
  server { listen 8099; $1 }
}
NGINX
  "$nginx" -e "$scratch/nginx.err" -c "$scratch/nginx.conf" &
  helpers+=("$!")
  registry=http://$(kube get nodes -o jsonpath='{.items[0].status.addresses[?(@.type=="InternalIP")].address}'):8099
  until_true 10 fetch -f -o /dev/null "$registry/model/SHA256SUMS" || { not_ok "nginx answers on the node" "$(cat "$scratch/nginx.err")" && exit 1; }
}

# cache NAME FOLDER: an InferenceCache of ours, from the registry.
cache() {
  jq -n --arg name "$1" --arg endpoint "$registry/$2" --arg image "$puller_image" '{apiVersion: "stackgate.dev/v1alpha1", kind: "InferenceCache",
    metadata: {name: $name}, spec: {source: {registry: {endpoint: $endpoint, authSecret: "registry-api", modelPuller: $image}},
    storage: {pvc: {create: true, size: "1Gi", volumeAccessMode: "ReadWriteOnce"}}}}' | k apply --validate=false -f - >/dev/null || not_ok "$1 is admitted"
}
