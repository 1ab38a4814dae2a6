#!/usr/bin/env bash
# A private PostgreSQL in a folder of its own, for tests. Nobody else's server is touched.
#
#   postgres.sh start DIR     makes DIR/data on the first call, starts the server, prints its URL (user stackgate,
#                             database stackgate; the password is in DIR/password). Started again it keeps its port.
#                             POSTGRES_LISTEN: where it listens instead of 127.0.0.1, for clients of other addresses
#   postgres.sh stop DIR [fast|immediate]
#   postgres.sh pid DIR       the postmaster, for signals
#   postgres.sh available     fails, saying why, where the server's binaries are missing
#
# PostgreSQL refuses to run as root: as root it runs as user postgres, else nobody.
set -euo pipefail
# shellcheck source=tests/support/port.sh
source "$(dirname "$(realpath "$0")")/port.sh"

die() {
  echo "postgres.sh: $*" >&2
  exit 1
}

find_binaries() {
  local folder
  for folder in ${POSTGRES_BIN:-} /usr/lib/postgresql/15/bin /usr/lib/postgresql/*/bin; do
    [ -x "$folder/initdb" ] && [ -x "$folder/pg_ctl" ] && bin=$folder && return 0
  done
  die "no PostgreSQL server binaries; install the package postgresql-15 or set POSTGRES_BIN"
}

as_owner() {
  if [ "$(id -u)" -eq 0 ]; then
    local user=nobody
    id -u postgres >/dev/null 2>&1 && user=postgres
    (cd / && setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups -- "$@")
  else
    "$@"
  fi
}

make_cluster() {
  mkdir -p "$dir"
  (umask 077 && printf %s "$(openssl rand -hex 10)" >"$dir/password")
  mkdir -p "$dir/data" "$dir/socket"
  if [ "$(id -u)" -eq 0 ]; then
    local user=nobody
    id -u postgres >/dev/null 2>&1 && user=postgres
    chown -R "$user" "$dir/data" "$dir/socket" "$dir/password"
    # mktemp -d gives a folder that only its maker enters.
    chmod o+x "$dir"
    as_owner test -x "$dir" || chmod o+x "$(dirname "$dir")"
    as_owner test -x "$dir" || die "user $user cannot enter $dir"
  fi
  chmod 700 "$dir/data"
  as_owner "$bin/initdb" -D "$dir/data" -U stackgate --auth=scram-sha-256 --pwfile="$dir/password" -E UTF8 \
    --locale=C.UTF-8 --no-sync >"$dir/initdb.log" 2>&1 || die "initdb failed: $(tail -3 "$dir/initdb.log")"
  free_port >"$dir/port"
  cat >>"$dir/data/postgresql.conf" <<END
listen_addresses = '${POSTGRES_LISTEN:-127.0.0.1}'
port = $(cat "$dir/port")
unix_socket_directories = '$dir/socket'
fsync = ${POSTGRES_FSYNC:-off}
max_connections = 60
shared_buffers = 16MB
log_min_messages = warning
END
  [ -z "${POSTGRES_LISTEN:-}" ] || echo 'host all all all scram-sha-256' >>"$dir/data/pg_hba.conf"
  touch "$dir/server.log" && chmod 666 "$dir/server.log"
}

start() {
  local fresh=no
  [ -s "$dir/data/PG_VERSION" ] || { make_cluster && fresh=yes; }
  as_owner "$bin/pg_ctl" -D "$dir/data" -l "$dir/server.log" -w -t 60 start >/dev/null 2>&1 </dev/null ||
    die "the server did not start: $(tail -5 "$dir/server.log")"
  local port
  port=$(cat "$dir/port")
  if [ "$fresh" = yes ]; then
    PGPASSWORD=$(cat "$dir/password") psql -q -h 127.0.0.1 -p "$port" -U stackgate -d postgres -c 'CREATE DATABASE stackgate'
  fi
  echo "postgresql://stackgate@127.0.0.1:$port/stackgate"
}

[ $# -ge 1 ] || die "usage: postgres.sh start|stop|pid DIR, postgres.sh available"
find_binaries
[ "$1" != available ] || exit 0
[ $# -ge 2 ] || die "usage: postgres.sh $1 DIR"
dir=$(realpath -m "$2")
case $1 in
  start) start ;;
  stop)
    [ -s "$dir/data/postmaster.pid" ] || exit 0
    as_owner "$bin/pg_ctl" -D "$dir/data" -m "${3:-fast}" -w -t 60 stop >/dev/null 2>&1 || die "the server did not stop"
    ;;
  pid) head -1 "$dir/data/postmaster.pid" ;;
  *) die "unknown command $1" ;;
esac
