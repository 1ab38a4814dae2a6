#!/usr/bin/env bash
# Starts etcd and kube-apiserver on loopback with TLS; several may run side by side, one STATE each. Needs no root.
#   up.sh STATE              writes STATE/kubeconfig, STATE/*.log, STATE/*.pid; a STATE that was stopped is continued
#   up.sh STATE apiserver    starts only the API server again, on its former port; crdserver.sh's server, where there is
#                            one, is restarted with it
# Environment: KUBEBUILDER_ASSETS, APISERVER_FLAGS (more flags of kube-apiserver).
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
source "$here/processes.sh"
source "$here/binaries.sh"
find_kube || { echo "etcd, kube-apiserver and kubectl were not found: run './dev up', which builds them" >&2; exit 1; }

mkdir -p "${1:?usage: up.sh STATE [apiserver]}"
state=$(realpath "$1") only=${2:-}
chmod 700 "$state"
alive kube-apiserver && { echo "a control plane is already running in $state" >&2; exit 1; }

if [ ! -s "$state/ports" ]; then
  free_port 3 >"$state/ports"
fi
read -r etcd_port peer_port api_port <"$state/ports"
url=https://127.0.0.1:$api_port
"$here/pki.sh" "$state" "$url"
pki=$state/pki

# An etcd without fsync: what it stores is test data.
[ "$only" = apiserver ] || start etcd "$ETCD" --name test --data-dir "$state/etcd" --unsafe-no-fsync --logger zap \
  --log-level warn --listen-client-urls "http://127.0.0.1:$etcd_port" --advertise-client-urls "http://127.0.0.1:$etcd_port" \
  --listen-peer-urls "http://127.0.0.1:$peer_port" --initial-advertise-peer-urls "http://127.0.0.1:$peer_port" \
  --initial-cluster "test=http://127.0.0.1:$peer_port"
# The front-proxy flags let an aggregated API server (crdserver.sh) believe who the user is.
# shellcheck disable=SC2086 # APISERVER_FLAGS is a list
start kube-apiserver "$KUBE_APISERVER" --etcd-servers "http://127.0.0.1:$etcd_port" \
  --bind-address 127.0.0.1 --advertise-address 127.0.0.1 --secure-port "$api_port" --cert-dir "$state" \
  --tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" --client-ca-file "$pki/cluster-ca.crt" \
  --authorization-mode Node,RBAC --service-cluster-ip-range 10.96.0.0/16 --allow-privileged=true \
  --service-account-key-file "$pki/service-accounts.pub" --service-account-signing-key-file "$pki/service-accounts.key" \
  --service-account-issuer https://kubernetes.default.svc --api-audiences https://kubernetes.default.svc \
  --requestheader-client-ca-file "$pki/front-proxy-ca.crt" --requestheader-allowed-names front-proxy-client \
  --requestheader-extra-headers-prefix X-Remote-Extra- --requestheader-group-headers X-Remote-Group \
  --requestheader-username-headers X-Remote-User --proxy-client-cert-file "$pki/front-proxy-client.crt" \
  --proxy-client-key-file "$pki/front-proxy-client.key" ${APISERVER_FLAGS:-}

explain() { # NAME: why it is not there, from its log
  for name in kube-apiserver etcd; do stop "$name"; done
  # Somebody else may have taken a port since it was chosen: once more with others.
  if [ -z "$only" ] && [ -z "${UP_AGAIN:-}" ] && grep -q 'address already in use' "$state/$1.log"; then
    rm -f "$state"/{ports,etcd.log,kube-apiserver.log}
    UP_AGAIN=1 exec "$here/up.sh" "$state"
  fi
  echo "$1 did not start; the end of $state/$1.log:" >&2
  tail -5 "$state/$1.log" | cut -c1-300 >&2
  exit 1
}
# restart_crdserver: in a cluster one process serves all resources. Left running, it would ask for the webhooks' current
# configuration only after client-go's pause, which grows to a minute.
restart_crdserver() {
  local tenths=600
  { [ "$only" = apiserver ] && [ -s "$state/crdserver.command" ]; } || return 0
  stop crdserver 2 2>/dev/null
  eval "start crdserver $(<"$state/crdserver.command")"
  until "$KUBECTL" --kubeconfig "$state/kubeconfig" get --raw /apis/stackgate.dev/v1alpha1 >/dev/null 2>&1; do
    { ((tenths-- > 0)) && alive crdserver; } || { echo "the custom-resource server did not come back: $state/crdserver.log" >&2; exit 1; }
    sleep 0.1
  done
}
for _ in $(seq 900); do
  for name in etcd kube-apiserver; do alive "$name" || explain "$name"; done
  ready=$(curl -s --max-time 2 --noproxy '*' --cacert "$pki/cluster-ca.crt" --cert "$pki/admin.crt" --key "$pki/admin.key" \
    "$url/readyz" || true)
  if [ "$ready" = ok ]; then
    restart_crdserver
    exit 0
  fi
  sleep 0.1
done
explain kube-apiserver
