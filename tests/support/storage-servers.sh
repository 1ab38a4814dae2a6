#!/usr/bin/env bash
# PostgreSQL and a Ceph gateway, side by side in one folder, for tests.
#   storage-servers.sh start DIR    starts both; DIR/url is PostgreSQL's, DIR/s3 what rgw.sh says of the gateway
#   storage-servers.sh stop DIR     ends both and removes DIR
#   storage-servers.sh available    fails, saying why, where one of them cannot run
# Scripts of tests/e2e/storage that find such a folder in $STORAGE_SERVERS take a database and a bucket there and start none.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
usage() { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2 && exit 2; }

stop() {
  [ ! -e "$dir/rgw" ] || "$here/rgw.sh" stop "$dir/rgw"
  [ ! -e "$dir/postgres" ] || "$here/postgres.sh" stop "$dir/postgres" immediate
  rm -rf "$dir"
}

start() {
  stop
  mkdir -p "$dir" && chmod o+x "$dir"
  "$here/rgw.sh" start "$dir/rgw" >"$dir/s3.new" &
  local gateway=$! status=0
  "$here/postgres.sh" start "$dir/postgres" >"$dir/url" || status=1
  wait "$gateway" || status=1
  ((status == 0)) || { stop && exit 1; }
  mv "$dir/s3.new" "$dir/s3"
}

case "$#-${1:-}" in
  1-available)
    "$here/postgres.sh" available
    type -P radosgw >/dev/null || { echo "storage-servers.sh: no Ceph gateway: install radosgw, ceph-mon, ceph-osd" >&2 && exit 1; }
    ;;
  2-start | 2-stop) dir=$(realpath -m "$2") && "$1" ;;
  *) usage ;;
esac
