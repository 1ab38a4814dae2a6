# Sourced by every script that runs on a cluster with a node. ./dev test node/NAME runs one; $E2E_STATE is the node's state.
#
# A script gets: the node's network (it is started again inside), a namespace of its own ($ns) that is removed at the end,
# and waits that end with the event they wait for. It reports checks as "ok NAME", "not ok NAME", "skip NAME: why".
# shellcheck shell=bash disable=SC2034,SC2154
set -uo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
repo=$(realpath "$here/../../..")
state=${E2E_STATE:?run this through './dev test node', which starts the node}
node_scripts=$repo/tests/cluster/node
if [ -z "${INSIDE_NODE:-}" ]; then
  export INSIDE_NODE=1
  exec "$node_scripts/exec.sh" --net "$state" "$0" "$@"
fi
source "$here/../checks.sh"
source "$repo/tests/cluster/binaries.sh"
KUBECTL=$kube_cache/kubernetes-1.20.2/kubectl
script=$(basename "$0" .sh)
scratch=$(mktemp -d)
ns=$script-$RANDOM
helpers=() # processes to end with the script

kube() { "$KUBECTL" --kubeconfig "$state/kubeconfig" "$@"; }
k() { kube -n "$ns" "$@"; }
fetch() { curl -sS --noproxy '*' --max-time 5 "$@"; }

finish() {
  ((${#helpers[@]} == 0)) || kill "${helpers[@]}" 2>/dev/null
  # Pods hold GPUs and processors that the next script needs; the rest of the namespace may go while that one runs.
  { k delete stackgate --all --wait=false; k delete deployments,jobs --all --wait=false; } >/dev/null 2>&1
  k delete pods --all --grace-period=1 --timeout=60s >/dev/null 2>&1 || left_to_the_node || not_ok "the pods end within 60 s" "$(look)"
  kube delete namespace "$ns" --wait=false >/dev/null 2>&1
  rm -rf "$scratch"
  ((checks_failed == 0)) || exit 1
}
trap finish EXIT
trap 'exit 130' INT TERM

milliseconds() { echo $(($(date +%s%N) / 1000000)); }

# watch_for SECONDS CONDITION KIND NAME: waits until the object of $ns, which need not exist yet, meets the jq condition.
# Sets $took (ms).
watch_for() {
  local began found events watcher
  began=$(milliseconds)
  exec {events}< <(exec timeout "$1" "$KUBECTL" --kubeconfig "$state/kubeconfig" -n "$ns" get "$3" \
    --field-selector "metadata.name=$4" --watch -o json 2>"$scratch/watch")
  watcher=$!
  found=$(jq -cn --unbuffered "first(inputs | select($2) | 1)" <&"$events")
  exec {events}<&-
  kill "$watcher" 2>/dev/null
  took=$(($(milliseconds) - began))
  [ -n "$found" ]
}

# await NAME SECONDS CONDITION KIND OBJECT: a check that it does so in time; says what is seen instead.
await() {
  if watch_for "$2" "$3" "$4" "$5"; then ok "$1 ($took ms)"; else not_ok "$1 (waited $2 s)" "$(look "$4" "$5")"; fi
}

# await_pod NAME SECONDS CONDITION SELECTOR: some pod with these labels meets the condition.
await_pod() {
  local began found events watcher
  began=$(milliseconds)
  exec {events}< <(exec timeout "$2" "$KUBECTL" --kubeconfig "$state/kubeconfig" -n "$ns" get pods -l "$4" --watch -o json)
  watcher=$!
  found=$(jq -cn --unbuffered "first(inputs | select($3) | 1)" <&"$events")
  exec {events}<&-
  kill "$watcher" 2>/dev/null
  took=$(($(milliseconds) - began))
  if [ -n "$found" ]; then ok "$1 ($took ms)"; else not_ok "$1 (waited $2 s)" "$(look)"; fi
}

# gone NAME SECONDS KIND OBJECT
gone() {
  if k wait --for=delete "$3/$4" --timeout="$2s" >/dev/null 2>&1 || ! k get "$3" "$4" >/dev/null 2>&1; then
    ok "$1"
  elif mislaid "$3" "$4"; then
    ok "$1 (it was told to go; the kubelet lost sight of its container: ContainerStatusUnknown)"
  else
    not_ok "$1 (waited $2 s)" "$(look "$3" "$4")"
  fi
}

# mislaid KIND OBJECT: a pod that was deleted, whose container has ended in a way that the kubelet did not see: it removed the
# container before it looked at how it had ended, and shows it as terminated (137), or as waiting behind such an end. Such a
# pod goes a while later (30 s and more on a busy machine), which is the node's affair.
mislaid() {
  k get "$1" "$2" -o json 2>/dev/null | jq -e '.metadata.deletionTimestamp and
    any(.status.containerStatuses[]? | .state, .lastState; .terminated.reason == "ContainerStatusUnknown")' >/dev/null
}

# left_to_the_node: every pod that is left was told to go, and its containers have ended, mislaid or not; the kubelet has yet
# to clear up. Takes them away, as the next script needs what they hold.
left_to_the_node() {
  k get pods -o json 2>/dev/null | jq -e 'all(.items[]; .metadata.deletionTimestamp and (.status.containerStatuses // [] |
    length > 0 and all(.[]; .state.terminated or .lastState.terminated.reason == "ContainerStatusUnknown")))' >/dev/null &&
    k delete pods --all --force --grace-period=0 --timeout=30s >/dev/null 2>&1
}

# look [KIND OBJECT]: what is there, for a message: the object's status, all pods, the latest events.
look() {
  [ $# = 0 ] || k get "$1" "$2" -o json 2>&1 | jq -c '.status' 2>/dev/null || echo "there is no $1 $2"
  k get pods --no-headers -o wide 2>&1 | cut -c1-120
  k get events --sort-by=.lastTimestamp -o jsonpath='{range .items[*]}{.involvedObject.name}: {.message}{"\n"}{end}' | tail -6 | cut -c1-200
}

# until_true SECONDS COMMAND...: for what no watch can tell.
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || return 1
    sleep 0.2
  done
}

pki=$state/plane/pki
as_admin=(curl -sS --noproxy '*' --cacert "$pki/cluster-ca.crt" --cert "$pki/admin.crt" --key "$pki/admin.key")
# api METHOD PATH [CURL_ARGUMENT...]: a raw call as the administrator.
api() { "${as_admin[@]}" -X "$1" "${@:3}" "$server$2"; }

# follow FILE PATH: writes every change of a collection to FILE from now on, one line of JSON each: {t (seconds), type, object}.
follow() {
  local events
  exec {events}< <(exec "${as_admin[@]}" -N "$server$2?watch=1")
  helpers+=("$!")
  jq -c --unbuffered '{t: now, type, object}' <&"$events" >"$1" &
  helpers+=("$!")
  exec {events}<&-
}

server=$(kube config view --raw -o jsonpath='{.clusters[0].cluster.server}')
kube create namespace "$ns" >/dev/null || { not_ok "the API server of the node answers" && exit 1; }
k create secret generic registry-api --from-literal=REGISTRY_API_KEY=key >/dev/null
until_true 30 k get serviceaccount default || not_ok "the namespace gets its service account"
