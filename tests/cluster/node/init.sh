#!/usr/bin/env bash
# Process 1 of a node's namespaces (network, mounts, processes, host name); started by up.sh and by nothing else. It builds
# a file system of its own, so that nothing on the machine is touched: fresh /run and /var, the machine's other folders as
# they are. When it ends, by whatever means, the kernel ends every process, mount and device in here.
#   init.sh STATE PARTS KUBE      (control plane, containerd, kubelet, kube-proxy, DNS and volumes)
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
source "$here/layout.sh"
source "$here/../processes.sh"
outer_state=$1 outer_parts=$2 outer_kube=$3
say() { echo "[$(date +%T.%N | cut -c1-12)] $*"; }

# --- file system
root=$outer_state/root
mkdir -p "$root"
mount --make-rprivate /
mount -t tmpfs -o mode=755 node "$root"
for entry in /*; do
  name=${entry#/}
  if [ -L "$entry" ]; then
    cp -P "$entry" "$root/$name"
  elif [ -d "$entry" ]; then
    mkdir "$root/$name"
    case $name in proc | run | var | tmp | lost+found) ;; *) mount --rbind "$entry" "$root/$name" ;; esac
  fi
done
chmod 1777 "$root/tmp"
ln -s ../run "$root/var/run"
mkdir -p "$root"/var/{lib/kubelet,lib/cni,log/pods,log/containers,tmp} "$root$inside_state" "$root$inside_parts" \
  "$root$inside_kube" "$root$inside_scripts" "$root/run/old"
mount --bind "$outer_state" "$root$inside_state"
mount --bind "$outer_parts" "$root$inside_parts"
mount --bind "$outer_kube" "$root$inside_kube"
mount --bind "$here/.." "$root$inside_scripts"
cd "$root"
mount -t proc proc proc
pivot_root . run/old
cd /
umount -l /run/old && rmdir /run/old
mount --make-rshared /

# kubelet insists on some tunables of the kernel. They are the whole machine's, so it is shown what it wants to see.
tunable() { # PATH VALUE
  local file=/run/tunables/${1//\//_}
  mkdir -p /run/tunables
  echo "$2" >"$file"
  mount --bind "$file" "/proc/sys/$1"
}
tunable vm/overcommit_memory 1
tunable vm/panic_on_oom 0
tunable kernel/panic 10
tunable kernel/panic_on_oops 1
tunable kernel/keys/root_maxkeys 1000000
tunable kernel/keys/root_maxbytes 25000000

# --- network: no way out, so nothing in here reaches another machine
hostname "$node_name"
ip link set lo up
ip link add outside type bridge
ip address add "$node_address/32" dev outside
ip link set outside up
# A Service's address is translated only after a route for it was found.
ip route add "$service_range" dev outside
echo 1 >/proc/sys/net/ipv4/ip_forward
echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables

# --- processes
state=$inside_state parts=$inside_parts plane=$inside_state/plane
export LD_LIBRARY_PATH=$parts/lib XTABLES_LIBDIR=$parts/xtables KUBEBUILDER_ASSETS=$inside_kube
export PATH=$parts/bin:$inside_kube:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
# Off by default in 1.20, on in all later releases.
gates=BoundServiceAccountTokenVolume=true,TTLAfterFinished=true

# needs NAME: this process must be running.
needs() { alive "$1" || { say "$1 has ended:" && tail -5 "$state/$1.log" && exit 1; }; }

say "starting the container runtime"
mkdir -p /run/cni
cat >/run/cni/10-node.conflist <<JSON
{"cniVersion": "0.4.0", "name": "node", "plugins": [
  {"type": "bridge", "bridge": "pods", "isGateway": true, "isDefaultGateway": true, "hairpinMode": true, "ipMasq": false,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "$pod_range"}]]}}]}
JSON
# restrict_oom_score_adj: in a container the right to lower it (CAP_SYS_RESOURCE) is often missing.
cat >/run/containerd.toml <<TOML
version = 2
oom_score = 0
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper"]
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "stackgate.test/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$parts/cni"
    conf_dir = "/run/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      BinaryName = "$parts/bin/runc"
TOML
start containerd containerd --config /run/containerd.toml

say "starting etcd and kube-apiserver"
# Everything in here reaches it at 127.0.0.1, pods at the Service kubernetes.
APISERVER_FLAGS="--bind-address 0.0.0.0 --advertise-address $node_address --feature-gates $gates
  --kubelet-client-certificate $plane/pki/admin.crt --kubelet-client-key $plane/pki/admin.key
  --kubelet-preferred-address-types InternalIP" \
  "$inside_scripts/up.sh" "$plane" || { say "the control plane did not start" && exit 1; }
cp "$plane/kubeconfig" "$state/kubeconfig"
kubeconfig=$state/kubeconfig

say "starting the controllers and the node"
start kube-controller-manager kube-controller-manager --kubeconfig "$kubeconfig" --leader-elect=false --port 0 \
  --bind-address 127.0.0.1 --secure-port 10257 --cert-dir /run/controllers --use-service-account-credentials \
  --service-account-private-key-file "$plane/pki/service-accounts.key" --root-ca-file "$plane/pki/cluster-ca.crt" \
  --feature-gates "$gates" --kube-api-qps 200 --kube-api-burst 400
# It also answers to the name of a queue's scheduler, which is not in Debian: pods that ask for it run.
cat >/run/scheduler.yaml <<YAML
apiVersion: kubescheduler.config.k8s.io/v1beta1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: $kubeconfig}
leaderElection: {leaderElect: false}
healthzBindAddress: ""
metricsBindAddress: ""
profiles: [{schedulerName: default-scheduler}, {schedulerName: kai-scheduler}]
YAML
start kube-scheduler kube-scheduler --config /run/scheduler.yaml --bind-address 127.0.0.1 --secure-port 10259 --cert-dir /run/scheduler

for _ in $(seq 100); do
  needs containerd
  ! ctr version >/dev/null 2>&1 || break
  sleep 0.1
done
ctr -n k8s.io images import "$parts/images/pause.tar"

for dir in /sys/fs/cgroup/*/; do
  [ ! -e "$dir/cgroup.procs" ] || mkdir -p "$dir/$node_cgroup"
done
cat >/run/kubelet.yaml <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: false}, webhook: {enabled: false}, x509: {clientCAFile: $plane/pki/cluster-ca.crt}}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
cgroupRoot: /$node_cgroup
clusterDomain: cluster.local
clusterDNS: [$node_address]
resolvConf: ""
failSwapOn: false
protectKernelDefaults: true
oomScoreAdj: 0
healthzPort: 0
kubeAPIQPS: 100
kubeAPIBurst: 200
eventRecordQPS: 100
eventBurst: 200
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
imageGCHighThresholdPercent: 100
nodeStatusUpdateFrequency: 1s
syncFrequency: 10s
YAML
start kubelet kubelet --config /run/kubelet.yaml --kubeconfig "$kubeconfig" --hostname-override "$node_name" \
  --container-runtime remote --container-runtime-endpoint unix:///run/containerd/containerd.sock \
  --node-ip "$node_address" --root-dir /var/lib/kubelet --cert-dir /run/kubelet-certificates
cat >/run/proxy.yaml <<YAML
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
hostnameOverride: $node_name
clientConnection: {kubeconfig: $kubeconfig}
clusterCIDR: $pod_range
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
iptables: {minSyncPeriod: 100ms}
healthzBindAddress: ""
oomScoreAdj: 0
YAML
start kube-proxy kube-proxy --config /run/proxy.yaml
start dns "$inside_scripts/node/dns.sh" "$kubeconfig" "$node_address"
start volumes "$inside_scripts/node/volumes.sh" "$kubeconfig" "$node_name"

# As process 1 it reaps what is orphaned. A part that ends is told, in the log and by up.sh's later checks.
say "started"
while :; do wait -n 2>/dev/null || sleep 1; done
