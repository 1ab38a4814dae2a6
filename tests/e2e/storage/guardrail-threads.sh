#!/usr/bin/env bash
# Conversations of stackgate-guardrail by thread_id: two replicas on one PostgreSQL, killed, drained, without their database; and
# one on SQLite. Its model is the scripted one of tests/e2e/guardrail.
#   STACKGATE_BIN=build/release/bin tests/e2e/storage/guardrail-threads.sh
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail
here=$(dirname "$(realpath "$0")")
bin=${STACKGATE_BIN:-$here/../../../build/release/bin}
postgres=$here/../../support/postgres.sh
scratch=$(mktemp -d)
declare -A pid_of=() url_of=()
upstream_pid=''

end() {
  for pid in "${pid_of[@]}" $upstream_pid; do kill -9 "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  [ ! -e "$scratch/postgres" ] || "$postgres" stop "$scratch/postgres" immediate >/dev/null 2>&1 || true
  rm -rf "$scratch"
}
trap end EXIT
failed=0
engine=''
# check WHAT COMMAND…
check() {
  local what="$engine: $1"
  shift
  if "$@" >"$scratch/out" 2>&1; then echo "ok $what"; else echo "not ok $what" && head -c 2000 "$scratch/out" && failed=1; fi
}
# within SECONDS COMMAND…: tried again until then
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do ((SECONDS < end)) || return 1; sleep 0.1; done
}
same() { [ "$1" = "$2" ] || { printf 'wanted: %s\ngot:    %s\n' "$1" "$2" && return 1; }; }

python3 "$here/../guardrail/upstream.py" "$scratch/port" &
upstream_pid=$!
within 8 test -e "$scratch/port" || { echo "not ok the model's endpoint starts" && exit 1; }
upstream=127.0.0.1:$(cat "$scratch/port")
mkdir -p "$scratch/configs/default"
echo 'models: [{type: main, engine: openai, model: main-model}]' >"$scratch/configs/default/config.yml"

# start NAME FLAG…: a replica; flags of this engine are in $database
start() {
  local name=$1
  shift
  : >"$scratch/$name.log"
  "$bin/stackgate-guardrail" --config-store "$scratch/configs" --inference-url "http://$upstream/v1" --listen 127.0.0.1:0 \
    --data-dir "$scratch/data" --log-format json --drain-wait 0s --thread-lease 3s "${database[@]}" "$@" >"$scratch/$name.log" 2>&1 &
  pid_of[$name]=$!
  local _
  for _ in $(seq 200); do
    url_of[$name]=$(sed -n 's/.*"message":"listening".*"url":"\([^"]*\)".*/\1/p' "$scratch/$name.log" | head -1)
    [ -n "${url_of[$name]}" ] && curl -sf "${url_of[$name]}/v1/health" >/dev/null && return 0
    kill -0 "${pid_of[$name]}" 2>/dev/null || break
    sleep 0.05
  done
  echo "not ok $engine: $name starts" && cat "$scratch/$name.log" && exit 1
}
# killed NAME [SIGNAL]
killed() {
  kill "-${2:-KILL}" "${pid_of[$1]}"
  { wait "${pid_of[$1]}" || true; } 2>/dev/null
  unset "pid_of[$1]"
}

# turn REPLICA THREAD TEXT [MORE]: prints the answer's text, or what came instead; status STATUS is printed before a refusal
turn() {
  local answer
  answer=$(curl -s --max-time 30 -w '\n%{http_code}' "${url_of[$1]}/v1/chat/completions" -H 'Content-Type: application/json' \
    -d "{\"thread_id\":\"conversation-$2\",\"messages\":[{\"role\":\"user\",\"content\":\"$3\"}]${4:-}}")
  if [ "${answer##*$'\n'}" = 200 ]; then jq -r '.choices[0].message.content' <<<"${answer%$'\n'*}"; else echo "status ${answer##*$'\n'}"; fi
}
answers() { same "$1" "$(turn "${@:2}")"; }
# heard THREAD TEXT: what the model was told of the conversation when the user said TEXT: the users' words, and how many answers
heard() {
  curl -s "http://$upstream/seen" | jq -r --arg text "$1" '[.bodies[].body | select(.messages[-1].content == $text)][-1].messages[:-1] |
    "\([.[] | select(.role == "user").content] | join(" ")) +\([.[] | select(.role == "assistant")] | length)"'
}
remembers() { same "$1" "$(heard "$2")"; }
model_has() { curl -s "http://$upstream/seen" | jq -e --arg text "$1" 'any(.bodies[].body; .messages[-1].content == $text)' >/dev/null; }
forgets() { [ "$(curl -s -o "$scratch/body" -w '%{http_code}' -X DELETE "${url_of[$1]}/v1/threads/conversation-$2")" = "$3" ] || { cat "$scratch/body" && return 1; }; }

both_engines() {
  local -a ids=(1 2 3 4 5 6)
  local text said='' answered='' i each other=$1
  for i in "${ids[@]}"; do
    text=word$i
    same "echo: $text" "$(turn "$other" alternate-one "$text")" >>"$scratch/turns" 2>&1 || answered+="$text "
    same "${said# } +$((i - 1))" "$(heard "$text")" >>"$scratch/turns" 2>&1 || answered+="$text's history "
    said+=" $text"
    if [ "$other" = "$1" ]; then other=$2; else other=$1; fi
  done
  check "each turn knows all before it, whoever answered them" same '' "$answered"

  rm -f "$scratch"/crowd.*
  # Twelve turns at once, over all replicas: none is lost, and each has an answer behind it.
  for i in {1..6}; do
    for each in "$1" "$2"; do turn "$each" crowded-one "slow 20 $each$i" >"$scratch/crowd.$each$i" & crowd+=($!); done
  done
  wait "${crowd[@]}"
  crowd=()
  check "turns of one thread at once are all answered" same 12 "$(grep -c '^echo: ' <(cat "$scratch"/crowd.*))"
  turn "$1" crowded-one "and then" >/dev/null
  check "one after the other" bash -c "curl -s http://$upstream/seen | jq -e '[.bodies[].body | select(.messages[-1].content == \"and then\")][-1].messages[:-1] |
    [., (.[1:] + [{role: \"user\"}])] | transpose | length % 2 == 0 and all(.[0].role != .[1].role)'"

  check "a conversation is removed" forgets "$2" alternate-one 204
  check "and begins anew" answers "echo: anew" "$1" alternate-one anew
  check "without what was said" remembers " +0" anew
  check "one that is not there is 404" forgets "$1" nobody-has-this 404
  turn "$1" removed-one "slow 600 x" >"$scratch/removed" &
  local waiting=$!
  within 5 model_has "slow 600 x" || true
  check "one may be removed in the middle of a turn" forgets "$2" removed-one 204
  wait "$waiting"
  check "whose words are not kept, which the client is told" same "status 409" "$(cat "$scratch/removed")"

  curl -sN --max-time 10 "${url_of[$1]}/v1/chat/completions" -H 'Content-Type: application/json' \
    -d '{"thread_id":"conversation-streamed-one","stream":true,"messages":[{"role":"user","content":"say one two three"}]}' >"$scratch/stream"
  check "a streamed turn ends" grep -qF '[DONE]' "$scratch/stream"
  check "and is remembered" answers "echo: afterwards" "$2" streamed-one afterwards
  check "with its words" remembers "say one two three +1" afterwards
}

# --- PostgreSQL, two replicas
crowd=()
if "$postgres" available >/dev/null 2>&1; then
  engine=postgresql
  chmod o+x "$scratch"
  server=$("$postgres" start "$scratch/postgres") || { echo "not ok PostgreSQL starts" && exit 1; }
  STACKGATE_DATABASE_PASSWORD=$(cat "$scratch/postgres/password") && export STACKGATE_DATABASE_PASSWORD
  rows() { PGPASSWORD=$STACKGATE_DATABASE_PASSWORD psql -qAt "$server" -c "$1"; }
  database=(--database-url "$server")
  migrate() { "$bin/stackgate-guardrail" migrate --data-dir "$scratch/data" "${database[@]}"; }
  migrate >"$scratch/migrated" 2>&1 &
  crowd=($!)
  check "migrate, as two init containers at once" migrate
  check "both of them" wait "${crowd[0]}"
  crowd=()
  start a
  start b
  both_engines a b

  # kill -9 in the middle of six turns: nothing that was answered is lost, and what was not is not half there.
  for i in {1..6}; do turn a "killed-one-$i" "before" >/dev/null; done
  for i in {1..6}; do turn a "killed-one-$i" "slow 4000 $i" >/dev/null & crowd+=($!); done
  within 5 model_has "slow 4000 6" || true
  within 2 same 6 "$(rows "SELECT count(*) FROM conversation WHERE owner <> ''")" >/dev/null || true
  killed a
  { wait "${crowd[@]}" || true; } 2>/dev/null
  crowd=()
  begun=$(date +%s%N)
  for i in {1..6}; do turn b "killed-one-$i" "after $i" >"$scratch/after.$i" & crowd+=($!); done
  sleep 0.2
  asked=$(date +%s%N)
  check "while its conversations are locked others go on" answers "echo: other" b free-one other
  took=$((($(date +%s%N) - asked) / 1000000))
  check "at once ($took ms)" test "$took" -lt 1500
  wait "${crowd[@]}"
  crowd=()
  took=$((($(date +%s%N) - begun) / 1000000))
  check "conversations of a replica that died go on at another one ($took ms, lease 3 s)" same "$(printf 'echo: after %s\n' {1..6})" "$(cat "$scratch"/after.*)"
  check "not before its lease was over" test "$took" -gt 1000
  check "with what was answered, and nothing of what was not" same "$(for i in {1..6}; do echo "before +1"; done)" "$(for i in {1..6}; do heard "after $i"; done)"
  start a
  check "it comes back" answers "echo: back" a killed-one-1 back
  check "and knows what was said meanwhile" remembers "before after 1 +2" back

  turn a drained-one "slow 500 last" >"$scratch/drained" &
  waiting=$!
  within 5 model_has "slow 500 last" || true
  killed a TERM
  wait "$waiting"
  check "a turn under way at SIGTERM is answered" same "echo: slow 500 last" "$(cat "$scratch/drained")"
  check "and the other replica goes on at once" answers "echo: further" b drained-one further
  check "with it" remembers "slow 500 last +1" further

  "$postgres" stop "$scratch/postgres" immediate >/dev/null 2>&1
  check "without its database a conversation is 503" answers "status 503" b killed-one-1 away
  check "what needs none is answered" bash -c "curl -s ${url_of[b]}/v1/chat/completions -H 'Content-Type: application/json' \
    -d '{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}' | grep -q 'echo: x'"
  migrate >"$scratch/migrated" 2>&1 &
  waiting=$!
  check "migrate waits for it" within 5 grep -q 'waiting for the database' "$scratch/migrated"
  "$postgres" start "$scratch/postgres" >/dev/null
  check "until it is there" wait "$waiting"
  check "and conversations go on" within 10 answers "echo: again" b killed-one-1 again
  check "as they were" remembers "before after 1 back +3" again

  start short --thread-expiry 2s
  turn short short-one early >/dev/null
  kept() { rows "SELECT count(*) FROM conversation WHERE thread_id = 'conversation-short-one'"; }
  check "a conversation is kept" same 1 "$(kept)"
  expired() { [ "$(kept)" = 0 ]; }
  check "until nobody went on with it for its time" within 8 expired
  check "and with it its messages" same 0 "$(rows "SELECT count(*) FROM conversation_message WHERE thread_id = 'conversation-short-one'")"
  killed short
  killed b
else
  echo "skip conversations in PostgreSQL: $("$postgres" available 2>&1)"
fi

# --- SQLite, one process
engine=sqlite
database=(--database-url "sqlite:$scratch/threads.db")
start alone
url_of[it]=${url_of[alone]}
both_engines alone it
turn alone restarted-one before >/dev/null
turn alone restarted-one "slow 3000 lost" >/dev/null &
within 5 model_has "slow 3000 lost" || true
killed alone
start alone
check "after kill -9 its conversations are there" answers "echo: after" alone restarted-one after
check "with what was answered" remembers "before +1" after
check "no text of users is in a log" bash -c "! grep -l 'slow 4000\|restarted-one' $scratch/*.log"
killed alone
[ "$failed" = 0 ] || tail -n 15 "$scratch"/*.log
exit "$failed"
