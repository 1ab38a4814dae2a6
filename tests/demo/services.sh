# Sourced, after tests/support/port.sh. Stackgate's services as processes of this machine, each with its embedded defaults.
# The caller sets $work (a folder of their own) and $bin (the programs), and may set $preferred_ports=1.
#   service_start NAME       until it is ready; the same port and data when it is started again
#   service_stop NAME SIGNAL
#   services_end             all of them, and what the customizer's stages have left running
# Addresses: ${address[NAME]}; ${inner_address[NAME]} where services find each other elsewhere. The administrator: admin, password in $work/datastore/secrets/admin-password.
# shellcheck shell=bash disable=SC2154,SC2034
declare -A address=() inner_address=() service_pid=()

# place_services: which ports they have: 8000 … 8005, or others where these are taken.
place_services() {
  local name port=8000
  for name in "${flow_services[@]}" callback; do
    if [ -z "${preferred_ports:-}" ] || (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      address[$name]=http://127.0.0.1:$(free_port)
    else
      address[$name]=http://127.0.0.1:$port
    fi
    port=$((port + 1))
  done
}

admin_password() { cat "$work/datastore/secrets/admin-password"; }

# service_flags NAME: its own, beside those that all have; sets $flags and $variables
service_flags() {
  variables=()
  case $1 in datastore | inference | guardrail) ;; *) variables=(DATASTORE_USERNAME=admin "DATASTORE_PASSWORD=$(admin_password)") ;; esac
  case $1 in
    datastore) flags=() ;;
    entitystore) flags=(--datastore-url "${address[datastore]}") ;;
    inference)
      flags=(--model "$work/models/demo/tiny" --served-model-name demo/tiny --threads 1 --kv-cache 64Mi)
      variables=("INF_PEFT_SOURCE=${address[entitystore]}" INF_PEFT_REFRESH_INTERVAL=1)
      ;;
    guardrail) flags=(--config-store "$work/rails" --inference-url "${address[inference]}/v1") ;;
    evaluator) flags=(--datastore-url "${address[datastore]}/v1/hf" --entitystore-url "${address[entitystore]}" --lease 3s) ;;
    customizer)
      flags=(--datastore-url "${address[datastore]}/v1/hf" --entitystore-url "${address[entitystore]}" --models-dir "$work/models"
        --programs-dir "$bin" --callback-listen "${address[callback]#http://}")
      ;;
  esac
}

service_start() {
  local name=$1 flags variables _
  service_flags "$name"
  env "${variables[@]}" "$bin/stackgate-$name" --data-dir "$work/$name" --listen "${address[$name]#http://}" --log-format json \
    --drain-wait 0s "${flags[@]}" >>"$work/$name.log" 2>&1 9>&- &
  service_pid[$name]=$!
  for _ in {1..1200}; do
    ! curl -sf --max-time 2 -o /dev/null "${address[$name]}/v1/health/ready" || return 0
    kill -0 "${service_pid[$name]}" 2>/dev/null || break
    sleep 0.02
  done
  echo "stackgate-$name does not start; the end of $work/$name.log:" >&2
  tail -5 "$work/$name.log" >&2
  return 1
}

service_stop() { # NAME [SIGNAL]
  [ -n "${service_pid[$1]:-}" ] || return 0
  kill "-${2:-TERM}" "${service_pid[$1]}" 2>/dev/null || true
  { wait "${service_pid[$1]}" || true; } 2>/dev/null
  unset "service_pid[$1]"
}

services_end() {
  local name pid
  for name in "${!service_pid[@]}"; do kill "${service_pid[$name]}" 2>/dev/null || true; done
  for name in "${!service_pid[@]}"; do service_stop "$name"; done
  # A stage outlives the customizer on purpose, but not this.
  for pid in "$work"/customizer/jobs/*/*/pid; do
    if [ -e "$pid" ] && [ ! -e "${pid%pid}exit" ]; then kill -9 -- "-$(cat "$pid")" 2>/dev/null || true; fi
  done
}

# services_sweep: what a demo that was killed has left: processes of our programs that work in $work
services_sweep() {
  local pid
  for pid in $(pgrep -f -- "--data-dir $work/" || true); do kill -9 "$pid" 2>/dev/null || true; done
}
