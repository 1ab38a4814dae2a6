#!/usr/bin/env bash
# A real Ceph RADOS gateway: one monitor, one OSD that keeps everything in memory, one gateway, on ports of their own.
#   rgw.sh start DIR    starts it below DIR and prints endpoint=… access_key=… secret_key=… region=… bucket=…, one to a line
#   rgw.sh stop DIR     ends it at once; DIR stays, with the logs
#   rgw.sh bucket DIR NAME                   one more bucket
#   rgw.sh kill DIR / rgw.sh revive DIR      the gateway alone, killed hard and started again on the same port
#   rgw.sh pause DIR / rgw.sh resume DIR     the gateway alone, hung and going on
# Several may run side by side. Needs the packages radosgw, ceph-mon and ceph-osd; no systemd, no network but loopback.
set -euo pipefail
# shellcheck source=tests/support/port.sh
source "$(dirname "$(realpath "$0")")/port.sh"

usage() { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
[ $# -eq 2 ] || [ "$*" = "bucket ${2:-} ${3:-}" ] || usage
command=$1 dir=$(realpath -m "$2")
conf=$dir/ceph.conf access_key=STACKGATETEST00000000 secret_key=stackgate/test+secret/0000000000000000 bucket=stackgate

# launch NAME COMMAND...: in a session of its own, its output in NAME.out, its number in NAME.pid.
launch() {
  local name=$1
  shift
  setsid "$@" >>"$dir/$name.out" 2>&1 </dev/null &
  echo $! >"$dir/$name.pid"
}

# One that has ended but is not yet reaped is not alive.
alive() { [ -s "$dir/$1.pid" ] && [[ $(sed 's/.*) //' "/proc/$(<"$dir/$1.pid")/stat" 2>/dev/null) == [^ZX]* ]]; }

fail() {
  echo "rgw.sh: $1" >&2
  tail -n 5 "$dir"/*.out "$dir"/*.log >&2 2>/dev/null || true
  "$0" stop "$dir" || true
  exit 1
}

launch_gateway() { launch gateway radosgw -c "$conf" -n client.rgw -f; }

wait_for_gateway() {
  local port
  port=$(<"$dir/port")
  for _ in $(seq 600); do
    alive gateway || fail "the gateway ended"
    # Any answer will do: it says AccessDenied to a stranger.
    if curl -s -o /dev/null --max-time 2 "http://127.0.0.1:$port/"; then return 0; fi
    sleep 0.1
  done
  fail "the gateway does not answer on port $port"
}

make_bucket() {
  local status
  status=$(curl -sS -o "$dir/bucket.out" -w '%{http_code}' --max-time 60 --aws-sigv4 aws:amz:default:s3 --user "$access_key:$secret_key" \
    -H "x-amz-content-sha256: $(sha256sum </dev/null | cut -d' ' -f1)" -X PUT "http://127.0.0.1:$(<"$dir/port")/$1") || status="curl's $?"
  [ "$status" = 200 ] || { echo "rgw.sh: cannot make the bucket $1: $status" >&2 && return 1; }
}

write_config() {
  local fsid=$1 mon=$2 port=$3
  cat >"$conf" <<CONF
[global]
fsid = $fsid
mon host = [v2:127.0.0.1:$mon]
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
auth allow insecure global id reclaim = false
public network = 127.0.0.0/8
public addr = 127.0.0.1
cluster addr = 127.0.0.1
keyring = $dir/keyring
admin socket = $dir/\$name.asok
log file = $dir/\$name.log
run dir = $dir
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000
mon data avail warn = 2
mon data avail crit = 1
# A pool is several proposals, and a first start is many pools: with the usual second between proposals it takes twice as long.
paxos propose interval = 0.02
[mon]
mon data = $dir/mon
mon initial members = a
mon pg warn min per osd = 0
[osd]
osd data = $dir/osd
osd objectstore = memstore
memstore device bytes = 8589934592
osd class update on start = true
osd memory target = 939524096
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:$port
rgw thread pool size = 32
rgw max chunk size = 4194304
CONF
}

start() {
  [ ! -e "$conf" ] || { echo "rgw.sh: $dir is in use: stop it and remove it first" >&2 && exit 1; }
  for tool in radosgw radosgw-admin ceph-mon ceph-osd monmaptool ceph; do
    command -v "$tool" >/dev/null || { echo "rgw.sh: $tool is missing: install radosgw, ceph-mon, ceph-osd" >&2 && exit 1; }
  done
  mkdir -p "$dir/mon" "$dir/osd"
  local mon port fsid uuid
  mon=$(free_port) port=$(free_port)
  fsid=$(cat /proc/sys/kernel/random/uuid) uuid=$(cat /proc/sys/kernel/random/uuid)
  echo "$port" >"$dir/port"
  write_config "$fsid" "$mon" "$port"
  ceph-authtool --create-keyring "$dir/keyring" --gen-key -n mon. --cap mon 'allow *' >/dev/null
  local name
  # The monitor takes these over when it is made. The gateway of this version does not speak "none".
  for name in client.admin client.rgw osd.0; do
    ceph-authtool "$dir/keyring" --gen-key -n "$name" --cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *' >/dev/null
  done
  monmaptool --create --clobber --fsid "$fsid" --addv a "[v2:127.0.0.1:$mon]" "$dir/monmap" >/dev/null
  ceph-mon -c "$conf" --mkfs -i a --monmap "$dir/monmap" --keyring "$dir/keyring" >>"$dir/mkfs.out" 2>&1 || fail "ceph-mon --mkfs"
  launch mon ceph-mon -c "$conf" -i a -f
  timeout 60 ceph -c "$conf" osd new "$uuid" >>"$dir/mkfs.out" 2>&1 || fail "the monitor does not answer"
  ceph-osd -c "$conf" --mkfs -i 0 --osd-uuid "$uuid" >>"$dir/mkfs.out" 2>&1 || fail "ceph-osd --mkfs"
  launch osd ceph-osd -c "$conf" -i 0 -f
  launch_gateway
  timeout 60 radosgw-admin -c "$conf" -n client.rgw user create --uid=tester --display-name=Tester \
    --access-key="$access_key" --secret-key="$secret_key" >>"$dir/mkfs.out" 2>&1 || fail "radosgw-admin user create"
  wait_for_gateway
  make_bucket "$bucket" || fail "no bucket"
  printf 'endpoint=http://127.0.0.1:%s\naccess_key=%s\nsecret_key=%s\nregion=default\nbucket=%s\n' "$port" "$access_key" "$secret_key" "$bucket"
}

# end NAME: with nothing on disk there is nothing to end in good order, which takes a gateway five seconds.
end() {
  while alive "$1" && kill -KILL "$(<"$dir/$1.pid")" 2>/dev/null; do sleep 0.02; done
  rm -f "$dir/$1.pid"
}

case $command in
  start) start ;;
  stop) for name in gateway osd mon; do end "$name"; done ;;
  bucket) [ $# -eq 3 ] || usage && make_bucket "$3" ;;
  kill) end gateway ;;
  revive) launch_gateway && wait_for_gateway ;;
  pause) alive gateway && kill -STOP "$(<"$dir/gateway.pid")" ;;
  resume) alive gateway && kill -CONT "$(<"$dir/gateway.pid")" ;;
  *) usage ;;
esac
