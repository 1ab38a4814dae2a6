#!/usr/bin/env bash
# Stops what was started in STATE, newest first, and nothing else.
#   down.sh STATE [--purge]     --purge also removes the directory
#   down.sh STATE apiserver     stops only the API server (up.sh STATE apiserver starts it again)
set -euo pipefail
source "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/processes.sh"
state=$(realpath "${1:?usage: down.sh STATE [--purge|apiserver]}")
[ -d "$state" ] || exit 0
# An API server waits a minute for open watches to end; two seconds must do, then it ends as in a crash.
if [ "${2:-}" = apiserver ]; then
  stop kube-apiserver 2 2>/dev/null
  exit
fi
# The API server goes after everything that talks to it, etcd last.
for file in "$state"/*.pid; do
  name=$(basename "$file" .pid)
  case $name in '*' | kube-apiserver | etcd) ;; *) stop "$name" ;; esac
done
stop kube-apiserver 2 2>/dev/null
stop etcd
[ "${2:-}" != --purge ] || rm -rf "$state"
