#!/usr/bin/env bash
# Serves our custom resources from a current apiextensions-apiserver (CEL rules, strict decoding) behind the control
# plane of STATE. One kubeconfig is then enough: stackgate.dev is answered by the new code, everything else by the old.
#   crdserver.sh STATE CRDSERVER_DIR CRD.yaml...      down.sh STATE stops it too
# The aggregator reaches it through a Service of type ExternalName, which needs neither a node nor kube-proxy.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
source "$here/processes.sh"
source "$here/binaries.sh"
find_kube || { echo "kubectl was not found: run './dev up', which builds it" >&2; exit 1; }
state=$(realpath "$1") bin=$2
shift 2
pki=$state/pki
read -r etcd_port _ _ <"$state/ports"
port=$(free_port)
url=https://127.0.0.1:$port
kube() { "$KUBECTL" --kubeconfig "$state/kubeconfig" "$@"; }
direct() {
  curl -sS --max-time 20 --noproxy '*' --cacert "$pki/cluster-ca.crt" --cert "$pki/admin.crt" --key "$pki/admin.key" "$@"
}
# until_true SECONDS COMMAND...
until_true() {
  local tenths=$(($1 * 10))
  shift
  until "$@" >/dev/null 2>&1; do
    ((tenths-- > 0)) || return 1
    sleep 0.1
  done
}

# Off: what needs APIs that the 1.20 server does not have (its own policies, flow control, streaming lists).
# shellcheck disable=SC2054 # commas belong to the plugins' list
command=(env KUBE_FEATURE_WatchListClient=false "$bin/apiextensions-apiserver"
  --etcd-servers "http://127.0.0.1:$etcd_port" --etcd-prefix /crdserver --bind-address 127.0.0.1 --secure-port "$port"
  --tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" --client-ca-file "$pki/cluster-ca.crt"
  --requestheader-client-ca-file "$pki/front-proxy-ca.crt" --requestheader-allowed-names front-proxy-client
  --requestheader-username-headers X-Remote-User --requestheader-group-headers X-Remote-Group
  --requestheader-extra-headers-prefix X-Remote-Extra- --kubeconfig "$state/kubeconfig"
  --authentication-kubeconfig "$state/kubeconfig" --authorization-kubeconfig "$state/kubeconfig"
  --authentication-skip-lookup=true --enable-priority-and-fairness=false
  --disable-admission-plugins ValidatingAdmissionPolicy,MutatingAdmissionPolicy)
printf '%q ' "${command[@]}" >"$state/crdserver.command"
start crdserver "${command[@]}"
ready() { alive crdserver && [ "$(direct "$url/readyz")" = ok ]; }
until_true 30 ready || { echo "the custom-resource server did not start:" >&2; tail -5 "$state/crdserver.log" >&2; exit 1; }

names=()
for file in "$@"; do
  # kubectl cannot talk to it (there is no discovery root); a server-side apply by hand takes YAML as it is.
  name=$(sed -nE 's/^  name: *([a-z.]+) *$/\1/p' "$file" | head -1)
  answer=$(direct -X PATCH -H 'Content-Type: application/apply-patch+yaml' --data-binary "@$file" \
    "$url/apis/apiextensions.k8s.io/v1/customresourcedefinitions/$name?fieldManager=stackgate-test&force=true")
  [ "$(jq -r .kind <<<"$answer")" = CustomResourceDefinition ] || { jq -r .message <<<"$answer" >&2; exit 1; }
  names+=("$name")
done
for name in "${names[@]}"; do
  served() { direct "$url/apis/stackgate.dev/v1alpha1" | jq -e --arg p "${name%%.*}" '.resources[] | select(.name == $p)'; }
  until_true 30 served || { echo "$name is not served" >&2; exit 1; }
done

kube apply -f - >/dev/null <<YAML
apiVersion: v1
kind: Service
metadata: {name: crdserver, namespace: kube-system}
spec: {type: ExternalName, externalName: localhost}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1alpha1.stackgate.dev}
spec:
  group: stackgate.dev
  version: v1alpha1
  groupPriorityMinimum: 1000
  versionPriority: 15
  caBundle: $(base64 -w0 <"$pki/cluster-ca.crt")
  service: {name: crdserver, namespace: kube-system, port: $port}
YAML
# "Available" comes about a second before the aggregator routes to it. The certificate names the Service's DNS name.
listed() { kube get --raw "/apis/stackgate.dev/v1alpha1/${names[0]%%.*}?limit=1"; }
until_true 60 listed || { kube get apiservice v1alpha1.stackgate.dev -o jsonpath='{.status}' >&2; exit 1; }
