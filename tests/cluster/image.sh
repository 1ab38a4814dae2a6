#!/usr/bin/env bash
# Packs a program into an OCI image (docker-archive), without a daemon or a registry: the stripped binary as the
# entrypoint, the shared libraries that it names, CA certificates, and an unprivileged user. The same input gives the same
# bytes.
#   image.sh NAME:TAG OUT.tar BINARY [FILE=/PATH/IN/IMAGE]...
# Environment: IMAGE_LIMIT_MB fails when the uncompressed image is larger; IMAGE_CONFIG is JSON that is merged over the
# image's configuration ('{"Entrypoint":["/usr/bin/x"],"Env":["A=b"]}').
# Prints what the image consists of, in bytes. Import it with: ctr -n k8s.io images import OUT.tar
set -euo pipefail
usage() {
  echo "usage: image.sh NAME:TAG OUT.tar BINARY [FILE=/PATH/IN/IMAGE]..." >&2
  exit 2
}
(($# >= 3)) || usage
name=$1 out=$2 binary=$3
shift 3
[[ $name == *:* ]] || usage
[ -x "$binary" ] || { echo "image.sh: $binary is no program" >&2; exit 1; }
for tool in jq strip tar sha256sum; do
  command -v $tool >/dev/null || { echo "image.sh: $tool is missing" >&2; exit 1; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
root=$work/root
program=/usr/bin/$(basename "$binary")
mkdir -p "$root"/{usr/bin,etc/ssl/certs,tmp,run}
strip -o "$root$program" "$binary"
chmod 755 "$root$program"

# ldd runs the loader on the binary: only for programs that we built. A static one has no libraries, which ldd says
# with an exit status.
libraries=$(ldd "$binary" 2>/dev/null | grep -oE '/[^ ]+' | sort -u || true)
if ldd "$binary" 2>/dev/null | grep -q 'not found'; then
  echo "image.sh: $binary needs libraries that are not here: $(ldd "$binary" | grep 'not found')" >&2
  exit 1
fi
for library in $libraries; do
  mkdir -p "$root$(dirname "$library")"
  install -m 755 "$(realpath "$library")" "$root$library"
done

[ -s /etc/ssl/certs/ca-certificates.crt ] || { echo "image.sh: the package ca-certificates is missing" >&2; exit 1; }
install -m 644 /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
printf '%s\n' 'root:x:0:0:root:/:/sbin/nologin' 'nonroot:x:65532:65532:nonroot:/:/sbin/nologin' >"$root/etc/passwd"
printf '%s\n' 'root:x:0:' 'nonroot:x:65532:' >"$root/etc/group"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
chmod 1777 "$root/tmp"
for pair; do
  [[ $pair == ?*=/* ]] || usage
  mkdir -p "$root$(dirname "${pair#*=}")"
  if [ -x "${pair%%=*}" ]; then mode=755; else mode=644; fi
  install -m $mode "${pair%%=*}" "$root${pair#*=}"
done

pack() { # DIRECTORY OUT [MEMBER...]
  tar --format=ustar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$1" -cf "$2" "${@:3}"
}
digest() { sha256sum <"$1" | cut -d' ' -f1; }

case $(uname -m) in
  x86_64) architecture=amd64 ;;
  aarch64) architecture=arm64 ;;
  *) architecture=$(uname -m) ;;
esac
image=$work/image
mkdir "$image"
pack "$root" "$image/layer.tar" .
jq -cn --arg program "$program" --arg layer "sha256:$(digest "$image/layer.tar")" --arg architecture "$architecture" \
  --argjson more "${IMAGE_CONFIG:-{\}}" '{
    architecture: $architecture, os: "linux", created: "1970-01-01T00:00:00Z",
    config: ({Entrypoint: [$program], User: "65532:65532", WorkingDir: "/",
      Env: ["PATH=/usr/bin", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"]} + $more),
    rootfs: {type: "layers", diff_ids: [$layer]},
    history: [{created: "1970-01-01T00:00:00Z", created_by: "image.sh"}]}' >"$work/config.json"
config=$(digest "$work/config.json").json
mv "$work/config.json" "$image/$config"
jq -cn --arg config "$config" --arg name "$name" '[{Config: $config, RepoTags: [$name], Layers: ["layer.tar"]}]' \
  >"$image/manifest.json"
mkdir -p "$(dirname "$out")"
pack "$image" "$work/out.tar" manifest.json "$config" layer.tar
mv "$work/out.tar" "$out"

bytes() { du -cbL "$@" 2>/dev/null | tail -1 | cut -f1; }
library_bytes=0
[ -z "$libraries" ] || library_bytes=$(for library in $libraries; do stat -c %s "$root$library"; done | awk '{n += $1} END {print n}')
total=$(stat -c %s "$out")
printf '%12d  %s\n' "$(stat -c %s "$root$program")" "$program" "$library_bytes" "$(wc -w <<<"$libraries") shared libraries" \
  "$(bytes "$root/etc/ssl")" "CA certificates" "$total" "$name in $out" "$(gzip <"$out" | wc -c)" "compressed"
limit=${IMAGE_LIMIT_MB:-0}
((limit == 0 || total <= limit * 1000000)) || { echo "image.sh: $name is larger than $limit MB" >&2; exit 1; }
