#!/usr/bin/env bash
# Builds kube-apiserver 1.20.2 from Debian 12's source package and collects etcd and kubectl beside it.
#   build-kube.sh OUT_DIR
# Nothing is installed: packages are downloaded and unpacked below a scratch folder next to OUT_DIR.
# OUT_DIR appears only when everything in it is complete, so a build that was interrupted is simply repeated.
# Each line on stdout is one step; the caller shows them as progress. Needs: apt, dpkg-deb, tar, xz.
# Environment: JOBS (go build -p, default all cores), DEB_MIRROR (default: what this machine's apt uses).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/kube-source.sh"

out=$(realpath -m "${1:?usage: build-kube.sh OUT_DIR}")
work=$out.work
kube_source "$work" etcd-server kubernetes-client

if [ ! -e "$kube_tree/.generated" ]; then
  echo "generating the OpenAPI code"
  kube_go_build -o "$work/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
  cd "$kube_tree"
  inputs=$(grep -rlE --include='*.go' '^// *\+k8s:openapi-gen=' pkg staging/src/k8s.io cmd plugin |
    grep -vE 'code-generator|sample-apiserver|zz_generated|/testdata/' | xargs -n1 dirname | LC_ALL=C sort -u |
    sed 's,^staging/src/,vendor/,; s,^,k8s.io/kubernetes/,' | paste -sd,)
  nice -n 5 "$work/openapi-gen" --logtostderr -i "$inputs" -p k8s.io/kubernetes/pkg/generated/openapi \
    -O zz_generated.openapi -h vendor/k8s.io/code-generator/hack/boilerplate.go.txt -r "$work/violations"
  # The generator's report equals the one in the source: proof that it saw the right inputs.
  cmp "$work/violations" api/api-rules/violation_exceptions.list
  touch .generated
fi

kube_compile "$work/out" kube-apiserver
cp "$work"/root/usr/bin/{etcd,kubectl} "$work/out/"
kube_finish "$work" "$out"
