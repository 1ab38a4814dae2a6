# shellcheck shell=bash
# Sourced by the suites of this folder: checks, an endpoint that answers by rules, servers in front of it.
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
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
  # shellcheck disable=SC2034 # the suites end with it
  if "$@" >"$scratch/out" 2>&1; then echo "ok $what"; else echo "not ok $what" && cat "$scratch/out" && failed=1; fi
}
# until_it COMMAND…: within 8 s
until_it() {
  for _ in $(seq 160); do "$@" >/dev/null 2>&1 && return 0; sleep 0.05; done
  "$@"
}
# start_upstream: sets $upstream, its host and port
start_upstream() {
  python3 "$here/upstream.py" "$scratch/port" &
  pids+=($!)
  until_it test -e "$scratch/port"
  upstream=127.0.0.1:$(cat "$scratch/port")
}
# start_server NAME OPTION…: in front of it; sets $url and $program; its log is $scratch/NAME.log
start_server() {
  local name=$1
  shift
  : >"$scratch/$name.log"
  INFERENCE_ENDPOINT_API_KEY=upstream-key "$bin/stackgate-guardrail" --config-store "$scratch/configs" \
    --inference-url "http://$upstream/v1" --listen 127.0.0.1:0 --data-dir "$scratch/$name.data" --log-format json \
    --drain-wait 0s --reload-interval 1s "$@" >"$scratch/$name.log" 2>&1 &
  program=$!
  pids+=("$program")
  for _ in $(seq 200); do
    url=$(sed -n 's/.*"message":"listening".*"url":"\([^"]*\)".*/\1/p' "$scratch/$name.log" | head -1)
    [ -n "$url" ] && curl -sf "$url/v1/health" >/dev/null && return 0
    sleep 0.05
  done
  cat "$scratch/$name.log"
  return 1
}
