#!/usr/bin/env bash
# stackgate-inference as a process, with a drawn model, and OpenAI's client from npm unchanged.
#   STACKGATE_BIN=build/release/bin tests/e2e/inference/server.sh
set -euo pipefail
here=$(dirname "$(realpath "$0")")
build=$here/../../../build
bin=${STACKGATE_BIN:-$build/release/bin}
[ -e "$bin/libstackgate-engine.so" ] || { echo "skip the inference server: it was built without libtorch" && exit 0; }
PATH=/usr/bin:$PATH # Debian's packages are for Debian's Python
python3 -c 'import numpy' 2>/dev/null || { echo "skip the inference server: install python3-numpy" && exit 0; }
. "$here/client-dir.sh"
client_dir "$here" "$build"

scratch=$(mktemp -d)
pids=() clients=()
# shellcheck disable=SC2317 # the trap's
end() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$scratch"
}
trap end EXIT
python3 "$here/../model/graph/oracle.py" make "$scratch/models" 7
cp "$here/chat.jinja" "$scratch/chat.jinja"
failed=0
fail() { echo "not ok $*" && failed=1; }

# start NAME MODEL FLAGS…: sets $url
start() {
  local name=$1 model=$2
  shift 2
  "$bin/stackgate-inference" --model "$scratch/models/$model" --listen 127.0.0.1:0 --data-dir "$scratch/$name" \
    --chat-template "$scratch/chat.jinja" --log-format json --drain-wait 0s "$@" >"$scratch/$name.log" 2>&1 &
  pid=$!
  pids+=("$pid")
  for _ in $(seq 200); do
    url=$(sed -n 's/.*"message":"listening".*"url":"\([^"]*\)".*/\1/p' "$scratch/$name.log" | head -1)
    [ -n "$url" ] && curl -sf "$url/v1/health/ready" >/dev/null && return 0
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
  done
  fail "$name is ready" && cat "$scratch/$name.log"
  exit 1
}

start plain llama_gqa
(cd "$client" && node server.mjs "$url" llama_gqa) || failed=1

begun=$(date +%s%N)
kill -TERM "$pid"
if wait "$pid"; then
  echo "ok SIGTERM ends it with 0 after $((($(date +%s%N) - begun) / 1000000)) ms"
else
  fail "SIGTERM ends it with 0"
fi

# With answers under way, waiting and streaming: they are cut, and it ends all the same.
start busy llama_gqa --drain-limit 1s --max-sequences 4
for stream in true false true false true false true false; do
  curl -s -o "$scratch/cut" "$url/v1/completions" -H 'content-type: application/json' \
    -d "{\"model\":\"llama_gqa\",\"prompt\":\"x\",\"n\":100,\"max_tokens\":250,\"ignore_eos\":true,\"stream\":$stream}" &
  clients+=($!)
done
sleep 0.5
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
wait "${clients[@]}" || true
if [ "$status" = 0 ]; then echo "ok SIGTERM ends it with 0 under load"; else fail "SIGTERM ends it with 0 under load: $status"; fi

start narrow qwen2_bf16_shards --max-queue 1 --max-sequences 1 --kv-cache 1Mi
(cd "$client" && node queue.mjs "$url" qwen2_bf16_shards) || failed=1

mkdir "$scratch/adapters" "$scratch/spare"
cp -r "$scratch"/models/llama_gqa/adapter-? "$scratch/adapters"
cp -r "$scratch/models/llama_gqa/adapter-2" "$scratch/spare/one"
INF_PEFT_SOURCE=$scratch/adapters INF_PEFT_REFRESH_INTERVAL=1 INF_MAX_GPU_LORAS=2 INF_MAX_CPU_LORAS=2 \
  start adapted llama_gqa --allow-runtime-lora --adapter-dir "$scratch/spare" --max-sequences 8
(cd "$client" && node adapters.mjs "$url" llama_gqa "$scratch/adapters" "$scratch/spare/one") || failed=1

# What cannot be served is told before anything starts, and by check alike.
cp -r "$scratch/models/llama_gqa" "$scratch/broken"
sed -i 's/"model_type": "llama"/"model_type": "gpt_oss"/' "$scratch/broken/config.json"
rm "$scratch/broken/model.safetensors"
for words in "check $scratch/broken" "--model $scratch/broken --data-dir $scratch/d --listen 127.0.0.1:0"; do
  status=0
  # shellcheck disable=SC2086
  said=$("$bin/stackgate-inference" $words 2>&1) || status=$?
  if [ "$status" = 1 ] && [[ $said == *model_type*gpt_oss* ]] && [[ $said == *"model.safetensors: is missing"* ]]; then
    echo "ok '${words%% *}' tells of a model that cannot be served"
  else
    fail "'${words%% *}' tells of a model that cannot be served: $status $said"
  fi
done
if "$bin/stackgate-inference" check "$scratch/models/qwen2_bf16_shards" | grep -q "^cache .* tokens"; then
  echo "ok check tells what a model takes"
else
  fail "check tells what a model takes"
fi
exit "$failed"
