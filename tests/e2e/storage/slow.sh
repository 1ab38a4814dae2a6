#!/usr/bin/env bash
# Three times as many clients as there are threads, all strangers, all hardly moving: they send a fetch's request, they
# read a file, they send an adapter, two kilobytes a second or less. Health, pages and APIs answer at once meanwhile, and
# who is slow but steady gets all of it. Default settings.
#   DATASTORE=… ENTITYSTORE=… [AT_ONCE=1] tests/e2e/storage/slow.sh
set -euo pipefail
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
entitystore_binary=${ENTITYSTORE:-${DATASTORE:+$(dirname "$DATASTORE")/stackgate-entitystore}}
entitystore_binary=${entitystore_binary:-$storage_here/../../../build/release/bin/stackgate-entitystore}
at_once=${AT_ONCE:-1} # seconds that the slowest of the others may take
crowd_size=96
storage_begin sqlite
[ -x "$entitystore_binary" ] || { echo "not ok $entitystore_binary is there" && exit 1; }
serve
store_port=$(free_port)
store=http://127.0.0.1:$store_port
DATASTORE_USERNAME=ada DATASTORE_PASSWORD=correct-horse setsid "$entitystore_binary" serve --data-dir "$state/store" \
  --listen "127.0.0.1:$store_port" --datastore-url "$url" >>"$state/entitystore.log" 2>&1 &
served+=($!)
for _ in $(seq 200); do
  if curl -sf -o /dev/null --max-time 2 "$store/v1/health/ready"; then break; fi
  sleep 0.1
done

make_repository here false
git init -q "$state/work" && echo x >"$state/work/x" && git -C "$state/work" add . && git -C "$state/work" commit -qm x
git -C "$state/work" push -q "$(remote here)" main 2>>"$state/clients.log"
head -c 64M /dev/urandom >"$state/large"
oid=$(sha256sum "$state/large" | cut -d' ' -f1)
upload here "$state/large" || { echo "not ok a large file is there" && exit 1; }
large_link=$(curl -s -H "Content-Type: $media" -H "Accept: $media" -d "$(batch_of download "$oid" 67108864)" \
  "$url/ada/here.git/info/lfs/objects/batch" | jq -c '.objects[0].actions.download')
[ "$large_link" != null ] || { echo "not ok a stranger may read it" && exit 1; }

crowd_pid=
crowd() { # WHAT: until end_crowd
  LINK=$large_link python3 - "$crowd_size" "$1" "$port" "$store_port" <<'PY' >"$state/crowd" &
import json, os, socket, sys, time, urllib.parse
count, what, port, store = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
link = json.loads(os.environ["LINK"])
target = urllib.parse.urlparse(link["href"])
path = target.path + ("?" + target.query if target.query else "")
more = "".join(f"{name}: {value}\r\n" for name, value in link.get("header", {}).items())
heads = {
    "fetch": "POST /ada/here.git/git-upload-pack HTTP/1.1\r\nHost: localhost\r\nGit-Protocol: version=2\r\n"
             "Content-Type: application/x-git-upload-pack-request\r\nTransfer-Encoding: chunked\r\n\r\n",
    "read": f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n",
    "adapter": "POST /v1/adapters HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"
               "Content-Length: 50000000\r\n\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n",
}
def connect():
    c = socket.socket()
    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    c.connect(("127.0.0.1", store if what == "adapter" else port))
    c.sendall(heads[what].encode())
    c.settimeout(0.001)
    return c
connections = [connect() for _ in range(count)]
began = time.monotonic()
cut = 0
while True:
    for i, c in enumerate(connections):
        try:
            if what == "read":
                got = c.recv(2000)
                if not got or got.startswith(b"HTTP/1.1 503"): raise ConnectionError
            else:
                c.sendall(b"1\r\n0\r\n" if what == "fetch" else b"0")
                c.setblocking(False)
                if not c.recv(4096, socket.MSG_PEEK): raise ConnectionError
        except (TimeoutError, BlockingIOError):
            pass
        except OSError:  # turned away: it comes again, as such clients do
            cut += 1
            try: connections[i] = connect()
            except OSError: pass
    print(f"{time.monotonic() - began:.0f} s, {cut} cut", flush=True)
    time.sleep(max(0, 1 - (time.monotonic() - began) % 1))
PY
  crowd_pid=$!
  sleep 3
}
end_crowd() {
  kill "$crowd_pid" 2>/dev/null || true
  wait "$crowd_pid" 2>/dev/null || true
  echo "  the crowd, at the end: $(tail -1 "$state/crowd")"
}
answered_at_once() { # ADDRESS…: each ten times
  local address slowest
  : >"$state/times"
  for address in "$@" "$@" "$@" "$@" "$@" "$@" "$@" "$@" "$@" "$@"; do
    curl -s -o /dev/null --max-time 5 -w "%{http_code} %{time_total} $address\n" "$address" >>"$state/times" || break
  done
  slowest=$(sort -k2 -n "$state/times" | tail -1)
  echo "  the slowest: $slowest"
  is "$(grep -vc '^200' "$state/times" || true)" 0 && awk -v most="$at_once" '{ exit !($2 < most) }' <<<"$slowest"
}
datastore_answers() { answered_at_once "$url/v1/health" "$url/" "$url/ada/here" "$url/api/v1/repos/ada/here" "$url/ada/here.git/info/refs?service=git-upload-pack"; }
entitystore_answers() { answered_at_once "$store/v1/health" "$store/v1/adapters" "$store/v1/namespaces" "$store/metrics"; }
clones() { rm -rf "$state/clone" && timeout 20 git clone -q "$url/ada/here.git" "$state/clone" 2>>"$state/clients.log" && is "$(cat "$state/clone/x")" x; }
reads() { # BYTES [CURL…]: so many of the large file
  local headers=() line
  while read -r line; do headers+=(-H "$line"); done < <(jq -r '.header // {} | to_entries[] | "\(.key): \(.value)"' <<<"$large_link")
  is "$(curl -sf --max-time 90 "${headers[@]}" -r "0-$(($1 - 1))" "${@:2}" "$(jq -r .href <<<"$large_link")" | sha256sum)" \
    "$(head -c "$1" "$state/large" | sha256sum)"
}
phone() { # five megabytes at 100 KB/s, steadily, from an address of its own
  LINK=$large_link timeout 100 python3 - "$port" <<'PY' >"$state/phone"
import json, os, socket, sys, time, urllib.parse
link = json.loads(os.environ["LINK"])
target = urllib.parse.urlparse(link["href"])
path = target.path + ("?" + target.query if target.query else "")
more = "".join(f"{name}: {value}\r\n" for name, value in link.get("header", {}).items())
c = socket.socket()
c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
c.bind(("127.0.0.3", 0))
c.connect(("127.0.0.1", int(sys.argv[1])))
c.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-4999999\r\nConnection: close\r\n{more}\r\n".encode())
got, began = b"", time.monotonic()
while part := c.recv(10000):
    got += part
    time.sleep(max(0, len(got) / 100_000 - (time.monotonic() - began)))
sys.stdout.buffer.write(got[got.index(b"\r\n\r\n") + 4:])
PY
  cmp -n 5000000 "$state/phone" "$state/large" && is "$(stat -c %s "$state/phone")" 5000000
}
turned_away() { # the answer is of the API that was asked
  local headers=() line
  while read -r line; do headers+=(-H "$line"); done < <(jq -r '.header // {} | to_entries[] | "\(.key): \(.value)"' <<<"$large_link")
  curl -s --max-time 30 -D "$state/head" -o "$state/body" "${headers[@]}" "$(jq -r .href <<<"$large_link")" || true
  grep -q '^HTTP/1.1 503' "$state/head" && grep -qi '^retry-after: ' "$state/head" && grep -qi '^content-type: application/vnd.git-lfs+json' "$state/head" &&
    jq -e '.message and .request_id' "$state/body" >/dev/null
}

crowd fetch
check "$crowd_size clients that dribble a fetch's request hold up nobody" datastore_answers
check "a clone goes through beside them" clones
end_crowd
crowd read
check "$crowd_size clients that read a file at 2 KB/s hold up nobody" datastore_answers
check "one more from their address is told to come again" turned_away
check "another address reads the whole file" reads 67108864 --interface 127.0.0.2
check "and one at 100 KB/s, as a phone does" phone
check "still nobody is held up" datastore_answers
end_crowd
crowd adapter
check "$crowd_size clients that dribble an adapter hold up nobody" entitystore_answers
end_crowd
rss() { awk "/$1/ {print int(\$2 / 1024)}" "/proc/$server/status"; }
echo "  memory of the datastore: $(rss VmRSS) MiB now, $(rss VmHWM) MiB at most"
storage_done
