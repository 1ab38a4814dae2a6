#!/usr/bin/env bash
# A container image of one program: the stripped binary as its entrypoint, the shared libraries that it names (a static
# one has none), CA certificates, and an unprivileged user. No package manager, and no shell unless IMAGE_PROGRAMS names one.
#   image.sh NAME:TAG OUT.tar BINARY [LIBRARY...]
# LIBRARY: a shared object that the program opens at run time; it lies in /usr/lib/stackgate, with the libraries it names.
# In the environment: IMAGE_ENV, one more variable of the image, NAME=VALUE; IMAGE_LIBRARIES, a folder whose libraries take the place of the machine's (build-curl.sh makes one);
# IMAGE_PYTHON: not empty: with Debian's Python (image-python.sh); IMAGE_PROGRAMS: programs of this machine that ours starts, each with
# the path that it finds them at, "/usr/bin/git /bin/sh";
# IMAGE_LIMIT_MB: fail when OUT is larger. Prints what the image consists of, in bytes.
# Import it with: ctr -n k8s.io images import OUT.tar
set -euo pipefail
fail() { echo "image.sh: $1" >&2; exit 1; }
(($# >= 3)) || fail "it takes NAME:TAG OUT.tar BINARY [LIBRARY...]"
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
name=$1 out=$2 binary=$3 opened=("${@:4}")
if [ ! -f "$binary" ] || [ ! -x "$binary" ]; then fail "$binary is no program"; fi
certificates=/etc/ssl/certs/ca-certificates.crt
[ -s $certificates ] || fail "$certificates is missing; it comes with the package ca-certificates"

mkdir -p "$(dirname "$out")"
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
umask 022
program=/usr/bin/$(basename "$binary")
mkdir -p "$root"/{usr/bin,etc/ssl/certs,tmp,run}
chmod 1777 "$root/tmp"
strip -o "$root$program" "$binary"
chmod 755 "$root$program"

for each in "${opened[@]}"; do
  mkdir -p "$root/usr/lib/stackgate"
  strip --strip-unneeded -o "$root/usr/lib/stackgate/$(basename "$each")" "$each"
done

# ldd runs the program's loader: only for what we built ourselves, and Debian's. For a static program it fails.
own=${IMAGE_LIBRARIES:+$(realpath "$IMAGE_LIBRARIES")}
python=() python_bytes=0
if [ -n "${IMAGE_PYTHON:-}" ]; then
  words=$("$here/image-python.sh" "$root")
  mapfile -t python <<<"$words"
  python_bytes=$(du -cbs "$root"/usr/bin/python3* "$root"/usr/lib/python3* | tail -1 | cut -f1)
fi
read -ra programs <<<"${IMAGE_PROGRAMS:-}"
for each in "${programs[@]}"; do
  [ -x "$each" ] || fail "$each is not on this machine"
  install -D -m 755 "$(realpath "$each")" "$root$each"
done
needs=$(for each in "$binary" "${opened[@]}" "${python[@]}" "${programs[@]}"; do LD_LIBRARY_PATH=$own ldd "$each" 2>/dev/null || true; done)
system=$(dirname "$(grep -oE '/[^ ]*/libc\.so[^ ]*' <<<"$needs" | head -1)")
! grep 'not found' <<<"$needs" >&2 || fail "$binary needs libraries that are not on this machine"
library_bytes=0 libraries=0
while read -r library; do
  place=$library
  if [ -n "$own" ] && [[ $library == "$own"/* ]]; then place=$system/$(basename "$library"); fi
  mkdir -p "$root$(dirname "$place")"
  install -m 755 "$(realpath "$library")" "$root$place"
  library_bytes=$((library_bytes + $(stat -c %s "$root$place")))
  libraries=$((libraries + 1))
done < <(grep -oE '/[^ ]+' <<<"$needs" | grep -v ':$' | sort -u)

install -m 644 $certificates "$root/etc/ssl/certs/"
printf '%s\n' 'root:x:0:0:root:/:/sbin/nologin' 'nonroot:x:65532:65532:nonroot:/:/sbin/nologin' >"$root/etc/passwd"
printf '%s\n' 'root:x:0:' 'nonroot:x:65532:' >"$root/etc/group"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"

config=$(jq -cn --arg program "$program" --arg certificates $certificates --arg more "${IMAGE_ENV:-}" '{
  Entrypoint: [$program], User: "65532:65532", WorkingDir: "/",
  Env: (["PATH=/usr/bin", "SSL_CERT_FILE=\($certificates)"] + if $more == "" then [] else [$more] end)}')
"$here/oci-archive.sh" "$name" "$root" "$out" "$config"

total=$(stat -c %s "$out")
for each in "${programs[@]}"; do printf '%10d  %s\n' "$(stat -c %s "$root$each")" "$each"; done
((python_bytes == 0)) || printf '%10d  %s\n' "$python_bytes" "Debian's Python"
printf '%10d  %s\n' "$(stat -c %s "$root$program")" "$program" "$library_bytes" "$libraries shared libraries" \
  "$(stat -c %s $certificates)" "CA certificates" "$total" "$name, $out" "$(gzip <"$out" | wc -c)" "the same, compressed"
limit=${IMAGE_LIMIT_MB:-0}
((limit == 0 || total <= limit * 1000000)) || fail "$name is larger than $limit MB"
