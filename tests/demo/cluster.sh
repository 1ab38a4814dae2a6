# Sourced, after tests/e2e/node/{lib,operator}.sh. Stackgate's services as resources of a cluster with one node: the sample stack, with the
# operator's own images. The caller sets $work (a folder of its own), $bin (the programs) and $images_at (a folder for archives).
#   import_images, start_postgres, install_operator, apply_stack KINDS…
# Addresses: ${address[NAME]} as they are called from here, ${inner_address[NAME]} as services call each other.
# shellcheck shell=bash disable=SC2034,SC2154
flow_tag=flow
postgres=$repo/tests/support/postgres.sh
declare -A address=() inner_address=()
# Of a service's name here, its resource.
declare -A resource_of=([datastore]=datastore [entitystore]=entitystore [inference]=llm [guardrail]=guardrail [evaluator]=evaluator [customizer]=customizer)
in_network() { "$node_scripts/exec.sh" --net "$state" "$@"; }

import_images() {
  local archive
  STACKGATE_BIN=$bin "$repo/tests/cluster/pack-images.sh" "$flow_tag" "$images_at" registry.test/ || return 1
  for archive in "$images_at"/stackgate{,-datastore,-entitystore,-puller,-customizer,-guardrail,-evaluator,-trainer,-inference}.tar; do
    "$node_scripts/exec.sh" "$state" ctr -n k8s.io images import - <"$archive" || return 1
  done
}

# start_postgres: on the node, with the sample's databases and users; in the cluster it is the Service postgres
start_postgres() {
  local name words
  secret=$(openssl rand -hex 10)
  chmod 711 "$work"
  POSTGRES_LISTEN='*' in_network "$postgres" start "$work/postgres" || return 1
  for name in datastore entitystore customizer evaluator; do
    PGPASSWORD=$(cat "$work/postgres/password") in_network psql -qAt -h 127.0.0.1 -p "$(cat "$work/postgres/port")" -U stackgate -d stackgate \
      -c "CREATE USER $name PASSWORD '$secret'" -c "CREATE DATABASE $name OWNER $name" || return 1
  done
  jq -n --arg ip "$(kube get nodes -o jsonpath='{.items[0].status.addresses[?(@.type=="InternalIP")].address}')" --argjson port "$(cat "$work/postgres/port")" '
    {apiVersion: "v1", kind: "Service", metadata: {name: "postgres"}, spec: {ports: [{port: 5432}]}},
    {apiVersion: "v1", kind: "Endpoints", metadata: {name: "postgres"}, subsets: [{addresses: [{ip: $ip}], ports: [{port: $port}]}]}' |
    k apply --validate=false -f -
}
stop_postgres() { in_network "$postgres" stop "$work/postgres" immediate >/dev/null 2>&1; }

admin_password() { printf '%s' "$secret"; }

# make_stack: the sample, adapted, as $work/stack.json, an object a line
make_stack() {
  world_rails "$work/rails"
  kube create --dry-run=client --validate=false -o json -f "$repo/crds/samples/stack.yaml" |
    jq -c 'if .kind == "List" then .items[] else . end | del(.metadata.namespace)' |
    jq -c --arg secret "$secret" --arg lfs "$(openssl rand -hex 16)" --arg tag "$flow_tag" \
      --arg inference registry.test/stackgate-inference --rawfile rails "$work/rails/shop/config.yml" -f "$repo/tests/demo/stack.jq" >"$work/stack.json"
}
# apply_stack JQ: those of its objects for which the condition holds
apply_stack() { jq -c "select($1)" "$work/stack.json" | k apply --validate=false -f -; }

# stack_resources: kind/name of each resource, those of the pipeline's services, too
stack_resources() {
  jq -r 'select(.apiVersion | startswith("stackgate.dev/")) | ((.kind | ascii_downcase) + "/" + .metadata.name),
    (select(.kind == "InferencePipeline").spec.services[].name | "inferenceservice/" + .)' "$work/stack.json"
}

# place_services: where their Services are
place_services() {
  local name
  for name in "${flow_services[@]}"; do
    address[$name]=http://$(k get service "${resource_of[$name]}" -o jsonpath='{.spec.clusterIP}'):8000
    inner_address[$name]=http://${resource_of[$name]}:8000
  done
}
