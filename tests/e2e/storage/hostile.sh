#!/usr/bin/env bash
# What no honest client sends: paths that climb out, forged tokens, tokens of another repository, lies about sizes, bombs,
# guessed passwords.
#   DATASTORE=build/release/bin/stackgate-datastore tests/e2e/storage/hostile.sh [--s3]
set -euo pipefail
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
storage_begin
serve --s3-serve-direct=false
make_repository mine
make_repository other
hub_body 3 base 50 >"$state/body"
hub_commit mine "$state/body" >/dev/null
hub_commit other "$state/body" >/dev/null
echo outside-secret >"$state/secret"
find "$state/data" -type f | sort >"$state/files-before"

climbs='.. %2e%2e ..%2f..%2f..%2f..%2fsecret %2e%2e%2f%2e%2e%2fsecret ..%5c..%5csecret %2fetc%2fpasswd ../../../../../../etc/passwd
  ....//....//secret base/..%2f..%2f..%2fHEAD base/../../../../secret %00 base%00.bin .git/config .git%2fconfig ..;/secret %c0%ae%c0%ae%2fsecret
  %252e%252e%252fsecret -- -h --upload-pack=touch%20x refs%2fheads%2f..%2f..%2f..%2fsecret main..main @%7b-1%7d main%5e%7b/x%7d'

# Every place of every route that takes something from a client.
places=(
  'GET /{}/mine.git/info/refs?service=git-upload-pack' 'GET /ada/{}.git/info/refs?service=git-upload-pack'
  'GET /ada/{}/info/refs?service=git-receive-pack' 'POST /ada/{}.git/git-upload-pack' 'POST /ada/{}.git/git-receive-pack'
  'GET /ada/mine.git/objects/{}' 'GET /ada/mine.git/{}'
  'GET /ada/mine.git/info/lfs/objects/{}' 'PUT /ada/mine.git/info/lfs/objects/{}' 'PUT /ada/mine.git/info/lfs/objects/{}/parts/1'
  'POST /ada/mine.git/info/lfs/locks/{}/unlock' 'GET /ada/mine.git/info/lfs/locks?path={}' 'GET /ada/{}.git/info/lfs/locks'
  'GET /api/v1/repos/{}/mine' 'GET /api/v1/repos/ada/{}' 'DELETE /api/v1/repos/ada/{}' 'GET /api/v1/repos/ada/mine/contents/{}'
  'GET /api/v1/repos/ada/mine/contents/base?ref={}' 'GET /api/v1/repos/ada/mine/raw/{}' 'GET /api/v1/repos/ada/mine/media/{}'
  'GET /api/v1/repos/ada/mine/branches/{}' 'DELETE /api/v1/repos/ada/mine/branches/{}' 'GET /api/v1/repos/ada/mine/tags/{}'
  'DELETE /api/v1/repos/ada/mine/tags/{}' 'GET /api/v1/repos/ada/mine/git/trees/{}' 'GET /api/v1/repos/ada/mine/git/commits/{}'
  'GET /api/v1/repos/ada/mine/commits?sha={}' 'GET /api/v1/users/{}/tokens' 'GET /api/v1/users/{}' 'GET /v1/datastore/namespaces/{}'
  'GET /v1/hf/api/models/{}/mine' 'GET /v1/hf/api/models/ada/{}' 'GET /v1/hf/api/models/ada/mine/revision/{}'
  'GET /v1/hf/api/models/ada/mine/tree/{}' 'GET /v1/hf/api/models/ada/mine/tree/main/{}' 'GET /v1/hf/api/models/ada/mine/commits/{}'
  'POST /v1/hf/api/models/ada/mine/branch/{}' 'DELETE /v1/hf/api/models/ada/mine/branch/{}' 'POST /v1/hf/api/models/ada/mine/tag/{}'
  'DELETE /v1/hf/api/models/ada/mine/tag/{}' 'POST /v1/hf/api/models/ada/mine/commit/{}' 'POST /v1/hf/api/models/ada/mine/preupload/{}'
  'GET /v1/hf/ada/mine/resolve/{}/base/0/0.bin' 'GET /v1/hf/ada/mine/resolve/main/{}' 'GET /v1/hf/ada/mine/raw/main/{}'
  'GET /v1/hf/{}/mine/resolve/main/base/0/0.bin' 'GET /{}' 'GET /ada/{}' 'GET /ada/mine/{}' 'GET /ada/mine/src/branch/main/{}'
  'GET /ada/mine/raw/main/{}' 'GET /static/{}' 'GET /assets/{}'
)

climbing() {  # never 5xx, never anything of the machine's or the folder's own files, nothing new on disk
  local place method path climb bad=0 calls=0
  : >"$state/urls"
  for place in "${places[@]}"; do
    method=${place%% *} path=${place#* }
    for climb in $climbs; do
      printf 'next\nrequest = %s\nurl = "%s%s"\noutput = "%s"\npath-as-is\nglobal-marker\n' "$method" "$url" "${path//\{\}/$climb}" "$state/out/$calls"
      calls=$((calls + 1))
    done
  done >"$state/urls"
  mkdir -p "$state/out"
  sed -i -e '1d' -e '/^global-marker$/d' "$state/urls"
  # Options do not outlive "next": each block gets its own.
  awk -v user="$admin" '/^request/ { print "user = \"" user "\""; print "silent"; print "write-out = \"%{http_code} %{method} %{url}\\n\"";
    print "max-time = 20"; if ($3 != "GET" && $3 != "DELETE") { print "data = \"x\"" } } { print }' "$state/urls" >"$state/config"
  curl -K "$state/config" >"$state/codes" 2>"$state/curl.err" || true
  is "$(wc -l <"$state/codes")" "$calls" || bad=1
  ! grep -E '^(000|5)' "$state/codes" | head -5 | grep . >&2 || bad=1
  ! grep -rlaE 'outside-secret|root:x:|repositoryformatversion|\[core\]' "$state/out" | head -3 | grep . >&2 || bad=1
  echo "  $calls calls: $(cut -d' ' -f1 "$state/codes" | sort | uniq -c | awk '{print $2" x "$1}' | xargs | sed 's/ \([0-9]* x\)/, \1/g')"
  return "$bad"
}
check "$storage_leg: no path climbs out, none makes a 5xx" climbing
check "$storage_leg: and nobody's repository went" is "$(status_of -u "$admin" "$url/api/v1/repos/ada/mine")$(status_of -u "$admin" "$url/api/v1/repos/ada/other")" 200200
check "$storage_leg: and nothing was written outside" is "$(find "$state" -maxdepth 1 -newer "$state/files-before" -name 'x*' | wc -l)" 0

commit_with() {  # PATH as JSON: the status of a commit that brings this file
  printf '{"key":"header","value":{"summary":"s"}}\n{"key":"file","value":{"path":%s,"content":"eA==","encoding":"base64"}}\n' "$1" |
    status_of -u "$admin" -H 'Content-Type: application/x-ndjson' --data-binary @- "$url/v1/hf/api/models/ada/mine/commit/main"
}
evil_names() {
  local name code
  for name in '"../x"' '"a/../../x"' '"/etc/x"' '".git/hooks/post-update"' '"a/.git/config"' '".GIT/config"' '"a//b"' '"./a"' '"a/."' '"a/.."' \
    '"a\u0000b"' '""' '"a/"' '".git"' '"git~1/x"' '".gi\u200ct/config"'; do
    code=$(commit_with "$name")
    [[ $code == 4* ]] || { echo "  $name: $code" >&2 && return 1; }
  done
}
check "$storage_leg: no commit brings a file outside or into .git" evil_names

# --- tokens
b64() { base64 -w0 | tr '+/' '-_' | tr -d '='; }
printf 'token bytes' >"$state/token"
oid=$(sha256sum "$state/token" | cut -d' ' -f1)
link=$(lfs_batch mine upload "$oid" 11 | jq -c '.objects[0].actions.upload')
href=$(jq -r .href <<<"$link")
token=$(jq -r '.header.Authorization' <<<"$link" | sed 's/^Bearer //')
IFS=. read -r head payload signature <<<"$token"
put() { status_of -T "$state/token" -H "Authorization: Bearer $1" "${2:-$href}"; }
sign() { printf '%s' "$1" | openssl dgst -binary "-${3:-sha256}" -hmac "$2" | b64; }

forged_tokens() {
  local alg text claims now
  for alg in none None NONE '' HS384 HS512 RS256 ES256 PS256 EdDSA hs256; do
    text=$(printf '{"alg":"%s","typ":"JWT"}' "$alg" | b64).$payload
    for text in "$text." "$text.$signature" "$text.$(sign "$text" "$STACKGATE_LFS_JWT_SECRET")" "$text.$(sign "$text" "$STACKGATE_LFS_JWT_SECRET" sha512)"; do
      is "$(put "$text")" 401 || { echo "  alg $alg" >&2 && return 1; }
    done
  done
  claims=$(printf '%s' "$payload" | tr -- '-_' '+/' | base64 -d 2>/dev/null || true)
  now=$(date +%s)
  [[ $claims == *'"exp"'* ]] || { echo "  the token has no exp: $claims" >&2 && return 1; }
  forge() { local t; t=$head.$(printf '%s' "$1" | b64) && echo "$t.$(sign "$t" "$2")"; }
  is "$(put "$(forge "$claims" wrong-secret-wrong-secret-wrong-se)")" 401 || return 1
  # Signed with the right secret, and still not good: expired, not yet, without an end, of another kind.
  is "$(put "$(forge "$(jq -c ".exp = $((now - 400))" <<<"$claims")" "$STACKGATE_LFS_JWT_SECRET")")" 401 || return 1
  is "$(put "$(forge "$(jq -c ".nbf = $((now + 4000))" <<<"$claims")" "$STACKGATE_LFS_JWT_SECRET")")" 401 || return 1
  is "$(put "$(forge "$(jq -c 'del(.exp)' <<<"$claims")" "$STACKGATE_LFS_JWT_SECRET")")" 401 || return 1
  is "$(put "$(forge "$(jq -c '.exp = "soon"' <<<"$claims")" "$STACKGATE_LFS_JWT_SECRET")")" 401 || return 1
  is "$(put "$(forge '[]' "$STACKGATE_LFS_JWT_SECRET")")" 401 || return 1
  for text in '' . .. ... "$head" "$head.$payload" "$token.x" "$token=" "$head.$payload.${signature:0:10}" "$(head -c 7000 /dev/zero | tr '\0' a)"; do
    is "$(put "$text")" 401 || { echo "  token ${text:0:40}" >&2 && return 1; }
  done
}
check "$storage_leg: forged tokens of every kind are refused" forged_tokens
foreign_tokens() {
  is "$(put "$token" "${href/ada\/mine/ada\/other}")" 401 || return 1
  is "$(put "$token" "${href/$oid/$(echo x | sha256sum | cut -d' ' -f1)}")" 401 || return 1
  is "$(status_of -H "Authorization: Bearer $token" "$url/api/v1/user")" 401 || return 1
  is "$(status_of -H "Authorization: Bearer $token" "$url/v1/hf/api/whoami-v2")" 401 || return 1
  is "$(status_of -H "Authorization: Bearer $token" "$url/ada/mine.git/info/refs?service=git-receive-pack")" 401 || return 1
  is "$(put "$token")" 200
}
check "$storage_leg: a token opens its own file of its own repository, nothing else" foreign_tokens

# --- lies
lies() {
  local code entry large
  head -c 100000 /dev/urandom >"$state/lie"
  large=$(sha256sum "$state/lie" | cut -d' ' -f1)
  for size in 99999 100001 1 0 9000000000; do
    entry=$(lfs_batch mine upload "$large" "$size" | jq -c '.objects[0]')
    link=$(jq -c '.actions.upload // empty' <<<"$entry")
    [ -n "$link" ] || continue
    code=$(carry_out "$link" -T "$state/lie")
    [[ $code == 4* ]] || { echo "  told $size, sent 100000: $code" >&2 && return 1; }
  done
  is "$(lfs_batch mine download "$large" 100000 | jq '.objects[0].error.code')" 404 || return 1
  for size in -1 1.5 '"1"' null 1e30 18446744073709551616 9223372036854775808; do
    entry=$(lfs_batch mine upload "$large" "$size" | jq -r '.objects[0].error.code // .message // empty')
    [ -n "$entry" ] || { echo "  size $size was taken" >&2 && return 1; }
  done
  code=$(printf '{"key":"header","value":{"summary":"s"}}\n{"key":"lfsFile","value":{"path":"l","algo":"sha256","oid":"%s","size":100000}}\n' "$large" |
    status_of -u "$admin" -H 'Content-Type: application/x-ndjson' --data-binary @- "$url/v1/hf/api/models/ada/mine/commit/main")
  [[ $code == 4* ]] || { echo "  a commit of a file that is not here: $code" >&2 && return 1; }
}
check "$storage_leg: lies about sizes are found out and leave nothing" lies

rss() { awk '/VmHWM/ {print int($2 / 1024)}' "/proc/$server/status"; }
bombs() {  # a gigabyte of zeros in a megabyte, to everything that reads a body
  local before path code
  before=$(rss)
  head -c 1000000000 /dev/zero | gzip -1 >"$state/bomb.gz"
  for path in "/api/v1/user/repos application/json" "/v1/hf/api/models/ada/mine/commit/main application/x-ndjson" \
    "/v1/hf/api/models/ada/mine/preupload/main application/json" "/ada/mine.git/info/lfs/objects/batch $media" "/ada/mine.git/info/lfs/locks/verify $media" \
    "/ada/mine.git/git-upload-pack application/x-git-upload-pack-request" "/ada/mine.git/git-receive-pack application/x-git-receive-pack-request"; do
    code=$(status_of -u "$admin" -H "Content-Type: ${path#* }" -H 'Content-Encoding: gzip' --data-binary "@$state/bomb.gz" "$url${path% *}")
    [[ $code == 4* ]] || { echo "  ${path% *}: $code" >&2 && return 1; }
  done
  code=$(printf 'not gzip' | status_of -u "$admin" -H 'Content-Type: application/json' -H 'Content-Encoding: gzip' --data-binary @- "$url/api/v1/user/repos")
  [[ $code == 4* ]] || { echo "  no gzip: $code" >&2 && return 1; }
  (($(rss) < before + 96)) || { echo "  memory went from $before to $(rss) MiB" >&2 && return 1; }
}
# What happens before anything is stored is the same over any store.
[ "$storage_leg" != sqlite ] || check "$storage_leg: gzip bombs are cut, memory stays" bombs
deep_json() {
  local code
  code=$(python3 -c 'print("[" * 200000)' | status_of -u "$admin" -H 'Content-Type: application/json' --data-binary @- "$url/api/v1/user/repos")
  [[ $code == 4* ]] || { echo "  deep JSON: $code" >&2 && return 1; }
  code=$(python3 -c 'print("{\"key\":\"header\",\"value\":" + "{\"a\":" * 100000)' | status_of -u "$admin" -H 'Content-Type: application/x-ndjson' --data-binary @- "$url/v1/hf/api/models/ada/mine/commit/main")
  [[ $code == 4* ]] || { echo "  deep NDJSON: $code" >&2 && return 1; }
  code=$(head -c 300000 /dev/zero | tr '\0' a | status_of -H @- "$url/api/v1/user")
  [[ $code == 4* || $code == 000 ]] || { echo "  long headers: $code" >&2 && return 1; }
}
[ "$storage_leg" != sqlite ] || check "$storage_leg: deep and long input is refused" deep_json

guessing() {
  local code codes='' i
  for i in {1..9}; do codes+=" $(status_of -u "ada:guess-$i" "$url/api/v1/user")"; done
  [[ $codes == *429* && $codes != *200* ]] || { echo "  got$codes" >&2 && return 1; }
  # The same account is slowed on every door.
  for path in /v1/hf/api/whoami-v2 '/ada/mine.git/info/refs?service=git-receive-pack' /api/v1/user/repos; do
    is "$(status_of -u ada:again "$url$path")" 429 || return 1
  done
  code=$(curl -s -D - -o /dev/null -u ada:again "$url/api/v1/user" | grep -ic '^retry-after: [0-9]')
  is "$code" 1
}
check "$storage_leg: guessed passwords are slowed, at every door" guessing
check "$storage_leg: nothing secret is in the log" fails grep -qE "correct-horse|$STACKGATE_LFS_JWT_SECRET|$signature" "$state/datastore.log"
check "$storage_leg: the process is the one that was started" kill -0 "$server"
check "$storage_leg: all is sound" all_sound
storage_done
