#!/usr/bin/env bash
# PostgreSQL and S3 restarted, killed and hung while the datastore serves: clear 503s in time, liveness always, and all
# works again without a restart.
#   DATASTORE=build/release/bin/stackgate-datastore tests/e2e/storage/away.sh
set -euo pipefail
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
storage_own=1 storage_begin postgres-s3
serve --database-timeout 2s
make_repository here
git init -q "$state/work"
echo 1 >"$state/work/a" && git -C "$state/work" add . && git -C "$state/work" commit -qm one
git -C "$state/work" push -q "$(remote here)" main
head -c 300000 /dev/urandom >"$state/large"
oid=$(sha256sum "$state/large" | cut -d' ' -f1)
upload here "$state/large" || echo "not ok a first upload"
hub_body 3 first 100 >"$state/body"
pg() { "$storage_support/postgres.sh" "$1" "$servers/postgres" "${@:2}"; }
rgw() { "$storage_support/rgw.sh" "$1" "$servers/rgw"; }

# soon SECONDS COMMAND…: succeeds in time, tried again and again
soon() {
  local until=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < until)) || return 1
    sleep 0.2
  done
}
code_is() { [ "$(status_of "${@:2}")" = "$1" ]; }
answers() { code_is 200 -u "$admin" "$url/api/v1/repos/ada/here"; }
alive() { limit=5 code_is 200 "$url/v1/health/live"; }
ready() { code_is 200 "$url/v1/health/ready"; }
unready() { code_is 503 "$url/v1/health/ready"; }
said() { grep -qi "$1" "$state/answer" || { echo "  the answer: $(head -c 300 "$state/answer")" >&2 && return 1; }; }

refused_clearly() {  # every API says 503, in its own shape, in time
  local answer=$state/answer limit=15
  is "$(status_of -u "$admin" "$url/api/v1/repos/ada/here")" 503 && said message || return 1
  is "$(status_of -u "$admin" "$url/ada/here.git/info/refs?service=git-upload-pack")" 503 || return 1
  is "$(status_of -u "$admin" "$url/v1/hf/api/models/ada/here")" 503 && said error || return 1
  is "$(status_of -u "$admin" -H "Content-Type: $media" -d "$(batch_of download "$oid" 300000)" "$url/ada/here.git/info/lfs/objects/batch")" 503 &&
    said message || return 1
  is "$(status_of -u "$admin" -H 'Content-Type: application/x-ndjson' --data-binary "@$state/body" "$url/v1/hf/api/models/ada/here/commit/main")" 503 || return 1
  ! grep -qiE 'password|postgresql://|SELECT ' "$state/answer"
}
works_again() {
  soon 20 answers && soon 20 ready && git -C "$state/work" commit -q --allow-empty -m again && git -C "$state/work" push -q "$(remote here)" main:"b$RANDOM" &&
    download here "$oid" 300000 | cmp - "$state/large"
}

pg stop
check "without PostgreSQL every API answers 503 in time" refused_clearly
check "and the process is alive" alive
check "and says that it is not ready" soon 15 unready
pg start >/dev/null
check "PostgreSQL is back: all works without a restart" works_again
pg stop immediate && pg start >/dev/null
check "PostgreSQL was killed and started again: all works" works_again

postgres_group() { kill "-$1" "$(pg pid)" $(pgrep -P "$(pg pid)"); }
postgres_group STOP
check "PostgreSQL hangs: every API answers 503 in time" refused_clearly
check "and the process is alive, at once" alive
check "and not ready" soon 15 unready
postgres_group CONT
check "PostgreSQL goes on: all works without a restart" works_again

many_at_once() {  # more callers than sessions, while the database hangs: all of them are told
  local i pids=()
  postgres_group STOP
  for i in {1..60}; do status_of -u "$admin" "$url/api/v1/repos/ada/here" >"$state/many-$i" & pids+=($!); done
  alive || return 1
  for i in "${pids[@]}"; do wait "$i" || true; done
  postgres_group CONT
  is "$(cat "$state"/many-* | sed 's/.\{3\}/&\n/g' | sort | uniq -c | awk '{print $1" "$2}')" "60 503"
}
check "60 callers while it hangs are all told, and health answers meanwhile" many_at_once
check "and all works after it" works_again

# --- S3
head -c 200000 /dev/urandom >"$state/second"
second=$(sha256sum "$state/second" | cut -d' ' -f1)
rgw kill
plain() { answers && git -C "$state/work" push -q "$(remote here)" main:"c$RANDOM"; }
check "without S3 what needs none works" plain
check "an upload is refused, not lost in silence" fails upload here "$state/second"
check "and it says that it is not ready" soon 20 unready
rgw revive
check "S3 is back: the upload works without a restart" soon 20 upload here "$state/second"
check "and it is there" cmp <(download here "$second" 200000) "$state/second"
check "ready again" soon 20 ready
end_soft "$server"

# through the datastore: it is the one who waits for S3
serve --database-timeout 2s --s3-serve-direct=false
head -c 9000000 /dev/urandom >"$state/third"
third=$(sha256sum "$state/third" | cut -d' ' -f1)
link=$(lfs_batch here upload "$third" 9000000 | jq -c '.objects[0].actions.upload')
rgw kill
refused_upload() { local answer=$state/answer limit=40; [[ $(carry_out "$link" -T "$state/third") == 50[0-9] ]] || return 1; said message; }
refused_download() { local answer=$state/answer limit=40; [[ $(status_of -u "$admin" "$url/ada/here.git/info/lfs/objects/$oid") == 50[0-9] ]] || return 1; said message; }
check "an upload through the datastore without S3: 50x with words" refused_upload
check "a download too" refused_download
rgw revive
check "both work once it is back" soon 20 upload here "$state/third"
check "byte for byte" cmp <(download here "$third" 9000000) "$state/third"
head -c 9000000 /dev/urandom >"$state/fourth"
fourth=$(sha256sum "$state/fourth" | cut -d' ' -f1)
hung_meanwhile() {
  rgw pause
  (upload here "$state/fourth"; echo $? >"$state/fourth.rc") 2>/dev/null &
  local client=$!
  sleep 1
  if ! alive || ! plain; then
    rgw resume
    return 1
  fi
  sleep 3
  rgw resume
  wait "$client" || true
  soon 20 upload here "$state/fourth" && download here "$fourth" 9000000 | cmp - "$state/fourth"
}
check "S3 hangs for some seconds: others are served, the upload ends well" hung_meanwhile
check "all is sound" all_sound
storage_done
