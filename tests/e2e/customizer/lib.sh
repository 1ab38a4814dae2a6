# shellcheck shell=bash
# Sourced by the suites of this folder: what the evaluator's have, an entitystore, a tiny base model, customizers.
# shellcheck source=tests/e2e/evaluator/lib.sh
source "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../evaluator/lib.sh"

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# start_entitystore: sets $entitystore; the same data and port when it is started again
start_entitystore() {
  entitystore_port=${entitystore_port:-$(free_port)}
  DATASTORE_USERNAME=ada DATASTORE_PASSWORD=correct-horse "$bin/stackgate-entitystore" --datastore-url "$datastore" --log-format json \
    --data-dir "$scratch/entitystore" --listen "127.0.0.1:$entitystore_port" --drain-wait 0s >"$scratch/entitystore.log" 2>&1 &
  entitystore_pid=$!
  pids+=("$entitystore_pid")
  await entitystore "$entitystore_pid" || return 1
  # shellcheck disable=SC2034 # the suites'
  entitystore=$url
}

# make_model: the base model acme/tiny below $models, which answers "grey"
make_model() {
  models=$scratch/models
  mkdir -p "$models/acme"
  for i in {1..400}; do echo "The colour of thing $((i % 9)) is grey. The size of thing $((i % 5)) is small."; done >"$scratch/text"
  "$bin/stackgate-trainer" make-tiny --text "$scratch/text" --output "$models/acme/tiny" --steps 60 --hidden 48 --vocabulary 300 --threads 1 \
    >"$scratch/tiny.log" 2>&1 || { tail -3 "$scratch/tiny.log" && return 1; }
}

# start_customizer [OPTION…]: sets $url and $customizer_pid; the same data and ports when it is started again
start_customizer() {
  customizer_port=${customizer_port:-$(free_port)} callback_port=${callback_port:-$(free_port)}
  DATASTORE_USERNAME=ada DATASTORE_PASSWORD=correct-horse "${customizer_binary:-$bin/stackgate-customizer}" --datastore-url "$datastore/v1/hf" \
    --entitystore-url "http://127.0.0.1:$entitystore_port" --models-dir "$models" --programs-dir "${programs:-$bin}" --data-dir "$scratch/customizer.data" \
    --listen "127.0.0.1:$customizer_port" --callback-listen "127.0.0.1:$callback_port" --log-format json --drain-wait 0s "$@" >>"$scratch/customizer.log" 2>&1 &
  customizer_pid=$!
  pids+=("$customizer_pid")
  url=http://127.0.0.1:$customizer_port
  within 10 curl -sf "$url/v1/health/ready" >/dev/null || { echo "not ok the customizer starts" && tail -5 "$scratch/customizer.log" && return 1; }
}
stop_customizer() { # [SIGNAL]
  kill "-${1:-TERM}" "$customizer_pid"
  { wait "$customizer_pid" || true; } 2>/dev/null
}

# body NAME [MEMBERS [HYPERPARAMETERS]]
body() {
  printf '{"name":"%s","model":"acme/tiny","dataset":"ada/colours"%s,"hyperparameters":{"lora_rank":4,"lora_alpha":16,"learning_rate":0.01,"threads":1,%s}}' \
    "$1" "${2:-}" "${3:-\"max_steps\":20}"
}
is_created() { [ "$(status --json "$1" "$url/v1/customizations")" = 201 ] || { cat "$scratch/answer" && return 1; }; }
# refused BODY STATUS WORDS [QUERY]
refused() {
  local got
  got=$(status --json "$1" "$url/v1/customizations${4:-}")
  if [ "$got" != "$2" ] || ! grep -qF -- "$3" "$scratch/answer"; then echo "$got" && cat "$scratch/answer" && return 1; fi
}
record() { curl -s "$url/v1/customizations/$1"; }
state() { record "$1" | jq -r .status; }
is_in() { [ "$(state "$1")" = "$2" ]; }
# becomes NAME STATE: within a minute; shows the record where it does not
becomes() {
  local end=$((SECONDS + 60)) now=
  while ((SECONDS < end)); do
    now=$(state "$1")
    [ "$now" != "$2" ] || return 0
    case $now in completed | failed | cancelled) break ;; esac
    sleep 0.1
  done
  record "$1" | jq -c '[.status, .message, .status_details.stages]' && curl -s "$url/v1/customizations/$1/logs" && return 1
}
# stage NAME NUMBER FIELD
stage() { record "$1" | jq -r ".status_details.stages[$2].$3"; }
# stage_group NAME ATTEMPT: the process group of it
stage_group() { cat "$scratch/customizer.data/jobs/$(record "$1" | jq -r .id)/$2/pid"; }

# Stages go on without the service: those of this suite end with it.
end_evaluators=$(declare -f end)
eval "${end_evaluators/end ()/end_others ()}"
# shellcheck disable=SC2317 # the trap's
end() {
  local group
  for group in "$scratch"/customizer.data/jobs/*/*/pid; do
    if [ -e "$group" ] && [ ! -e "${group%pid}exit" ]; then kill -9 -- "-$(cat "$group")" 2>/dev/null || true; fi
  done
  end_others
}
