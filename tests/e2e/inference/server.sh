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
  : >"$scratch/$name.log"
  "$bin/stackgate-inference" --model "$scratch/models/$model" --listen 127.0.0.1:0 --data-dir "$scratch/$name" \
    --chat-template "$scratch/${template:-chat.jinja}" --log-format json --drain-wait 0s "$@" >"$scratch/$name.log" 2>&1 &
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

echo "Use it as you like." >"$scratch/models/llama_gqa/LICENSE"
start plain llama_gqa
(cd "$client" && node server.mjs "$url" llama_gqa) || failed=1

begun=$(date +%s%N)
kill -TERM "$pid"
if wait "$pid"; then
  echo "ok SIGTERM ends it with 0 after $((($(date +%s%N) - begun) / 1000000)) ms"
else
  fail "SIGTERM ends it with 0"
fi

# With answers under way, waiting and streaming: they end with an error, and so does it.
start busy llama_gqa --drain-limit 1s --max-sequences 4
for stream in true false true false true false true false; do
  curl -sN -o "$scratch/cut.${#clients[@]}.$stream" "$url/v1/completions" -H 'content-type: application/json' \
    -d "{\"model\":\"llama_gqa\",\"prompt\":\"x\",\"n\":100,\"max_tokens\":250,\"ignore_eos\":true,\"stream\":$stream}" &
  clients+=($!)
  sleep 0.1
done
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
cut=0
for waiting in "${clients[@]}"; do wait "$waiting" || cut=1; done
if [ "$status" = 0 ]; then echo "ok SIGTERM ends it with 0 under load"; else fail "SIGTERM ends it with 0 under load: $status"; fi
tail -c 300 "$scratch/cut.0.true" | grep -q '^data: {"error":{"message":' || cut=1 # it has begun; of the others perhaps one
for each in "$scratch"/cut.*; do tail -c 300 "$each" | grep -q '{"error":{"message":"the server is shutting down' || cut=1; done
if [ "$cut" = 0 ]; then echo "ok and every answer under way ends with an error"; else fail "answers under way were cut" && tail -c 400 "$scratch"/cut.*; fi

# A model with the mark of a call as a token, whose template writes calls behind it.
cp -r "$scratch/models/llama_gqa" "$scratch/models/calls"
jq '.added_tokens = [{id: 256, content: "<tool_call>", single_word: false, lstrip: false, rstrip: false, normalized: false, special: false}]' \
  "$scratch/models/llama_gqa/tokenizer.json" >"$scratch/models/calls/tokenizer.json"
cat >"$scratch/calls.jinja" <<'J'
{% for tool in tools or [] %}{{ tool.function.name }} {% endfor %}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>
{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}
</tool_call>{% endfor %}{% endfor %}
J
template=calls.jinja start calls calls
(cd "$client" && node calls.mjs "$url" calls) || failed=1

start slow llama_gqa
(cd "$client" && node slow.mjs "$url" llama_gqa "$pid") || failed=1

start narrow qwen2_bf16_shards --max-queue 1 --max-sequences 1 --kv-cache 1Mi
(cd "$client" && node queue.mjs "$url" qwen2_bf16_shards) || failed=1

mkdir "$scratch/adapters" "$scratch/spare"
cp -r "$scratch"/models/llama_gqa/adapter-? "$scratch/adapters"
cp -r "$scratch/models/llama_gqa/adapter-2" "$scratch/spare/one"
INF_PEFT_SOURCE=$scratch/adapters INF_PEFT_REFRESH_INTERVAL=1 INF_MAX_GPU_LORAS=2 INF_MAX_CPU_LORAS=2 \
  start adapted llama_gqa --allow-runtime-lora --adapter-dir "$scratch/spare" --max-sequences 8
(cd "$client" && node adapters.mjs "$url" llama_gqa "$scratch/adapters" "$scratch/spare/one") || failed=1

# In bfloat16 a CPU computes by the operations that a GPU has, adapters among them.
INF_PEFT_SOURCE=$scratch/adapters start half llama_gqa --dtype bfloat16
says() { curl -sf "$url/v1/completions" -H 'content-type: application/json' -d "{\"model\":\"$1\",\"prompt\":\"hello\",\"max_tokens\":20,\"temperature\":0}" | sed 's/.*"text":\("[^}]*\),"logprobs.*/\1/'; }
base=$(says llama_gqa) adapted=$(says adapter-0)
if grep -q '"device":"cpu","dtype":"bfloat16"' "$scratch/half.log" && [ -n "$base" ] && [ -n "$adapted" ] && [ "$base" != "$adapted" ]; then
  echo "ok bfloat16 answers, and an adapter otherwise"
else
  fail "bfloat16 answers, and an adapter otherwise: '$base' '$adapted'"
fi

# An embedding of the last token is another one than the mean; of one token they are the same. There is no licence here.
embedding() { curl -sf "$url/v1/embeddings" -H 'content-type: application/json' -d "{\"model\":\"$1\",\"input\":$2}" | sed 's/.*"embedding":\[\([^]]*\).*/\1/'; }
start mean mistral_wide_heads_f16 --threads 1
mean=$(embedding mistral_wide_heads_f16 '"hello"') mean_one=$(embedding mistral_wide_heads_f16 '[7]')
start last mistral_wide_heads_f16 --threads 1 --pooling last
last=$(embedding mistral_wide_heads_f16 '"hello"') last_one=$(embedding mistral_wide_heads_f16 '[7]')
if [ -n "$mean" ] && [ -n "$last" ] && [ "$mean" != "$last" ] && [ "$mean_one" = "$last_one" ]; then
  echo "ok --pooling last embeds the last token"
else
  fail "--pooling last embeds the last token"
fi
status=$(curl -s -o "$scratch/answer" -w '%{http_code}' "$url/v1/license")
if [ "$status" = 404 ] && grep -q "has no LICENSE file" "$scratch/answer"; then
  echo "ok a model without a licence is 404"
else
  fail "a model without a licence is 404: $status"
fi

# refused NAME WORDS FLAGS…: ends with 1 and says so, and has read no weights.
refused() {
  local name=$1 words=$2 status=0 said
  shift 2
  said=$("$bin/stackgate-inference" --model "$scratch/models/llama_gqa" --listen 127.0.0.1:0 --data-dir "$scratch/d" "$@" 2>&1) || status=$?
  if [ "$status" = 1 ] && [[ $said == *$words* ]] && [[ $said != *"model is loaded"* ]]; then
    echo "ok refused: $name"
  else
    fail "refused: $name: $status $said"
  fi
}
if ldd "$bin/libstackgate-engine.so" | grep -q libtorch_cuda; then
  echo "skip cuda is refused: this libtorch has it"
else
  refused "cuda without CUDA" "built without CUDA; use --device cpu" --device cuda
  refused "float16 where a CPU computes" "does not compute in float16" --dtype float16
fi

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
