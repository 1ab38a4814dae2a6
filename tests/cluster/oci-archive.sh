#!/usr/bin/env bash
# Packs a root file system as a container image, without a daemon or a registry.
#   oci-archive.sh NAME:TAG ROOTFS_DIR OUT.tar [CONFIG_JSON]
# CONFIG_JSON is the image configuration's `config` object: {"Entrypoint":["/server"],"User":"65532:65532","Env":["A=b"]}.
# OUT is an OCI image layout in a tar archive with a manifest.json beside it, so that containerd (ctr images import),
# podman, skopeo and every docker load take it. All files belong to root; equal input gives equal bytes; OUT appears whole.
# Sources: https://github.com/opencontainers/image-spec (image-layout.md, config.md). Needs: tar, jq, sha256sum.
set -euo pipefail
fail() { echo "oci-archive.sh: $1" >&2; exit 1; }
(($# == 3 || $# == 4)) || fail "it takes NAME:TAG ROOTFS_DIR OUT.tar [CONFIG_JSON]"
name=$1 rootfs=$2 out=$(realpath -m "$3") config=${4:-'{}'}
[ -d "$rootfs" ] || fail "$rootfs is not a directory"
jq -e 'type == "object"' >/dev/null 2>&1 <<<"$config" || fail "CONFIG_JSON is not a JSON object: $config"
tag=${name##*/} path=${name%:*}
[[ $tag == *:* && $tag != *: ]] || fail "'$name' has no tag; write name:tag"
tag=${tag##*:}
# What a short name means to every runtime.
if [[ $path != */* ]]; then
  path=docker.io/library/$path
elif [[ ${path%%/*} != *[.:]* && ${path%%/*} != localhost ]]; then
  path=docker.io/$path
fi
case $(uname -m) in
  x86_64) architecture=amd64 ;;
  aarch64) architecture=arm64 ;;
  *) architecture=$(uname -m) ;;
esac
epoch=1970-01-01T00:00:00Z

mkdir -p "$(dirname "$out")"
work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/image/blobs/sha256"
pack() { tar --format=gnu --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$1" -cf "$2" "${@:3}"; }

# store MEDIA_TYPE FILE: moves FILE among the blobs and prints its descriptor.
store() {
  local digest size
  digest=$(sha256sum <"$2" | cut -d' ' -f1) size=$(stat -c %s "$2")
  mv "$2" "$work/image/blobs/sha256/$digest"
  jq -cn --arg t "$1" --arg d "sha256:$digest" --argjson s "$size" '{mediaType: $t, digest: $d, size: $s}'
}

pack "$rootfs" "$work/layer" .
layer=$(store application/vnd.oci.image.layer.v1.tar "$work/layer")
jq -cn --argjson c "$config" --argjson l "$layer" --arg a "$architecture" --arg e "$epoch" \
  '{architecture: $a, os: "linux", created: $e, config: $c, rootfs: {type: "layers", diff_ids: [$l.digest]},
    history: [{created: $e, created_by: "oci-archive.sh"}]}' >"$work/config"
config=$(store application/vnd.oci.image.config.v1+json "$work/config")
jq -cn --argjson c "$config" --argjson l "$layer" \
  '{schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json", config: $c, layers: [$l]}' >"$work/manifest"
manifest=$(store application/vnd.oci.image.manifest.v1+json "$work/manifest")
# containerd takes the whole name from its own annotation, others from manifest.json.
jq -cn --argjson m "$manifest" --arg n "$path:$tag" --arg t "$tag" --arg a "$architecture" \
  '{schemaVersion: 2, manifests: [$m + {platform: {os: "linux", architecture: $a},
    annotations: {"io.containerd.image.name": $n, "org.opencontainers.image.ref.name": $t}}]}' >"$work/image/index.json"
jq -cn --argjson c "$config" --argjson l "$layer" --arg n "$path:$tag" 'def blob: .digest | sub(":"; "/") | "blobs/" + .;
  [{Config: ($c | blob), RepoTags: [$n], Layers: [$l | blob]}]' >"$work/image/manifest.json"
echo '{"imageLayoutVersion":"1.0.0"}' >"$work/image/oci-layout"
pack "$work/image" "$work/archive" oci-layout index.json manifest.json blobs
mv "$work/archive" "$out"
