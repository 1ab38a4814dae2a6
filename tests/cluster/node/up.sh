#!/usr/bin/env bash
# A cluster of one node: control plane, containerd, kubelet, kube-proxy, DNS and volumes, in namespaces of their own.
#   up.sh STATE [IMAGE.tar...]     writes STATE/kubeconfig and STATE/*.log; imports the images
# The cluster's addresses, the API server's among them, exist only in the node's network: exec.sh --net STATE COMMAND.
# The node pretends to have 8 GPUs (nvidia.com/gpu): the scheduler counts them, nothing is mounted. One node per machine.
# What an earlier run left behind is removed first. Needs root; possible.sh says whether this machine can.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
source "$here/layout.sh"
source "$here/../processes.sh"
source "$here/../binaries.sh"
parts=$kube_cache/node-1.20.2 kube=$kube_cache/kubernetes-1.20.2
[ -x "$parts/bin/kubelet" ] || { echo "the node's programs are not in $parts: './dev test node' builds them" >&2; exit 1; }
[ -x "$kube/kube-apiserver" ] || { echo "kube-apiserver is not in $kube: './dev test node' builds it" >&2; exit 1; }

state=$(realpath -m "${1:?usage: up.sh STATE [IMAGE.tar...]}")
shift
"$here/down.sh" "$state" --purge
# The lock is on a directory that all nodes share; all processes of the node inherit it, so it ends with the last of them.
exec 9</sys/fs/cgroup
flock --nonblock 9 || { echo "another node is running on this machine" >&2; exit 1; }
remove_cgroups || { echo "processes of an earlier node still run in the cgroup $node_cgroup" >&2; exit 1; }
mkdir -p "$state"
chmod 700 "$state"

start node unshare --net --mount --pid --uts --ipc --fork --kill-child "$here/init.sh" "$state" "$parts" "$kube"

fail() { # WHAT
  echo "$1" >&2
  for log in "$state"/{node,plane/kube-apiserver,containerd,kubelet}.log; do
    [ ! -s "$log" ] || { echo "the end of $log:" && tail -4 "$log" | cut -c1-300; } >&2
  done
  "$here/down.sh" "$state"
  exit 1
}
kube() { "$here/exec.sh" --net "$state" "$kube/kubectl" --kubeconfig "$state/kubeconfig" "$@"; }
# until_true WHAT SECONDS COMMAND...
until_true() {
  local what=$1 end=$((SECONDS + $2))
  shift 2
  until "$@" >/dev/null 2>&1; do
    alive node || fail "the node ended while it started"
    ((SECONDS < end)) || fail "$what"
    sleep 0.2
  done
}
registered() { [ -s "$state/kubeconfig" ] && kube get node "$node_name"; }
until_true "the node did not register with the API server within 60 s" 60 registered
for image; do
  "$here/exec.sh" "$state" ctr -n k8s.io images import - <"$image" >/dev/null || fail "$image cannot be imported"
done
kube wait --for=condition=Ready "node/$node_name" --timeout=60s >/dev/null || fail "the node did not become Ready within 60 s"
"$here/gpus.sh" "$state" "${GPUS:-8}"
default_account() { kube -n default get serviceaccount default; }
until_true "the controller-manager made no service account within 30 s" 30 default_account
