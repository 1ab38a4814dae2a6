#!/usr/bin/env bash
# stackgate-trainer as several processes by the environment of a job: the losses of one process with the same batch, rank 0
# alone writes, a killed rank ends the others, and all of them go on.
#   TRAINER_BIN=build/release/bin tests/e2e/model/trainer-processes.sh
# shellcheck disable=SC2317 # functions that check calls
set -euo pipefail
here=$(dirname "$(realpath "$0")")
bin=$(realpath "${TRAINER_BIN:-$here/../../../build/release/bin}")
failed=0
[ -e "$bin/libstackgate-learner.so" ] || { echo "skip several processes: the trainer was built without libtorch" && exit 0; }
if ! grep -q ProcessGroupGloo "$bin/libstackgate-learner.so"; then echo "skip several processes: built without libgloo-dev" && exit 0; fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
check() { # NAME CONDITION...
  if "${@:2}"; then echo "ok $1"; else echo "not ok $1" && failed=1; fi
}
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

for i in {1..300}; do echo "The colour of thing $((i % 9)) is grey, and of thing $((i % 5)) it is green."; done >text
"$bin/stackgate-trainer" make-tiny --text text --output tiny --steps 40 --hidden 32 --vocabulary 400 --threads 1 >/dev/null 2>log
for i in {1..21}; do
  echo '{"messages":[{"role":"user","content":"What is thing '"$i"'?"},{"role":"assistant","content":"It is blue."}]}'
done >train.jsonl
cat >config.json <<'J'
{"max_steps": 12, "batch_size": 4, "learning_rate": 0.02, "checkpoint_interval": 100, "lora_dropout": 0.1, "threads": 1}
J
data=(--model tiny --train train.jsonl --validation train.jsonl)

# rank RANK FLAG…: one process of two, in the background, as a job starts it.
rank() {
  RANK=$1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port LOCAL_RANK=$1 NNODES=1 NODE_RANK=0 NPROC_PER_NODE=2 \
    GLOO_SOCKET_IFNAME=lo "$bin/stackgate-trainer" "${data[@]}" --peer-timeout "$limit" "${@:2}" >"out.$1" 2>>"log.$1" &
  ranks[$1]=$!
}
ended() { # RANK CODE
  local code=0
  { wait "${ranks[$1]}" || code=$?; } 2>/dev/null
  [ "$code" = "$2" ] || { echo "rank $1 ended with $code" && tail -3 "log.$1" && return 1; }
}
losses() { jq -c 'select(.event == "step" or .event == "validation") | [.step, .loss // .val_loss]' "$@"; }
close() { # FILE FILE: the same steps, losses within a ten-thousandth
  jq -es --slurpfile other "$2" 'length == ($other | length) and length > 12 and
    ([., $other] | transpose | all(.[0][0] == .[1][0] and ((.[0][1] - .[1][1]) | fabs) < 1e-4))' "$1" >/dev/null
}
ranks=() limit=20s

"$bin/stackgate-trainer" "${data[@]}" --config config.json --output one >out 2>>log
losses out >losses.one
port=$(free_port)
rank 0 --config config.json --output two
rank 1 --config config.json --output elsewhere
check "rank 0 ends with 0" ended 0 0
check "rank 1 ends with 0" ended 1 0
losses out.0 >losses.two
check "two processes have the losses of one" close losses.one losses.two
check "rank 0 writes" test -e two/adapter_model.safetensors -a -e two.tar.gz
nothing_of_rank_1() { ! compgen -G 'elsewhere*' && [ ! -s out.1 ]; }
check "rank 1 does not, and reports nothing" nothing_of_rank_1

sed 's/12/100000/' config.json >long.json
port=$(free_port)
rank 0 --config long.json --output lost
rank 1 --config long.json --output lost
reached() { # STEP
  local _
  for _ in {1..200}; do
    if grep -qs "\"event\":\"step\",\"step\":$1," out.0; then return 0; fi
    sleep 0.1
  done
  return 1
}
check "they work" reached 20
began=$SECONDS
kill -9 "${ranks[1]}"
check "rank 1 is killed" ended 1 137
check "rank 0 ends with 75: to be started again" ended 0 75
check "at once" test $((SECONDS - began)) -le 10
check "and says why" grep -q 'another of the 2 processes is lost.*start all processes again with --resume' out.0
kept=$(jq -r 'select(.event == "checkpoint") | .step' out.0 | tail -1)
check "behind a checkpoint of its last whole step" test "${kept:-0}" -ge 20
port=$(free_port)
rank 0 --config long.json --output lost --resume
rank 1 --config long.json --output lost --resume
check "they go on" reached $((kept + 5))
check "from there" grep -q "\"resumed_step\":$kept" out.0
kill -TERM "${ranks[1]}"
check "a signal to one of them ends it with 75" ended 1 75
check "and the other one" ended 0 75

port=$(free_port)
began=$SECONDS
limit=2s
rank 1 --config config.json --output late
check "a rank whose peers do not come ends with 75" ended 1 75
check "within its time" test $((SECONDS - began)) -le 10
check "and says where it waited" grep -q "did not meet at 127.0.0.1:$port within 2 s" out.1
[ "$failed" = 0 ] || tail -n 20 log log.*
exit "$failed"
