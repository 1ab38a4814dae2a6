#!/usr/bin/env bash
# Ends the node of STATE with everything in it, however it was left.
#   down.sh STATE [--purge]     --purge also removes the directory
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
source "$here/layout.sh"
source "$here/../processes.sh"
state=$(realpath -m "${1:?usage: down.sh STATE [--purge]}")
if [ -d "$state" ]; then
  # unshare takes no notice of SIGTERM; when it ends, the kernel ends its child, process 1 of the node, and all others
  # before that.
  if inner=$(node_pid) && outer=$(pid_of node); then
    began=$(start_time "$inner")
    kill -KILL "$outer" 2>/dev/null || true
    for _ in $(seq 150); do
      [ "$(start_time "$inner")" = "$began" ] || break
      sleep 0.1
    done
    [ "$(start_time "$inner")" != "$began" ] || { echo "the node's process 1 ($inner) does not end" >&2; exit 1; }
  fi
  rm -f "$state/node.pid"
fi
# Another node may be running: its cgroups stay.
exec 9</sys/fs/cgroup
for _ in $(seq 50); do
  flock --nonblock 9 || break
  ! remove_cgroups || break
  sleep 0.1
done
[ "${2:-}" != --purge ] || rm -rf "$state"
