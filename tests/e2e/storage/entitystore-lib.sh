# Sourced, after lib.sh, by the scripts about the entitystore: one with a real datastore behind it.
# shellcheck shell=bash disable=SC2154
programs=$(dirname "$datastore_binary")
entitystore=$(realpath -m "${ENTITYSTORE:-$programs/stackgate-entitystore}")
with_fail_points=$(realpath -m "${ENTITYSTORE_FAIL_POINTS:-$programs/entitystore_fail_points}")
for program in "$datastore_binary" "$entitystore" "$with_fail_points"; do
  [ -x "$program" ] || { echo "not ok $program is there" && exit 1; }
done

# check NAME COMMAND…: its output is shown only when it fails.
check() {
  local name="$engine: $1"
  shift
  if "$@" >"$state/said" 2>&1; then
    echo "ok $name"
  else
    echo "not ok $name"
    sed 's/^/  /' "$state/said" | tail -15
    failed_checks=$((failed_checks + 1))
  fi
}
is() { [ "$1" = "$2" ] || { echo "got $1, not $2: $(cut -c1-600 "$state/body" 2>/dev/null)" && return 1; }; }
status() { curl -sS -o "$state/body" --max-time "${limit:-60}" -w '%{http_code}' "$@"; }
field() { jq -r "$1" "$state/body"; }
adapter() { python3 "$storage_here/make_adapter.py" "$@"; }

declare -A servers_of=()
stop() { # NAME [SIGNAL]
  local pid=${servers_of[$1]:-}
  [ -n "$pid" ] || return 0
  kill "-${2:-TERM}" "$pid" 2>/dev/null || true
  { wait "$pid" || true; } 2>/dev/null
  unset "servers_of[$1]"
}
started() { # NAME: the process that was just sent to the background
  servers_of[$1]=$!
  served+=($!)
}
wait_for() { # NAME URL
  local _
  for _ in $(seq 600); do
    curl -fsS --max-time 5 "$2" >/dev/null 2>&1 && return 0
    kill -0 "${servers_of[$1]}" 2>/dev/null || break
    sleep 0.05
  done
  echo "not ok $1 starts" && tail -5 "$state/$1.log" && exit 1
}

# entitystore_begin: after storage_begin; sets $engine, $owner, $database (the flag), $ds_port, $port and $url, and makes adapters.
entitystore_begin() {
  engine=$storage_leg owner=adapters-$storage_leg
  base_model=meta/llama-3.1-8b-instruct
  export GIT_ADMIN_USERNAME=admin GIT_ADMIN_PASSWORD=correct-horse-battery-staple
  export DATASTORE_USERNAME=admin DATASTORE_PASSWORD=$GIT_ADMIN_PASSWORD
  ds_port=$(free_port) port=$(free_port)
  url=http://127.0.0.1:$port/v1/adapters
  adapter "$state/good.tar.gz"
  adapter "$state/large.tar.gz" --megabytes 12 --seed 3
  "$datastore_binary" init >"$state/init.log" 2>&1 || { echo "not ok init" && cat "$state/init.log" && exit 1; }
  start_datastore
  database=(--database-url "sqlite:$state/entitystore.db")
  if [ "$engine" = postgres-s3 ]; then database=(--database-url "$(new_database)"); fi
}
start_datastore() {
  setsid "$datastore_binary" serve --listen "127.0.0.1:$ds_port" >>"$state/datastore.log" 2>&1 &
  started datastore
  wait_for datastore "http://127.0.0.1:$ds_port/v1/health"
}
# start_store NAME PORT PROGRAM FLAG…
start_store() {
  local name=$1 port=$2 program=$3
  shift 3
  setsid "$program" serve --data-dir "${store_dir:-$state}/$engine-$name" --listen "127.0.0.1:$port" --datastore-url "http://127.0.0.1:$ds_port" \
    "${database[@]}" --sweep-interval 1s --lease 5s --datastore-owner "$owner" "$@" >>"$state/$name.log" 2>&1 &
  started "$name"
}
# run_store PROGRAM FLAG…: start_store for the one that most checks talk to, and the wait.
run_store() {
  start_store a "$port" "$@"
  wait_for a "http://127.0.0.1:$port/health"
}
metadata() { # NAME VERSION [MORE]
  printf '{"name":"%s","version":"%s","base_model":"%s"%s}' "$1" "$2" "$base_model" "${3:-}"
}
upload() { # FILE NAME VERSION [MORE]
  status -F "adapter=@$1" -F "metadata=$(metadata "$2" "$3" "${4:-}")" "$url"
}
set_status() { status -X PATCH -d "{\"status\":\"$2\"}" -H 'Content-Type: application/json' "$url/$1"; }
id_of() { curl -sS "$url?name=$1" | jq -r --arg v "$2" '.adapters[] | select(.version == $v) | .id'; }
archive_is() { # FILE NAME VERSION
  cmp "$1" <(curl -fsSL "$(curl -sS "$url/$(id_of "$2" "$3")" | jq -r .download_url)")
}
hub() { curl -sS -u "admin:$GIT_ADMIN_PASSWORD" "http://127.0.0.1:$ds_port/v1/hf/$1"; }
hub_post() { # PATH BODY [TYPE]
  curl -sS -u "admin:$GIT_ADMIN_PASSWORD" -H "Content-Type: ${3:-application/json}" --data-binary "$2" "http://127.0.0.1:$ds_port/v1/hf/$1"
}
repository() { echo "$owner/default--$1"; }
no_repository() { is "$(curl -sS -o /dev/null -u "admin:$GIT_ADMIN_PASSWORD" -w '%{http_code}' "http://127.0.0.1:$ds_port/v1/hf/api/models/$(repository "$1")")" 404; }
fsck() {
  "$entitystore" fsck --data-dir "${store_dir:-$state}/$engine-a" --datastore-url "http://127.0.0.1:$ds_port" "${database[@]}" \
    --datastore-owner "$owner"
}
# What the database says of a version: ready, failed, none …
state_of() { curl -sS "$url?name=$1" | jq -r --arg v "$2" '[.adapters[] | select(.version == $v) | .status][0] // "none"'; }
# soon COMMAND…: succeeds within a minute, tried again and again.
soon() {
  local until=$((SECONDS + 60))
  until "$@"; do
    ((SECONDS < until)) || return 1
    sleep 0.1
  done
}
state_is() { [ "$(state_of "$1" "$2" 2>/dev/null)" = "$3" ]; }
becomes() { # NAME VERSION STATUS
  soon state_is "$@" || { echo "$1 $2 is $(state_of "$1" "$2"), not $3" && tail -3 "$state/a.log" && return 1; }
}
is_clean() { fsck >"$state/fsck" 2>&1 && [ -z "$(ls "${store_dir:-$state}/$engine-a/spool")" ]; }
clean() { # of repositories that nobody needs, and of the spool
  soon is_clean || { cat "$state/fsck" && ls -R "${store_dir:-$state}/$engine-a/spool" && return 1; }
}
