#!/usr/bin/env bash
# Sets how many GPUs the node of STATE pretends to have.
#   gpus.sh STATE COUNT
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
source "$here/layout.sh"
state=$(realpath "$1") pki=$(realpath "$1")/plane/pki
server=$(sed -nE 's/.*server: "([^"]*)".*/\1/p' "$state/kubeconfig")
# kubectl of 1.20 cannot write a status.
answer=$("$here/exec.sh" --net "$state" curl -sS --max-time 10 --noproxy '*' --cacert "$pki/cluster-ca.crt" --cert "$pki/admin.crt" \
  --key "$pki/admin.key" -X PATCH -H 'Content-Type: application/merge-patch+json' "$server/api/v1/nodes/$node_name/status" \
  -d "{\"status\": {\"capacity\": {\"nvidia.com/gpu\": \"$2\"}, \"allocatable\": {\"nvidia.com/gpu\": \"$2\"}}}")
[ "$(jq -r .kind <<<"$answer")" = Node ] || { echo "the node's GPUs were not set: $answer" >&2; exit 1; }
