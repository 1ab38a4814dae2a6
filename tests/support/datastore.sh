# Sourced. Starts a real stackgate-datastore with a data directory of its own.
#   datastore_start STATE [NAME=VALUE | --flag value …]   sets $url; variables go to its environment
#   datastore_stop
#   token=$(datastore_token)        a personal token of the administrator
#   check NAME COMMAND…             prints "ok NAME" or "not ok NAME"
# shellcheck shell=bash
# shellcheck source=tests/support/port.sh
source "$(dirname "${BASH_SOURCE[0]}")/port.sh"
datastore_binary=$(realpath -m "${DATASTORE:-$(dirname "${BASH_SOURCE[0]}")/../../build/release/bin/stackgate-datastore}")
failed_checks=0

datastore_start() {
  local state=$1 word port
  shift
  local environment=(GIT_ADMIN_USERNAME=ada GIT_ADMIN_PASSWORD=correct-horse STACKGATE_LFS_JWT_SECRET=0123456789abcdef0123456789abcdef)
  local flags=(--data-dir "$state/data" --log-format text --drain-wait 0s)
  for word in "$@"; do
    if [[ $word =~ ^[A-Z][A-Z0-9_]*= ]]; then environment+=("$word"); else flags+=("$word"); fi
  done
  mkdir -p "$state/data"
  port=$(free_port)
  url=http://127.0.0.1:$port
  env "${environment[@]}" "$datastore_binary" "${flags[@]}" --listen "127.0.0.1:$port" >>"$state/datastore.log" 2>&1 &
  datastore_pid=$!
  for ((i = 0; i < 600; i++)); do
    curl -sf "$url/v1/health/ready" >/dev/null && return 0
    kill -0 "$datastore_pid" 2>/dev/null || break
    sleep 0.1
  done
  echo "not ok the datastore starts"
  tail -n 20 "$state/datastore.log" >&2
  return 1
}

datastore_stop() {
  [ -n "${datastore_pid:-}" ] || return 0
  kill "$datastore_pid" 2>/dev/null || true
  wait "$datastore_pid" 2>/dev/null || true
  datastore_pid=
}

datastore_token() {
  curl -sf -u ada:correct-horse -H 'Content-Type: application/json' -d "{\"name\":\"e2e-$RANDOM$RANDOM\",\"scopes\":[\"all\"]}" \
    "$url/api/v1/users/ada/tokens" | jq -r .sha1
}

check() {
  local name=$1
  shift
  if "$@"; then
    echo "ok $name"
  else
    echo "not ok $name"
    failed_checks=$((failed_checks + 1))
  fi
}
