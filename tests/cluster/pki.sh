#!/usr/bin/env bash
# Makes the keys, certificates and kubeconfigs of a test control plane. What is there already is kept.
#   pki.sh STATE API_SERVER_URL
# Writes STATE/pki/*, STATE/kubeconfig (cluster administrator) and STATE/gate.kubeconfig (Stackgate's service
# account: the rights that the chart gives it, and no more).
set -euo pipefail
state=$(realpath "$1") url=$2
umask 077
mkdir -p "$state/pki"
cd "$state/pki"

key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }

authority() {
  [ ! -s "$1.crt" ] || return 0
  key "$1"
  openssl req -x509 -new -key "$1.key" -days 3650 -subj "/CN=$1" -out "$1.crt" \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign
}

# leaf NAME SUBJECT AUTHORITY EXTENSION...
leaf() {
  local name=$1 subject=$2 ca=$3
  shift 3
  [ ! -s "$name.crt" ] || return 0
  key "$name"
  openssl req -new -key "$name.key" -subj "$subject" -out "$name.csr"
  printf '%s\n' basicConstraints=CA:FALSE keyUsage=digitalSignature "$@" >"$name.ext"
  openssl x509 -req -in "$name.csr" -CA "$ca.crt" -CAkey "$ca.key" -CAcreateserial -days 3650 \
    -extfile "$name.ext" -out "$name.crt" 2>/dev/null
  rm "$name.csr" "$name.ext"
}

names=DNS:localhost,DNS:crdserver.kube-system.svc,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:10.96.0.1
authority cluster-ca
authority front-proxy-ca
leaf apiserver /CN=kube-apiserver cluster-ca extendedKeyUsage=serverAuth "subjectAltName=$names"
leaf front-proxy-client /CN=front-proxy-client front-proxy-ca extendedKeyUsage=clientAuth
leaf admin /O=system:masters/CN=admin cluster-ca extendedKeyUsage=clientAuth
leaf gate /O=system:serviceaccounts/CN=system:serviceaccount:stackgate-system:stackgate cluster-ca \
  extendedKeyUsage=clientAuth
if [ ! -s service-accounts.key ]; then
  openssl genrsa -out service-accounts.key 2048 2>/dev/null
  openssl rsa -in service-accounts.key -pubout -out service-accounts.pub 2>/dev/null
fi

kubeconfig() { # FILE USER
  cat >"$state/$1" <<YAML
apiVersion: v1
kind: Config
current-context: stackgate-test
clusters:
- name: stackgate-test
  cluster: {server: "$url", certificate-authority-data: $(base64 -w0 <cluster-ca.crt)}
users:
- name: $2
  user: {client-certificate-data: $(base64 -w0 <"$2.crt"), client-key-data: $(base64 -w0 <"$2.key")}
contexts:
- name: stackgate-test
  context: {cluster: stackgate-test, user: $2}
YAML
}
kubeconfig kubeconfig admin
kubeconfig gate.kubeconfig gate
