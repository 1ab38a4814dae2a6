#!/usr/bin/env bash
# stackgate-inference in front of two engines that answer as vLLM documents it: adapters kept, requests passed on. Then in
# front of one that answers as SGLang, one as llama-server does, and of one that knows no adapters.
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
engine two && two=$port two_pid=$engine_pid
echo secret >"$scratch/key"
mkdir "$scratch/adapters"
python3 "$here/upstream/adapter.py" "$scratch/adapters/support" 4
python3 "$here/upstream/adapter.py" "$scratch/adapters/patterned" 4 '{"alpha_pattern": {"q_proj": 8}}'

# front NAME FLAGS…: in front of engines; sets $url and $program
front() {
  local name=$1
  shift
  : >"$scratch/log.$name" # it is read before the program may have begun
  "$bin/stackgate-inference" --peft-source "$scratch/adapters" --peft-refresh-interval 1 --listen 127.0.0.1:0 \
    --data-dir "$scratch/data.$name" --log-format json --drain-wait 0s --drain-limit 2s "$@" >"$scratch/log.$name" 2>&1 &
  program=$!
  pids+=("$program")
  for _ in $(seq 200); do
    url=$(sed -n 's/.*"message":"listening".*"url":"\([^"]*\)".*/\1/p' "$scratch/log.$name" | head -1)
    [ -n "$url" ] && curl -sf "$url/v1/health/ready" >/dev/null && return 0
    sleep 0.05
  done
  cat "$scratch/log.$name" && exit 1
}
front vllm --upstream-url "http://127.0.0.1:$one/v1" --upstream-url "http://127.0.0.1:$two" \
  --upstream-api-key-file "$scratch/key" --request-timeout 2s

ask() { curl -s -H 'Authorization: Bearer theirs' -H 'Content-Type: application/json' "$url/v1/chat/completions" -d "$1"; }
status() { curl -s -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' "$url/v1/chat/completions" -d "$1"; }
has() { ask "$1" | grep -qF -- "$2"; }
is() { [ "$(status "$1")" = "$2" ]; }
seen() { curl -s "127.0.0.1:$1/seen"; }
seen_any() { seen "$1" | grep "$2" >/dev/null; }
both() { seen "$one" | grep -q "$1" && seen "$two" | grep -q "$1"; }
without() { ! "$@"; }

check "an adapter of the source is loaded by both engines" until_it both '"loads": \[\["support"'
check "the base is answered by an engine" has '{"model":"base"}' '"root": "base"'
check "an adapter is answered by its files" until_it has '{"model":"support"}' 'data.vllm/adapters'
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
answers() { curl -s -w '%{http_code}' "$url$1" ${3:+-H 'Content-Type: application/json' -d "$3"} | grep -qF -- "$2"; }
check "tokens of an adapter are the base's" answers /v1/tokenize '"tokens": [7]}200' '{"model":"support","prompt":"x"}'
check "also without a model" answers /tokenize '"tokens": [7]}200' '{"prompt":"x"}'
check "of an unknown model: 404" answers /tokenize '}404' '{"model":"unknown","prompt":"x"}'
check "what an engine does not serve is 501 with the reason" answers /v1/detokenize 'does not serve /detokenize: it answered 404' '{"tokens":[7]}'
check "its version is the engine's" answers /version '{"version": "0.9.1"}200'
check "metadata that it lacks: 501" answers /v1/metadata '}501'
check "and our own" answers /v1/version '"release"'
python3 "$here/upstream/adapter.py" "$scratch/adapters/heavy" 4
check "GET /v1/adapters shows why an engine refuses one" until_it answers /v1/adapters '"state":"refused","reason":"it answered 400: '
check "and which has one" answers /v1/adapters "\"upstreams\":[{\"upstream\":\"http://127.0.0.1:$one\",\"state\":\"loaded\"}"
counts() { curl -s "$url/v1/metrics" | grep "^$1 [1-9]" >/dev/null; }
check "answers are counted under NIM's names" counts 'request_success_total{model_name="base"}'
check "and vLLM's" counts 'vllm:request_success_total{model_name="base",engine="0",finished_reason=""}'
check "with their time" counts 'e2e_request_latency_seconds_count{model_name="base"}'
check "and that to the first bytes" counts 'vllm:time_to_first_token_seconds_count{model_name="base",engine="0"}'
check "a client that left is a failure" counts 'request_failure_total{model_name="base"}'
curl -s "$url/v1/chat/completions" -H 'Content-Type: application/json' -d '{"model":"base","user":"slow"}' >/dev/null &
slow=$!
check "requests under way are shown" until_it counts 'vllm:num_requests_running{model_name="base",engine="0"}'
wait "$slow"
models() { curl -s "$url/v1/models" | grep -q "\"id\":\"$1\""; }
check "the base and what can be named are listed" models base
check "with adapters" models support
check "without those that cannot" without models patterned

for each in "$one" "$two"; do curl -s -H 'Authorization: Bearer secret' "127.0.0.1:$each/forget" -d '{}' >/dev/null; done
check "engines that have forgotten an adapter: loaded, and the request repeated" has '{"model":"support"}' 'data.vllm/adapters'

kill "$one_pid"
wait "$one_pid" 2>/dev/null || true
all_answered() { for _ in $(seq 8); do is '{"model":"base"}' 200 && is '{"model":"support"}' 200 || return 1; done; }
check "one engine takes no connections: the other gets what had not begun" all_answered
check "one engine away: the other answers" until_it has '{"model":"support"}' 'data.vllm/adapters'
check "and it stays ready" curl -sf "$url/v1/health/ready"
check "an answer that does not come in time is 502" is '{"model":"base","user":"slow"}' 502
check "and takes no engine from the others" is '{"model":"base"}' 200
engine one "$one"
one_has() { seen "$one" | grep -q '"loads": \[\["support"'; }
check "an engine that comes back gets its adapters" until_it one_has

python3 "$here/upstream/adapter.py" "$scratch/adapters/support" 8
check "another version is replaced on both, also where load_inplace is not known" until_it both '"unloads": \["support"'
check "requests go on" until_it has '{"model":"support"}' 'data.vllm/adapters'
kill -STOP "$two_pid"
python3 "$here/upstream/adapter.py" "$scratch/adapters/fresh" 4
check "an engine that hangs keeps no adapter from the other" timeout 4 bash -c "until curl -s 127.0.0.1:$one/seen | grep -q '\[\"fresh\"'; do sleep 0.1; done"
kill -CONT "$two_pid"
rm -r "$scratch/adapters/support"
check "one that is gone is not served" until_it is '{"model":"support"}' 404
rss=$(awk '/VmRSS/ {print int($2 / 1024)}' "/proc/$program/status")
check "no libtorch is loaded ($rss MiB resident)" without grep -q torch "/proc/$program/maps"
curl -sN "$url/v1/chat/completions" -H 'Content-Type: application/json' -d '{"model":"base","stream":true,"n":100}' >"$scratch/stream" &
stream=$!
curl -s "$url/v1/chat/completions" -H 'Content-Type: application/json' -d '{"model":"base","user":"slow"}' >"$scratch/whole" &
whole=$!
check "a stream has begun" until_it grep -q '"i":' "$scratch/stream"
two_under_way() { curl -s "$url/v1/metrics" | grep '^vllm:num_requests_running{model_name="base",engine="0"} 2$' >/dev/null; }
check "and another request is under way" until_it two_under_way
kill -TERM "$program"
check "streams that are open when the drain is over end with an error event" wait "$stream"
check "which says why" bash -c "tail -c 400 $scratch/stream | grep -q 'data: {\"error\":{\"message\":\"The server is stopping'"
wait "$whole"
check "other requests with an error in OpenAI's form" grep -qF '{"error":{"message":"The server is stopping' "$scratch/whole"
check "and the program ends well" wait "$program"

python3 "$here/upstream/adapter.py" "$scratch/adapters/support" 4
KIND=sglang engine sglang && sglang=$port
front sglang --upstream-url "http://127.0.0.1:$sglang/v1" --upstream-api-key-file "$scratch/key"
check "an SGLang is told of adapters by its own calls" until_it seen_any "$sglang" '\["support"'
check "an adapter is asked for by its own member" until_it has '{"model":"support","lora_path":"other"}' 'data.sglang/adapters'
check "the base without any" until_it has '{"model":"base","lora_path":"support"}' '"root": "base"'
check "what it would scale otherwise is 503" until_it has '{"model":"patterned"}' 'by SGLang'
curl -s -H 'Authorization: Bearer secret' "127.0.0.1:$sglang/forget" -d '{}' >/dev/null
check "one that has forgotten an adapter: loaded, and the request repeated" has '{"model":"support"}' 'data.sglang/adapters'
python3 "$here/upstream/adapter.py" "$scratch/adapters/support" 8
check "another version is unloaded and loaded" until_it seen_any "$sglang" '"unloads": \["support"'
check "and answers" until_it has '{"model":"support"}' 'data.sglang/adapters'
kill "$program"

KIND=llama-server engine llama && llama=$port
front llama --upstream-url "http://127.0.0.1:$llama" --upstream-api-key-file "$scratch/key"
check "a llama-server is known by its lists, and an adapter of it by its file's name" until_it has '{"model":"support"}' '"lora": [{"id": 1, "scale": 1.0}]'
check "its base is asked for without any" has '{"model":"base","lora":[{"id":0}]}' '"lora": []'
check "an adapter that it was not given is 503" is '{"model":"fresh"}' 503
check "which GET /v1/adapters tells" until_it answers /v1/adapters 'was given none of this name'
check "its tokens are of another form: 501" answers /tokenize 'is a llama-server' '{"prompt":"x"}'
check "and it has no version: 501" answers /version '}501'
kill "$program"

KIND=openai engine openai && openai=$port
front openai --upstream-url "http://127.0.0.1:$openai/v1" --upstream-api-key-file "$scratch/key"
check "an engine without adapters answers as its base" has '{"model":"base"}' '"root": "base"'
check "an adapter is 503: never the base" is '{"model":"support"}' 503
check "with the reason" until_it has '{"model":"support"}' 'the upstream has no calls about adapters'
check "and it is told of none" without seen_any "$openai" '"loads": \[\['
kill "$program"

# The image of upstream mode: with the small libcurl that ./dev build makes.
small_curl=${XDG_CACHE_HOME:-$HOME/.cache}/stackgate/curl-minimal
if [ -s "$small_curl/libcurl.so.4" ] && [[ $(realpath "$bin") == */release/* ]]; then
  check "the image has 40 MB at most" env IMAGE_LIBRARIES="$small_curl" IMAGE_LIMIT_MB=40 \
    "$here/../../cluster/image.sh" stackgate-inference-upstream:test "$scratch/image.tar" "$bin/stackgate-inference"
else
  echo "skip the image's size: this is no release build, or there is no small libcurl"
fi
[ "$failed" = 0 ] || { tail -n 40 "$scratch"/log.* && exit 1; }
