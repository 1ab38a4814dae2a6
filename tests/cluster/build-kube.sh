#!/usr/bin/env bash
# Builds kube-apiserver 1.20.2 from Debian 12's source package and collects etcd and kubectl beside it.
#   build-kube.sh OUT_DIR
# Nothing is installed: packages are downloaded and unpacked below a scratch folder next to OUT_DIR.
# OUT_DIR appears only when everything in it is complete, so a build that was interrupted is simply repeated.
# Each line on stdout is one step; the caller shows them as progress. Needs: apt, dpkg-deb, tar, xz.
# Environment: JOBS (go build -p, default all cores), DEB_MIRROR (default: what this machine's apt uses).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/debian-packages.sh"

out=$(realpath -m "${1:?usage: build-kube.sh OUT_DIR}")
work=$out.work
package=kubernetes=1.20.5+really1.20.2-1.1+deb12u1
version=v1.20.2

mkdir -p "$work"
apt_private bookworm "$work"

echo "downloading Go 1.19, etcd, kubectl and the Kubernetes source"
apt_download golang-1.19-go golang-1.19-src golang-github-modern-go-reflect2-dev etcd-server kubernetes-client
(cd "$work" && apt_private_get source --download-only "$package")

export GOROOT=$work/root/usr/lib/go-1.19 GOPATH=$work/gopath GOCACHE=$work/gocache
# GOPATH mode: the vendored tree is older than Go 1.19's module checks accept.
export GO111MODULE=off GOFLAGS='' CGO_ENABLED=0 GOTOOLCHAIN=local
PATH=$GOROOT/bin:$PATH
tree=$GOPATH/src/k8s.io/kubernetes
go_build() { nice -n 5 go build -p "${JOBS:-$(nproc)}" -trimpath "$@"; }

if [ ! -e "$tree/.prepared" ]; then
  echo "unpacking the source"
  rm -rf "$tree" && mkdir -p "$tree"
  tar xf "$work"/kubernetes_*.orig.tar.gz -C "$tree" --strip-components=1
  # The vendored reflect2 1.0.1 breaks with Go 1.18 and later; Debian's 1.0.2 does not.
  rm "$tree"/vendor/github.com/modern-go/reflect2/*.go
  cp "$work"/root/usr/share/gocode/src/github.com/modern-go/reflect2/*.go "$tree/vendor/github.com/modern-go/reflect2/"
  cd "$tree"
  echo "generating the OpenAPI code"
  go_build -o "$work/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
  inputs=$(grep -rlE --include='*.go' '^// *\+k8s:openapi-gen=' pkg staging/src/k8s.io cmd plugin |
    grep -vE 'code-generator|sample-apiserver|zz_generated|/testdata/' | xargs -n1 dirname | LC_ALL=C sort -u |
    sed 's,^staging/src/,vendor/,; s,^,k8s.io/kubernetes/,' | paste -sd,)
  nice -n 5 "$work/openapi-gen" --logtostderr -i "$inputs" -p k8s.io/kubernetes/pkg/generated/openapi \
    -O zz_generated.openapi -h vendor/k8s.io/code-generator/hack/boilerplate.go.txt -r "$work/violations"
  # The generator's report equals the one in the source: proof that it saw the right inputs.
  cmp "$work/violations" api/api-rules/violation_exceptions.list
  touch .prepared
fi

cd "$tree"
flags='-s -w'
for prefix in '' k8s.io/kubernetes/vendor/; do
  for pkg in k8s.io/client-go/pkg/version k8s.io/component-base/version; do
    flags+=" -X $prefix$pkg.gitVersion=$version -X $prefix$pkg.gitMajor=1 -X $prefix$pkg.gitMinor=20"
    flags+=" -X $prefix$pkg.gitTreeState=clean -X $prefix$pkg.gitCommit=debian"
  done
done
echo "compiling kube-apiserver"
mkdir -p "$work/out"
# providerless: without the cloud volume drivers, 219 packages fewer.
go_build -tags providerless -ldflags "$flags" -o "$work/out/kube-apiserver" ./cmd/kube-apiserver

cp "$work"/root/usr/bin/{etcd,kubectl} "$work/out/"
rm -rf "$out" && mkdir -p "$(dirname "$out")" && mv "$work/out" "$out"
chmod -R u+w "$work" && rm -rf "$work"
echo "done"
