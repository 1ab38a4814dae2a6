#!/usr/bin/env bash
# The inference server's adapters out of a real entitystore with a real datastore behind it: registered, replaced, deleted,
# not fitting, damaged; the entitystore away, also over a restart; kill -9 at each step between two states of the disk.
#   DATASTORE=… ENTITYSTORE=… ADAPTER_SERVER=… tests/e2e/storage/adapters.sh
# shellcheck disable=SC2154,SC2317 # what the libraries set; functions that check calls
set -euo pipefail
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
# shellcheck source=tests/e2e/storage/entitystore-lib.sh
source "$storage_here/entitystore-lib.sh"
program=$(realpath -m "${ADAPTER_SERVER:-$programs/adapter_server}")
[ -x "$program" ] || { echo "not ok $program is there" && exit 1; }
storage_begin sqlite
entitystore_begin
run_store "$entitystore"

cat >"$state/config.json" <<'JSON'
{"model_type":"llama","hidden_size":64,"intermediate_size":96,"num_hidden_layers":2,"num_attention_heads":4,
 "num_key_value_heads":4,"vocab_size":100,"max_position_embeddings":64,"eos_token_id":2}
JSON
adapter "$state/next.tar.gz" --seed 2 --rank 4
adapter "$state/other-base.tar.gz" --base mistralai/Mistral-7B

server_start() { # [FAIL POINT]
  coproc server { STACKGATE_FAIL_POINT=${1:-} exec "$program" "http://127.0.0.1:$port" "$state/adapters" "$state/config.json" "$base_model" 2>>"$state/server.log"; }
  server_pid=$server_PID
  exec {server_in}>&"${server[1]}" {server_out}<&"${server[0]}"
}
server_stop() { # [SIGNAL]
  kill "-${1:-KILL}" "$server_pid" 2>/dev/null || true
  { wait "$server_pid" || true; } 2>/dev/null
  exec {server_in}>&- {server_out}<&-
}
ask() { # a line in, a line out; nothing from one that is dead
  local answer
  printf '%s\n' "$*" >&"$server_in" || return 1
  IFS= read -r -t 20 answer <&"$server_out" || return 1
  printf '%s\n' "$answer"
}
listed() { ask list | jq -r --arg n "$1" '[.adapters[] | select(.name == $n) | "\(.version) \(.state)"] | sort | join(", ")'; }
reason() { ask list | jq -r --arg n "$1" '[.adapters[] | select(.name == $n and .state == "failing") | .reason] | first // ""'; }
lists() { is "$(listed "$1")" "$2"; }
answers() { [[ $(ask acquire "$1") == "$2"* ]] || { ask acquire "$1" && return 1; }; }
has_died() { ! kill -0 "$server_pid" 2>/dev/null; }
# What the disk holds is whole, or has no record and is not used.
directories() { find "$state/adapters/adapters" -mindepth 1 -maxdepth 1 -type d | wc -l; }
no_parts() { is "$(parts)" 0; } # once what is under way has ended
parts() { find "$state/adapters/adapters" -name '*.part' | wc -l; }

server_start
check "nothing is registered: 404" answers bot 404
began=$(date +%s%N)
upload "$state/good.tar.gz" bot 1.0.0 >/dev/null
first=$(id_of bot 1.0.0)
check "what is registered is served" soon answers bot "$first 8 "
took=$((($(date +%s%N) - began) / 1000000))
check "within 2.5 s of its upload at an interval of 1 s: $took ms" test "$took" -le 2500
sum_of_first=$(ask acquire bot)
check "by name and version" answers bot@1.0.0 "$first"
check "unknown versions are not" answers bot@2.0.0 404

held=$(ask hold bot)
upload "$state/next.tar.gz" bot 1.1.0 >/dev/null
second=$(id_of bot 1.1.0)
check "a higher version answers to the name" soon answers bot "$second 4 "
check "the lower one to its own" answers bot@1.0.0 "$first 8 "
check "and its weights are others" test "${sum_of_first##* }" != "$(ask acquire bot | sed 's/.* //')"
polls() { # that changed nothing, so far
  local count
  count=$(ask metrics | grep -o '{result="unchanged"} [0-9]*' | cut -d' ' -f2) || true
  echo "${count:-0}"
}
polled_again() { [ "$(polls)" -gt "$1" ]; }
check "most polls are answered with 304" soon polled_again "$(polls)"

status -X DELETE "$url/$first" >/dev/null
check "what is deleted is not served" soon answers bot@1.0.0 404
check "who holds it goes on" is "$held" "$sum_of_first"
check "its files are still there" is "$(directories)" 2
check "nobody forgets it yet" is "$(ask gone)" ''
ask release >/dev/null
forgotten() { is "$(ask gone)" 1; }
check "when the last one lets go it is forgotten" soon forgotten
one_directory() { is "$(directories)" 1; }
check "and its files go" soon one_directory

upload "$state/large.tar.gz" large 1.0.0 >/dev/null
check "what does not fit the base is refused with 503" soon answers large 503
says_why() { reason "$1" | grep -qE "$2" || { reason "$1" && return 1; }; }
check "and says why" soon says_why large 'where the base wants'

check "it rests for a minute" test "$(ask list | jq '[.adapters[] | select(.name == "large") | .retry_in][0]')" -gt 50
upload "$state/other-base.tar.gz" foreign 1.0.0 >/dev/null 2>&1 || true
base_model=mistralai/mistral-7b upload "$state/other-base.tar.gz" foreign 1.0.1 >/dev/null
check "another base's is left out" lists foreign ''

# Other bytes than the record says: the datastore's disk was tampered with.
adapter "$state/victim.tar.gz" --seed 9
stop a
run_store "$entitystore"
upload "$state/victim.tar.gz" victim 1.0.0 >/dev/null
check "another one is served" soon answers victim "$(id_of victim 1.0.0)"
server_stop
rm -rf "$state/adapters"
sha=$(sha256sum "$state/victim.tar.gz" | cut -d' ' -f1)
object=$(find "$STACKGATE_DATA_DIR" -type f -name "*$sha*" -o -type f -name "${sha:4}*" | head -1)
damage() {
  [ -n "$object" ] || return 1
  chmod u+w "$object"
  printf 'XXXXXXXX' | dd of="$object" bs=1 seek=5000 conv=notrunc status=none
}
check "its archive is damaged" damage
server_start
check "a damaged archive is not served: 503" soon answers victim 503
check "and says why" soon says_why victim 'SHA-256|instead of|answers with'
check "nothing of it stays on the disk" soon no_parts

# --- away
check "the others are" soon answers bot "$second"
stop a KILL
stop datastore KILL
ask refresh >/dev/null
sleep 1
check "the entitystore is away: served" answers bot "$second 4 "
server_stop
server_start
check "also after a restart" answers bot "$second 4 "
check "at once, by the disk" is "$(ask list | jq -c .names)" '["bot","bot@1.1.0"]'
start_datastore
run_store "$entitystore"
upload "$state/good.tar.gz" back 1.0.0 >/dev/null
ask refresh >/dev/null
check "it is back: so is the rest" soon answers back "$(id_of back 1.0.0)"

# --- killed
for point in fetched checked synced renamed; do
  server_stop
  rm -rf "$state/adapters"
  server_start "$point"
  check "it is killed at \"$point\"" soon has_died
  server_stop
  server_start
  check "\"$point\": everything is served after that" soon answers bot "$second 4 "
  check "\"$point\": and the other one" soon answers back "$(id_of back 1.0.0)"
  check "\"$point\": nothing half stays" soon no_parts
done
server_stop
server_start dropped
check "it knows what was there" answers back "$(id_of back 1.0.0)"
status -X DELETE "$url/$(id_of back 1.0.0)" >/dev/null
check "it is killed while it takes one away" soon has_died
stop a
server_stop
server_start
check "what was deleted is not served again, though the entitystore is away" answers back 404
check "the others are" answers bot "$second 4 "
server_stop
storage_done
