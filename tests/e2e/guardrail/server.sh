#!/usr/bin/env bash
# stackgate-guardrail in front of an endpoint that answers by rules: rails on, off, blocked, altered, streamed and not.
#   STACKGATE_BIN=build/release/bin tests/e2e/guardrail/server.sh
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail
# shellcheck source=tests/e2e/guardrail/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
start_upstream
cp -r "$here/configs" "$scratch/configs"
mkdir "$scratch/configs/broken"
mkdir "$scratch/configs/remote"
printf 'models: []\nactions_server_url: http://%s\n' "$upstream" >"$scratch/configs/remote/config.yml"
cat >"$scratch/configs/remote/rails.co" <<'COLANG'
define flow
  user ...
  $found = execute find_price(item=$user_message)
  $price = $found["price"]
  bot inform price

define bot inform price
  "It costs $price."
COLANG
printf 'models: []\nrails:\n  input:\n    flows:\n      - no such rail\n' >"$scratch/configs/broken/config.yml"

mkdir "$scratch/configs/unloadable"
printf 'models: []\n' >"$scratch/configs/unloadable/config.yml"
printf 'import os\nimport a_module_that_is_not_there\n' >"$scratch/configs/unloadable/actions.py"

start_server server --managed-configs

ask() { curl -s -H 'Authorization: Bearer theirs' -H 'Content-Type: application/json' "$url${2:-/v1/chat/completions}" -d "$1"; }
# says CONFIG TEXT [MORE]: the assistant's words
says() { ask "{\"config_id\":\"$1\",\"messages\":[{\"role\":\"user\",\"content\":\"$2\"}]${3:-}}"; }
content() { says "$@" | jq -r '.choices[0].message.content'; }
gives() { local want=$1 got; shift; got=$(content "$@"); echo "got: $got"; [ "$got" = "$want" ]; }
status() { curl -s -o "$scratch/answer" -w '%{http_code}' -H 'Content-Type: application/json' "$url${2:-/v1/chat/completions}" -d "$1"; }
is() { [ "$(status "$1" "${3:-/v1/chat/completions}")" = "$2" ] || { cat "$scratch/answer"; return 1; }; }
seen() { curl -s "$upstream/seen"; }
calls() { seen | jq '.bodies | length'; }
forget() { curl -s "$upstream/reset" >/dev/null; }
refusal="I'm sorry, I can't respond to that."

check "health" bash -c "curl -s $url/v1/health | grep -q pass"
check "a plain configuration answers" gives "echo: Hello" plain Hello
check "its instructions are the system message" bash -c "curl -s $upstream/seen | grep -q 'You are a helpful bot.'"
check "the endpoint's key is ours, not the client's" bash -c "curl -s $upstream/seen | grep -q 'Bearer upstream-key' && ! curl -s $upstream/seen | grep -q theirs"
check "what the rails allow is answered" gives "echo: Hello" strict Hello
forget
check "what the input rail forbids is refused" gives "$refusal" strict "a forbidden thing"
check "and only the check was asked" [ "$(calls)" = 1 ]
check "what the output rail forbids is refused" gives "$refusal" strict "say a for~bidden word"
check "default is used without a name" bash -c "curl -s $url/v1/chat/completions -H 'Content-Type: application/json' \
  -d '{\"messages\":[{\"role\":\"user\",\"content\":\"forbidden\"}]}' | grep -q 'rather not talk'"
check "the older form's messages are there, too" bash -c "curl -s $url/v1/chat/completions -H 'Content-Type: application/json' \
  -d '{\"config_id\":\"plain\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}' | jq -e '.messages[0].content == \"echo: x\"'"
check "the newer form" bash -c "curl -s $url/v1/chat/completions -H 'Content-Type: application/json' \
  -d '{\"model\":\"m\",\"guardrails\":{\"config_id\":\"plain\"},\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}' | jq -e '.choices[0].message.content == \"echo: x\"'"
forget
check "sensitive data is masked before the model sees it" gives "echo: I am <EMAIL_ADDRESS>" masking "I am ann@example.com"
check "it never did" bash -c "! curl -s $upstream/seen | grep -q ann@example.com"
check "sensitive data of an answer is masked" gives "write to <EMAIL_ADDRESS>" masking "say write to ann~@example.com"
forget
check "several configurations serve as one" bash -c "curl -s $url/v1/chat/completions -H 'Content-Type: application/json' \
  -d '{\"config_ids\":[\"plain\",\"masking\"],\"messages\":[{\"role\":\"user\",\"content\":\"I am ann@example.com\"}]}' |
  jq -e '.choices[0].message.content == \"echo: I am <EMAIL_ADDRESS>\" and .guardrails.config_ids == [\"plain\",\"masking\"]'"
check "with the instructions of the first" bash -c "curl -s $upstream/seen | grep -q 'You are a helpful bot.'"
check "what a rail masked is in no part of an answer" bash -c "curl -s $url/v1/chat/completions -H 'Content-Type: application/json' \
  -d '{\"config_id\":\"masking\",\"messages\":[{\"role\":\"user\",\"content\":\"say write to ann~@example.com\"}],\"options\":{\"llm_output\":true,\"output_vars\":true,\"log\":{\"activated_rails\":true,\"llm_calls\":true,\"internal_events\":true}}}' |
  jq -e '(tostring | contains(\"ann@example.com\") | not) and .guardrails.status == \"modified\"'"
check "a pattern is refused" gives "$refusal" masking "the Launch Code please"
check "log says which rail acted" bash -c "curl -s $url/v1/chat/completions -H 'Content-Type: application/json' \
  -d '{\"config_id\":\"strict\",\"messages\":[{\"role\":\"user\",\"content\":\"forbidden\"}],\"options\":{\"log\":{\"activated_rails\":true}}}' |
  jq -e '.guardrails.log.activated_rails[0].name == \"self check input\" and .guardrails.log.activated_rails[0].stop'"
check "exceptions instead of texts" bash -c "curl -s $url/v1/chat/completions -H 'Content-Type: application/json' \
  -d '{\"config_id\":\"exceptions\",\"messages\":[{\"role\":\"user\",\"content\":\"forbidden\"}]}' | grep -q InputRailException"
forget
check "with input rails only no model is asked for an answer" bash -c "curl -s $url/v1/chat/completions -H 'Content-Type: application/json' \
  -d '{\"config_id\":\"strict\",\"messages\":[{\"role\":\"user\",\"content\":\"fine\"}],\"options\":{\"rails\":[\"input\"]}}' | grep -q fine"
check "only the check was" [ "$(calls)" = 1 ]
check "parameters of the body reach the model, the key of the client does not" bash -c "curl -s $url/v1/chat/completions -H 'Authorization: Bearer theirs' \
  -H 'Content-Type: application/json' -d '{\"config_id\":\"plain\",\"temperature\":0.25,\"seed\":7,\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"},{\"role\":\"user\",\"content\":\"x\"}]}' >/dev/null &&
  curl -s $upstream/seen | jq -e '.bodies[-1].body | .temperature == 0.25 and .seed == 7 and (.messages | map(.content) | index(\"Be brief.\")) == 1 and .messages[0].role == \"system\"'"

forget
check "an intent is recognised by its examples" gives "Hello and welcome!" dialog "hello"
check "and no model is asked" [ "$(calls)" = 0 ]
check "a conversation goes on by its thread" bash -c "
  t=0123456789abcdef-thread
  one() { curl -s $url/v1/chat/completions -H 'Content-Type: application/json' -d \"{\\\"config_id\\\":\\\"dialog\\\",\\\"thread_id\\\":\\\"\$t\\\",\\\"messages\\\":[{\\\"role\\\":\\\"user\\\",\\\"content\\\":\\\"\$1\\\"}]}\"; }
  one hello >/dev/null; one 'how much is it?' | grep -q 'It costs 42 euros'"
forget
check "one call is intent, step and message" gives "At nine." single 'User intent: ask hours\nBot intent: inform hours\nBot message: \"At nine.\"'
check "besides the check" [ "$(calls)" = 2 ]
forget
check "what the configuration defines comes before its message" gives "It is 3." single 'User intent: ask price\nBot intent: inform price\nBot message: \"Free.\"'
check "and one call is enough" [ "$(calls)" = 1 ]
check "its message is checked" gives "$refusal" single 'User intent: ask hours\nBot intent: inform hours\nBot message: \"for~bidden\"'
forget
check "where it says nothing several are asked, and several steps are taken" gives "You are say welcomed" single '\"'
check "each with a call of its own" [ "$(calls)" = 5 ]

check "actions.py decides" gives "That is secret." actions "say a proprietary thing"
check "and lets pass" gives "fine" actions "say fine"
check "its exception fails closed" gives "$refusal" actions "say raise it"
check "actions of a package with relative imports" gives "3 words are too many." package "one two three"
check "and what they return" gives "echo: one two" package "one two"
check "a server of actions" gives "It costs 43." remote "tea"
check "whose failure fails the turn" is '{"config_id":"remote","messages":[{"role":"user","content":"nothing"}]}' 500

stream() { curl -sN -H 'Content-Type: application/json' "$url/v1/chat/completions" \
  -d "{\"config_id\":\"$1\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"$2\"}]}"; }
text_of() { sed -n 's/^data: //p' | grep -v '^\[DONE\]' | jq -j '.choices[0].delta.content // ""'; }
streamed() { local want=$1 got; shift; got=$(stream "$@" | text_of); echo "got: $got"; [ "$got" = "$want" ]; }
long="one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
check "a stream without rails" streamed "$long" plain "say $long"
check "a stream with output rails that are not for streams is checked first" streamed "$refusal" strict "say $long for~bidden $long"
check "a stream with rails for streams passes" streamed "$long" streaming "say $long"
check "what is forbidden ends it" bash -c "curl -sN -H 'Content-Type: application/json' $url/v1/chat/completions \
  -d '{\"config_id\":\"streaming\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"say $long $long for~bidden $long\"}]}' >$scratch/stream;
  grep -q guardrails_violation $scratch/stream && grep -q 'one' $scratch/stream && tail -2 $scratch/stream | grep -qF '[DONE]'"
check "nothing of it left" bash -c "! grep -q forbidden $scratch/stream"
check "masks apply to streams" streamed "$long <EMAIL_ADDRESS> $long" masking "say $long ann~@example.com $long"
check "an input rail that refuses, streamed" streamed "$refusal" streaming "forbidden"

check "an unknown configuration is 422" is '{"config_id":"unknown","messages":[{"role":"user","content":"x"}]}' 422
for id in ../strict a/b '..' ''; do
  check "configuration '$id' is 422" is "{\"config_id\":\"$id\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}" 422
done
check "a broken configuration is 400" is '{"config_id":"broken","messages":[{"role":"user","content":"x"}]}' 400
check "and listed with its fault" bash -c "curl -s $url/v1/configs | jq -e '.[] | select(.id == \"broken\") | .valid == false and (.error | contains(\"no such rail\"))'"
check "Python code that cannot be loaded is told of before any request, with its line" bash -c "curl -s $url/v1/configs |
  jq -e '.[] | select(.id == \"unloadable\") | .valid == false and (.error | startswith(\"unloadable/actions.py:2:1: cannot be loaded: ModuleNotFoundError\"))'"
check "and by check" bash -c "! $bin/stackgate-guardrail check $scratch/configs | tee /dev/stderr | grep -q 'unloadable: can be' && $bin/stackgate-guardrail check $scratch/configs | grep -q '^unloadable: cannot be served'"
check "/healthz, too" bash -c "curl -sf $url/healthz | grep -q pass"
check "llm_params reach the model" bash -c "curl -s $url/v1/chat/completions -H 'Content-Type: application/json' \
  -d '{\"config_id\":\"plain\",\"temperature\":0.25,\"options\":{\"llm_params\":{\"temperature\":0.75}},\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}' >/dev/null &&
  curl -s $upstream/seen | jq -e '.bodies[-1].body.temperature == 0.75'"
check "others are valid" bash -c "curl -s $url/v1/rails/configs | jq -e '[.[] | select(.valid)] | length == 14'"
check "a configuration in a request is not taken by default" is '{"messages":[{"role":"user","content":"x"}],"guardrails":{"config":{"models":[]}}}' 422
check "no JSON is 400" is '{' 400
check "no messages is a fault" is '{"config_id":"plain"}' 400
check "the endpoint's refusal keeps its status" is '{"config_id":"plain","messages":[{"role":"user","content":"status 429"}]}' 429
check "Retry-After passes" bash -c "curl -s -D- -o /dev/null -H 'Content-Type: application/json' $url/v1/chat/completions \
  -d '{\"config_id\":\"plain\",\"messages\":[{\"role\":\"user\",\"content\":\"status 429\"}]}' | grep -qi 'retry-after: 7'"
check "models are the endpoint's" bash -c "curl -s $url/v1/models | jq -e '.object == \"list\" and .data[0].id == \"main-model\"'"
check "checks: passed" bash -c "curl -s $url/v1/checks -H 'Content-Type: application/json' -d '{\"guardrails\":{\"config_id\":\"strict\"},\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}' | jq -e '.status == \"passed\"'"
check "checks: blocked" bash -c "curl -s $url/v1/checks -H 'Content-Type: application/json' -d '{\"guardrails\":{\"config_id\":\"strict\"},\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"forbidden\"}]}' | jq -e '.status == \"blocked\" and .rail == \"self check input\"'"
check "checks: modified" bash -c "curl -s $url/v1/checks -H 'Content-Type: application/json' -d '{\"guardrails\":{\"config_id\":\"masking\"},\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"I am ann@example.com\"}]}' | jq -e '.status == \"modified\" and .content == \"I am <EMAIL_ADDRESS>\"'"
check "the microservice's checks" bash -c "curl -s $url/v1/guardrail/checks -H 'Content-Type: application/json' -d '{\"guardrails\":{\"config_id\":\"strict\"},\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"forbidden\"}]}' | jq -e '.status == \"blocked\" and .rails_status[\"self check input\"].status == \"blocked\"'"
check "tools and calls of them pass" bash -c "curl -s $url/v1/chat/completions -H 'Content-Type: application/json' -d '{\"config_id\":\"plain\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"lookup\"}}],\"messages\":[{\"role\":\"user\",\"content\":\"use the tool\"}]}' |
  jq -e '.choices[0].message.tool_calls[0].function.name == \"lookup\" and .choices[0].finish_reason == \"tool_calls\"'"

uses() { ask "{\"config_id\":\"$1\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"lookup\"}}],\"messages\":[{\"role\":\"user\",\"content\":\"use the tool\"}]}"; }
calls_tool() { local want=$1 got; shift; got=$(uses "$1" | jq -r '.choices[0].message | .tool_calls[0].function.name // .content'); echo "got: $got"; [ "$got" = "$want" ]; }
check "a function that is allowed is called" calls_tool lookup limits
check "one that is not is refused" calls_tool "I'm sorry, I can't allow that tool call." cleaning
check "so is one of an answer to be checked" bash -c "curl -s $url/v1/checks -H 'Content-Type: application/json' -d '{\"guardrails\":{\"config_id\":\"cleaning\"},\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"lookup\",\"arguments\":\"{}\"}}]}]}' | jq -e '.status == \"blocked\" and .rail == \"check tool calls\"'"
# result CONFIG TEXT [FUNCTION]: what is answered to the result of a tool
result() {
  ask "{\"config_id\":\"$1\",\"messages\":[{\"role\":\"user\",\"content\":\"use it\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"${3:-lookup}\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"$2\"}],\"options\":{\"log\":{\"activated_rails\":true}}}"
}
results_in() { local want=$1 got; shift; got=$(result "$@" | jq -r '.choices[0].message.content'); echo "got: $got"; [ "$got" = "$want" ]; }
check "a tool's result goes to the model" results_in "echo: it is 3" results "it is 3"
check "as its rails left it" results_in "echo: ask <EMAIL_ADDRESS>" results "ask ann@example.com"
check "a result may be refused" results_in "The tool lookup says too much." results "the secret is 3"
check "as may one of a function that is not allowed" results_in "I'm sorry, I can't allow that tool call." results "it is 3" other
forget
result results "the secret is 3" >"$scratch/answer"
check "the model does not get it" [ "$(calls)" = 0 ]
check "and the log says which rail acted" jq -e '.guardrails.log.activated_rails[-1] | .name == "check results" and .stop' "$scratch/answer"
check "a pattern of an answer is redacted" gives "the <REDACTED> is here" cleaning "say the pass~word is here"
check "an injection is refused" gives "$refusal" limits "say <script>alert(1)</script>"
check "a text beyond the limit is refused" gives "I'm sorry, that text is too long." limits "one two three four five six seven"
check "one within it is not" gives "echo: one two" limits "one two"

printf 'define bot refuse to respond\n  "Changed."\n' >"$scratch/configs/default/rails.co"
check "changed files count" until_it gives "Changed." default forbidden
printf 'define bot refuse to respond\n "x' >"$scratch/configs/default/rails.co"
check "a fault is listed" until_it bash -c "curl -s $url/v1/configs | jq -e '.[] | select(.id == \"default\") | .valid == false'"
check "and the last good one answers" gives "Changed." default forbidden

# Without dialogs and code of others, turns are computed where requests are read.
rm -r "$scratch/configs/actions" "$scratch/configs/dialog"
check "what is removed is not listed" until_it bash -c "curl -s $url/v1/configs | jq -e 'all(.[]; .id != \"actions\" and .id != \"dialog\")'"
check "sensitive data is still masked" gives "echo: I am <EMAIL_ADDRESS>" masking "I am ann@example.com"
check "and what is forbidden refused" gives "$refusal" strict "a forbidden thing"
check "in streams, too" streamed "$long <EMAIL_ADDRESS> $long" masking "say $long ann~@example.com $long"

managed() { curl -s -o "$scratch/answer" -w '%{http_code}' -X "$1" -H 'Content-Type: application/json' "$url/v1/guardrail/configs$2" ${3:+-d "$3"}; }
manages() { [ "$(managed "${@:2}")" = "$1" ] || { cat "$scratch/answer"; return 1; }; }
flow='define flow refuse all\n  bot refuse to respond\n  stop\n'
check "a configuration that does not compile is not taken" manages 422 POST "" "{\"name\":\"made\",\"data\":{\"rails\":{\"input\":{\"flows\":[\"no such\"]}},\"colang_content\":\"define flow a\\n  bot x\\n\\tbot y\\n\"}}"
check "and every fault of it is named" bash -c "jq -e '[.detail[] | select(.severity == \"error\")] | length == 3' $scratch/answer"
check "one that does is" manages 201 POST "" "{\"name\":\"made\",\"data\":{\"models\":[{\"type\":\"main\",\"engine\":\"openai\",\"model\":\"m\"}],\"rails\":{\"input\":{\"flows\":[\"refuse all\"]}},\"colang_content\":\"$flow\"}}"
check "it answers at once" gives "$refusal" made Hello
check "and is listed" bash -c "curl -s $url/v1/rails/configs | jq -e 'any(.[]; .id == \"made\" and .valid)'"
check "it is patched" manages 200 PATCH /default/made '{"data":{"rails":{"input":null}}}'
check "and answers as it is now" gives "echo: Hello" made Hello
check "it is deleted" manages 200 DELETE /default/made
check "and is gone" is '{"config_id":"made","messages":[{"role":"user","content":"x"}]}' 422

check "no key is in the log" bash -c "! grep -q upstream-key $scratch/server.log"
check "no text of users is in the log" bash -c "! grep -q 'forbidden thing' $scratch/server.log"
check "metrics count rails" bash -c "curl -s $url/metrics | grep -q '^stackgate_guardrail_rails_total{.*self check input.*blocked'"
mkdir "$scratch/configs/hanging"
printf 'models: []\nrails: {input: {flows: [hang]}}\n' >"$scratch/configs/hanging/config.yml"
printf 'define flow hang\n  execute hang\n' >"$scratch/configs/hanging/rails.co"
printf 'import time\nfrom nemoguardrails.actions import action\n\n@action()\ndef hang():\n  time.sleep(600)\n' >"$scratch/configs/hanging/actions.py"
serving=$program
start_server other --action-timeout 60s --inline-configs
other=$program
inline='"guardrails":{"return_choice":true,"config":{"models":[{"type":"main","engine":"openai","model":"m"}],"rails":{"input":{"flows":["refuse all"]}},"colang_content":"define flow refuse all\n  bot refuse to respond\n  stop\n"}}'
asks() { curl -s -H 'Content-Type: application/json' "$url$1" -d "$2" | jq -e "$3"; }
check "the microservice's chat takes a configuration and gives its data as a choice" asks /v1/guardrail/chat/completions \
  "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],$inline}" \
  ".choices[0].message.content == \"$refusal\" and .choices[1].message.role == \"guardrails_data\" and (.choices[1].message.content | fromjson | .rail == \"refuse all\")"
check "so do its checks" asks /v1/guardrail/checks "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],$inline}" \
  '.status == "blocked" and .rails_status["refuse all"].status == "blocked"'
check "its completions" asks /v1/guardrail/completions '{"model":"m","prompt":"I am ann@example.com","guardrails":{"config_id":"masking"}}' \
  '.object == "text_completion" and .choices[0].text == "echo: I am <EMAIL_ADDRESS>"'
check "its models" bash -c "curl -s $url/v1/guardrail/models | jq -e '.object == \"list\" and .data[0].id == \"main-model\"'"
check "a faulty configuration of a request says why" asks /v1/guardrail/chat/completions \
  '{"messages":[{"role":"user","content":"x"}],"guardrails":{"config":{"models":[],"rails":{"input":{"flows":["no such rail"]}}}}}' '.error.message | contains("no such rail")'
curl -s "$url/v1/chat/completions" -H 'Content-Type: application/json' -o /dev/null \
  -d '{"config_id":"hanging","messages":[{"role":"user","content":"x"}]}' &
pids+=("$!")
worker_of() { worker=$(pgrep -P "$other" | head -1) && [ -n "$worker" ]; }
check "a process of actions runs" until_it worker_of
kill -9 "$other"
check "it does not outlive a server that is killed" until_it bash -c "! kill -0 ${worker:-1} 2>/dev/null"
check "it ends by itself" bash -c "kill $serving; for i in \$(seq 100); do kill -0 $serving 2>/dev/null || exit 0; sleep 0.05; done; exit 1"
[ "$failed" = 0 ] || grep -v "\"message\":\"request\"" "$scratch/server.log" | tail -40
exit $failed
