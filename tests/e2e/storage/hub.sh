#!/usr/bin/env bash
# The Hugging Face API with the npm client as it is, git beside it, and by curl what the Python client sends.
#   DATASTORE=build/release/bin/stackgate-datastore tests/e2e/storage/hub.sh [--s3]
# With --s3 first straight to and from the gateway by presigned URLs, then through the datastore.
set -euo pipefail
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
command -v npm >/dev/null || { echo "skip the Hugging Face client: install node and npm" && exit 0; }
client=$storage_here/../../../build/hub-client
mkdir -p "$client"
cp "$storage_here"/hub/{package.json,package-lock.json,client.mjs} "$client"
[ "$client/node_modules/.package-lock.json" -nt "$storage_here/hub/package-lock.json" ] ||
  (cd "$client" && npm ci --no-audit --no-fund >npm.log 2>&1) || { tail "$client/npm.log" >&2 && echo "skip the Hugging Face client: npm cannot fetch it" && exit 0; }
storage_begin
git lfs install --skip-repo >/dev/null 2>&1 || true

client_leg() {  # TYPE
  local status=0
  (cd "$client" && DIRECT=$direct HUB=$url/v1/hf TOKEN=$token OWNER=ada TYPE=$1 node client.mjs) || status=1
  ((status == 0)) || failed_checks=$((failed_checks + 1))
}

hub() {  # METHOD PATH [curl arguments]
  local method=$1 path=$2
  shift 2
  curl -s -X "$method" -H "Authorization: Bearer $token" "$@" "$url/v1/hf$path"
}
json='Content-Type: application/json'
code=(-o /dev/null -w '%{http_code}')

clone_has_large_files() {
  hub POST /api/repos/create -H "$json" -d '{"name":"cloned","type":"dataset","private":true}' -o /dev/null || return 1
  head -c 2000000 /dev/urandom >"$state/large one.bin"
  local oid href
  oid=$(sha256sum <"$state/large one.bin" | cut -d' ' -f1)
  href=$(hub POST /datasets/ada/cloned.git/info/lfs/objects/batch -H 'Content-Type: application/vnd.git-lfs+json' -H 'Accept: application/vnd.git-lfs+json' \
    -d "{\"operation\":\"upload\",\"transfers\":[\"basic\",\"multipart\"],\"hash_algo\":\"sha256\",\"objects\":[{\"oid\":\"$oid\",\"size\":2000000}]}" |
    jq -r .objects[0].actions.upload.href) || return 1
  # Nothing but the address: no credentials, no headers.
  is "$(curl -s -T "$state/large one.bin" "${code[@]}" "$href")" 200 || return 1
  printf '%s\n' '{"key":"header","value":{"summary":"Add","description":""}}' \
    "{\"key\":\"lfsFile\",\"value\":{\"path\":\"dir/large one.bin\",\"algo\":\"sha256\",\"oid\":\"$oid\",\"size\":2000000}}" \
    '{"key":"file","value":{"path":"a.txt","content":"aGVsbG8K","encoding":"base64"}}' >"$state/commit"
  hub POST /api/datasets/ada/cloned/commit/main -H 'Content-Type: application/x-ndjson' --data-binary "@$state/commit" | jq -e .success >/dev/null || return 1
  git clone -q "${url/:\/\//://$admin@}/ada/cloned.git" "$state/clone" || return 1
  cmp "$state/large one.bin" "$state/clone/dir/large one.bin" && is "$(cat "$state/clone/a.txt")" hello || return 1
  is "$(git -C "$state/clone" status --porcelain)" ''
}

refuses_a_large_file_that_is_not_there() {
  local body
  body=$(printf '%s\n' '{"key":"header","value":{"summary":"Add"}}' \
    "{\"key\":\"lfsFile\",\"value\":{\"path\":\"x\",\"algo\":\"sha256\",\"oid\":\"$(echo x | sha256sum | cut -d' ' -f1)\",\"size\":2}}")
  is "$(hub POST /api/datasets/ada/cloned/commit/main -d "$body" -H 'Content-Type: application/x-ndjson' "${code[@]}")" 422
}

uploads_in_parts() {
  head -c 150000000 /dev/zero | openssl enc -aes-128-ctr -K 00 -iv 00 2>/dev/null >"$state/parts" || return 1
  local oid size answer chunk parts='[]' number etag
  size=$(stat -c %s "$state/parts") oid=$(sha256sum <"$state/parts" | cut -d' ' -f1)
  answer=$(hub POST /datasets/ada/cloned.git/info/lfs/objects/batch -H 'Content-Type: application/vnd.git-lfs+json' \
    -d "{\"operation\":\"upload\",\"transfers\":[\"basic\",\"multipart\"],\"objects\":[{\"oid\":\"$oid\",\"size\":$size}]}") || return 1
  is "$(jq -r .transfer <<<"$answer")" multipart || return 1
  chunk=$(jq -r .objects[0].actions.upload.header.chunk_size <<<"$answer")
  for number in $(jq -r '.objects[0].actions.upload.header | keys[] | select(test("^[0-9]+$"))' <<<"$answer"); do
    dd if="$state/parts" bs="$chunk" skip=$((10#$number - 1)) count=1 status=none >"$state/part"
    etag=$(curl -s -T "$state/part" -D - -o /dev/null "$(jq -r ".objects[0].actions.upload.header[\"$number\"]" <<<"$answer")" |
      tr -d '\r' | sed -n 's/^[Ee][Tt]ag: //p')
    [ -n "$etag" ] || { echo "part $number has no ETag" >&2 && return 1; }
    parts=$(jq -c --arg etag "$etag" ". + [{partNumber: $((10#$number)), etag: \$etag}]" <<<"$parts")
  done
  local finish
  finish=$(jq -r .objects[0].actions.upload.href <<<"$answer")
  is "$(curl -s -H 'Content-Type: application/vnd.git-lfs+json' -d "{\"oid\":\"$oid\",\"parts\":[]}" "${code[@]}" "$finish")" 422 || return 1
  is "$(curl -s -H 'Content-Type: application/vnd.git-lfs+json' -d "{\"oid\":\"$oid\",\"parts\":$parts}" "${code[@]}" "$finish")" 200 || return 1
  is "$(hub POST /api/datasets/ada/cloned/commit/main -H 'Content-Type: application/x-ndjson' "${code[@]}" --data-binary \
    "$(printf '%s\n' '{"key":"header","value":{"summary":"Parts"}}' "{\"key\":\"lfsFile\",\"value\":{\"path\":\"parts.bin\",\"algo\":\"sha256\",\"oid\":\"$oid\",\"size\":$size}}")")" 200 || return 1
  hub GET /datasets/ada/cloned/resolve/main/parts.bin -L | cmp - "$state/parts"
}

downloads_as_python() {  # HEAD first, then the place it names, then ranges
  local head sha
  head=$(hub GET /datasets/ada/cloned/resolve/main/a.txt -I -H 'Accept-Encoding: identity' | tr -d '\r')
  sha=$(sed -n 's/^[Xx]-[Rr]epo-[Cc]ommit: //p' <<<"$head")
  [[ $sha =~ ^[0-9a-f]{40}$ ]] && grep -qi '^content-length: 6$' <<<"$head" && grep -qi '^etag: "[0-9a-f]\{40\}"' <<<"$head" || return 1
  head=$(hub GET "/datasets/ada/cloned/resolve/main/dir/large%20one.bin" -I | tr -d '\r')
  grep -qi '^x-linked-size: 2000000$' <<<"$head" && grep -qi '^x-linked-etag: "[0-9a-f]\{64\}"$' <<<"$head" || return 1
  head=$(hub GET "/datasets/ada/cloned/resolve/$sha/a.txt" -D - -o /dev/null)
  grep -qi '^cache-control: .*immutable' <<<"$head" || return 1
  is "$(hub GET /datasets/ada/cloned/resolve/main/a.txt -H 'Range: bytes=0-0' -o "$state/out" -w '%{http_code}')$(cat "$state/out")" 206h || return 1
  is "$(hub GET /datasets/ada/cloned/resolve/main/a.txt -H 'Range: bytes=9-' "${code[@]}")" 416 || return 1
  is "$(hub GET "/datasets/ada/cloned/resolve/main/dir/large%20one.bin" -L -H 'Range: bytes=1999999-' -o "$state/out" -w '%{http_code}')" 206 || return 1
  is "$(stat -c %s "$state/out")" 1 || return 1
  head=$(hub GET /datasets/ada/cloned/resolve/main/none -D - -o /dev/null | tr -d '\r')
  grep -q '404' <<<"$head" && grep -qi '^x-error-code: EntryNotFound$' <<<"$head" && grep -qi "^x-repo-commit: $sha" <<<"$head" || return 1
  hub GET /datasets/ada/cloned/resolve/nowhere/a.txt -D - -o /dev/null | grep -qi '^x-error-code: RevisionNotFound' || return 1
  hub GET /datasets/ada/none/resolve/main/a.txt -D - -o /dev/null | grep -qi '^x-error-code: RepoNotFound' || return 1
  is "$(curl -s "${code[@]}" "$url/v1/hf/datasets/ada/cloned/resolve/main/a.txt")" 401
}

asks_as_python() {
  is "$(hub POST /api/datasets/ada/cloned/paths-info/main -d 'paths=a.txt&paths=none&expand=true' | jq -r '[.[].path] | join(",")')" a.txt || return 1
  is "$(hub GET '/api/datasets/ada/cloned/revision/main?blobs=true' | jq -r '.siblings[] | select(.rfilename == "dir/large one.bin") | .lfs.size')" 2000000 || return 1
  hub GET /api/datasets/ada/cloned/refs | jq -e '.converts == [] and (.branches[0].name == "main")' >/dev/null || return 1
  is "$(hub POST /api/datasets/ada/cloned/preupload/main -H "$json" -d '{"files":[{"path":"a.txt","size":6,"sample":"aGVs"},{"path":"b.bin","size":1000001,"sample":""},{"path":"c","size":0,"sample":""}]}' |
    jq -c '[.files[] | [.uploadMode, .shouldIgnore, .oid]]')" '[["regular",false,"ce013625030ba8dba906f756967f9e9ca394464a"],["lfs",false,null],["regular",false,null]]' || return 1
  is "$(hub POST /api/datasets/ada/cloned/tag/main -H "$json" -d '{"tag":"v1.0","message":"First"}' "${code[@]}")" 200 || return 1
  is "$(hub POST /api/datasets/ada/cloned/tag/main -H "$json" -d '{"tag":"v1.0"}' "${code[@]}")" 409 || return 1
  is "$(hub GET /datasets/ada/cloned/resolve/v1.0/a.txt)" hello || return 1
  is "$(hub DELETE /api/datasets/ada/cloned/tag/v1.0 "${code[@]}")" 200 || return 1
  hub POST /api/validate-yaml -H "$json" -d '{"repoType":"model","content":"---\nlicense: [\n---\n"}' | jq -e '.errors | length == 1' >/dev/null || return 1
  hub GET /api/datasets/ada/cloned/xet-write-token/main | grep -q HF_HUB_DISABLE_XET=1 || return 1
  is "$(hub PUT /api/datasets/ada/cloned/settings -H "$json" -d '{"private":false}' | jq .private)" false || return 1
  is "$(curl -s "${code[@]}" "$url/v1/hf/datasets/ada/cloned/resolve/main/a.txt")" 200 || return 1
  is "$(hub POST /api/repos/move -H "$json" -d '{"fromRepo":"ada/cloned","toRepo":"ada/moved","type":"dataset"}' "${code[@]}")" 200 || return 1
  is "$(hub GET /datasets/ada/moved/resolve/main/a.txt)" hello || return 1
  is "$(hub POST /api/repos/move -H "$json" -d '{"fromRepo":"ada/moved","toRepo":"ada/cloned","type":"dataset"}' "${code[@]}")" 200
}

links_lead_to_pages() {  # as clients show them: at the endpoint, with and without escaped slashes
  local path to
  hub POST '/api/datasets/ada/cloned/branch/feature%2Fx' -o /dev/null || return 1
  for path in '' /tree/main /tree/main/dir /blob/main/a.txt '/blob/main/dir/large%20one.bin' /tree/feature%2Fx /tree/feature/x/dir /blob/feature/x/a.txt; do
    to=$(hub GET "/datasets/ada/cloned$path" -o /dev/null -w '%{http_code} %{redirect_url}')
    if [ "${to%% *}" != 302 ] || ! is "$(curl -s -u "$admin" "${code[@]}" "${to#* }")" 200; then
      echo "$path leads to $to" >&2
      return 1
    fi
  done
  is "$(hub GET /datasets/ada/cloned/tree/nowhere "${code[@]}")" 404 || return 1
  is "$(hub DELETE /api/datasets/ada/cloned/branch/feature%2Fx "${code[@]}")" 200
}

dates_have_fractions() {  # what huggingface_hub before 0.27 reads: %Y-%m-%dT%H:%M:%S.%fZ
  local path
  hub POST /api/repos/create -H "$json" -d '{"name":"bare","type":"dataset"}' -o /dev/null
  for path in /api/whoami-v2 /api/datasets /api/datasets/ada/cloned /api/datasets/ada/bare /api/datasets/ada/cloned/commits/main '/api/datasets/ada/cloned/tree/main?expand=true'; do
    hub GET "$path" | jq -e '[.. | objects | to_entries[] | select(.key | IN("createdAt", "lastModified", "date")) | .value] |
      length > 0 and all(test("^[0-9-]{10}T[0-9:]{8}[.][0-9]{1,6}Z$"))' >/dev/null || { echo "$path has a date without a fraction" >&2 && return 1; }
  done
}

filters_by_tags() {  # of the README's metadata, as list_datasets(filter=…) and list_models(filter=…) ask
  local name
  for name in card-a:en card-b:de; do
    hub POST /api/repos/create -H "$json" -d "{\"name\":\"${name%:*}\",\"type\":\"dataset\"}" -o /dev/null || return 1
    hub POST "/api/datasets/ada/${name%:*}/commit/main" -H 'Content-Type: application/x-ndjson' -o /dev/null --data-binary "$(printf '%s\n' '{"key":"header","value":{"summary":"Card"}}' \
      "{\"key\":\"file\",\"value\":{\"path\":\"README.md\",\"encoding\":\"utf-8\",\"content\":\"---\\nlicense: mit\\nlanguage: ${name#*:}\\ntags: [carded]\\n---\\n\"}}")" || return 1
  done
  found() { curl -s -D "$state/head" -H "Authorization: Bearer $token" "$url/v1/hf/api/datasets?$1" | jq -r '[.[].id] | sort | join(" ")'; }
  is "$(found filter=license:mit)" 'ada/card-a ada/card-b' || return 1
  is "$(found 'filter=license:mit&filter=language:de')" ada/card-b || return 1
  is "$(found 'filter=carded,language:en')" ada/card-a || return 1
  is "$(found filter=no-such-tag)" '' || return 1
  is "$(found 'filter=carded&limit=1&sort=id')" ada/card-a && grep -qi '^link: <http.*filter=carded.*rel="next"' "$state/head" || return 1
  is "$(curl -s -H "Authorization: Bearer $token" "$(tr -d '\r' <"$state/head" | sed -n 's/^[Ll]ink: <\(http[^>]*\)>.*/\1/p')" | jq -r '[.[].id] | join(" ")')" ada/card-b || return 1
  is "$(hub GET /api/datasets/ada/card-a | jq -r '.tags | join(" ")')" 'carded language:en license:mit'
}

pages_trees() {
  local lines count=0 page="$url/v1/hf/api/datasets/ada/many/tree/main?recursive=true&limit=100"
  hub POST /api/repos/create -H "$json" -d '{"name":"many","type":"dataset"}' -o /dev/null || return 1
  { echo '{"key":"header","value":{"summary":"Many"}}'
    for ((i = 0; i < 1000; i++)); do echo "{\"key\":\"file\",\"value\":{\"path\":\"d$((i % 7))/f$i\",\"content\":\"$i\",\"encoding\":\"utf-8\"}}"; done; } >"$state/many"
  hub POST /api/datasets/ada/many/commit/main -H 'Content-Type: application/x-ndjson' --data-binary "@$state/many" | jq -e .success >/dev/null || return 1
  while [ -n "$page" ]; do
    lines=$(curl -s -D "$state/head" "$page" | jq -r '.[] | select(.type == "file") | .path' | wc -l)
    count=$((count + lines))
    page=$(tr -d '\r' <"$state/head" | sed -n 's/^[Ll]ink: <\(http[^>]*\)>; rel="next"$/\1/p')
  done
  is "$count" 1000
}

breaks_off_cleanly() {  # a body that ends early, a line that is none, a path that leaves: nothing is committed
  local before body
  before=$(hub GET /api/datasets/ada/cloned/refs | jq -r .branches[0].targetCommit)
  for body in '{"key":"header","value":{"summary":"x"}}'$'\n''{"key":"file","value":{"path":"x","content":"' \
    '{"key":"header","value":{"summary":"x"}}'$'\n''{"key":"file","value":{"path":"../x","content":"","encoding":"base64"}}' \
    '{"key":"header","value":{"summary":"x"}}'$'\n''{"key":"file","value":{"path":".git/config","content":"","encoding":"base64"}}' \
    '{"key":"file","value":{"path":"x","content":"","encoding":"base64"}}' ''; do
    is "$(hub POST /api/datasets/ada/cloned/commit/main -H 'Content-Type: application/x-ndjson' --data-binary "$body" "${code[@]}")" 400 || return 1
  done
  is "$(hub GET /api/datasets/ada/cloned/refs | jq -r .branches[0].targetCommit)" "$before"
}

log_has_no_secret() { ! grep -q -e 'signature=[^.&"]' -e "${token#hf_sg}" -e correct-horse "$state/datastore.log"; }

direct=
leg() {
  token=$(datastore_token)
  client_leg dataset
  client_leg model
  check "$1: an upload by addresses alone, cloned by git" clone_has_large_files
  check "$1: a large file that is not there is refused" refuses_a_large_file_that_is_not_there
  check "$1: an upload in parts" uploads_in_parts
  check "$1: downloads as the Python client asks for them" downloads_as_python
  check "$1: breaks off cleanly" breaks_off_cleanly
  check "$1: pages of a tree" pages_trees
  check "$1: links that clients show lead to pages" links_lead_to_pages
  check "$1: every date has a fraction" dates_have_fractions
  check "$1: lists are filtered by tags of the card" filters_by_tags
  check "$1: the other calls as the Python client sends them" asks_as_python
  check "$1: the log holds no secret" log_has_no_secret
}
if [ "$storage_leg" = postgres-s3 ]; then
  serve --lfs-parts-from 100M
  direct=1
  leg s3-direct
  direct=
  end_soft "$server"
  rm -rf "$state/clone"
  fresh_place
  serve --lfs-parts-from 100M --s3-serve-direct=false
  leg s3-through
else
  serve --lfs-parts-from 100M
  leg directory
fi
storage_done
