#!/usr/bin/env bash
# What the datastore holds in memory: idle, after a crowd has guessed passwords, while a gigabyte is pushed by Git, and
# while one passes to and from S3, straight and through the datastore. Numbers are of the release build.
#   DATASTORE=… [MEGABYTES=1024] tests/e2e/storage/memory.sh [--s3]
set -euo pipefail
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
size=$((${MEGABYTES:-1024} << 20))
most_idle=25 most=48 # MiB
storage_begin
serve

memory() { awk "/$1/ {printf \"%d\", \$2 / 1024}" "/proc/$server/status"; }
forget_peak() { echo 5 >"/proc/$server/clear_refs"; }
holds_at_most() { # MiB [VmRSS|VmHWM]
  echo "  ${2:-VmRSS}: $(memory "${2:-VmRSS}") MiB"
  (($(memory "${2:-VmRSS}") <= $1))
}
restart() { # FLAG…
  end_soft "$server"
  serve "$@"
  forget_peak
}
sleep 1
check "$storage_leg: idle, it holds at most $most_idle MiB" holds_at_most "$most_idle"

guess() { # 40 at once, each by another name, so that no limit of failures is in the way
  local i guessing=()
  for ((i = 0; i < 40; i++)); do
    curl -s -o /dev/null --max-time 60 -u "nobody$i:wrong" "$url/api/v1/user" &
    guessing+=($!)
  done
  wait "${guessing[@]}"
}
forget_peak
guess
sleep 1
echo "  at most: $(memory VmHWM) MiB"
check "$storage_leg: after 40 wrong passwords no more than $((most_idle + 5)) MiB stay" holds_at_most $((most_idle + 5))

forget_peak
make_repository pushed
git init -q "$state/work"
head -c "$size" /dev/urandom >"$state/work/large" # nothing to compress: the pack is as large
git -C "$state/work" -c core.compression=0 -c core.bigFileThreshold=1m add . && git -C "$state/work" commit -qm large
push_it() { timeout 300 git -C "$state/work" -c core.compression=0 -c core.bigFileThreshold=1m push -q "$(remote pushed)" main 2>>"$state/clients.log"; }
check "$storage_leg: $((size >> 20)) MiB are pushed" push_it
check "$storage_leg: at most $most MiB were held meanwhile" holds_at_most "$most" VmHWM
mv "$state/work/large" "$state/large" && rm -rf "$state/work"
oid=$(sha256sum "$state/large" | cut -d' ' -f1)

passes() { # REPOSITORY: up and down
  upload "$1" "$state/large" && is "$(download "$1" "$oid" "$size" | sha256sum | cut -d' ' -f1)" "$oid"
}
is_settled() { # what went to S3 directly is read and hashed behind the client's back
  local _
  for _ in $(seq 900); do
    [ "$(rows 'SELECT count(*) FROM lfs_incoming')" != 0 ] || return 0
    sleep 0.2
  done
  return 1
}
if [ "$storage_leg" = postgres-s3 ]; then ways=(--s3-serve-direct=false --s3-serve-direct=true); else ways=(--drain-wait=0s); fi
for way in "${ways[@]}"; do
  restart "$way"
  make_repository "files${#way}"
  check "$storage_leg, $way: $((size >> 20)) MiB pass up and down" passes "files${#way}"
  check "$storage_leg, $way: and are in their place" is_settled
  check "$storage_leg, $way: at most $most MiB were held meanwhile" holds_at_most "$most" VmHWM
  sleep 1
  check "$storage_leg, $way: no more than $((most_idle + 7)) MiB stay" holds_at_most $((most_idle + 7))
  printf x >>"$state/large" # the same bytes again would not be moved: they are known
  size=$((size + 1))
  oid=$(sha256sum "$state/large" | cut -d' ' -f1)
done
storage_done
