#!/usr/bin/env bash
# Builds what a node and its controllers need beside kube-apiserver (../build-kube.sh), all from Debian 12's archive:
# controller-manager, scheduler, kubelet and kube-proxy 1.20.2 from source; containerd, runc, CNI, iptables, conntrack and
# dnsmasq with their libraries as files out of the packages. Nothing is installed.
#   build.sh OUT_DIR
# OUT_DIR appears only when complete. Each line on stdout is one step of progress. Needs: apt, dpkg-deb, tar, xz, gcc, jq.
# Environment: JOBS (go build -p, default all cores), DEB_MIRROR (default: what this machine's apt uses).
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
source "$here/../kube-source.sh"

out=$(realpath -m "${1:?usage: build.sh OUT_DIR}")
work=$out.work
programs=(containerd runc containernetworking-plugins iptables conntrack dnsmasq-base)
# What these programs are linked with, beyond libc.
libraries=(libip4tc2 libip6tc2 libxtables12 libnetfilter-conntrack3 libnfnetlink0 libnftnl11 libnftables1 libmnl0 libjansson4
  libseccomp2 libdbus-1-3 libidn2-0 libnettle8 libhogweed6 libgmp10 libunistring2 libsystemd0 libcap2 libgcrypt20 liblz4-1
  liblzma5 libzstd1 libgpg-error0)

kube_source "$work" "${programs[@]}" "${libraries[@]}"
kube_compile "$work/out/bin" kube-controller-manager kube-scheduler kubelet kube-proxy

echo "collecting the programs of the node"
root=$work/root parts=$work/out
mkdir -p "$parts"/{lib,cni,xtables}
cp "$root"/usr/bin/{containerd,containerd-shim-runc-v2,ctr} "$root"/usr/sbin/{runc,xtables-nft-multi,conntrack,dnsmasq} "$parts/bin/"
for name in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
  ln -sf xtables-nft-multi "$parts/bin/$name"
done
cp "$root"/usr/lib/cni/{bridge,host-local,loopback} "$parts/cni/"
cp "$root"/usr/lib/*-linux-gnu/xtables/*.so "$parts/xtables/"
find "$root"/usr/lib/*-linux-gnu "$root"/lib/*-linux-gnu -maxdepth 1 -name '*.so.*' -exec cp -P {} "$parts/lib/" \;
for program in "$parts"/bin/*; do
  ! LD_LIBRARY_PATH=$parts/lib ldd "$program" 2>/dev/null | grep 'not found' ||
    { echo "${program##*/} lacks the libraries above: add their packages to this script" >&2; exit 1; }
done

echo "packing the pause image"
mkdir -p "$work/pause" "$parts/images"
gcc -Os -static -s -o "$work/pause/pause" "$here/pause.c"
"$here/../oci-archive.sh" stackgate.test/pause:1 "$work/pause" "$parts/images/pause.tar" '{"Entrypoint": ["/pause"]}'
kube_finish "$work" "$out"
