#!/usr/bin/env bash
# Two replicas over one PostgreSQL, one S3 and one data directory: the first migration at once, then pushes and Hugging
# Face commits that want the same reference.
#   DATASTORE=build/release/bin/stackgate-datastore tests/e2e/storage/replicas.sh
set -euo pipefail
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
storage_unmigrated=1 storage_begin postgres-s3

migrations_at_once() {
  local i pids=()
  for i in 1 2 3 4 5 6; do
    "$datastore_binary" migrate >"$state/migrate-$i" 2>&1 &
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i" || { cat "$state"/migrate-* >&2 && return 1; }; done
  # One of them did it; the others found it done.
  is "$(grep -l 'was 0' "$state"/migrate-* | wc -l)" 1
}
check "six migrations at once: one works, the others wait" migrations_at_once
"$datastore_binary" init >"$state/init.log" 2>&1 &
"$datastore_binary" init >"$state/init2.log" 2>&1 || true
wait $! || true

serve
first=$server url_one=$url port=
serve
url_two=$url
on() { if (($1 % 2)); then url=$url_one; else url=$url_two; fi; }
check "two inits at once make one administrator" is "$("$datastore_binary" user list 2>/dev/null)" $'ada\tadmin'

names_at_once() {
  local i pids=()
  for i in {1..8}; do
    on "$i"
    status_of -u "$admin" -H 'Content-Type: application/json' -d '{"name":"wanted"}' "$url/api/v1/user/repos" >"$state/name-$i" &
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i" || true; done
  is "$(for i in {1..8}; do cat "$state/name-$i" && echo; done | sort | uniq -c | awk '{print $1"x"$2}' | xargs)" '1x201 7x409'
}
check "of eight who make the same repository one wins" names_at_once

on 1
make_repository race
hub_body 3 base 50 >"$state/body"
hub_commit race "$state/body" >"$state/base"
for i in {1..8}; do
  git clone -q "$(remote race)" "$state/w$i"
  echo "$i" >"$state/w$i/by-$i" && git -C "$state/w$i" add . && git -C "$state/w$i" commit -qm "by $i"
  hub_body 20 "hub-$i" 200 >"$state/body-$i"
done

round_of_pushes() {  # the same reference from both sides: one push wins, nothing of it is lost
  local i pids=()
  rm -f "$state"/won-*
  for i in {1..8}; do
    on "$i"
    (if git -C "$state/w$i" push -q "$(remote race)" main 2>>"$state/clients.log"; then touch "$state/won-$i"; fi) &
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i"; done
  on 1
  is "$(find "$state" -maxdepth 1 -name 'won-*' | wc -l)" 1 || return 1
  local winner
  winner=$(find "$state" -maxdepth 1 -name 'won-*' | sed 's/.*-//')
  is "$(tip_of race)" "$(git -C "$state/w$winner" rev-parse HEAD)" || return 1
  on 2
  is "$(tip_of race)" "$(git -C "$state/w$winner" rev-parse HEAD)"
}
check "of eight pushes to one branch one wins, and both replicas show it" round_of_pushes

round_of_commits() {  # commits without a parent named go on top of each other; each acknowledged one is in the history
  local i pids=()
  for i in {1..8}; do
    on "$i"
    (hub_commit race "$state/body-$i" >"$state/made-$i" 2>>"$state/clients.log" || echo none >"$state/made-$i") &
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i"; done
  on 1
  rm -rf "$state/look"
  git clone -q --bare "$(remote race)" "$state/look" || return 1
  for i in {1..8}; do
    [ "$(cat "$state/made-$i")" != none ] || continue
    git -C "$state/look" merge-base --is-ancestor "$(cat "$state/made-$i")" main || { echo "  commit $i was acknowledged and is lost" >&2 && return 1; }
  done
  made=$(cat "$state"/made-* | grep -vc none || true)
  echo "  $made of 8 commits at once were taken"
  ((made > 0))
}
check "Hugging Face commits through both at once: none that was acknowledged is lost" round_of_commits

mixed() {  # pushes that rebase until they get through, between commits that do not care
  local i pids=()
  for i in 1 2 3 4; do
    on "$i"
    (
      for _ in {1..30}; do
        git -C "$state/w$i" pull -q --rebase "$(remote race)" main 2>>"$state/clients.log" &&
          git -C "$state/w$i" push -q "$(remote race)" HEAD:main 2>>"$state/clients.log" && exit 0
      done
      echo "  push $i never got through" >&2 && exit 1
    ) &
    pids+=($!)
    (hub_body 5 "mixed-$i" 50 >"$state/mixed-$i" && for _ in {1..30}; do hub_commit race "$state/mixed-$i" >/dev/null && exit 0; done; exit 1) &
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i" || return 1; done
  rm -rf "$state/look"
  on 2
  git clone -q "$(remote race)" "$state/look" || return 1
  for i in 1 2 3 4; do
    if [ ! -e "$state/look/by-$i" ] || [ ! -e "$state/look/mixed-$i/0/4.bin" ]; then
      echo "  work of $i is lost" >&2
      return 1
    fi
  done
}
check "pushes that rebase and commits between them all get through" mixed

stale_parent() {
  local parent codes i pids=()
  parent=$(tip_of race)
  for i in 1 2 3 4; do
    on "$i"
    { echo "{\"key\":\"header\",\"value\":{\"summary\":\"s$i\",\"parentCommit\":\"$parent\"}}" && hub_body 3 "stale-$i" 50 | sed 1d; } >"$state/stale-$i"
    status_of -u "$admin" -H 'Content-Type: application/x-ndjson' --data-binary "@$state/stale-$i" "$url/v1/hf/api/models/ada/race/commit/main" >"$state/code-$i" &
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i" || true; done
  codes=$(for i in 1 2 3 4; do cat "$state/code-$i" && echo; done | sort | uniq -c | awk '{print $1"x"$2}' | xargs)
  [[ $codes =~ ^1x200\ 3x4(09|12)$ ]] || { echo "  got $codes" >&2 && return 1; }
}
check "of four commits on the same parent one wins" stale_parent

same_large_file() {
  local i pids=()
  head -c 3000000 /dev/urandom >"$state/large"
  for i in {1..6}; do
    on "$i"
    upload race "$state/large" &
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i" || return 1; done
  download race "$(sha256sum "$state/large" | cut -d' ' -f1)" 3000000 | cmp - "$state/large"
}
check "one large file through both at once" same_large_file

one_dies() {  # its work goes on at the other
  on 2
  (hub_commit race "$state/body-1" >/dev/null 2>&1 || true) &
  local client=$!
  sleep 0.1
  end_hard "$first"
  wait "$client" || true
  hub_body 2 survivor 50 >"$state/body"
  hub_commit race "$state/body" >/dev/null && git -C "$state/w1" fetch -q "$(remote race)" main
}
check "one replica killed: the other writes on" one_dies
check "all is sound" all_sound
storage_done
