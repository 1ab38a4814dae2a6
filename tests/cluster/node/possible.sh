#!/usr/bin/env bash
# Can this machine run a node? Prints the reason and fails when it cannot. Changes nothing that lasts.
set -uo pipefail
no() { echo "$1" && exit 1; }

[ "$(uname -s)" = Linux ] || no "a node needs Linux"
[ "$(id -u)" = 0 ] || no "a node needs root: it makes namespaces, mounts and network devices"
for tool in unshare nsenter flock ip mount pivot_root gcc; do
  command -v "$tool" >/dev/null || no "the command $tool is missing"
done
words=$(unshare --net --mount --pid --uts --ipc --fork --kill-child true 2>&1) ||
  no "this machine allows no new namespaces (${words:0:120})"
words=$(unshare --net --mount sh -c 'ip link add probe type bridge && mount -t tmpfs none /mnt && cd /mnt && mkdir l u w m &&
  mount -t overlay overlay -o lowerdir=l,upperdir=u,workdir=w m' 2>&1) ||
  no "this machine allows no bridges or overlay mounts in a new namespace (${words:0:120})"
[ -e /proc/sys/net/bridge/bridge-nf-call-iptables ] || modprobe br_netfilter 2>/dev/null ||
  no "the kernel module br_netfilter is not loaded and cannot be"
probe=$(mktemp -d /sys/fs/cgroup/memory/stackgate-probe-XXXXXX 2>/dev/null) ||
  no "the memory controller of cgroup v1 is not at /sys/fs/cgroup/memory, or may not be changed: the node was never tried without"
rmdir "$probe"
