# Sourced. Where things are inside a node's own file system, and the addresses inside its own network.
# shellcheck shell=bash disable=SC2034

node_name=node
node_address=10.254.0.1
pod_range=10.244.0.0/24
service_range=10.96.0.0/16 # as in ../up.sh

# Paths inside: the state directory, the programs, the control plane's programs, and these scripts.
inside_state=/run/cluster/state
inside_parts=/run/cluster/parts
inside_kube=/run/cluster/kube
inside_scripts=/run/cluster/scripts

# The parent of all pods' cgroups; a kubelet that really runs on this machine has another.
node_cgroup=stackgate-node

# node_pid: process 1 of the node's namespaces, by the outer process's number in $state/node.pid.
node_pid() {
  local outer inner
  outer=$(pid_of node) && inner=$(cat "/proc/$outer/task/$outer/children" 2>/dev/null) && [ -n "$inner" ] && echo "${inner%% *}"
}

# remove_cgroups: those of a node that has ended; one that is in use stays and makes this fail.
remove_cgroups() {
  local dir left=0
  for dir in /sys/fs/cgroup/*/"$node_cgroup" /sys/fs/cgroup/"$node_cgroup"; do
    [ ! -d "$dir" ] || find "$dir" -depth -type d -exec rmdir {} + 2>/dev/null
    [ ! -d "$dir" ] || left=1
  done
  ((left == 0))
}
