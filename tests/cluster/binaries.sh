# Sourced. Finds etcd, kube-apiserver and kubectl: $KUBEBUILDER_ASSETS, then PATH, then the cache.
# shellcheck shell=bash disable=SC2034

kube_cache=${XDG_CACHE_HOME:-$HOME/.cache}/stackgate

# at_least MINOR COMMAND...: the command prints a Kubernetes version 1.MINOR or newer.
at_least() {
  local minor=$1 found
  shift
  found=$("$@" 2>/dev/null | sed -nE 's/.*v1\.([0-9]+)\..*/\1/p' | head -1)
  [ "${found:-0}" -ge "$minor" ]
}

# complete_set DIR: all three are there, and of a version that these tests know.
complete_set() {
  [ -x "$1/etcd" ] && [ -x "$1/kubectl" ] && [ -x "$1/kube-apiserver" ] && at_least 20 "$1/kube-apiserver" --version
}

# find_kube: sets ETCD, KUBE_APISERVER and KUBECTL, or fails quietly.
find_kube() {
  local dir
  for dir in "${KUBEBUILDER_ASSETS:-}" "$kube_cache/kubernetes-1.20.2"; do
    if [ -n "$dir" ] && complete_set "$dir"; then
      ETCD=$dir/etcd KUBE_APISERVER=$dir/kube-apiserver KUBECTL=$dir/kubectl
      return 0
    fi
    # PATH comes between the two.
    if ETCD=$(command -v etcd) && KUBE_APISERVER=$(command -v kube-apiserver) && KUBECTL=$(command -v kubectl) &&
      at_least 20 "$KUBE_APISERVER" --version && at_least 20 "$KUBECTL" version --client; then
      return 0
    fi
  done
  ETCD='' KUBE_APISERVER='' KUBECTL=''
  return 1
}

# complete_crdserver DIR: what build-crdserver.sh makes is there, and of these sources.
complete_crdserver() {
  [ -x "$1/apiextensions-apiserver" ] &&
    [ "$(cat "$1/match-conditions.source" 2>/dev/null)" = "$(sha256sum <"$(dirname "${BASH_SOURCE[0]}")/match-conditions/main.go")" ]
}
