# shellcheck shell=bash
# Sourced by the suites of this folder: checks, an endpoint that answers by rules, a datastore with data sets, evaluators.
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
bin=${STACKGATE_BIN:-$here/../../../build/release/bin}
scratch=$(mktemp -d)
pids=()
# shellcheck disable=SC2317 # the trap's
end() {
  for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  [ ! -e "$scratch/postgres" ] || "$here/../../support/postgres.sh" stop "$scratch/postgres" immediate >/dev/null 2>&1 || true
  rm -rf "$scratch"
}
trap end EXIT
failed=0
# check WHAT COMMAND…
check() {
  local what=$1
  shift
  # shellcheck disable=SC2034 # the suites end with it
  if "$@" >"$scratch/out" 2>&1; then echo "ok $what"; else echo "not ok $what" && head -c 3000 "$scratch/out" && failed=1; fi
}
# within SECONDS COMMAND…: tried again until then
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do ((SECONDS < end)) || return 1; sleep 0.1; done
}
same() { [ "$1" = "$2" ] || { printf 'wanted: %s\ngot:    %s\n' "$1" "$2" && return 1; }; }

# start_endpoint: sets $endpoint, its host and port
start_endpoint() {
  rm -f "$scratch/port"
  python3 "$here/endpoint.py" "$scratch/port" &
  endpoint_pid=$!
  pids+=("$endpoint_pid")
  within 10 test -e "$scratch/port"
  endpoint=127.0.0.1:$(cat "$scratch/port")
}
seen() { curl -s "http://$endpoint/seen"; }
forget() { curl -s "http://$endpoint/reset" >/dev/null; }
control() { curl -s --json "$1" "http://$endpoint/control" >/dev/null; }
# The greatest number of times that one question was asked.
most_asked() { seen | jq '[.questions[]] | max // 0'; }

# listening LOG: the url in a service's log of JSON lines
listening() { sed -n 's/.*"message":"listening".*"url":"\([^"]*\)".*/\1/p' "$1" | head -1; }
# await NAME PID: until the service that logs to $scratch/NAME.log listens; sets $url
await() {
  for _ in $(seq 200); do
    url=$(listening "$scratch/$1.log")
    [ -n "$url" ] && curl -sf "$url/v1/health" >/dev/null && return 0
    kill -0 "$2" 2>/dev/null || break
    sleep 0.05
  done
  echo "not ok $1 starts" && cat "$scratch/$1.log"
  return 1
}

# start_datastore: sets $datastore and $datastore_pid; the same data and port when it is started again
start_datastore() {
  : >"$scratch/datastore.log"
  GIT_ADMIN_USERNAME=ada GIT_ADMIN_PASSWORD=correct-horse STACKGATE_LFS_JWT_SECRET=0123456789abcdef0123456789abcdef \
    "$bin/stackgate-datastore" --data-dir "$scratch/datastore" --listen "127.0.0.1:${datastore_port:-0}" --log-format json \
    --drain-wait 0s >"$scratch/datastore.log" 2>&1 &
  datastore_pid=$!
  pids+=("$datastore_pid")
  await datastore "$datastore_pid" || return 1
  datastore=$url
  datastore_port=${url##*:}
}
# dataset NAME FILE…: a private data set ada/NAME with these files, by their names; relative paths are kept
dataset() {
  local name=$1 file
  shift
  curl -sf -u ada:correct-horse --json "{\"type\":\"dataset\",\"name\":\"$name\",\"private\":true}" "$datastore/v1/hf/api/repos/create" >/dev/null
  {
    printf '{"key":"header","value":{"summary":"data"}}\n'
    for file in "$@"; do
      jq -nc --arg path "$([[ $file == /* ]] && basename "$file" || echo "$file")" --arg content "$(base64 -w0 "$file")" \
        '{key:"file",value:{path:$path,content:$content,encoding:"base64"}}'
    done
  } | curl -sf -u ada:correct-horse -H 'Content-Type: application/x-ndjson' --data-binary @- \
    "$datastore/v1/hf/api/datasets/ada/$name/commit/main" >/dev/null
}

# start_evaluator NAME OPTION…: sets $url and $evaluator_pid; its log is $scratch/NAME.log. Binary: ${evaluator_binary}
start_evaluator() {
  local name=$1
  shift
  : >"$scratch/$name.log"
  DATASTORE_USERNAME=ada DATASTORE_PASSWORD=correct-horse "${evaluator_binary:-$bin/stackgate-evaluator}" \
    --datastore-url "$datastore/v1/hf" --listen 127.0.0.1:0 --data-dir "$scratch/$name.data" --log-format json \
    --drain-wait 0s "$@" >"$scratch/$name.log" 2>&1 &
  evaluator_pid=$!
  pids+=("$evaluator_pid")
  await "$name" "$evaluator_pid"
}
post() { curl -s --json "$1" "$url${2:-/v1/evaluations}"; }
status() { curl -s -o "$scratch/answer" -w '%{http_code}' "$@"; }
state() { curl -s "$url/v1/evaluations/$1" | jq -r .status; }
is_in() { [ "$(state "$1")" = "$2" ]; }
has_ended() { case $(state "$1") in completed | failed | cancelled) return 0 ;; *) return 1 ;; esac }
results() { curl -s "$url/v1/evaluations/$1/results"; }
# score EVALUATION TASK METRIC SCORE
score() { results "$1" | jq -r --arg t "$2" --arg m "$3" --arg s "$4" '.tasks[$t].metrics[$m].scores[$s].value'; }
