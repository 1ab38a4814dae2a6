# Sourced. Kubernetes 1.20.2 from Debian 12's source package, the last one that carries the whole tree: where the
# scripts that build its programs share the download, the unpacking and the compiler's flags.
# shellcheck shell=bash
source "$(dirname "${BASH_SOURCE[0]}")/debian-packages.sh"

kube_version=v1.20.2

# kube_source WORK PACKAGE...: downloads Go, the source and the packages named into WORK and unpacks all of it.
# Sets kube_tree and Go's environment. What WORK has already is kept.
kube_source() {
  local work=$1
  shift
  mkdir -p "$work"
  apt_private bookworm "$work"
  echo "downloading Go 1.19, the Kubernetes source and: $*"
  apt_download golang-1.19-go golang-1.19-src golang-github-modern-go-reflect2-dev "$@"
  (cd "$work" && apt_private_get source --download-only kubernetes=1.20.5+really1.20.2-1.1+deb12u1)

  # GOPATH mode: the vendored tree is older than Go 1.19's module checks accept.
  export GOROOT=$work/root/usr/lib/go-1.19 GOPATH=$work/gopath GOCACHE=$work/gocache
  export GO111MODULE=off GOFLAGS='' CGO_ENABLED=0 GOTOOLCHAIN=local
  PATH=$GOROOT/bin:$PATH
  kube_tree=$GOPATH/src/k8s.io/kubernetes
  [ ! -e "$kube_tree/.unpacked" ] || return 0
  echo "unpacking the source"
  rm -rf "$kube_tree" && mkdir -p "$kube_tree"
  tar xf "$work"/kubernetes_*.orig.tar.gz -C "$kube_tree" --strip-components=1
  # The vendored reflect2 1.0.1 breaks with Go 1.18 and later; Debian's 1.0.2 does not.
  rm "$kube_tree"/vendor/github.com/modern-go/reflect2/*.go
  cp "$work"/root/usr/share/gocode/src/github.com/modern-go/reflect2/*.go "$kube_tree/vendor/github.com/modern-go/reflect2/"
  touch "$kube_tree/.unpacked"
}

kube_go_build() { (cd "$kube_tree" && nice -n 5 go build -p "${JOBS:-$(nproc)}" -trimpath "$@"); }

# kube_compile OUT PROGRAM...: from cmd/PROGRAM, without the cloud volume drivers (219 packages fewer).
kube_compile() {
  local out=$1 prefix pkg program flags='-s -w'
  shift
  for prefix in '' k8s.io/kubernetes/vendor/; do
    for pkg in k8s.io/client-go/pkg/version k8s.io/component-base/version; do
      flags+=" -X $prefix$pkg.gitVersion=$kube_version -X $prefix$pkg.gitMajor=1 -X $prefix$pkg.gitMinor=20"
      flags+=" -X $prefix$pkg.gitTreeState=clean -X $prefix$pkg.gitCommit=debian"
    done
  done
  mkdir -p "$out"
  for program; do
    echo "compiling $program"
    kube_go_build -tags providerless -ldflags "$flags" -o "$out/$program" "./cmd/$program"
  done
}

# kube_finish WORK OUT: moves WORK/out to OUT, whole, and removes WORK.
kube_finish() {
  rm -rf "$2" && mkdir -p "$(dirname "$2")" && mv "$1/out" "$2"
  chmod -R u+w "$1" && rm -rf "$1"
  echo "done"
}
