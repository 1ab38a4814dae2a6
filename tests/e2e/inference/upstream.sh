#!/usr/bin/env bash
# stackgate-inference in front of two engines that answer as vLLM documents it: adapters kept, requests passed on.
#   STACKGATE_BIN=build/release/bin tests/e2e/inference/upstream.sh
set -euo pipefail
here=$(dirname "$(realpath "$0")")
bin=${STACKGATE_BIN:-$here/../../../build/release/bin}
scratch=$(mktemp -d)
pids=()
# shellcheck disable=SC2317 # the trap's
end() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$scratch"
}
trap end EXIT
failed=0
# check WHAT COMMAND…
check() {
  local what=$1
  shift
  if "$@" >"$scratch/out" 2>&1; then echo "ok $what"; else echo "not ok $what" && cat "$scratch/out" && failed=1; fi
}
# until_it COMMAND…: within 8 s
until_it() {
  for _ in $(seq 160); do "$@" >/dev/null 2>&1 && return 0; sleep 0.05; done
  "$@"
}

# engine NAME [PORT]: sets $port
engine() {
  rm -f "$scratch/$1.port"
  PORT=${2:-0} python3 "$here/upstream/engine.py" "$scratch/$1.port" secret &
  pids+=($!)
  engine_pid=$!
  until_it test -e "$scratch/$1.port"
  port=$(cat "$scratch/$1.port")
}
engine one && one=$port one_pid=$engine_pid
engine two && two=$port
echo secret >"$scratch/key"
mkdir "$scratch/adapters"
python3 "$here/upstream/adapter.py" "$scratch/adapters/support" 4
python3 "$here/upstream/adapter.py" "$scratch/adapters/patterned" 4 '{"alpha_pattern": {"q_proj": 8}}'

"$bin/stackgate-inference" --upstream-url "http://127.0.0.1:$one/v1" --upstream-url "http://127.0.0.1:$two" \
  --upstream-api-key-file "$scratch/key" --peft-source "$scratch/adapters" --peft-refresh-interval 1 \
  --listen 127.0.0.1:0 --data-dir "$scratch/data" --log-format json --drain-wait 0s >"$scratch/log" 2>&1 &
program=$!
pids+=("$program")
for _ in $(seq 200); do
  url=$(sed -n 's/.*"message":"listening".*"url":"\([^"]*\)".*/\1/p' "$scratch/log" | head -1)
  [ -n "$url" ] && curl -sf "$url/v1/health/ready" >/dev/null && break
  sleep 0.05
done
[ -n "$url" ] || { cat "$scratch/log" && exit 1; }

ask() { curl -s -H 'Authorization: Bearer theirs' -H 'Content-Type: application/json' "$url/v1/chat/completions" -d "$1"; }
status() { curl -s -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' "$url/v1/chat/completions" -d "$1"; }
has() { ask "$1" | grep -qF -- "$2"; }
is() { [ "$(status "$1")" = "$2" ]; }
seen() { curl -s "127.0.0.1:$1/seen"; }
both() { seen "$one" | grep -q "$1" && seen "$two" | grep -q "$1"; }
without() { ! "$@"; }

check "an adapter of the source is loaded by both engines" until_it both '"loads": \[\["support"'
check "the base is answered by an engine" has '{"model":"base"}' '"root": "base"'
check "an adapter is answered by its files" until_it has '{"model":"support"}' 'data/adapters'
check "peft_name becomes the model" has '{"model":"base","peft_name":"support","n":1.50}' '"model": "support"'
check "every other byte stays, and the key is ours" bash -c "{ curl -s 127.0.0.1:$one/seen; curl -s 127.0.0.1:$two/seen; } |
  tee $scratch/seen | grep -qF '{\\\"model\\\":\\\"support\\\",\\\"n\\\":1.50}' && ! grep -q theirs $scratch/seen"
check "an unknown model is 404 and no engine is asked" is '{"model":"unknown"}' 404
check "none was" without both unknown
check "an adapter that vLLM would scale otherwise is 503" is '{"model":"patterned"}' 503
check "and is not handed over" without both patterned
check "no JSON is 400" is '{' 400
check "no model is 400" is '{}' 400
check "an engine's refusal keeps its status" is '{"model":"base","user":"fail"}' 418
check "in our form" has '{"model":"base","user":"fail"}' '"message":"short and stout"'
check "a stream is passed on byte by byte" bash -c "[ \"\$(curl -sN '$url/v1/chat/completions' -H 'Content-Type: application/json' \
  -d '{\"model\":\"base\",\"stream\":true}' | md5sum)\" = \"\$(printf 'data: {\"i\":0}\n\ndata: {\"i\":1}\n\ndata: {\"i\":2}\n\n' | md5sum)\" ]"
curl -sN --max-time 0.3 "$url/v1/chat/completions" -H 'Content-Type: application/json' \
  -d '{"model":"base","stream":true,"n":100}' >/dev/null || true
ended() { [ "$(seen "$one" | grep -c '"gone": 1')" = 1 ] || [ "$(seen "$two" | grep -c '"gone": 1')" = 1 ]; }
check "a client that leaves ends the engine's work" until_it ended
models() { curl -s "$url/v1/models" | grep -q "\"id\":\"$1\""; }
check "the base and what can be named are listed" models base
check "with adapters" models support
check "without those that cannot" without models patterned

for each in "$one" "$two"; do curl -s -H 'Authorization: Bearer secret' "127.0.0.1:$each/forget" -d '{}' >/dev/null; done
check "engines that have forgotten an adapter: loaded, and the request repeated" has '{"model":"support"}' 'data/adapters'

kill "$one_pid"
wait "$one_pid" 2>/dev/null || true
check "one engine away: the other answers" until_it has '{"model":"support"}' 'data/adapters'
check "and it stays ready" curl -sf "$url/v1/health/ready"
engine one "$one"
one_has() { seen "$one" | grep -q '"loads": \[\["support"'; }
check "an engine that comes back gets its adapters" until_it one_has

python3 "$here/upstream/adapter.py" "$scratch/adapters/support" 8
check "another version is replaced on both, also where load_inplace is not known" until_it both '"unloads": \["support"'
check "requests go on" until_it has '{"model":"support"}' 'data/adapters'
rm -r "$scratch/adapters/support"
check "one that is gone is not served" until_it is '{"model":"support"}' 404
rss=$(awk '/VmRSS/ {print int($2 / 1024)}' "/proc/$program/status")
check "no libtorch is loaded ($rss MiB resident)" without grep -q torch "/proc/$program/maps"
[ "$failed" = 0 ] || { tail -40 "$scratch/log" && exit 1; }
