#!/usr/bin/env bash
# stackgate-guardrail in front of stackgate-inference: two servers of a small model that has learned two kinds of sentences; one
# answers, the other judges. Rails over what a model says word by word, streamed and not.
#   STACKGATE_BIN=build/release/bin tests/e2e/guardrail/inference.sh
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail
here=$(dirname "$(realpath "$0")")
bin=${STACKGATE_BIN:-$here/../../../build/release/bin}
[ -e "$bin/libstackgate-engine.so" ] || { echo "skip the guardrail before the inference server: it was built without libtorch" && exit 0; }
scratch=$(mktemp -d)
pids=()
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
  if "$@" >"$scratch/out" 2>&1; then echo "ok $what"; else echo "not ok $what" && head -c 2000 "$scratch/out" && failed=1; fi
}

# What comes next is told by the word before: forty steps are enough for that.
for _ in {1..120}; do
  echo "There is a stone grey as they say."
  echo "There is a leaf green as they say."
  echo "This is a nice safe wish."
  echo "This is a evil unsafe wish."
done >"$scratch/text"
"$bin/stackgate-trainer" make-tiny --text "$scratch/text" --output "$scratch/model" --steps 60 --hidden 64 --vocabulary 400 --threads 1 >"$scratch/trained" 2>&1 ||
  { echo "not ok make-tiny makes a model" && tail -5 "$scratch/trained" && exit 1; }
echo '{% for m in messages %}{{ m.content }}{% endfor %}' >"$scratch/chat.jinja"

# serve NAME PROGRAM FLAG…: sets $url
serve() {
  local name=$1 program=$2
  shift 2
  : >"$scratch/$name.log"
  "$bin/$program" --listen 127.0.0.1:0 --data-dir "$scratch/$name" --log-format json --drain-wait 0s "$@" >"$scratch/$name.log" 2>&1 &
  local pid=$! _
  pids+=("$pid")
  for _ in $(seq 300); do
    url=$(sed -n 's/.*"message":"listening".*"url":"\([^"]*\)".*/\1/p' "$scratch/$name.log" | head -1)
    [ -n "$url" ] && curl -sf "$url/v1/health/ready" >/dev/null && return 0
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
  done
  echo "not ok $name is ready" && tail -5 "$scratch/$name.log" && exit 1
}
engine() { serve "$1" stackgate-inference --model "$scratch/model" --served-model-name "$1" --chat-template "$scratch/chat.jinja" --threads 1; }
engine tiny
main=$url
engine judge
judge=$url

# configuration NAME: its config.yml from standard input
configuration() { mkdir -p "$scratch/configs/$1" && cat >"$scratch/configs/$1/config.yml"; }
answers='models: [{type: main, engine: openai, model: tiny}]'
echo "$answers" | configuration plain
configuration colours <<YAML
$answers
rails:
  config: {regex_detection: {output: {patterns: [grey]}}}
  output: {flows: [regex check output], streaming: {enabled: true, chunk_size: 4, context_size: 2}}
YAML
configuration masked <<YAML
$answers
rails:
  config: {regex_detection: {output: {patterns: [grey]}}}
  output: {flows: [regex redact output], streaming: {enabled: true, chunk_size: 4, context_size: 2}}
YAML
configuration judged <<YAML
models:
  - {type: main, engine: openai, model: tiny}
  - {type: content_safety, engine: openai, model: judge, parameters: {base_url: "$judge/v1"}}
rails:
  input: {flows: ["content safety check input \$model=content_safety"]}
prompts:
  - {task: "content_safety_check_input \$model=content_safety", content: "This is a {{ user_input }}", output_parser: is_content_safe, max_tokens: 3}
YAML
configuration elsewhere <<YAML
models: [{type: main, engine: openai, model: judge, parameters: {base_url: "$judge/v1"}}]
YAML
echo 'models: [{type: main, engine: openai, model: nobody}]' | configuration unknown

serve guardrail stackgate-guardrail --config-store "$scratch/configs" --inference-url "$main/v1"

# body CONFIG TEXT [MORE]
body() { printf '{"config_id":"%s","temperature":0,"max_tokens":6,"messages":[{"role":"user","content":"%s"}]%s}' "$1" "$2" "${3:-}"; }
ask() { curl -s --max-time 20 "$url/v1/chat/completions" -H 'Content-Type: application/json' -d "$(body "$@")"; }
content() { jq -r '.choices[0].message.content // .'; }
gives() { local want=$1 got; shift; got=$(ask "$@" | content); echo "got: $got"; [ "$got" = "$want" ]; }
stream() { curl -sN --max-time 20 "$url/v1/chat/completions" -H 'Content-Type: application/json' -d "$(body "$1" "$2" ',"stream":true')"; }
text_of() { sed -n 's/^data: //p' | grep -v '^\[DONE\]' | jq -j '.choices[0].delta.content // ""'; }
# plainly TEXT: what the inference server says by itself
plainly() {
  curl -s "$main/v1/chat/completions" -H 'Content-Type: application/json' \
    -d "{\"model\":\"tiny\",\"temperature\":0,\"max_tokens\":6,\"messages\":[{\"role\":\"user\",\"content\":\"$1\"}]}" | content
}

question="There is a stone"
own=$(plainly "$question")
refusal="I'm sorry, I can't respond to that."
check "the model has learned something ($own)" grep -q grey <<<"$own"
check "a chat is answered as the model answers it" gives "$own" plain "$question"
check "with its tokens counted" bash -c "[ \"$(ask plain "$question" | jq .usage.completion_tokens)\" = 6 ]"
check "a stream is the same text" [ "$(stream plain "$question" | text_of)" = "$own" ]
check "models are the inference server's" bash -c "[ \"\$(curl -s $url/v1/models | jq -c '[.data[].id]')\" = \"\$(curl -s $main/v1/models | jq -c '[.data[].id]')\" ]"

check "an answer with a forbidden word is refused" gives "$refusal" colours "$question"
check "one without passes" gives "$(plainly "There is a leaf")" colours "There is a leaf"
stream colours "$question" >"$scratch/stream"
check "a stream with it ends as a violation" grep -q '"type":"guardrails_violation"' "$scratch/stream"
check "and nothing of the word leaves" bash -c "! grep -q grey $scratch/stream && tail -2 $scratch/stream | grep -qF '[DONE]'"
check "a stream without passes" [ "$(stream colours "There is a leaf" | text_of)" = "$(plainly "There is a leaf")" ]
check "a word may be masked" gives "${own//grey/<REDACTED>}" masked "$question"
check "in a stream, too" [ "$(stream masked "$question" | text_of)" = "${own//grey/<REDACTED>}" ]

check "a second model judges: safe" gives "$(plainly nice)" judged nice
check "and unsafe" gives "$refusal" judged evil
calls() { curl -s "$judge/v1/metrics" | sed -n 's/^vllm:request_success_total{.*} //p' | awk '{n += $1} END {print n + 0}'; }
before=$(calls)
ask judged nice >/dev/null
check "by the endpoint that its configuration names" [ "$(calls)" = $((before + 1)) ]
check "a configuration's own main model is asked where it is" gives "$own" elsewhere "$question"
unknown() {
  [ "$(curl -s -o "$scratch/answer" -w '%{http_code}' "$url/v1/chat/completions" -H 'Content-Type: application/json' -d "$(body unknown x)")" = 404 ] &&
    jq -e '.error.message | contains("nobody")' "$scratch/answer"
}
check "a model that the server does not have is its 404, in its words" unknown
generated() { curl -s "$main/v1/metrics" | sed -n 's/^vllm:generation_tokens_total{.*} //p' | awk '{n += $1} END {print n + 0}'; }
before=$(generated)
curl -sN --max-time 0.04 "$url/v1/chat/completions" -H 'Content-Type: application/json' \
  -d '{"config_id":"plain","stream":true,"max_tokens":400,"ignore_eos":true,"messages":[{"role":"user","content":"There is"}]}' >/dev/null || true
idle() {
  for _ in $(seq 60); do
    [ "$(curl -s "$main/v1/metrics" | sed -n 's/^vllm:num_requests_running{.*} //p')" = 0 ] && return 0
    sleep 0.05
  done
  curl -s "$main/v1/metrics" | grep num_requests && return 1
}
check "a client leaves in the middle of a stream" idle
check "and the model stops" [ $(($(generated) - before)) -lt 390 ]
check "no text of users is in the log" bash -c "! grep -q 'a stone' $scratch/guardrail.log"
[ "$failed" = 0 ] || tail -n 15 "$scratch"/*.log
exit "$failed"
