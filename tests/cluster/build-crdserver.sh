#!/usr/bin/env bash
# Builds a current apiextensions-apiserver (1.36 at the time of writing) from Debian unstable's golang-*-dev packages.
#   build-crdserver.sh OUT_DIR
# It serves CustomResourceDefinitions with CEL rules and strict decoding, and nothing else (no pods, no secrets).
# Beside it comes match-conditions (its source is the folder of that name), made from the same packages.
# Unstable moves: a failure here costs one leg of the test suite, which then says so.
# OUT_DIR appears only when complete. Each line on stdout is one step of progress.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/debian-packages.sh"

here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
out=$(realpath -m "${1:?usage: build-crdserver.sh OUT_DIR}")
work=$out.work
mkdir -p "$work"
apt_private "${SUITE:-sid}" "$work"

echo "downloading Go and the API machinery's packages"
# Against an empty package database apt lists the whole closure; only its Go parts are wanted.
mapfile -t packages < <(apt_private_get install -y --print-uris golang-k8s-apiextensions-apiserver-dev |
  sed -n "s/^'[^']*' \(golang-[^_]*\)_.*/\1/p")
[ "${#packages[@]}" -gt 0 ] || { echo "golang-k8s-apiextensions-apiserver-dev cannot be resolved in ${SUITE:-sid}" >&2; exit 1; }
apt_download "${packages[@]}"

GOROOT=$(find "$work"/root/usr/lib -maxdepth 1 -name 'go-1.*' | sort -V | tail -1)
export GOROOT GOPATH=$work/root/usr/share/gocode GOCACHE=$work/gocache
export GO111MODULE=off GOFLAGS='' CGO_ENABLED=0 GOTOOLCHAIN=local
PATH=$GOROOT/bin:$PATH
version=$(dpkg-deb -f "$work"/debs/golang-k8s-apiextensions-apiserver-dev_*.deb Version |
  sed 's/^0\.\([0-9]*\)\.\([0-9]*\).*/1.\1.\2/')
minor=${version#1.}
flags='-s -w'
for pair in "gitVersion=v$version" gitMajor=1 "gitMinor=${minor%%.*}" gitTreeState=clean gitCommit=debian; do
  flags+=" -X k8s.io/component-base/version.$pair"
done
echo "compiling apiextensions-apiserver $version"
mkdir -p "$work/out"
cd "$GOPATH/src/k8s.io/apiextensions-apiserver"
nice -n 5 go build -p "${JOBS:-$(nproc)}" -trimpath -ldflags "$flags" -o "$work/out/apiextensions-apiserver" .
echo "compiling match-conditions"
# Its source is known by its sum, so that another one is compiled anew. Without it a part of one suite is skipped.
nice -n 5 go build -p "${JOBS:-$(nproc)}" -trimpath -ldflags '-s -w' -o "$work/out/match-conditions" "$here/match-conditions/main.go" ||
  echo "match-conditions cannot be compiled with these packages"
sha256sum <"$here/match-conditions/main.go" >"$work/out/match-conditions.source"
echo "$version" >"$work/out/VERSION"
rm -rf "$out" && mkdir -p "$(dirname "$out")" && mv "$work/out" "$out"
chmod -R u+w "$work" && rm -rf "$work"
echo "done"
