#!/usr/bin/env bash
# The disk is full, in the middle of a push, of a large file, of a Hugging Face commit, of the database's own writing:
# each is refused with words, reading goes on, nothing acknowledged is lost, and with room again all works.
#   DATASTORE=build/release/bin/stackgate-datastore tests/e2e/storage/full.sh
set -euo pipefail
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
storage_begin sqlite
mkdir "$state/small"
mount -t tmpfs -o size=48m none "$state/small" 2>/dev/null || { echo "skip a full disk: mounting a tmpfs needs root" && exit 0; }
export STACKGATE_DATA_DIR=$state/small/data
serve
make_repository here
git init -q "$state/work"
head -c 500000 /dev/urandom >"$state/work/base"
git -C "$state/work" add . && git -C "$state/work" commit -qm base
git -C "$state/work" push -q "$(remote here)" main
head -c 300000 /dev/urandom >"$state/large"
oid=$(sha256sum "$state/large" | cut -d' ' -f1)
upload here "$state/large"
tip=$(tip_of here)

reads() { # what was there is there
  is "$(tip_of here)" "$tip" && download here "$oid" 300000 | cmp - "$state/large" && rm -rf "$state/read" &&
    git clone -q "$(remote here)" "$state/read"
}

push_refused() { # LEFT
  leave "$1"
  git -C "$state/work" checkout -q -B "large-$1" main
  head -c 6000000 /dev/urandom >"$state/work/more" && git -C "$state/work" add . && git -C "$state/work" commit -qm more
  ! git -C "$state/work" push -q "$(remote here)" "large-$1" 2>"$state/said" || return 1
  grep -qiE 'space|507|unpack' "$state/said" || { cat "$state/said" >&2 && return 1; }
  reads
}
check "a push that does not fit is refused" push_refused 2000
check "one that finds no room at all too" push_refused 0
roomy
check "with room it goes through" git -C "$state/work" push -q "$(remote here)" large-2000

upload_refused() {
  local link code answer=$state/answer
  leave "$1"
  head -c 5000000 /dev/urandom >"$state/big"
  local big
  big=$(sha256sum "$state/big" | cut -d' ' -f1)
  link=$(lfs_batch here upload "$big" 5000000 | jq -c '.objects[0].actions.upload // empty')
  if [ -n "$link" ]; then
    code=$(carry_out "$link" -T "$state/big")
    is "$code" 507 || { head -c 300 "$answer" >&2 && return 1; }
  fi
  roomy
  is "$(lfs_batch here download "$big" 5000000 | jq '.objects[0].error.code')" 404 || return 1
  upload here "$state/big" && download here "$big" 5000000 | cmp - "$state/big"
}
check "a large file that does not fit: 507, and with room it goes through" upload_refused 2500
check "the same when there is no room at all" upload_refused 0

commit_refused() {
  local answer=$state/answer code before
  before=$(tip_of here)
  leave "$1"
  hub_body 300 "full-$1" 10000 >"$state/body"
  code=$(status_of -u "$admin" -H 'Content-Type: application/x-ndjson' --data-binary "@$state/body" "$url/v1/hf/api/models/ada/here/commit/main")
  if ! is "$code" 507 || ! grep -qi space "$answer"; then
    head -c 300 "$answer" >&2
    return 1
  fi
  is "$(tip_of here)" "$before" || return 1
  roomy
  hub_commit here "$state/body" >/dev/null
}
check "a Hugging Face commit that does not fit: 507, and with room it goes through" commit_refused 1000
check "the same when there is no room at all" commit_refused 0
tip=$(tip_of here)

database_full() { # repositories until there is no room: each acknowledged one stays
  local code made=0 i last=
  leave 300
  for i in {1..400}; do
    code=$(status_of -u "$admin" -H 'Content-Type: application/json' -d "{\"name\":\"full-$i\"}" "$url/api/v1/user/repos")
    if [ "$code" != 201 ]; then last=$code && break; fi
    made=$i
  done
  echo "  $made repositories were made, then $last"
  [[ $last == 507 ]] || return 1
  is "$(status_of "$url/v1/health/live")" 200 && reads || return 1
  roomy
  for ((i = 1; i <= made; i++)); do is "$(status_of -u "$admin" "$url/api/v1/repos/ada/full-$i")" 200 || return 1; done
  make_repository "full-$((made + 1))"
}
check "making repositories ends with 507, none that was acknowledged is lost" database_full

restarted() {
  leave 0
  end_hard "$server"
  serve
  reads
}
check "killed and started again on a full disk it still serves what it has" restarted
roomy
left_nothing() { # what was refused takes no room
  "$datastore_binary" gc >/dev/null 2>&1 || return 1
  ! find "$STACKGATE_DATA_DIR" -name 'tmp_*' -o -name 'incoming-*' -o -name '*.tmp' | grep . >&2
}
check "and nothing half is left after sweeping" left_nothing
check "all is sound" all_sound
storage_done
