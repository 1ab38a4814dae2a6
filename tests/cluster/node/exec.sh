#!/usr/bin/env bash
# Runs a command inside the node of STATE.
#   exec.sh STATE COMMAND...         in all its namespaces: ctr, crictl, iptables …
#   exec.sh --net STATE COMMAND...   in its network only: the machine's own files, and the cluster's addresses
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
source "$here/layout.sh"
source "$here/../processes.sh"
which=(--mount --pid --uts --ipc --net)
if [ "$1" = --net ]; then
  which=(--net)
  shift
fi
state=$(realpath "$1")
shift
pid=$(node_pid) || { echo "no node is running in $state" >&2; exit 1; }
if [ "${#which[@]}" = 1 ]; then exec nsenter --target "$pid" --net -- "$@"; fi
exec nsenter --target "$pid" "${which[@]}" -- env LD_LIBRARY_PATH="$inside_parts/lib" XTABLES_LIBDIR="$inside_parts/xtables" \
  PATH="$inside_parts/bin:$inside_kube:/usr/sbin:/usr/bin:/sbin:/bin" "$@"
