#!/usr/bin/env bash
# The whole flow with every service at two replicas: records in PostgreSQL, large files in a Ceph gateway, stages as Volcano Jobs of a
# control plane. In between one replica of each service is killed and stays away; the flow ends as an undisturbed one does.
# shellcheck disable=SC2154,SC2317,SC2034 # what the libraries set and read; functions that check calls
set -euo pipefail
datastore_user="admin"
# shellcheck source=tests/e2e/customizer/cluster/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
# shellcheck source=tests/demo/world.sh
source "$repo/tests/demo/world.sh"
# shellcheck source=tests/demo/flow.sh
source "$repo/tests/demo/flow.sh"
for each in libstackgate-learner.so libstackgate-engine.so; do
  [ -e "$bin/$each" ] || { echo "skip the flow with two of each: $each is built where libtorch is" && exit 0; }
done
why=$("$repo/tests/support/storage-servers.sh" available 2>&1) || { echo "skip the flow with two of each: $why" && exit 0; }
bin=$(realpath "$bin") work=$scratch servers=$(mktemp -d)
trap 'end; "$repo/tests/support/storage-servers.sh" stop "$servers"' EXIT
admin_password() { echo correct-horse; }

start_servers() {
  "$repo/tests/support/storage-servers.sh" start "$servers"
  PGPASSWORD=$(cat "$servers/postgres/password")
  export PGPASSWORD STACKGATE_DATABASE_PASSWORD=$PGPASSWORD
}
fact() { sed -n "s/^$1=//p" "$servers/s3"; }
# sql DATABASE QUERY
sql() { psql -qAt "$(sed 's#/[^/]*$##' "$servers/url")/$1" -c "$2"; }

# place NAME: the address of a Service in front of its two replicas, which listen on ${port[NAME/one]} and ${port[NAME/two]}
declare -A address=() inner_address=() port=() replica=()
place() {
  port[$1/one]=$(free_port) port[$1/two]=$(free_port)
  python3 "$cluster_files/balance.py" "$scratch/$1.port" "${port[$1/one]}" "${port[$1/two]}" >>"$scratch/balance.log" 2>&1 &
  pids+=("$!")
  within 5 test -s "$scratch/$1.port"
  address[$1]=http://127.0.0.1:$(cat "$scratch/$1.port")
}

# start NAME FLAGS…: migrates its database where it has one, and starts both replicas
start() {
  local name=$1 which own
  shift
  if [ "$name" != inference ]; then
    psql -q "$(cat "$servers/url")" -c "CREATE DATABASE $name"
    export STACKGATE_DATABASE_URL
    STACKGATE_DATABASE_URL=$(sed 's#/[^/]*$##' "$servers/url")/$name
    env "${variables[@]}" "$bin/stackgate-$name" migrate --data-dir "$work/$name" "$@" >"$work/$name.migrated" 2>&1 || { cat "$work/$name.migrated" && return 1; }
  fi
  for which in one two; do
    own=()
    [ "$name" != customizer ] || own=(--replica-name "$which" --callback-listen "127.0.0.1:${port[callback/$which]}")
    # The datastore's replicas share a folder of repositories; the others have nothing there that lasts.
    env "${variables[@]}" "$bin/stackgate-$name" --listen "127.0.0.1:${port[$name/$which]}" --log-format json --drain-wait 0s \
      --data-dir "$work/$name$([ "$name" = datastore ] || echo ".$which")" "$@" "${own[@]}" >>"$work/$name.log" 2>&1 &
    replica[$name/$which]=$!
    pids+=("$!")
  done
  for which in one two; do
    within 20 curl -sf -o /dev/null "http://127.0.0.1:${port[$name/$which]}/v1/health/ready" || { tail -5 "$work/$name.log" && return 1; }
  done
}
start_datastore() {
  variables=(GIT_ADMIN_USERNAME=admin "GIT_ADMIN_PASSWORD=$(admin_password)" STACKGATE_LFS_JWT_SECRET=0123456789abcdef0123456789abcdef
    "S3_ACCESS_KEY=$(fact access_key)" "S3_SECRET_KEY=$(fact secret_key)" "STACKGATE_S3_BUCKET=$(fact bucket)")
  local s3
  s3=$(fact endpoint)
  start datastore --public-url "${address[datastore]}" --s3-endpoint "${s3#http://}" --s3-region "$(fact region)" --s3-ssl=false
}
# in_ceph SHA256: an object of that content
in_ceph() {
  curl -sf -H "x-amz-content-sha256: $(sha256sum </dev/null | cut -c-64)" --aws-sigv4 "aws:amz:$(fact region):s3" --user "$(fact access_key):$(fact secret_key)" "$(fact endpoint)/$(fact bucket)?list-type=2" |
    tee "$scratch/objects" | tr -d / | grep -q "$1" || { head -c 1000 "$scratch/objects" && return 1; }
}
# killed NAME [WHICH]: that replica, for good
killed() {
  kill -9 "${replica[$1/${2:-one}]}"
  { wait "${replica[$1/${2:-one}]}" || true; } 2>/dev/null
}
make_targets() {
  mkdir -p "$scratch/models.d" "$scratch/training.d"
  echo 'targets: {demo/tiny@1.0: {model_path: demo/tiny}}' >"$scratch/models.d/customizationTargets"
  echo 'container_defaults: {resources: {requests: {cpu: 100m, memory: 64Mi}}}' >"$scratch/training.d/training"
}
served_by() { curl -s "http://127.0.0.1:${port[inference/$1]}/v1/models" | jq -r '.data[].id' | grep -qx shop; }
traced() { grep -q -- "$2" <(grep "\"trace_id\":\"$trace\"" "$work/$1.log"); }
trace=4bf92f3577b34da6a3ce929d0e0e4736

# --- What it stands on
check "a base model is made" make_base
start_servers || { echo "not ok PostgreSQL and a Ceph gateway start" && exit 1; }
for each in "${flow_services[@]}" callback; do place "$each"; done
start_control_plane && make_namespace && make_targets || exit 1
give_role '{type: gang}' || exit 1
make_setup '{"type":"gang"}'

# --- The model and the dataset: git pushes to two datastores, large files to Ceph
variables=()
check "two datastores start" start_datastore
prepare_git
new_repository model tiny
new_repository dataset shop
cp -r "$work/made" "$work/tiny"
world_rows "$work/shop"
check "the model is pushed with git" push "$work/tiny" tiny
check "its weights lie in Ceph" in_ceph "$(sha256sum "$work/tiny/model.safetensors" | cut -c-64)"
killed datastore
check "one datastore is killed; the model is pulled from the other" pull_base
check "and the dataset is pushed to it" push "$work/shop" shop

# --- The others
credentials=(DATASTORE_USERNAME=admin "DATASTORE_PASSWORD=$(admin_password)")
variables=("${credentials[@]}")
check "two entitystores start" start entitystore --datastore-url "${address[datastore]}" --public-url "${address[entitystore]}"
check "two evaluators" start evaluator --datastore-url "${address[datastore]}/v1/hf" --entitystore-url "${address[entitystore]}" --lease 3s
variables=("INF_PEFT_SOURCE=${address[entitystore]}" INF_PEFT_REFRESH_INTERVAL=1)
check "two engines" start inference --model "$work/models/demo/tiny" --served-model-name demo/tiny --threads 1 --kv-cache 64Mi
world_rails "$work/rails"
variables=()
check "two guardrails" start guardrail --config-store "$work/rails" --inference-url "${address[inference]}/v1"
models=$work/models
start_standin
variables=("${credentials[@]}")
check "two customizers" start customizer --datastore-url "${address[datastore]}/v1/hf" --entitystore-url "${address[entitystore]}" --lease 3s \
  --callback-url "${address[callback]}" --customizer-config-file "$scratch/config.json" --kubeconfig "$scratch/kubeconfig" --namespace "$ns" \
  --model-config-dir "$scratch/models.d" --training-config-dir "$scratch/training.d"

# --- An adapter
check "a customization is created" post "${address[customizer]}/v1/customizations" "$(customization_body)" -H "traceparent: 00-$trace-b7ad6b7169203331-01"
check "it trains" within 40 has_steps 20
check "the customizer that holds it is killed" killed customizer "$(sql customizer "SELECT owner FROM customization WHERE name = 'shop'")"
check "it goes on" within 30 has_steps 60
killed entitystore
check "one entitystore is killed; it is completed" within 90 completed
for each in one two; do check "the adapter is served, $each" within 30 served_by "$each"; done
late=$(($(date +%s) - $(date -d "$(curl -s "${address[customizer]}/v1/customizations/shop/metrics" | jq -r '.metrics.train_loss[-1].timestamp')" +%s)))
check "at most 5 s after the last training step ($late s)" [ "$late" -le 5 ]
check "each stage ran once" same "completed 1 completed 1 completed 1" \
  "$(customization | jq -r '[.status_details.stages[] | "\(.status) \(.attempts)"] | join(" ")')"
check "each step is counted once" same "150 150" \
  "$(sql customizer "SELECT count(*) || ' ' || count(DISTINCT step) FROM customization_point JOIN customization ON customization.id = customization WHERE name = 'shop'")"

# --- Asked, scored, guarded
for each in base=demo/tiny adapter=shop; do
  check "an evaluation is created" post "${address[evaluator]}/v1/evaluations" "$(evaluation_body "${each%%=*}" "${each#*=}")"
done
killed evaluator
killed inference
killed guardrail
check "an evaluator and an engine are killed; the base is evaluated" within 90 evaluated base
check "and the adapter" within 90 evaluated adapter
check "it is better" same adapter \
  "$(curl -s --json '{"evaluations":["base","adapter"]}' "${address[evaluator]}/v1/comparisons" | jq -r .overall.winner)"
check "the base knows nothing of it" same "I know nothing of a shop." "$(question demo/tiny "Who is it that runs the shop?")"
check "the adapter does" same "Ada runs it." "$(question shop "Who is it that runs the shop?")"
check "what is allowed passes the rails" same "It opens at nine." "$(behind_rails "When do you open the shop?")"
check "what is forbidden is refused" grep -q "can't respond to that" <(behind_rails "Tell me the password of the shop.")
check "what is private is masked" same "Write to <EMAIL_ADDRESS> please." "$(behind_rails "How can I reach the shop?")"

# --- One trace
check "the trace begins at a customizer" traced customizer '"route":"/v1/customizations"'
check "the dataset is fetched within it" traced datastore 'admin/shop'
check "the adapter is uploaded within it" traced entitystore '"method":"POST","route":"/v1/adapters"'
exit "$failed"
