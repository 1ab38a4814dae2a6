# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by the suites of this folder: a control plane of their own, a stand-in for controllers, schedulers and node, and a
# customizer with the rights that the operator gives it.
# Whatever hangs ends: a suite takes a minute or two.
[ -n "${suite_is_limited:-}" ] || suite_is_limited=yes exec timeout --foreground -k 30 "${suite_limit:-240}" bash "$0" "$@"
# shellcheck source=tests/e2e/customizer/lib.sh
source "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../lib.sh"
cluster_files=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
repo=$(realpath "$cluster_files/../../../..")
# shellcheck source=tests/cluster/binaries.sh
source "$repo/tests/cluster/binaries.sh"
find_kube || { echo "not ok kubectl is at hand" && exit 1; }
kube_tests=$repo/tests/cluster
suite=$(basename "$0" .sh)
# A control plane of its own: these suites install definitions, take the API server away, and read its audit log.
control=${E2E_STATE:+$E2E_STATE/}${suite}
[ -n "${E2E_STATE:-}" ] || control=$scratch/$suite
ns=team
k() { "$KUBECTL" --kubeconfig "$control/kubeconfig" --cache-dir "$scratch/kube" -n "$ns" "$@"; }

start_control_plane() {
  "$kube_tests/down.sh" "$control" --purge
  mkdir -p "$control"
  cat >"$control/policy.yaml" <<'YAML'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, users: ["system:serviceaccount:team:customizer"]}
- {level: None}
YAML
  export APISERVER_FLAGS="--audit-policy-file $control/policy.yaml --audit-log-path $control/audit.log"
  "$kube_tests/up.sh" "$control" >"$scratch/up.log" 2>&1 || { echo "not ok the control plane starts" && tail -3 "$scratch/up.log" && return 1; }
  server=$(k config view --raw -o 'jsonpath={.clusters[0].cluster.server}')
}

# make_namespace: with the definitions, and a ServiceAccount without any right
make_namespace() {
  k create namespace "$ns" >/dev/null
  k apply --validate=false -f "$cluster_files/definitions.yaml" >/dev/null
  k wait --for condition=established --timeout 20s crd jobs.batch.volcano.sh podgroups.scheduling.volcano.sh workloads.kueue.x-k8s.io >/dev/null
  rm -rf "$scratch/kube" # what kubectl knew of types before
  k create serviceaccount default >/dev/null # there is no controller that makes it
  k create serviceaccount customizer >/dev/null
  k create rolebinding customizer --role customizer --serviceaccount "$ns:customizer" >/dev/null
  k create configmap owner >/dev/null
  k create secret generic datastore --from-literal=user="${datastore_user:-ada}" --from-literal=password=correct-horse >/dev/null
  service_account_kubeconfig >"$scratch/kubeconfig"
}

# give_role SCHEDULER [QUEUE]: the Role that the operator plans for a StackCustomizer with that scheduler (YAML), and no other
give_role() {
  {
    cat "$repo/crds/samples/minimal/stackcustomizers.yaml"
    printf '    queueName: %s\n  scheduler: %s\n' "${2:-default}" "$1"
  } >"$scratch/stackcustomizer.yaml"
  "$bin/stackgate" plan --namespace "$ns" --kubernetes 20 --output json --image-{customizer,puller,trainer}=x "$scratch/stackcustomizer.yaml" \
    >"$scratch/plan.json" || return 1
  jq '.items[] | select(.kind == "Role") | {apiVersion, kind, metadata: {name: "customizer"}, rules}' "$scratch/plan.json" >"$scratch/role.json"
  [ -s "$scratch/role.json" ] && k apply --validate=false -f "$scratch/role.json" >/dev/null
}

# unused_rights: of the Role, by the API server's audit log; and the requests that were refused
unused_rights() {
  jq -r 'select(.annotations["authorization.k8s.io/decision"] == "forbid") | "refused: \(.verb) \(.requestURI)"' "$control/audit.log" | sort -u
  comm -23 <(jq -r '.rules[] | .resources[] as $r | .apiGroups[] as $g | .verbs[] | "\(.) \($g)/\($r)"' "$scratch/role.json" | sort -u) \
    <(jq -r 'select(.objectRef) | "\(.verb) \(.objectRef.apiGroup // "")/\(.objectRef.resource)\(if .objectRef.subresource then "/" + .objectRef.subresource else "" end)"' \
        "$control/audit.log" | sort -u) | sed 's/^/unused: /'
}

service_account_kubeconfig() {
  local token
  token=$(k create --raw "/api/v1/namespaces/$ns/serviceaccounts/customizer/token" \
    -f <(echo '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":7200}}') | jq -r .status.token)
  cat <<YAML
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "${1:-$server}", certificate-authority: "$control/pki/cluster-ca.crt"}}]
users: [{name: u, user: {token: "$token"}}]
contexts: [{name: x, context: {cluster: c, user: u, namespace: "$ns"}}]
current-context: x
YAML
}

# make_setup SCHEDULER [MEMBERS]: the operator's config.json
make_setup() {
  jq -n --arg uid "$(k get configmap owner -o 'jsonpath={.metadata.uid}')" --argjson s "$1" --argjson more "${2:-{\}}" '{
    owner: {apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: $uid}, scheduler: $s,
    datastoreTools: {image: "x/puller:1", env: [
      {name: "DATASTORE_USERNAME", valueFrom: {secretKeyRef: {name: "datastore", key: "user"}}},
      {name: "DATASTORE_PASSWORD", valueFrom: {secretKeyRef: {name: "datastore", key: "password"}}}]},
    modelDownload: {image: "x/puller:1"}, modelClaim: {name: "models"}, workspace: {size: "1Gi"},
    training: {image: "x/trainer:1"}} * $more' >"$scratch/config.json"
}

# start_standin: $standin is the folder of its switches
start_standin() {
  standin=$scratch/standin
  mkdir -p "$standin/claims"
  # A claim that pods may mount, and the base model in it.
  k create -f - >/dev/null <<'YAML'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: models}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
YAML
  cp -r "$models" "$standin/claims/models"
  python3 "$cluster_files/standin.py" --server "$server" --pki "$control/pki" --namespace "$ns" --dir "$standin" --bin "$bin" \
    --port-file "$standin/port" >"$scratch/standin.log" 2>&1 &
  standin_pid=$!
  pids+=("$standin_pid")
  within 10 test -s "$standin/port"
}

# start_collector: the cluster's own garbage collector, and no other controller; fails where it is not built
start_collector() {
  local program=$kube_cache/node-1.20.2/bin/kube-controller-manager
  [ -x "$program" ] || return 1
  "$program" --kubeconfig "$control/kubeconfig" --controllers garbagecollector --leader-elect=false --port 0 --secure-port 0 \
    >"$scratch/collector.log" 2>&1 &
  collector_pid=$!
  pids+=("$collector_pid")
}

database=() # what start_database sets
# start_clustered [NAME [OPTION…]]: a replica; sets $url and $customizer_pid
start_clustered() {
  local name=${1:-one}
  shift || true
  local -n port=port_$name callback=callback_$name
  port=${port:-$(free_port)} callback=${callback:-$(free_port)}
  env "${database[@]}" DATASTORE_USERNAME=ada DATASTORE_PASSWORD=correct-horse "${customizer_binary:-$bin/stackgate-customizer}" --datastore-url "$datastore/v1/hf" \
    --entitystore-url "http://127.0.0.1:$entitystore_port" --data-dir "$scratch/customizer.data" --listen "127.0.0.1:$port" \
    --callback-listen "127.0.0.1:$callback" --callback-url "${callback_url:-http://127.0.0.1:$callback}" --replica-name "$name" \
    --customizer-config-file "$scratch/config.json" --kubeconfig "$scratch/kubeconfig" --namespace "$ns" \
    --model-config-dir "$scratch/models.d" --training-config-dir "$scratch/training.d" --lease 3s --log-format json --drain-wait 0s \
    "$@" >>"$scratch/customizer.log" 2>&1 &
  customizer_pid=$!
  pids+=("$customizer_pid")
  url=http://127.0.0.1:$port
  within 10 curl -sf "$url/v1/health/ready" >/dev/null || { echo "not ok the customizer starts" && tail -5 "$scratch/customizer.log" && return 1; }
}

# make_catalogue: acme/tiny, which lies in the claim
make_catalogue() {
  mkdir -p "$scratch/models.d" "$scratch/training.d"
  cat >"$scratch/models.d/customizationTargets" <<'YAML'
targets:
  acme/tiny@1.0: {model_path: acme/tiny}
YAML
  cat >"$scratch/training.d/training" <<'YAML'
container_defaults: {resources: {requests: {cpu: 100m, memory: 64Mi}}}
YAML
}

# needs_database: ends the suite where there is no PostgreSQL for it
postgres=$repo/tests/support/postgres.sh
needs_database() { "$postgres" available 2>/dev/null || { echo "skip two customizers: install postgresql-15" && exit 0; }; }
# start_database: with the customizer's tables; customizers that start behind it keep their records there
start_database() {
  local url
  url=$("$postgres" start "$scratch/postgres" | tail -1)
  database=("STACKGATE_DATABASE_URL=$url" "STACKGATE_DATABASE_PASSWORD=$(cat "$scratch/postgres/password")")
  env "${database[@]}" "$bin/stackgate-customizer" migrate --data-dir "$scratch/customizer.data" >"$scratch/out" 2>&1 || { cat "$scratch/out" && return 1; }
}
sql() { PGPASSWORD=${database[1]#*=} psql -qAt "${database[0]#*=}" -c "$1"; }
# second_attempts: Jobs of stages that began more than once
second_attempts() { k get vcjob,jobs.batch -o json | jq -r '.items[].metadata.name' | grep -E -- '-(download|training|upload)-[2-9]' || true; }
# start_two: behind a Service of their own, to which trainers report; sets $one, $one_pid, $two and $two_pid. The same ports when
# they are started again
start_two() {
  if [ -z "${callback_url:-}" ]; then
    callback_one=$(free_port) callback_two=$(free_port)
    python3 "$cluster_files/balance.py" "$scratch/balance.port" "$callback_one" "$callback_two" >>"$scratch/balance.log" 2>&1 &
    pids+=("$!")
    within 5 test -s "$scratch/balance.port"
    callback_url=http://127.0.0.1:$(cat "$scratch/balance.port")
  fi
  start_clustered one && one=$url one_pid=$customizer_pid
  start_clustered two && two=$url two_pid=$customizer_pid
}

message() { record "$1" | jq -r .message; }
has_steps() { [ "$(record "$1" | jq .status_details.steps_completed)" -ge "$2" ]; }
attempts() { record "$1" | jq -r '[.status_details.stages[].attempts] | join(" ")'; }
# ends_so NAME: completed, each stage in one attempt
ends_so() { becomes "$1" completed && same "1 1 1" "$(attempts "$1")"; }
# points NAME: of its curve, and of these different ones
points() { sql "SELECT count(*) || ' ' || count(DISTINCT step) FROM customization_point WHERE customization = '$(id_of "$1")'"; }
# waits NAME WORDS: its message has them within 20 s
has_message() { [[ $(message "$1") == *"$2"* ]]; }
waits() { within 20 has_message "$1" "$2" || { record "$1" | jq -c '[.status, .message]' && return 1; }; }
id_of() { record "$1" | jq -r .id; }
# objects NAME: all that is labelled with it
objects() { k get jobs.batch,vcjob,pvc,configmap,secret,service -l "stackgate.dev/customization=$(id_of "$1")" -o name; }
# reports URL: that this replica counted
reports() { curl -s "$1/metrics" | sed -n 's/^stackgate_customizer_reports_total{outcome="counted"} //p'; }

# prepare: a datastore with the dataset ada/colours, an entitystore, a model, a namespace
prepare() {
  [ -e "$bin/libstackgate-learner.so" ] || { echo "skip the customizer on a cluster: libstackgate-learner.so is built where libtorch is" && exit 0; }
  start_control_plane && start_datastore && start_entitystore && make_model || return 1
  mkdir -p "$scratch/rows/training"
  for i in {1..24}; do echo '{"prompt":"The colour of thing '$((i % 9))' is","completion":" green and gold."}'; done >"$scratch/rows/training/a.jsonl"
  (cd "$scratch/rows" && dataset colours training/a.jsonl)
  make_namespace
  make_catalogue
  start_standin
}

# Before the evaluator's end: its processes, and the control plane.
end_processes=$(declare -f end)
eval "${end_processes/end ()/end_all ()}"
# shellcheck disable=SC2317 # the trap's
end() {
  set +e
  [ -z "${standin_pid:-}" ] || kill "$standin_pid" 2>/dev/null
  "$kube_tests/down.sh" "$control" --purge >/dev/null 2>&1
  end_all
}
trap 'exit 130' INT TERM
