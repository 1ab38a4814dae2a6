#!/usr/bin/env bash
# stackgate-puller upload against a real entitystore with a real datastore behind it: stored and followed, the same again,
# another content, refused, away, killed in the middle.
#   DATASTORE=… ENTITYSTORE=… PULLER=… tests/e2e/storage/puller-upload.sh
# shellcheck disable=SC2154,SC2317 # what the libraries set; functions that check calls
set -euo pipefail
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
# shellcheck source=tests/e2e/storage/entitystore-lib.sh
source "$storage_here/entitystore-lib.sh"
puller=$(realpath -m "${PULLER:-$programs/stackgate-puller}")
[ -x "$puller" ] || { echo "not ok $puller is there" && exit 1; }
storage_begin sqlite
entitystore_begin
run_store "$entitystore"
export STACKGATE_LOG_FORMAT=json STACKGATE_UPLOAD_URL=http://127.0.0.1:$port STACKGATE_TERMINATION_LOG=$state/last-words
: >"$STACKGATE_TERMINATION_LOG"

# sends CODE ARCHIVE METADATA [FLAG…]: what it logs is in $state/sent.log
sends() {
  local code=$1 got=0
  STACKGATE_UPLOAD_ARCHIVE=$2 STACKGATE_UPLOAD_METADATA=$3 timeout 60 "$puller" upload "${@:4}" >"$state/sent.log" 2>&1 || got=$?
  is "$got" "$code" || { cat "$state/sent.log" && return 1; }
}
logs() { grep -qF -- "$1" "$state/sent.log" || { echo "it did not log \"$1\":" && cat "$state/sent.log" && return 1; }; }
last_words() { grep -qF -- "$1" "$STACKGATE_TERMINATION_LOG" || { echo "not \"$1\":" && cat "$STACKGATE_TERMINATION_LOG" && return 1; }; }
meta() { metadata "$1" "$2" "${3:-}" >"$state/$1-$2.json" && echo "$state/$1-$2.json"; }

stored() { sends 0 "$state/good.tar.gz" "$(meta bot 1.0.0)" && is "$(state_of bot 1.0.0)" ready && archive_is "$state/good.tar.gz" bot 1.0.0; }
check "an adapter is stored, and ready when it ends" stored
check "its last words name it" last_words "stored as $(id_of bot 1.0.0)"
again() { sends 0 "$state/good.tar.gz" "$(meta bot 1.0.0)" && logs '"was_there":true' && logs "$(id_of bot 1.0.0)"; }
check "the same content again is no failure" again
other() { sends 2 "$state/large.tar.gz" "$(meta bot 1.0.0)" && logs 'choose another version' && last_words 409; }
check "another content under that version is one that nobody tries again" other
check "a higher version of it is not" sends 0 "$state/large.tar.gz" "$(meta bot 1.1.0)"

adapter "$state/broken.tar.gz" --rank 0 2>/dev/null || head -c 4000 /dev/urandom >"$state/broken.tar.gz"
refused() { sends 2 "$state/broken.tar.gz" "$(meta broken 1.0.0)" && logs '422' && is "$(state_of broken 1.0.0)" none; }
check "what is no adapter is refused with the entitystore's words" refused
printf '{"name":"x"}' >"$state/half.json"
check "metadata without a base model is refused before anything is sent" sends 2 "$state/good.tar.gz" "$state/half.json"
check "no archive" sends 5 "$state/none.tar.gz" "$(meta bot 2.0.0)"
check "which says what to do" logs 'train first'
: >"$state/empty.tar.gz"
check "an empty archive" sends 5 "$state/empty.tar.gz" "$(meta bot 2.0.0)"
not_a_store() { STACKGATE_UPLOAD_URL=http://127.0.0.1:$ds_port sends "$@"; }
check "an address that is no entitystore's" not_a_store 8 "$state/good.tar.gz" "$(meta bot 2.0.0)"

stop a
check "nobody there: may be tried again" sends 1 "$state/good.tar.gz" "$(meta away 1.0.0)"
run_store "$entitystore" --approval required
waits() { sends 0 "$state/good.tar.gz" "$(meta asked 1.0.0)" && logs 'waits for its approval' && is "$(state_of asked 1.0.0)" pending; }
check "where a person approves, it ends when that is all that is missing" waits
stop a
run_store "$entitystore"

adapter "$state/huge.tar.gz" --megabytes 200 --seed 7
killed() { # SIGNAL: in the middle, then sent again
  local pid _
  STACKGATE_UPLOAD_ARCHIVE=$state/huge.tar.gz STACKGATE_UPLOAD_METADATA=$(meta huge "$1") "$puller" upload >"$state/sent.log" 2>&1 &
  pid=$!
  for _ in $(seq 200); do
    [ "$(du -sb "$state/$engine-a/spool" | cut -f1)" -gt 1000000 ] && break
    sleep 0.01
  done
  kill "-$2" "$pid"
  code=0
  { wait "$pid" || code=$?; } 2>/dev/null
  is "$code" "$3" && sends 0 "$state/huge.tar.gz" "$(meta huge "$1")" && becomes huge "$1" ready
}
check "kill -9 in the middle, and again" killed 1.0.0 KILL 137
check "SIGTERM in the middle: 143, and again" killed 2.0.0 TERM 143
check "nothing of the halves is left" clean
storage_done
