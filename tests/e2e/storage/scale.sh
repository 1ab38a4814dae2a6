#!/usr/bin/env bash
# Clients that hardly move, ten thousand references, a hundred thousand files: others are not held up, memory stays, and
# every client still gets through.
#   DATASTORE=build/release/bin/stackgate-datastore tests/e2e/storage/scale.sh [--s3]
set -euo pipefail
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
storage_begin
serve --pool-threads 8 --s3-serve-direct=false
make_repository here false

# --- a byte a second
slow_clients=()
slow() { # COUNT WHAT
  python3 - "$1" "$2" "$port" <<'PY' &
import socket, sys, time
count, what, port = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
auth = "Authorization: Basic YWRhOmNvcnJlY3QtaG9yc2U=\r\n"
heads = {
    "head": "GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
    "body": f"POST /api/v1/user/repos HTTP/1.1\r\nHost: localhost\r\n{auth}Content-Type: application/json\r\nContent-Length: 4000\r\n\r\n",
    "push": f"POST /ada/here.git/git-receive-pack HTTP/1.1\r\nHost: localhost\r\n{auth}Content-Type: application/x-git-receive-pack-request\r\nTransfer-Encoding: chunked\r\n\r\n",
    "read": "GET /ada/here.git/info/refs?service=git-upload-pack HTTP/1.1\r\nHost: localhost\r\n\r\n",
}
connections = []
for _ in range(count):
    c = socket.create_connection(("127.0.0.1", port))
    c.sendall(heads[what].encode())
    connections.append(c)
for _ in range(60):
    for c in connections:
        try:
            if what == "read": c.recv(1)
            elif what == "push": c.sendall(b"1\r\n0\r\n")
            else: c.sendall(b" ")
        except OSError:
            pass
    time.sleep(1)
PY
  slow_clients+=($!)
}
others_are_served() { # RUNS: the slowest of so many ordinary calls, in seconds
  local i slowest
  for ((i = 0; i < $1; i++)); do
    curl -s -o /dev/null --max-time 20 -w '%{http_code} %{time_total}\n' -u "$admin" "$url/api/v1/repos/ada/here"
  done >"$state/times"
  is "$(grep -vc '^200' "$state/times" || true)" 0 || return 1
  slowest=$(cut -d' ' -f2 "$state/times" | sort -n | tail -1)
  echo "  the slowest of $1 calls took $slowest s"
  awk -v t="$slowest" 'BEGIN { exit !(t < 10) }'
}
end_slow() {
  local pid
  for pid in "${slow_clients[@]}"; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  slow_clients=()
}
slow 200 head
slow 50 body
slow 20 read
sleep 1
check "$storage_leg: 270 clients of a byte a second hold up nobody" others_are_served 40
end_slow
slow 48 push # each upload in progress holds a thread, but none of those that requests work on
sleep 2
check "$storage_leg: neither do 48 slow pushes" others_are_served 20
end_slow

# --- a large file, through the datastore into its store and back
rss() { awk "/$1/ {print int(\$2 / 1024)}" "/proc/$server/status"; }
head -c 512M /dev/zero | openssl enc -aes-128-ctr -K 00 -iv 00 2>/dev/null >"$state/large"
oid=$(sha256sum "$state/large" | cut -d' ' -f1)
there_and_back() {
  local before
  before=$(rss VmHWM)
  limit=300 upload here "$state/large" || return 1
  is "$(download here "$oid" 536870912 | sha256sum | cut -d' ' -f1)" "$oid" || return 1
  echo "  memory: from $before to $(rss VmHWM) MiB at most"
  (($(rss VmHWM) < before + 48))
}
check "$storage_leg: half a gigabyte goes there and back, and memory stays" there_and_back
rm -f "$state/large"

# References and trees are Git's, over any database and store.
if [ "$storage_leg" != sqlite ]; then
  check "$storage_leg: all is sound" all_sound
  storage_done
  exit 0
fi

# --- ten thousand references
git init -q "$state/work"
echo x >"$state/work/x" && git -C "$state/work" add . && git -C "$state/work" commit -qm x
head=$(git -C "$state/work" rev-parse HEAD)
for ((i = 0; i < 10000; i++)); do echo "create refs/heads/many/$((i / 100))/b$i $head"; done | git -C "$state/work" update-ref --stdin
push_all() { timeout 100 git -C "$state/work" push -q "$(remote here)" '+refs/heads/*:refs/heads/*' 2>>"$state/clients.log"; }
check "$storage_leg: ten thousand branches are pushed at once" push_all
count_refs() { is "$(git ls-remote "$(remote here)" 'refs/heads/*' | wc -l)" 10001; }
check "$storage_leg: and listed" count_refs
for_protocol_0() { is "$(git -c protocol.version=0 ls-remote "$(remote here)" 'refs/heads/*' | wc -l)" 10001; }
check "$storage_leg: in protocol 0 too" for_protocol_0
one_more() { echo y >"$state/work/y" && git -C "$state/work" add . && git -C "$state/work" commit -qm y && git -C "$state/work" push -q "$(remote here)" main; }
check "$storage_leg: one more push moves one branch" one_more
hub_refs() { is "$(curl -sf -u "$admin" "$url/v1/hf/api/models/ada/here/refs" | jq '.branches | length')" 10001; }
check "$storage_leg: the Hugging Face API lists them" hub_refs
pages_of_branches() { is "$(api -D - -o /dev/null "$url/api/v1/repos/ada/here/branches?limit=50&page=200" | grep -i '^x-total-count' | tr -dc 0-9)" 10001; }
check "$storage_leg: the repository API pages through them" pages_of_branches
fetch_one() { git init -q "$state/one" && git -C "$state/one" fetch -q "$(remote here)" refs/heads/many/77/b7777 && is "$(git -C "$state/one" rev-parse FETCH_HEAD)" "$head"; }
check "$storage_leg: one branch is fetched" fetch_one
delete_all() { git -C "$state/work" for-each-ref --count=200 --format=':%(refname)' refs/heads/many >"$state/gone" &&
  xargs -n 200 timeout 100 git -C "$state/work" push -q "$(remote here)" <"$state/gone" 2>>"$state/clients.log" &&
  is "$(git ls-remote "$(remote here)" 'refs/heads/*' | wc -l)" 9801; }
check "$storage_leg: two hundred are deleted at once" delete_all

# --- a hundred thousand files
make_repository files false
python3 - >"$state/stream" <<'PY'
import sys
out = sys.stdout
out.write("commit refs/heads/main\ncommitter a <a@example.org> 1700000000 +0000\ndata 4\nmany\n")
for i in range(100000):
    path = f"flat/{i:05}.txt" if i < 20000 else f"deep/{i // 10000}/{i // 100}/{i}.txt"
    text = f"file {i}\n"
    out.write(f"M 100644 inline {path}\ndata {len(text)}\n{text}\n")
out.write("done\n")
PY
git init -q --bare "$state/many" && git -C "$state/many" fast-import --quiet --done <"$state/stream"
check "$storage_leg: a hundred thousand files are pushed" timeout 110 git -C "$state/many" push -q "$(remote files)" main
page_through() { # ADDRESS: all pages of a tree, following the links; prints how many files
  local next=$1 pages=0 all=0
  while [ -n "$next" ] && ((pages < 2000)); do
    curl -sf --max-time 20 -u "$admin" -D "$state/head" -o "$state/page" "$next" || return 1
    all=$((all + $(jq '[.[] | select(.type == "file")] | length' "$state/page")))
    next=$(grep -i '^link:' "$state/head" | sed -n 's/.*<\([^>]*\)>; *rel="next".*/\1/p' | tr -d '\r')
    pages=$((pages + 1))
  done
  echo "$all"
}
check "$storage_leg: the whole tree pages through all of them" is "$(page_through "$url/v1/hf/api/models/ada/files/tree/main?recursive=true")" 100000
check "$storage_leg: a flat folder too" is "$(page_through "$url/v1/hf/api/models/ada/files/tree/main/flat")" 20000
quick() { # NAME LIMIT-SECONDS ADDRESS
  local took
  took=$(curl -sf --max-time 30 -u "$admin" -o /dev/null -w '%{time_total}' "$3") || return 1
  echo "  $1: $took s"
  awk -v t="$took" -v most="$2" 'BEGIN { exit !(t < most) }'
}
check "$storage_leg: what the repository holds, in time" quick info 10 "$url/v1/hf/api/models/ada/files"
check "$storage_leg: a folder of the repository API, in time" quick contents 10 "$url/api/v1/repos/ada/files/contents/deep"
check "$storage_leg: one file, in time" quick file 5 "$url/v1/hf/ada/files/resolve/main/deep/9/999/99999.txt"
on_top() {
  local began=${EPOCHREALTIME/./} new
  hub_body 10 deep/top 100 >"$state/body"
  new=$(hub_commit files "$state/body") || return 1
  echo "  a commit on top: $(((${EPOCHREALTIME/./} - began) / 1000)) ms"
  is "$(tip_of files)" "$new" || return 1
  rm -rf "$state/look" && git clone -q --bare "$(remote files)" "$state/look" && is "$(git -C "$state/look" ls-tree -r --name-only main | wc -l)" 100010
}
check "$storage_leg: a commit on top keeps them all" on_top
echo "  memory: $(rss VmRSS) MiB now, $(rss VmHWM) MiB at most"
check "$storage_leg: memory stayed below 192 MiB" test "$(rss VmHWM)" -lt 192
check "$storage_leg: all is sound" all_sound
storage_done
