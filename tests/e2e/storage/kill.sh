#!/usr/bin/env bash
# kill -9 at random moments of a push, of a large file's upload and of a Hugging Face commit; every second time git's
# processes die too. Whatever was acknowledged must be there afterwards, all of it must be sound, and the same call must
# then go through.
#   [ROUNDS=8] [SEED=…] DATASTORE=build/release/bin/stackgate-datastore tests/e2e/storage/kill.sh [--s3]
set -euo pipefail
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
storage_begin
rounds=${ROUNDS:-8}
seed=${SEED:-$((RANDOM * 32768 + RANDOM))}
RANDOM=$seed
echo "seed $seed"
serve
make_repository pushed
make_repository committed
make_repository uploaded
git init -q "$state/work"
head -c 1000000 /dev/urandom >"$state/work/base"
git -C "$state/work" add . && git -C "$state/work" commit -qm base
git -C "$state/work" push -q "$(remote pushed)" main
hub_body 5 start 100 >"$state/body"
hub_commit committed "$state/body" >/dev/null

# The call as it was the last time undisturbed says how long to wait: moments fall all over it, however busy the machine is.
span=400
timed() {
  local began=${EPOCHREALTIME/./}
  "$@" || return 1
  span=$((50 + (${EPOCHREALTIME/./} - began) / 800))
}
moment() {
  local wait=$((RANDOM % span))
  sleep "$((wait / 1000)).$(printf '%03d' $((wait % 1000)))"
}
strike() {
  if ((round % 2)); then end_hard "$server"; else
    kill -9 "$server"
    wait "$server" 2>/dev/null || true
  fi
}

struck_push() {
  local acknowledged=no new old tip
  old=$(git -C "$state/work" rev-parse HEAD)
  head -c 3000000 /dev/urandom >"$state/work/file-$round"
  git -C "$state/work" add . && git -C "$state/work" commit -qm "$round"
  new=$(git -C "$state/work" rev-parse HEAD)
  rm -f "$state/acknowledged"
  (git -C "$state/work" push -q "$(remote pushed)" main 2>>"$state/clients.log" && touch "$state/acknowledged") &
  local client=$!
  moment
  strike
  wait "$client" || true
  serve
  tip=$(tip_of pushed)
  if [ -e "$state/acknowledged" ]; then
    acknowledged=yes
    is "$tip" "$new" || return 1
  fi
  [ "$tip" = "$new" ] || is "$tip" "$old" || return 1
  timed git -C "$state/work" push -q "$(remote pushed)" main || return 1
  is "$(tip_of pushed)" "$new" || return 1
  count[$acknowledged]=$((count[$acknowledged] + 1))
}

struck_upload() {
  local acknowledged=no oid
  head -c 8000000 /dev/urandom >"$state/large"
  oid=$(sha256sum "$state/large" | cut -d' ' -f1)
  rm -f "$state/acknowledged"
  (upload uploaded "$state/large" 2>>"$state/clients.log" && touch "$state/acknowledged") &
  local client=$!
  moment
  strike
  wait "$client" || true
  serve
  if [ -e "$state/acknowledged" ]; then
    acknowledged=yes
    download uploaded "$oid" 8000000 | cmp - "$state/large" || return 1
  fi
  timed upload uploaded "$state/large" || return 1
  download uploaded "$oid" 8000000 | cmp - "$state/large" || return 1
  count[$acknowledged]=$((count[$acknowledged] + 1))
}

struck_commit() {
  local acknowledged=no before tip
  before=$(tip_of committed)
  hub_body 400 "round-$round" 2000 >"$state/body"
  rm -f "$state/acknowledged"
  (hub_commit committed "$state/body" >"$state/commit" 2>>"$state/clients.log" && touch "$state/acknowledged") &
  local client=$!
  moment
  strike
  wait "$client" || true
  serve
  tip=$(tip_of committed)
  if [ -e "$state/acknowledged" ]; then
    acknowledged=yes
    is "$tip" "$(cat "$state/commit")" || return 1
  fi
  # All of it or nothing.
  if [ "$tip" != "$before" ]; then
    rm -rf "$state/look" && git clone -q --bare "$(remote committed)" "$state/look" || return 1
    is "$(git -C "$state/look" ls-tree -r --name-only main "round-$round/" | wc -l)" 400 || return 1
  fi
  timed hub_commit committed "$state/body" >"$state/commit" || return 1
  is "$(tip_of committed)" "$(cat "$state/commit")" || return 1
  count[$acknowledged]=$((count[$acknowledged] + 1))
}

several() {
  local round
  declare -gA count=([yes]=0 [no]=0)
  span=400
  for ((round = 1; round <= rounds; round++)); do
    "$1" || { echo "  round $round of seed $seed" >&2 && return 1; }
  done
  echo "  $1: ${count[yes]} acknowledged before the end, ${count[no]} not"
}

check "$storage_leg: $rounds pushes struck down lose nothing" several struck_push
check "$storage_leg: all is sound" all_sound
check "$storage_leg: $rounds uploads struck down lose nothing" several struck_upload
check "$storage_leg: all is sound after them" all_sound
check "$storage_leg: $rounds Hugging Face commits struck down are whole or not there" several struck_commit
check "$storage_leg: all is sound at the end" all_sound
sweeps() { is "$("$datastore_binary" gc 2>"$state/gc.err" | jq .failed)" 0; }
check "$storage_leg: gc works on what was left" sweeps
check "$storage_leg: and all is sound after sweeping" all_sound
storage_done
