#!/usr/bin/env bash
# curl against stackgate-entitystore with a real datastore behind it: uploads good and bad, statuses, lists, downloads,
# two replicas, and a crash at every step of a registration. Once with SQLite, once with PostgreSQL.
#   DATASTORE=… ENTITYSTORE=… ENTITYSTORE_FAIL_POINTS=… tests/e2e/storage/entitystore.sh [sqlite|postgresql]
# shellcheck disable=SC2317 # functions that check calls, and the trap
set -euo pipefail
here=$(dirname "$(realpath "$0")")
bin=$here/../../../build/release/bin
postgres=$here/../../support/postgres.sh
datastore=${DATASTORE:-$bin/stackgate-datastore}
entitystore=${ENTITYSTORE:-$bin/stackgate-entitystore}
with_fail_points=${ENTITYSTORE_FAIL_POINTS:-$bin/entitystore_fail_points}
for program in "$datastore" "$entitystore" "$with_fail_points"; do
  [ -x "$program" ] || { echo "not ok $program is there" && exit 1; }
done
state=$(mktemp -d)
declare -A servers=()
stop() { # NAME [SIGNAL]
  local pid=${servers[$1]:-}
  [ -n "$pid" ] || return 0
  kill "-${2:-TERM}" "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  unset "servers[$1]"
}
finish() {
  local name
  for name in "${!servers[@]}"; do stop "$name"; done
  [ ! -d "$state/postgres" ] || "$postgres" stop "$state/postgres" immediate >/dev/null 2>&1 || true
  rm -rf "$state"
}
trap finish EXIT
trap 'exit 130' INT TERM

failed=0
# check NAME COMMAND...: its output is shown only when it fails.
check() {
  local name="$engine: $1"
  shift
  if "$@" >"$state/said" 2>&1; then
    echo "ok $name"
  else
    echo "not ok $name"
    sed 's/^/  /' "$state/said" | tail -15
    failed=1
  fi
}
is() { [ "$1" = "$2" ] || { echo "got $1, not $2: $(cut -c1-600 "$state/body" 2>/dev/null)" && return 1; }; }
is_cut() { ! "$@" || return 1; }
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
wait_for() { # NAME URL
  local _
  for _ in $(seq 150); do
    curl -fsS "$2" >/dev/null 2>&1 && return 0
    kill -0 "${servers[$1]}" 2>/dev/null || break
    sleep 0.1
  done
  echo "not ok $1 starts" && tail -5 "$state/$1.log" && exit 1
}
status() { curl -sS -o "$state/body" -w '%{http_code}' "$@"; }
field() { jq -r "$1" "$state/body"; }
adapter() { python3 "$here/make_adapter.py" "$@"; }

export GIT_ADMIN_USERNAME=admin GIT_ADMIN_PASSWORD=correct-horse-battery-staple
export DATASTORE_USERNAME=admin DATASTORE_PASSWORD=$GIT_ADMIN_PASSWORD
base_model=meta/llama-3.1-8b-instruct
adapter "$state/good.tar.gz"
adapter "$state/other.tar.gz" --seed 2 --folder my-adapter/
adapter "$state/large.tar.gz" --megabytes 12 --seed 3

start_datastore() {
  "$datastore" serve --data-dir "$state/data" --listen "127.0.0.1:$ds_port" >>"$state/datastore.log" 2>&1 &
  servers[datastore]=$!
  wait_for datastore "http://127.0.0.1:$ds_port/v1/health"
}
# start_store NAME PORT PROGRAM FLAG...
start_store() {
  local name=$1 port=$2 program=$3
  shift 3
  "$program" serve --data-dir "$state/$engine-$name" --listen "127.0.0.1:$port" --datastore-url "http://127.0.0.1:$ds_port" \
    "${database[@]}" --sweep-interval 1s --lease 5s --datastore-owner "adapters-$engine" "$@" >>"$state/$name.log" 2>&1 &
  servers[$name]=$!
}
metadata() { # NAME VERSION [MORE]
  printf '{"name":"%s","version":"%s","base_model":"%s"%s}' "$1" "$2" "$base_model" "${3:-}"
}
upload() { # FILE NAME VERSION [MORE]
  status -F "adapter=@$1" -F "metadata=$(metadata "$2" "$3" "${4:-}")" "$url"
}
hub() { curl -sS -u "admin:$GIT_ADMIN_PASSWORD" "http://127.0.0.1:$ds_port/v1/hf/$1"; }
repository() { echo "adapters-$engine/default--$1"; }
fsck() {
  "$entitystore" fsck --data-dir "$state/$engine-a" --datastore-url "http://127.0.0.1:$ds_port" "${database[@]}"
}
hub_post() { # PATH BODY [TYPE]
  curl -sS -u "admin:$GIT_ADMIN_PASSWORD" -H "Content-Type: ${3:-application/json}" --data-binary "$2" "http://127.0.0.1:$ds_port/v1/hf/$1"
}
# What the database says of a version: ready, failed, none …
state_of() { curl -sS "$url?name=$1" | jq -r --arg v "$2" '[.adapters[] | select(.version == $v) | .status][0] // "none"'; }
becomes() { # NAME VERSION STATUS
  local now _
  for _ in $(seq 150); do
    now=$(state_of "$1" "$2" 2>/dev/null || true)
    [ "$now" = "$3" ] && return 0
    sleep 0.1
  done
  echo "$1 $2 is $now, not $3" && tail -3 "$state/a.log" && return 1
}
clean() { # of repositories that nobody needs, and of the spool
  local _
  for _ in $(seq 100); do
    if fsck >"$state/fsck" 2>&1 && [ -z "$(ls "$state/$engine-a/spool")" ]; then return 0; fi
    sleep 0.1
  done
  cat "$state/fsck" && ls -R "$state/$engine-a/spool" && return 1
}
no_repository() { is "$(curl -sS -o /dev/null -u "admin:$GIT_ADMIN_PASSWORD" -w '%{http_code}' "http://127.0.0.1:$ds_port/v1/hf/api/models/$(repository "$1")")" 404; }

uploads() {
  local id etag
  check "liveness and readiness" is "$(status "http://127.0.0.1:$port/health")" 200
  check "an empty list" is "$(status "$url") $(cat "$state/body")" '200 {"adapters":[]}'
  check "an upload is registered" is "$(upload "$state/good.tar.gz" bot 1.0.0 ',"training":{"dataset":"d@abc","job_id":"j1","hyperparameters":{"epochs":3}},"metrics":{"train_loss":0.5},"tags":["prod"]')" 201
  check "as ready" is "$(field .status)" ready
  check "with what the file says" is "$(field '.lora_config | "\(.rank) \(.alpha) \(.dropout) \(.target_modules | join(","))"')" "8 16 0.05 q_proj,v_proj"
  id=$(field .id)
  check "the archive comes back by download_url, without credentials" cmp "$state/good.tar.gz" <(curl -fsSL "$(field .download_url)")
  check "a byte of it too" is "$(curl -sS -r 0-0 -o /dev/null -w '%{http_code}' "$(field .download_url)")" 206
  check "the list has the six fields" is "$(curl -sS "$url" | jq -c '.adapters[0] | keys')" '["base_model","created_at","id","name","status","version"]'
  check "its provenance" is "$(curl -sS "$url/$id/provenance" | jq -r '"\(.training.job_id) \(.training.hyperparameters.epochs) \([.files[] | select(.lfs) | .path] | join(","))"')" "j1 3 adapter.tar.gz,adapter_model.safetensors"
  check "Git has the files" is "$(hub "api/models/$(repository bot)/tree/v1.0.0" | jq -r '[.[].path] | join(" ")')" ".gitattributes README.md adapter.tar.gz adapter_config.json adapter_model.safetensors adapter_record.json"
  check "the configuration is no large file" is "$(hub "api/models/$(repository bot)/tree/v1.0.0" | jq -r '[.[] | select(.lfs) | .path] | join(" ")')" "adapter.tar.gz adapter_model.safetensors"
  check "metadata may come first" is "$(status -F "metadata=$(metadata bot 1.1.0);type=application/json" -F "adapter=@$state/other.tar.gz" "$url")" 201
  check "and as a file" is "$(metadata bot 1.2.0 >"$state/m.json" && status -F "adapter=@$state/large.tar.gz;type=application/gzip" -F "metadata=@$state/m.json" "$url")" 201
  check "a folder around the files is taken off" is "$(hub "api/models/$(repository bot)/tree/v1.1.0" | jq -r '[.[].path] | join(" ")')" ".gitattributes README.md adapter.tar.gz adapter_config.json adapter_model.safetensors adapter_record.json"
  check "versions, the newest first" is "$(curl -sS "$url/$id/versions" | jq -r '"\(.latest_ready): \([.versions[].version] | join(" "))"')" "1.2.0: 1.2.0 1.1.0 1.0.0"
  check "the same version again is refused" is "$(upload "$state/other.tar.gz" BOT 1.0.0)" 409
  check "also with the same content, which is said" is "$(upload "$state/good.tar.gz" bot 1.0.0) $(grep -c 'same as this one' "$state/body")" "409 1"
  check "latest, filters, pages" is "$(curl -sS "$url?latest=true&status=ready&tag=&page=1&page_size=5" | jq -r '[.adapters[].version] | join(" ")')" 1.2.0
  check "pages carry a total and links" grep -qi '^link: .*page=2.*rel="next"' <(curl -sSi "$url?page_size=1")
  check "wrong parameters are refused" is "$(status "$url?status=redy")" 422
  etag=$(curl -sSi "$url?status=ready" | tr -d '\r' | sed -n 's/^ETag: //Ip')
  check "304 for what is known" is "$(status -H "If-None-Match: $etag" "$url?status=ready")" 304
  check "the access log" is "$(curl -sS "$url/$id" >/dev/null && curl -sS "$url/$id/access-log" | jq -r '[.access_log[].action] | join(" ")')" "read upload"
  check "NeMo's list" is "$(curl -sS "http://127.0.0.1:$port/v1/models?filter\[namespace\]=default" | jq -r '"\(.object) \(.data[0].name) \(.pagination.total_results)"')" "list bot@1.0.0 3"
  check "NeMo's model" is "$(curl -sS "http://127.0.0.1:$port/v1/models/default/bot@1.1.0" | jq -r .peft.finetuning_type)" lora
  check "ready to pending" is "$(status -X PATCH -d '{"status":"pending"}' -H 'Content-Type: application/json' "$url/$id") $(field .status)" "200 pending"
  check "the poller sees it" is "$(status -H "If-None-Match: $etag" "$url?status=ready") $(field '.adapters | length')" "200 2"
  check "pending to ready" is "$(status -X PATCH -d '{"status":"ready"}' -H 'Content-Type: application/json' "$url/$id")" 200
  check "never to uploading" is "$(status -X PATCH -d '{"status":"uploading"}' -H 'Content-Type: application/json' "$url/$id")" 409
  check "nor to anything else" is "$(status -X PATCH -d '{"status":"gone"}' -H 'Content-Type: application/json' "$url/$id")" 422
  check "unknown adapters" is "$(status "$url/nope") $(status -X DELETE "$url/nope") $(status -X PATCH -d '{"status":"ready"}' -H 'Content-Type: application/json' "$url/nope")" "404 404 404"
  check "delete" is "$(status -X DELETE "$url/$id")" 204
  check "it is gone" is "$(status "$url/$id") $(curl -sS "$url?name=bot" | jq '.adapters | length')" "404 2"
  check "its tag goes" clean
  check "the others' stay" is "$(hub "api/models/$(repository bot)/refs" | jq -r '[.tags[].name] | sort | join(" ")')" "v1.1.0 v1.2.0"
  check "the version is free again" is "$(upload "$state/good.tar.gz" bot 1.0.0)" 201
  check "and served" cmp "$state/good.tar.gz" <(curl -fsSL "$(field .download_url)")
  for id in $(curl -sS "$url?name=bot" | jq -r '.adapters[].id'); do status -X DELETE "$url/$id" >/dev/null; done
  check "with the last version the repository goes" clean
  check "indeed" no_repository bot
}

refusals() {
  local fault rule
  while read -r fault rule; do
    adapter "$state/bad.tar.gz" --fault "$fault"
    check "refused: $fault" is "$(upload "$state/bad.tar.gz" bad 1.0.0) $(grep -c "$rule" "$state/body")" "422 1"
  done <<'TABLE'
rank has rank 8, but adapter_config.json says 16
nan NaN
cut data follow the header
overlap overlaps
target target_modules does not name
link is a link
absolute absolute
dotdot \.\.
nemo NeMo
no-config is missing
dora use_dora
bomb 200 times
plain-tar not a gzip
crc damaged
TABLE
  hub_post api/repos/create "{\"type\":\"model\",\"name\":\"shape-$engine\"}" >/dev/null
  printf '{"key":"header","value":{"summary":"x"}}\n{"key":"file","value":{"path":"config.json","encoding":"base64","content":"%s"}}\n' \
    "$(printf '{"num_hidden_layers":1,"hidden_size":128,"num_attention_heads":4}' | base64 -w0)" >"$state/commit"
  hub_post "api/models/admin/shape-$engine/commit/main" "@$state/commit" application/x-ndjson >/dev/null
  adapter "$state/bad.tar.gz" --base "admin/shape-$engine"
  check "refused: another model's sizes, which the datastore knows" is "$(base_model=admin/shape-$engine upload "$state/bad.tar.gz" bad 1.0.0) $(grep -o 'in the base model\|but the base model has' "$state/body" | sort | uniq -c | xargs)" "422 2 but the base model has 4 in the base model"
  adapter "$state/pickle.tar.gz" --fault pickle
  check "a pickle is stored and flagged" is "$(upload "$state/pickle.tar.gz" pickle 1.0.0) $(field '.warnings | length')" "201 1"
  check "all faults in one answer" is "$(adapter "$state/bad.tar.gz" --fault rank && status -F "adapter=@$state/bad.tar.gz" -F 'metadata={"name":"-","base_model":"mistral","version":"1","lora_config":{"alpha":1}}' "$url") $(field '.detail | length > 4')" "422 true"
  check "a missing part" is "$(status -F "adapter=@$state/good.tar.gz" "$url")" 422
  check "a part twice" is "$(status -F 'metadata={}' -F 'metadata={}' "$url")" 400
  check "no multipart" is "$(status -d '{}' -H 'Content-Type: application/json' "$url")" 415
  check "a broken multipart" is "$(status -H 'Content-Type: multipart/form-data; boundary=x' --data-binary '--y' "$url")" 400
  check "an upload that breaks off leaves nothing" bash -c "! timeout 2 curl -sS --limit-rate 100k -F 'adapter=@$state/large.tar.gz' '$url'"
  check "nothing of all this stays" clean
  check "no repository was made" no_repository bad
}

crashes() {
  local point version=0
  for point in received inserted repository archive stored committed noted tagged ready; do
    version=$((version + 1))
    stop a
    STACKGATE_FAIL_POINT=$point start_store a "$port" "$with_fail_points"
    wait_for a "http://127.0.0.1:$port/health"
    check "a crash at \"$point\"" is_cut status -F "adapter=@$state/large.tar.gz" -F "metadata=$(metadata crash "$version.0.0")" "$url"
    { wait "${servers[a]}" || true; } 2>/dev/null
    start_store a "$port" "$entitystore"
    wait_for a "http://127.0.0.1:$port/health"
    if [ "$point" = received ]; then
      check "before there was a row: nothing is registered" becomes crash "$version.0.0" none
    else
      check "is made good after it" becomes crash "$version.0.0" ready
      check "with the archive" cmp "$state/large.tar.gz" <(curl -fsSL "$(curl -sS "$url/$(curl -sS "$url?name=crash" | jq -r --arg v "$version.0.0" '.adapters[] | select(.version == $v) | .id')" | jq -r .download_url)")
    fi
    check "and nothing is left over" clean
  done
  check "one commit for each version" is "$(hub "api/models/$(repository crash)/commits/main?limit=100" | jq '[.[].title | select(startswith("crash"))] | length')" 8
  local id
  id=$(curl -sS "$url?name=crash" | jq -r '.adapters[0].id')
  stop a
  STACKGATE_FAIL_POINT=purging start_store a "$port" "$with_fail_points"
  wait_for a "http://127.0.0.1:$port/health"
  status -X DELETE "$url/$id" >/dev/null || true
  wait "${servers[a]}" 2>/dev/null || true
  start_store a "$port" "$entitystore"
  wait_for a "http://127.0.0.1:$port/health"
  check "a crash in the middle of a deletion" clean
}

replicas() {
  local other url_b codes
  other=$(free_port)
  url_b=http://127.0.0.1:$other/v1/adapters
  start_store b "$other" "$entitystore"
  wait_for b "http://127.0.0.1:$other/health"
  check "one folder is not for two" bash -c "! timeout 20 '$entitystore' serve --data-dir '$state/$engine-a' --listen 127.0.0.1:0 --datastore-url http://127.0.0.1:$ds_port"
  codes=$(
    for target in "$url" "$url_b" "$url" "$url_b"; do
      curl -sS -o /dev/null -w '%{http_code}\n' -F "adapter=@$state/large.tar.gz" -F "metadata=$(metadata race 1.0.0)" "$target" &
    done
    wait
  )
  check "of four uploads of one version on two replicas one wins" is "$(sort <<<"$codes" | uniq -c | xargs)" "1 201 3 409"
  codes=$(
    for version in 1.1.0 1.2.0 1.3.0 1.4.0; do
      curl -sS -o /dev/null -w '%{http_code}\n' -F "adapter=@$state/good.tar.gz" -F "metadata=$(metadata race $version)" "$(case $version in 1.[12].*) echo "$url" ;; *) echo "$url_b" ;; esac)" &
    done
    wait
  )
  check "four versions at once all get in" is "$(sort <<<"$codes" | uniq -c | xargs)" "4 201"
  sleep 0.6
  check "both replicas say the same, entity tag and all" is "$(curl -sSi "$url" | grep -i '^etag')" "$(curl -sSi "$url_b" | grep -i '^etag')"
  stop b
  STACKGATE_FAIL_POINT=stored start_store b "$other" "$with_fail_points"
  wait_for b "http://127.0.0.1:$other/health"
  curl -sS -o /dev/null -F "adapter=@$state/good.tar.gz" -F "metadata=$(metadata lost 1.0.0)" "$url_b" 2>/dev/null || true
  wait "${servers[b]}" 2>/dev/null || true
  unset "servers[b]"
  check "what a replica took to its grave is failed by the other" becomes lost 1.0.0 failed
  check "and cleaned away" no_repository lost
  check "and may be uploaded again" is "$(upload "$state/good.tar.gz" lost 1.0.0)" 201
  check "nothing is left over" bash -c "$(declare -f fsck); entitystore=$entitystore state=$state engine=$engine ds_port=$ds_port; database=(${database[*]}); fsck"
}

outages() {
  stop datastore
  check "without a datastore an upload is refused" is "$(upload "$state/good.tar.gz" away 1.0.0)" 503
  check "lists go on" is "$(status "$url")" 200
  check "it is told as failed" is "$(state_of away 1.0.0)" failed
  start_datastore
  check "it may come again" is "$(upload "$state/good.tar.gz" away 1.0.0)" 201
  stop a
  STACKGATE_FAIL_POINT=archive start_store a "$port" "$with_fail_points"
  wait_for a "http://127.0.0.1:$port/health"
  upload "$state/large.tar.gz" wait 1.0.0 >/dev/null 2>&1 || true
  { wait "${servers[a]}" || true; } 2>/dev/null
  stop datastore
  start_store a "$port" "$entitystore"
  wait_for a "http://127.0.0.1:$port/health"
  sleep 5
  check "an interrupted upload waits for the datastore" is "$(state_of wait 1.0.0)" uploading
  start_datastore
  check "and is finished when it is back" becomes wait 1.0.0 ready
  check "and nothing is left" clean
}

ways() {
  stop a
  start_store a "$port" "$entitystore" --approval required --downloads proxy
  wait_for a "http://127.0.0.1:$port/health"
  check "with approval an upload is pending" is "$(upload "$state/large.tar.gz" ask 1.0.0) $(field .status)" "201 pending"
  local id link
  id=$(field .id)
  link=$(field .download_url)
  check "a signed link gives the archive of a private repository" cmp "$state/large.tar.gz" <(curl -fsS "$link")
  check "and its ranges" cmp <(tail -c 1000 "$state/large.tar.gz") <(curl -fsS -r -1000 "$link")
  check "without the signature it does not" is "$(status "${link%%\?*}")" 403
  check "nor with another's" is "$(status "${link/signature=/signature=x}")" 403
  check "the repository is private" is "$(curl -sS -o /dev/null -w '%{http_code}' "http://127.0.0.1:$ds_port/v1/hf/$(repository ask)/resolve/main/adapter.tar.gz")" 401
  check "PATCH approves" is "$(status -X PATCH -d '{"status":"ready"}' -H 'Content-Type: application/json' "$url/$id") $(field .status)" "200 ready"
  check "namespaces" is "$(status -d '{"id":"team-a","description":"x"}' -H 'Content-Type: application/json' "http://127.0.0.1:$port/v1/namespaces") $(status -d '{"id":"team-a"}' -H 'Content-Type: application/json' "http://127.0.0.1:$port/v1/namespaces")" "201 409"
  check "datasets" is "$(status -d '{"name":"d","namespace":"team-a","files_url":"hf://x"}' -H 'Content-Type: application/json' "http://127.0.0.1:$port/v1/datasets") $(status -X PATCH -d '{"files_url":null,"a":1}' -H 'Content-Type: application/json' "http://127.0.0.1:$port/v1/datasets/team-a/d") $(field '"\(.a) \(.files_url)"') $(status -X DELETE "http://127.0.0.1:$port/v1/datasets/team-a/d") $(status "http://127.0.0.1:$port/v1/datasets/team-a/d")" "201 200 1 null 204 404"
}

leg() { # ENGINE
  engine=$1
  port=$(free_port)
  url=http://127.0.0.1:$port/v1/adapters
  database=(--database-url "sqlite:$state/entitystore.db")
  if [ "$engine" = postgresql ]; then
    "$postgres" available >/dev/null 2>&1 || { echo "skip $engine: no PostgreSQL server here" && return 0; }
    database=(--database-url "$("$postgres" start "$state/postgres")")
    # Init containers of two pods, at once, as the operator starts them.
    export STACKGATE_DATABASE_PASSWORD_FILE=$state/password
    cp "$state/postgres/password" "$state/password"
    "$entitystore" migrate --data-dir "$state/x" --datastore-url "http://127.0.0.1:$ds_port" "${database[@]}" >"$state/migrate1" 2>&1 &
    local one=$!
    check "two migrations at once" "$entitystore" migrate --data-dir "$state/y" --datastore-url "http://127.0.0.1:$ds_port" "${database[@]}"
    check "both succeed" wait "$one"
  fi
  start_store a "$port" "$entitystore"
  wait_for a "http://127.0.0.1:$port/health"
  uploads
  refusals
  crashes
  replicas
  outages
  ways
  stop a
}

ds_port=$(free_port)
"$datastore" init --data-dir "$state/data" >"$state/init.log" 2>&1 || { echo "not ok init" && cat "$state/init.log" && exit 1; }
start_datastore
for each in ${1:-sqlite postgresql}; do leg "$each"; done
exit "$failed"
