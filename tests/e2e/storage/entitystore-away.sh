#!/usr/bin/env bash
# PostgreSQL killed, stopped and hung while the entitystore registers, at the step before each of its writes; the disk
# full under its spool, its database and its datastore: clear answers in time, nothing half registered, nothing left over.
#   DATASTORE=… ENTITYSTORE=… ENTITYSTORE_FAIL_POINTS=… tests/e2e/storage/entitystore-away.sh
# shellcheck disable=SC2154,SC2317 # what the libraries set; functions that check calls
set -euo pipefail
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
# shellcheck source=tests/e2e/storage/entitystore-lib.sh
source "$storage_here/entitystore-lib.sh"
"$storage_support/postgres.sh" available 2>/dev/null || { echo "skip an entitystore without its database: install postgresql-15" && exit 0; }
storage_begin sqlite
chmod o+x "$state" # PostgreSQL does not run as root
mkdir -m 711 "$state/servers"
entitystore_begin # the datastore keeps to SQLite: what is taken away is the entitystore's alone
pg() { "$storage_support/postgres.sh" "$1" "$state/servers/postgres" "${@:2}"; }
pg_url=$(pg start) || { echo "not ok PostgreSQL starts" && exit 1; }
database=(--database-url "$pg_url")
STACKGATE_DATABASE_PASSWORD=$(cat "$state/servers/postgres/password")
export STACKGATE_DATABASE_PASSWORD
"$entitystore" migrate --data-dir "$state/x" --datastore-url "http://127.0.0.1:$ds_port" "${database[@]}" >"$state/migrate.log" 2>&1 ||
  { cat "$state/migrate.log" && echo "not ok migrate" && exit 1; }
signal_all() { kill "-$1" "$(pg pid)" $(pgrep -P "$(pg pid)") 2>/dev/null; }
base=http://127.0.0.1:$port
health_is() { [ "$(limit=10 status "$base/v1/health/$1")" = "$2" ]; }
# in_time SECONDS WANTED COMMAND…: what it prints, and how long that took.
in_time() {
  local most=$1 wanted=$2 got began=$SECONDS
  shift 2
  got=$("$@")
  is "$got" "$wanted" && { ((SECONDS - began <= most)) || { echo "after $((SECONDS - began)) s" && return 1; }; }
}
says_so() { jq -e '.message // .detail | tostring | test("database is away")' "$state/body"; }

# sound_version NAME VERSION: ready, or not there; never half. An answer 503 after the row was made leaves the upload to the sweep.
sound_version() {
  case $(state_of "$1" "$2") in ready | none) ;; *) return 1 ;; esac
}
goes_in() { # NAME VERSION: now it is there, by the upload that was cut or by this one
  local code
  code=$(upload "$state/good.tar.gz" "$1" "$2")
  [ "$code" = 201 ] || { is "$code" 409 && state_is "$1" "$2" ready; } || return 1
  archive_is "$state/good.tar.gz" "$1" "$2"
}

# --- away, while nothing is going on
run_store "$entitystore" --database-timeout 2s
check "a first adapter" is "$(upload "$state/good.tar.gz" here 1.0.0)" 201
here_id=$(id_of here 1.0.0)
without_database() { # HOW
  check "$1: an upload is refused in time" in_time 20 503 upload "$state/good.tar.gz" more 1.0.0
  check "$1: and says why" says_so
  check "$1: so is a change of status" in_time 20 503 set_status "$here_id" pending
  check "$1: and a deletion" in_time 20 503 status -X DELETE "$url/$here_id"
  check "$1: the list is served" in_time 10 200 status "$url"
  check "$1: with what was there" is "$(field 'any(.adapters[]; .name == "here")')" true
  check "$1: it is alive" health_is live 200
  check "$1: and not ready" soon health_is ready 503
}
signal_all STOP
without_database hung
signal_all CONT
check "hung: it is ready again without a restart" soon health_is ready 200
check "hung: what was refused is not there, or whole" soon sound_version more 1.0.0
check "hung: and goes in now" goes_in more 1.0.0
pg stop
without_database stopped
pg start >/dev/null
check "stopped: it is ready again without a restart" soon health_is ready 200
check "stopped: a change of status works" is "$(set_status "$here_id" pending)$(set_status "$here_id" ready)" 200200
check "and nothing is left over" clean

# --- away in the middle: the service stands still at a step, PostgreSQL goes or hangs, the service moves on
stands_still() { [[ $(sed 's/.*) //' "/proc/${servers_of[a]}/stat") == T* ]]; }
struck() { # HOW POINT VERSION
  local how=$1 point=$2 version=$3 code
  stop a
  STACKGATE_FAIL_POINT=stop:$point run_store "$with_fail_points" --database-timeout 2s
  (upload "$state/good.tar.gz" struck "$version" >"$state/code" || true) &
  local client=$!
  soon stands_still || { echo "it does not come to \"$point\"" && return 1; }
  case $how in
    killed) pg stop immediate && pg start >/dev/null ;;
    hung) signal_all STOP ;;
  esac
  kill -CONT "${servers_of[a]}"
  wait "$client"
  [ "$how" != hung ] || signal_all CONT
  code=$(cat "$state/code")
  [[ $code =~ ^(201|503)$ ]] || { echo "the answer was $code: $(cut -c1-300 "$state/body")" && return 1; }
  soon sound_version struck "$version" || { echo "it stays $(state_of struck "$version")" && return 1; }
  [ "$code" != 201 ] || is "$(state_of struck "$version")" ready || return 1
  goes_in struck "$version" && clean
}
major=0
for point in received inserted stored committed noted tagged ready; do
  major=$((major + 1))
  check "PostgreSQL is killed at \"$point\": the registration ends whole or not at all" struck killed "$point" "$major.0.0"
  case $point in received | committed | tagged) continue ;; esac # each that hangs costs the time-out
  check "PostgreSQL hangs at \"$point\": the same" struck hung "$point" "$major.1.0"
done
one_commit_each() { is "$(hub "api/models/$(repository struck)/commits/main?limit=100" | jq '[.[].title | select(startswith("struck"))] | length')" $((major + 4)); }
check "one commit for each version" one_commit_each
stop a
pg stop immediate

# --- the disk is full
mkdir "$state/small"
mount -t tmpfs -o size=40m none "$state/small" 2>/dev/null || { echo "skip a full disk: mounting a tmpfs needs root" && storage_done && exit 0; }
database=(--database-url "sqlite:$state/small/entitystore.db") store_dir=$state/small owner=small
run_store "$entitystore"
check "an adapter on a small disk" is "$(upload "$state/good.tar.gz" small 1.0.0)" 201
small_id=$(id_of small 1.0.0)
refused_for_space() { # KILOBYTES FILE: 507 with words, and what was there is served
  local code
  leave "$1"
  code=$(upload "$2" big 1.0.0)
  is "$code" 507 || return 1
  grep -qi space "$state/body" || { cat "$state/body" && return 1; }
  archive_is "$state/good.tar.gz" small 1.0.0 && health_is live 200
}
check "an upload that does not fit: 507" refused_for_space 4000 "$state/large.tar.gz"
check "nothing of it stays in the spool" is "$(ls "$state/small/$engine-a/spool")" ''
check "a small one when there is no room at all: 507" refused_for_space 0 "$state/good.tar.gz"
status_needs_room() { # a change that does not fit changes nothing
  local code
  leave 0
  code=$(set_status "$small_id" pending)
  [[ $code =~ ^(200|507)$ ]] || { echo "got $code" && return 1; }
  roomy
  is "$(set_status "$small_id" ready)" 200
}
check "a change of status without room: 507 or done" status_needs_room
check "with room the upload goes in" is "$(upload "$state/large.tar.gz" big 1.0.0)" 201
check "and nothing is left over" clean
stop a

# The datastore's disk: the failure is another service's, and is told as such. Its files are none that are there already.
adapter "$state/far.tar.gz" --megabytes 12 --seed 9
stop datastore
mkdir "$state/small/data"
cp -a "$STACKGATE_DATA_DIR/." "$state/small/data"
STACKGATE_DATA_DIR=$state/small/data start_datastore
database=(--database-url "sqlite:$state/entitystore-2.db") store_dir=$state owner=other
run_store "$entitystore"
other_disk() {
  local code
  leave 3000
  code=$(upload "$state/far.tar.gz" far 1.0.0)
  if ! [[ $code =~ ^50[23]$ ]] || ! grep -qi space "$state/body"; then
    echo "got $code: $(cat "$state/body")"
    return 1
  fi
  roomy
  sound_or_failed() { [[ $(state_of far 1.0.0) =~ ^(failed|none)$ ]]; }
  soon sound_or_failed && is "$(upload "$state/far.tar.gz" far 1.0.0)" 201
}
check "the datastore's disk is full: 502 or 503 with its words, and with room it goes in" other_disk
check "and nothing is left over" clean
storage_done
