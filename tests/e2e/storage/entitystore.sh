#!/usr/bin/env bash
# curl against stackgate-entitystore with a real datastore behind it: uploads good and bad, statuses, lists, downloads,
# two replicas, and a crash at every step of a registration. With --s3 both services on PostgreSQL, files in a Ceph gateway.
#   DATASTORE=… ENTITYSTORE=… ENTITYSTORE_FAIL_POINTS=… tests/e2e/storage/entitystore.sh [--s3]
# shellcheck disable=SC2154,SC2317 # what the libraries set; functions that check calls
set -euo pipefail
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
# shellcheck source=tests/e2e/storage/entitystore-lib.sh
source "$storage_here/entitystore-lib.sh"
is_cut() { ! "$@" || return 1; }

uploads() {
  local id etag
  check "liveness and readiness" is "$(status "http://127.0.0.1:$port/health")" 200
  check "an empty list" is "$(status "$url") $(cat "$state/body")" '200 {"adapters":[]}'
  check "an upload is registered" is "$(upload "$state/good.tar.gz" bot 1.0.0 ',"training":{"dataset":"d@abc","job_id":"j1","hyperparameters":{"epochs":3}},"metrics":{"train_loss":0.5},"tags":["prod"]')" 201
  check "as ready" is "$(field .status)" ready
  check "with what the file says" is "$(field '.lora_config | "\(.rank) \(.alpha) \(.dropout) \(.target_modules | join(","))"')" "8 16 0.05 q_proj,v_proj"
  id=$(field .id)
  check "the archive comes back by download_url, without credentials" cmp "$state/good.tar.gz" <(curl -fsSL "$(field .download_url)")
  check "a byte of it too" is "$(curl -sSL -r 0-0 -o /dev/null -w '%{http_code}' "$(field .download_url)")" 206
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
  check "the access log" is "$(curl -sS "$url/$id" >/dev/null && curl -sS "$url/$id/access-log" | jq -r '[.access_log[].action] | join(" ")')" "read download download upload"
  check "NeMo's list" is "$(curl -sS "http://127.0.0.1:$port/v1/models?filter\[namespace\]=default" | jq -r '"\(.object) \(.data[0].name) \(.pagination.total_results)"')" "list bot@1.0.0 3"
  check "NeMo's model" is "$(curl -sS "http://127.0.0.1:$port/v1/models/default/bot@1.1.0" | jq -r .peft.finetuning_type)" lora
  check "ready to pending" is "$(set_status "$id" pending) $(field .status)" "200 pending"
  check "the poller sees it" is "$(status -H "If-None-Match: $etag" "$url?status=ready") $(field '.adapters | length')" "200 2"
  check "pending to ready" is "$(set_status "$id" ready)" 200
  check "never to uploading" is "$(set_status "$id" uploading)" 409
  check "nor to anything else" is "$(set_status "$id" gone)" 422
  check "unknown adapters" is "$(status "$url/nope") $(status -X DELETE "$url/nope") $(set_status nope ready)" "404 404 404"
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
    STACKGATE_FAIL_POINT=$point run_store "$with_fail_points"
    check "a crash at \"$point\"" is_cut status -F "adapter=@$state/large.tar.gz" -F "metadata=$(metadata crash "$version.0.0")" "$url"
    { wait "${servers_of[a]}" || true; } 2>/dev/null
    run_store "$entitystore"
    if [ "$point" = received ]; then
      check "before there was a row: nothing is registered" becomes crash "$version.0.0" none
    else
      check "is made good after it" becomes crash "$version.0.0" ready
      check "with the archive" archive_is "$state/large.tar.gz" crash "$version.0.0"
    fi
    check "and nothing is left over" clean
  done
  check "one commit for each version" is "$(hub "api/models/$(repository crash)/commits/main?limit=100" | jq '[.[].title | select(startswith("crash"))] | length')" 8
  local id
  id=$(curl -sS "$url?name=crash" | jq -r '.adapters[0].id')
  stop a
  STACKGATE_FAIL_POINT=purging run_store "$with_fail_points"
  status -X DELETE "$url/$id" >/dev/null || true
  { wait "${servers_of[a]}" || true; } 2>/dev/null
  run_store "$entitystore"
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
  same_tag() { is "$(curl -sSi "$url" | grep -i '^etag')" "$(curl -sSi "$url_b" | grep -i '^etag')"; }
  check "both replicas say the same, entity tag and all" soon same_tag
  stop b
  STACKGATE_FAIL_POINT=stored start_store b "$other" "$with_fail_points"
  wait_for b "http://127.0.0.1:$other/health"
  curl -sS -o /dev/null -F "adapter=@$state/good.tar.gz" -F "metadata=$(metadata lost 1.0.0)" "$url_b" 2>/dev/null || true
  { wait "${servers_of[b]}" || true; } 2>/dev/null
  unset "servers_of[b]"
  check "what a replica took to its grave is failed by the other" becomes lost 1.0.0 failed
  check "and cleaned away" no_repository lost
  check "and may be uploaded again" is "$(upload "$state/good.tar.gz" lost 1.0.0)" 201
  check "nothing is left over" fsck
}

# in_time SECONDS WANTED COMMAND…: what it prints, and how long that took.
in_time() {
  local most=$1 wanted=$2 got began=$SECONDS
  shift 2
  got=$("$@")
  is "$got" "$wanted" && { ((SECONDS - began <= most)) || { echo "after $((SECONDS - began)) s" && return 1; }; }
}
ready_says() { curl -sS "http://127.0.0.1:$port/v1/health/ready" | jq -e "$1"; }

outages() {
  check "an adapter to be downloaded" is "$(upload "$state/good.tar.gz" hung 1.0.0)" 201
  kill -STOP "${servers_of[datastore]}"
  check "a datastore that takes connections and says nothing: readiness tells" soon ready_says '.status == "warn" and (.checks.datastore.output | test("is away"))'
  check "an upload is refused in time" in_time 20 503 upload "$state/good.tar.gz" hung 1.1.0
  status "$url/$(id_of hung 1.0.0)" >/dev/null
  check "so is a download" in_time 20 503 status "$(field .download_url)"
  check "lists go on" is "$(status "$url")" 200
  kill -CONT "${servers_of[datastore]}"
  check "and when it goes on, so does readiness" soon ready_says '.status == "pass"'
  check "and the upload" is "$(upload "$state/good.tar.gz" hung 1.1.0)" 201
  stop datastore
  check "without a datastore an upload is refused" is "$(upload "$state/good.tar.gz" away 1.0.0)" 503
  check "lists go on" is "$(status "$url")" 200
  check "it is told as failed" is "$(state_of away 1.0.0)" failed
  start_datastore
  check "it may come again" is "$(upload "$state/good.tar.gz" away 1.0.0)" 201
  stop a
  STACKGATE_FAIL_POINT=archive run_store "$with_fail_points"
  upload "$state/large.tar.gz" wait 1.0.0 >/dev/null 2>&1 || true
  { wait "${servers_of[a]}" || true; } 2>/dev/null
  stop datastore
  run_store "$entitystore"
  check "a datastore that is away is told at the start, with its URL" soon grep -q "the datastore cannot be used yet.*http://127.0.0.1:$ds_port.*is away" "$state/a.log"
  check "an interrupted upload waits for the datastore" soon grep -q 'an interrupted registration waits' "$state/a.log"
  check "and is said to be uploading" is "$(state_of wait 1.0.0)" uploading
  start_datastore
  check "and is finished when it is back" becomes wait 1.0.0 ready
  check "and nothing is left" clean
}

ways() {
  stop a
  run_store "$entitystore" --approval required --downloads proxy
  check "with approval an upload is pending" is "$(upload "$state/large.tar.gz" ask 1.0.0) $(field .status)" "201 pending"
  local id link
  id=$(field .id)
  link=$(field .download_url)
  check "a signed link gives the archive of a private repository" cmp "$state/large.tar.gz" <(curl -fsS "$link")
  check "and its ranges" cmp <(tail -c 1000 "$state/large.tar.gz") <(curl -fsS -r -1000 "$link")
  check "without the signature it does not" is "$(status "${link%%\?*}")" 403
  check "nor with another's" is "$(status "${link/signature=/signature=x}")" 403
  check "the repository is private" is "$(curl -sS -o /dev/null -w '%{http_code}' "http://127.0.0.1:$ds_port/v1/hf/$(repository ask)/resolve/main/adapter.tar.gz")" 401
  check "each download is noted, with its trace" is "$(curl -sS "$url/$id/access-log" | jq -r '[.access_log[] | select(.trace_id | test("^[0-9a-f]{32}$")) | .action] | join(" ")')" "download download upload"
  check "PATCH approves" is "$(set_status "$id" ready) $(field .status)" "200 ready"
  check "namespaces" is "$(status -d '{"id":"team-a","description":"x"}' -H 'Content-Type: application/json' "http://127.0.0.1:$port/v1/namespaces") $(status -d '{"id":"team-a"}' -H 'Content-Type: application/json' "http://127.0.0.1:$port/v1/namespaces")" "201 409"
  check "datasets" is "$(status -d '{"name":"d","namespace":"team-a","files_url":"hf://x"}' -H 'Content-Type: application/json' "http://127.0.0.1:$port/v1/datasets") $(status -X PATCH -d '{"files_url":null,"a":1}' -H 'Content-Type: application/json' "http://127.0.0.1:$port/v1/datasets/team-a/d") $(field '"\(.a) \(.files_url)"') $(status -X DELETE "http://127.0.0.1:$port/v1/datasets/team-a/d") $(status "http://127.0.0.1:$port/v1/datasets/team-a/d")" "201 200 1 null 204 404"
}

direct() { # public repositories, by choice
  stop a
  run_store "$entitystore" --downloads direct --trust-forwarded
  check "an upload by somebody whom the proxy names" is "$(status -H 'X-Remote-User: ada' -F "adapter=@$state/good.tar.gz" -F "metadata=$(metadata open 1.0.0)" "$url")" 201
  local id
  id=$(field .id)
  check "the URL is the datastore's" is "$(field .download_url | grep -c "^http://127.0.0.1:$ds_port/v1/hf/.*/adapter.tar.gz$")" 1
  check "which asks for no credentials" cmp "$state/good.tar.gz" <(curl -fsSL "$(field .download_url)")
  check "our own address leads there" cmp "$state/good.tar.gz" <(curl -fsSL "$url/$id/archive")
  check "the redirect is noted, and who uploaded" is "$(curl -sS "$url/$id/access-log" | jq -r '[.access_log[] | "\(.action) \(.actor)"] | join(", ")')" "redirect , upload ada"
}

says_why() { status "$1" && grep -q 'DATASTORE_USERNAME and DATASTORE_PASSWORD' "$state/body"; }
credentials() { # wrong ones, or none: not ready, with words
  local other word password
  other=$(free_port)
  for word in wrong none; do
    if [ "$word" = wrong ]; then password=(DATASTORE_PASSWORD=wrong); else password=(-u DATASTORE_USERNAME -u DATASTORE_PASSWORD); fi
    setsid env "${password[@]}" "$entitystore" serve --data-dir "$state/$engine-$word" --listen "127.0.0.1:$other" \
      --datastore-url "http://127.0.0.1:$ds_port" --database-url "sqlite:$state/$word.db" >>"$state/$word.log" 2>&1 &
    started "$word"
    check "$word credentials: it lives" soon curl -fsS -o /dev/null "http://127.0.0.1:$other/v1/health/live"
    check "$word credentials: but is not ready" is "$(status "http://127.0.0.1:$other/v1/health/ready")" 503
    check "$word credentials: and says why" soon says_why "http://127.0.0.1:$other/v1/health/ready"
    stop "$word"
  done
}

ask_b() { status -F "adapter=@$state/other.tar.gz" -F "metadata=$(metadata "$1" "$2")" "http://127.0.0.1:$other/v1/adapters"; }
gone_b() { is "$("$entitystore" fsck --data-dir "$state/$engine-stranger" --datastore-url "http://127.0.0.1:$ds_port" --database-url "sqlite:$state/stranger.db" --datastore-owner "$owner" | tail -1)" "0 adapters, 0 faults"; }
describe() { curl -sS -o /dev/null -X PATCH -u "admin:$GIT_ADMIN_PASSWORD" -H 'Content-Type: application/json' -d "{\"description\":\"$2\"}" "http://127.0.0.1:$ds_port/api/v1/repos/$(repository "$1")"; }
strangers() { # a second entitystore with another database, at the same datastore and with the same owner
  local other id_b real=("${database[@]}") id
  other=$(free_port)
  check "a repository with an adapter" is "$(upload "$state/good.tar.gz" mine 1.0.0)" 201
  id=$(field .id)
  database=(--database-url "sqlite:$state/stranger.db")
  start_store stranger "$other" "$entitystore"
  database=("${real[@]}")
  wait_for stranger "http://127.0.0.1:$other/health"
  check "is not another database's to write to" is "$(ask_b mine 1.0.0) $(grep -c -- "$(repository mine) belongs to .*--datastore-owner" "$state/body")" "409 1"
  check "nor under another version" is "$(ask_b mine 2.0.0)" 409
  id_b=$(curl -sS "http://127.0.0.1:$other/v1/adapters" | jq -r '.adapters[0].id')
  check "what was refused there is deleted there" is "$(status -X DELETE "http://127.0.0.1:$other/v1/adapters/$id_b")" 204
  for id_b in $(curl -sS "http://127.0.0.1:$other/v1/adapters" | jq -r '.adapters[].id'); do status -X DELETE "http://127.0.0.1:$other/v1/adapters/$id_b" >/dev/null; done
  check "and cleaned away there" soon gone_b
  check "ours is as it was" archive_is "$state/good.tar.gz" mine 1.0.0
  describe mine ''
  check "without a mark, as before there were any, it is nobody else's either" is "$(ask_b mine 3.0.0) $(grep -c 'no record of it' "$state/body")" "409 1"
  for id_b in $(curl -sS "http://127.0.0.1:$other/v1/adapters" | jq -r '.adapters[].id'); do status -X DELETE "http://127.0.0.1:$other/v1/adapters/$id_b" >/dev/null; done
  check "nor to delete" soon gone_b
  check "but ours" is "$(upload "$state/other.tar.gz" mine 1.1.0)" 201
  check "with its files" archive_is "$state/good.tar.gz" mine 1.0.0
  check "and the stranger makes its own" is "$(ask_b theirs 1.0.0) $(upload "$state/good.tar.gz" theirs 1.0.0)" "201 409"
  stop stranger
  for id in $(curl -sS "$url?name=mine" | jq -r '.adapters[].id') $(id_of theirs 1.0.0); do status -X DELETE "$url/$id" >/dev/null; done
  check "nothing is left over" clean
  check "ours goes with its last version" no_repository mine
  check "theirs stays" is "$(hub "api/models/$(repository theirs)" | jq -r .id)" "$(repository theirs)"
}

migrations() { # init containers of two pods, at once, as the operator starts them
  "$entitystore" migrate --data-dir "$state/x" --datastore-url "http://127.0.0.1:$ds_port" "${database[@]}" >"$state/migrate1" 2>&1 &
  local one=$!
  check "two migrations at once" "$entitystore" migrate --data-dir "$state/y" --datastore-url "http://127.0.0.1:$ds_port" "${database[@]}"
  check "both succeed" wait "$one"
}

storage_begin
entitystore_begin
adapter "$state/other.tar.gz" --seed 2 --folder my-adapter/
if [ "$engine" = postgres-s3 ]; then migrations; fi
run_store "$entitystore"
uploads
refusals
crashes
replicas
outages
ways
direct
strangers
credentials
storage_done
