#!/usr/bin/env bash
# Builds Debian 12's libcurl, with its security patches, for what our programs speak: HTTP and HTTPS through OpenSSL and
# nghttp2. Debian's own build also speaks LDAP, SSH, RTMP and Kerberos, whose libraries are three quarters of an image.
#   build-curl.sh OUT_DIR      OUT_DIR/libcurl.so.4 takes the place of Debian's: same soname, same symbol version
# OUT_DIR appears only when it is complete. Needs: apt, tar, patch, cmake, ninja, a C compiler, libssl-dev.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/debian-packages.sh"

out=$(realpath -m "${1:?usage: build-curl.sh OUT_DIR}")
work=$out.work
rm -rf "$work"
mkdir -p "$work/source" "$work/out"
apt_private bookworm "$work"
echo "downloading curl's source"
apt_download libnghttp2-dev libnghttp2-14
(cd "$work" && apt_private_get source --download-only curl)
tar xf "$work"/curl_*.orig.tar.[gx]z -C "$work/source" --strip-components=1
tar xf "$work"/curl_*.debian.tar.[gx]z -C "$work"
cd "$work/source"
while read -r name _; do
  case $name in
    '' | '#'*) continue ;;
  esac
  # Those of the GnuTLS and NSS flavours and of autotools do not concern this build.
  case $name in
    *_gnutls.patch | *_nss.patch | build-* | *enable-zsh* | *curl-config*) continue ;;
  esac
  patch -s -p1 -f <"$work/debian/patches/$name" >/dev/null || { echo "build-curl.sh: $name does not apply" >&2; exit 1; }
done <"$work/debian/patches/series"

echo "compiling libcurl"
echo 'CURL_OPENSSL_4 { global: curl_*; local: *; };' >"$work/version"
cmake -G Ninja -S . -B "$work/build" -DCMAKE_BUILD_TYPE=MinSizeRel -DCMAKE_SKIP_RPATH=ON -DBUILD_CURL_EXE=OFF -DBUILD_TESTING=OFF \
  -DHTTP_ONLY=ON -DCURL_USE_OPENSSL=ON -DUSE_NGHTTP2=ON \
  -DNGHTTP2_INCLUDE_DIR="$work/root/usr/include" -DNGHTTP2_LIBRARY="$(echo "$work"/root/usr/lib/*/libnghttp2.so.14)" \
  -DCURL_USE_LIBSSH2=OFF -DCURL_USE_LIBPSL=OFF -DUSE_LIBIDN2=OFF \
  -DCURL_ZLIB=OFF -DCURL_BROTLI=OFF -DCURL_ZSTD=OFF -DCURL_CA_PATH=none -DENABLE_MANUAL=OFF \
  -DCMAKE_SHARED_LINKER_FLAGS="-Wl,--version-script=$work/version -Wl,-z,relro,-z,now -Wl,--gc-sections" \
  -DCMAKE_C_FLAGS='-ffunction-sections -fdata-sections -fstack-protector-strong -D_FORTIFY_SOURCE=2' >"$work/cmake.log"
nice -n 5 ninja -C "$work/build" libcurl >"$work/ninja.log" || { tail -20 "$work/ninja.log" >&2; exit 1; }
strip --strip-unneeded -o "$work/out/libcurl.so.4" "$(realpath "$work"/build/lib/libcurl.so)"
rm -rf "$out" && mv "$work/out" "$out" && rm -rf "$work"
echo "done"
