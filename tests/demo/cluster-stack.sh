#!/usr/bin/env bash
# The tour behind ./dev demo stack: the whole flow in a cluster of one node on this machine: chart, images, a resource of each kind, and
# the way from a dataset in Git to an adapter that answers behind rails.
#   cluster-stack.sh [--exit]    --exit: ends by itself, as it does where standard output is no terminal
# shellcheck disable=SC2317,SC2034,SC2154 # functions that run and must call; what the libraries read and set
# Everything lies in build/demo-cluster and is removed at the end; after a failure logs stay. Every process is ended.
set -euo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.."
source tests/support/progress.sh
source tests/support/tour.sh
source tests/cluster/binaries.sh
source tests/cluster/processes.sh
source tests/cluster/node/layout.sh
source tests/demo/world.sh
source tests/demo/flow.sh
source tests/demo/chapters.sh
repo=$PWD work=$PWD/build/demo-cluster bin=${STACKGATE_BIN:-$PWD/build/release/bin} ns=demo
state=$work/node scratch=$work images_at=$PWD/build/flow-images node_scripts=$PWD/tests/cluster/node
stays=1
{ [ "${1:-}" != --exit ] && [ -t 1 ]; } || stays=''
mkdir -p build
exec 9>"$work.lock"
flock -n 9 || die "another demo runs in $work"
"$node_scripts/down.sh" "$state" 2>/dev/null || true
rm -rf "$work"
mkdir -p "$work"

# What tests/e2e/node/lib.sh has for scripts inside the node's network; this one is outside.
KUBECTL=$kube_cache/kubernetes-1.20.2/kubectl
kube() { in_network "$KUBECTL" --kubeconfig "$state/kubeconfig" "$@"; }
k() { kube -n "$ns" "$@"; }
api() {
  in_network curl -sS --noproxy '*' --cacert "$state/plane/pki/cluster-ca.crt" --cert "$state/plane/pki/admin.crt" --key "$state/plane/pki/admin.key" \
    -X "$1" "${@:3}" "$(kube config view --raw -o jsonpath='{.clusters[0].cluster.server}')$2"
}
not_ok() { die "$1${2:+: $2}"; }
until_true() { within "$@"; }
source tests/e2e/node/operator.sh
source tests/demo/cluster.sh

finish() {
  local status=$?
  trap - EXIT INT TERM HUP
  end_step
  [ -z "${forward_pid:-}" ] || kill "$forward_pid" 2>/dev/null || true
  [ ! -e "$work/postgres" ] || stop_postgres || true
  "$node_scripts/down.sh" "$state" >/dev/null 2>&1 || true
  if [[ $status =~ ^(0|2|130)$ ]]; then rm -rf "$work"; else echo "  What was made, and the logs: $work" >&2; fi
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

start_node() {
  local images
  mapfile -t images < <("$node_scripts/standin.sh" build/images registry.test/workload:1)
  "$node_scripts/up.sh" "$state" "${images[@]}"
}
began=$(date +%s%N)
printf '\n%sStackgate%s  From a dataset in Git to an adapter that answers behind rails, in a cluster of one node on this machine.\n' "$bold" "$plain"

title "A cluster, and Stackgate in it"
must "the cluster does not start" step "starting a cluster with a node" "20 s" demo-cluster-node start_node 9>&-
must "the images cannot be had" step "packing and loading the images" "3 min at first, then 30 s" demo-cluster-images import_images
kube create namespace "$ns" >/dev/null
must "Stackgate cannot be installed" step "installing the chart" "20 s" demo-cluster-chart operator_up "$flow_tag"
kube label namespace "$ns" pod-security.kubernetes.io/enforce=restricted >/dev/null
start_postgres >"$work/postgres.log" 2>&1 || die "PostgreSQL does not start: $work/postgres.log"
row node "Kubernetes $(kube get node node -o jsonpath='{.status.nodeInfo.kubeletVersion}'), $(kube get node node -o jsonpath='{.status.nodeInfo.containerRuntimeVersion}')"
row operator "$(kube -n "$operator_ns" get deployment stackgate -o jsonpath='{.status.availableReplicas}') replicas, from chart/"
row namespace "$ns, labelled Pod Security restricted"
row "beside it" "PostgreSQL, as the Service postgres"

title "What a broken resource of each kind is told"
say "The API server asks the gate before it stores anything. The first two faults of each, with their cure:"
for bad in crds/samples/bad/*.yaml; do
  ! words=$(k apply --validate=false -f "$bad" 2>&1) || die "$bad should have been refused"
  printf '\n  %s%s%s  %d faults\n' "$bold" "$(sed -nE 's/^kind: //p' "$bad" | head -1)" "$plain" "$(grep -c '^\* ' <<<"$words")"
  grep '^\* ' <<<"$words" | head -2 | sed 's/^\* //' | wrap 2 4
done

title "A stack of all kinds"
say "crds/samples/stack.yaml with the images that the chart names. What one node lacks is left out: Volcano, an object store, images of others; claims are small (tests/demo/stack.jq)."
make_stack
# apply_and_wait JQ RESOURCE…
apply_and_wait() {
  local at each
  at=$(date +%s%N)
  apply_stack "$1" >"$work/applied" 2>&1 || die "the gate refuses the stack: $(cat "$work/applied")"
  for each in "${@:2}"; do
    k wait --for=condition=Ready "$each" --timeout=180s >"$work/wait" 2>&1 || die "$each does not become Ready: $(k get "$each" -o json | jq -c .status)"
    row "$each" "Ready after $(seconds "$(since "$at")")" 32
  done
}
mapfile -t all < <(stack_resources)
mapfile -t first < <(printf '%s\n' "${all[@]}" | grep '^stack')
mapfile -t later < <(printf '%s\n' "${all[@]}" | grep -v '^stack')
echo
apply_and_wait '.kind != "InferenceCache"' "${first[@]}"
echo
say "The others wait for their model, which is not in the datastore yet."
place_services
touch "$work/ports"
targets=()
for name in "${flow_services[@]}"; do targets+=("$name=${address[$name]#http://}"); done
python3 tests/demo/forward.py "/proc/$(node_pid)/ns/net" 8000 "${targets[@]}" >"$work/ports" 2>"$work/forward.log" 9>&- &
forward_pid=$!
all_forwarded() { [ "$(wc -l <"$work/ports")" = "${#targets[@]}" ]; }
must "the services are not forwarded" within 10 all_forwarded
while read -r name port; do address[$name]=http://127.0.0.1:$port; done <"$work/ports"
prepare_git

title "A base model, and a dataset"
push_model
push_dataset
echo
say "An InferenceCache has the puller bring the model to a claim, and what waits for it starts:"
echo
apply_and_wait '.kind == "InferenceCache"' "${later[@]}"
must "the customizer does not find the base model" within 30 knows_base

chapter_adapter
label="its Jobs"
while read -r name; do row "$label" "$name" && label=''; done < <(k get jobs -l app.kubernetes.io/managed-by=stackgate-customizer -o json |
  jq -r '.items[].metadata.name')
chapter_question
chapter_score
chapter_rails

title "That was it"
kubectl() { k "$@"; }
run 'kubectl get stackgate --no-headers'
say "From nothing to an adapter behind rails in $(seconds "$(since "$began")")."
[ "$delay" -le 5000 ] || die "the adapter was served $delay ms after the last training step: more than 5 s"
[ -n "$stays" ] || { say "Everything that was started is ended now." && exit 0; }
list_pages
say "The password of admin: cat ${work#"$repo/"}/admin-password"
say "kubectl: tests/cluster/node/exec.sh --net ${state#"$repo/"} $KUBECTL --kubeconfig ${state#"$repo/"}/kubeconfig -n $ns get stackgate"
say "Go on: train on rows of your own with the POST above and another name; ask the new adapter by that name at ${address[inference]}/v1/chat/completions. README.md has a page for each service."
echo
trap 'exit 0' INT TERM HUP
say "${bold}Ctrl-C ends all of it.$plain"
wait "$forward_pid" || true
die "the cluster has ended by itself"
