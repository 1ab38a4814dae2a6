#!/usr/bin/env bash
# Large files with git and git-lfs as they are, and by curl what they would never send.
#   DATASTORE=build/release/bin/stackgate-datastore tests/e2e/storage/lfs.sh [--s3]
# With --s3 large files lie in a real Ceph gateway: first straight by presigned URLs, then through the datastore.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/support/datastore.sh
source "$here/../../support/datastore.sh"
command -v git-lfs >/dev/null || { echo "skip large files: install git-lfs" && exit 0; }
state=$(mktemp -d)
# shellcheck disable=SC2317 # called by the trap
finish() {
  datastore_stop
  [ ! -e "$state/rgw" ] || "$here/../../support/rgw.sh" stop "$state/rgw" || true
  rm -rf "$state"
}
trap finish EXIT
trap 'exit 130' INT TERM

store=()
if [ "${1:-}" = --s3 ]; then
  command -v radosgw >/dev/null || { echo "skip large files on Ceph: install radosgw, ceph-mon, ceph-osd" && exit 0; }
  facts=$("$here/../../support/rgw.sh" start "$state/rgw") || { echo "not ok a Ceph gateway starts" && exit 1; }
  fact() { sed -n "s/^$1=//p" <<<"$facts"; }
  endpoint=$(fact endpoint)
  store=(--s3-endpoint "${endpoint#http://}" --s3-ssl=false --s3-bucket "$(fact bucket)" --s3-region "$(fact region)"
    S3_ACCESS_KEY="$(fact access_key)" S3_SECRET_KEY="$(fact secret_key)")
fi

export HOME=$state GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
git config --global user.name Ada
git config --global user.email ada@example.org
git config --global init.defaultBranch main
git config --global lfs.locksverify true
git config --global advice.detachedHead false
git lfs install --skip-repo >/dev/null

media='application/vnd.git-lfs+json'
make_repository() {  # NAME PRIVATE
  curl -sf -u ada:correct-horse -H 'Content-Type: application/json' -o /dev/null -d "{\"name\":\"$1\",\"private\":$2}" "$url/api/v1/user/repos"
}
with_password() { echo "${url/:\/\//://ada:correct-horse@}/ada/$1.git"; }
lfs_post() {  # REPOSITORY PATH BODY [curl arguments]
  local repository=$1 path=$2 body=$3
  shift 3
  curl -s -u ada:correct-horse -H "Content-Type: $media" -H "Accept: $media" -d "$body" "$@" "$url/ada/$repository.git/info/lfs/$path"
}
batch_of() { printf '{"operation":"%s","transfers":["basic"],"objects":[{"oid":"%s","size":%s}]}' "$1" "$2" "$3"; }
status_of() { curl -s -o /dev/null -w '%{http_code}' "$@"; }
oid_of() { sha256sum | cut -d' ' -f1; }
is() { [ "$1" = "$2" ] || { echo "expected \"$2\", got \"$1\"" >&2 && return 1; }; }

push_and_clone() {  # NAME
  local name=$1
  make_repository "$name" true || return 1
  git init -q "$state/$name" && cd "$state/$name" || return 1
  git lfs track '*.bin' >/dev/null
  mkdir -p 'dir with space'
  head -c 5000000 /dev/urandom >large.bin
  head -c 100 /dev/urandom >'dir with space/sm+all#1.bin'
  : >empty.bin
  for ((i = 0; i < 30; i++)); do echo "$name $i" >"many-$i.bin"; done
  git add . && git commit -qm 'Large files' || return 1
  git push -q "$(with_password "$name")" main 2>"$state/push.log" || { cat "$state/push.log" >&2 && return 1; }
  cd "$state" && git clone -q "$(with_password "$name")" "$name-clone" || return 1
  diff -r --exclude=.git "$name" "$name-clone"
}

pushes_nothing_twice() {  # NAME
  local before after
  before=$(grep -c 'PUT' "$state/datastore.log" || true)
  cd "$state/$1" && git branch -f again && git push -q "$(with_password "$1")" again 2>/dev/null || return 1
  after=$(grep -c 'PUT' "$state/datastore.log" || true)
  is "$after" "$before"
}

fetches_with_ranges() {  # an interrupted download goes on where it ended
  local oid size link
  cd "$state/$1" || return 1
  oid=$(oid_of <large.bin) size=$(stat -c %s large.bin)
  rm -rf "$state/$1-resume"
  GIT_LFS_SKIP_SMUDGE=1 git clone -q "$(with_password "$1")" "$state/$1-resume" || return 1
  cd "$state/$1-resume" || return 1
  mkdir -p ".git/lfs/incomplete" && head -c 3000000 "$state/$1/large.bin" >".git/lfs/incomplete/$oid.part"
  GIT_TRACE=1 GIT_CURL_VERBOSE=1 git lfs pull 2>"$state/resume.log" || return 1
  cmp "$state/$1/large.bin" large.bin && grep -q 'Range: bytes=3000000-' "$state/resume.log" &&
    grep -q '206 Partial' "$state/resume.log" || return 1
  link=$(lfs_post "$1" objects/batch "$(batch_of download "$oid" "$size")" | jq -r '.objects[0].actions.download')
  is "$(curl -s -H "Authorization: $(jq -r '.header.Authorization // empty' <<<"$link")" -H 'Range: bytes=0-0' -o /dev/null \
    -w '%{http_code} %{size_download}' "$(jq -r .href <<<"$link")")" '206 1'
}

locks() {
  local name=$1 id
  cd "$state/$name" || return 1
  git remote add origin "$(with_password "$name")" 2>/dev/null || true
  git lfs lock large.bin >/dev/null || return 1
  git lfs locks | grep -q 'large.bin.*ada' || return 1
  ! git lfs lock large.bin >/dev/null 2>&1 || return 1
  id=$(lfs_post "$name" locks/verify '{"ref":{"name":"refs/heads/main"}}' | jq -r '.ours[0].id')
  is "$(lfs_post "$name" locks '{"path":"large.bin"}' | jq -r .lock.id)" "$id" || return 1
  is "$(lfs_post "$name" locks '{"path":"large.bin"}' -o /dev/null -w '%{http_code}')" 409 || return 1
  is "$(lfs_post "$name" locks '{"path":"../../etc/passwd"}' -o /dev/null -w '%{http_code}')" 422 || return 1
  git lfs unlock large.bin >/dev/null || return 1
  is "$(lfs_post "$name" "locks/$id/unlock" '{}' -o /dev/null -w '%{http_code}')" 404
}

others_locks() {
  local bob id name=$1
  curl -sf -u ada:correct-horse -H 'Content-Type: application/json' -o /dev/null \
    -d '{"username":"bob","email":"bob@example.org","password":"battery-staple-9"}' "$url/api/v1/admin/users" || return 1
  curl -sf -u bob:battery-staple-9 -H 'Content-Type: application/json' -o /dev/null -d '{"name":"shared"}' "$url/api/v1/user/repos" || return 1
  bob="$url/bob/shared.git/info/lfs"
  id=$(curl -s -u bob:battery-staple-9 -H "Content-Type: $media" -d '{"path":"x.bin"}' "$bob/locks" | jq -r .lock.id)
  is "$(curl -s -u ada:correct-horse -H "Content-Type: $media" -d '{}' "$bob/locks/verify" | jq -r '.theirs[0].id')" "$id" || return 1
  is "$(status_of -u ada:correct-horse -H "Content-Type: $media" -d '{}' "$bob/locks/$id/unlock")" 403 || return 1
  is "$(status_of -u ada:correct-horse -H "Content-Type: $media" -d '{"force":true}' "$bob/locks/$id/unlock")" 200 || return 1
  is "$(status_of -u bob:battery-staple-9 -H "Content-Type: $media" -d '{}' "$url/ada/$name.git/info/lfs/locks/verify")" 404
}

refuses_wrong_bytes() {
  local oid link code
  oid=$(printf 'the right bytes' | oid_of)
  link=$(lfs_post "$1" objects/batch "$(batch_of upload "$oid" 15)" | jq -c '.objects[0].actions.upload')
  local headers=()
  while read -r line; do headers+=(-H "$line"); done < <(jq -r '.header // {} | to_entries[] | "\(.key): \(.value)"' <<<"$link")
  for bytes in 'the wrong bytes' 'too few' 'far too many bytes'; do
    code=$(printf '%s' "$bytes" | status_of -T - -H 'Transfer-Encoding: chunked' "${headers[@]}" "$(jq -r .href <<<"$link")")
    [[ $code == 4* ]] || { echo "\"$bytes\": $code" >&2 && return 1; }
    code=$(printf '%s' "$bytes" | status_of -X PUT --data-binary @- -H 'Content-Type:' "${headers[@]}" "$(jq -r .href <<<"$link")")
    [[ $code == 4* ]] || { echo "\"$bytes\": $code" >&2 && return 1; }
  done
  is "$(lfs_post "$1" objects/batch "$(batch_of download "$oid" 15)" | jq .objects[0].error.code)" 404
}

leaks_nothing() {  # a private file's hash tells nothing to who may not read it, and links nothing
  local oid known unknown
  oid=$(oid_of <"$state/$1/large.bin")
  curl -sf -u bob:battery-staple-9 -H 'Content-Type: application/json' -o /dev/null -d '{"name":"thief"}' "$url/api/v1/user/repos" || return 1
  answer() {
    curl -s -u bob:battery-staple-9 -H "Content-Type: $media" -d "$(batch_of "$1" "$2" "$3")" "$url/bob/thief.git/info/lfs/objects/batch" |
      jq -c '.objects[0] | {error: (.error // null), actions: ((.actions // {}) | keys)}'
  }
  known=$(answer upload "$oid" 5000000) unknown=$(answer upload "$(echo nothing | oid_of)" 5000000)
  is "$known" "$unknown" || return 1
  is "$(answer upload "$oid" 1)" "$unknown" || return 1
  is "$(answer download "$oid" 5000000)" "$(answer download "$(echo nothing | oid_of)" 5000000)" || return 1
  is "$(status_of -u bob:battery-staple-9 -H "Content-Type: $media" -d "{\"oid\":\"$oid\",\"size\":5000000}" "$url/bob/thief.git/info/lfs/verify")" 404 || return 1
  is "$(status_of -u bob:battery-staple-9 "$url/ada/$1.git/info/lfs/objects/$oid")" 404 || return 1
  is "$(status_of "$url/ada/$1.git/info/lfs/objects/$oid")" 401
}

guards_tokens() {  # through the datastore only: with presigned URLs there is none
  local oid other href token payload head forged signature
  printf 'token bytes' >"$state/token"
  oid=$(oid_of <"$state/token")
  other=$(echo another | oid_of)
  read -r href token < <(lfs_post "$1" objects/batch "$(batch_of upload "$oid" 11)" |
    jq -r '.objects[0].actions.upload | "\(.href) \(.header.Authorization)"' | sed 's/ Bearer / /')
  put() { status_of -T "$state/token" -H "Authorization: Bearer $1" "$2"; }
  IFS=. read -r _ payload signature <<<"$token"
  b64() { base64 -w0 | tr '+/' '-_' | tr -d '='; }
  for head in '{"alg":"none","typ":"JWT"}' '{"alg":"HS512","typ":"JWT"}' '{"alg":"RS256","typ":"JWT"}'; do
    for forged in "$(printf '%s' "$head" | b64).$payload." "$(printf '%s' "$head" | b64).$payload.$signature"; do
      is "$(put "$forged" "$href")" 401 || return 1
    done
  done
  is "$(put "${token%?????}AAAAA" "$href")" 401 || return 1
  is "$(put "$token" "${href/$oid/$other}")" 401 || return 1
  is "$(put "$token" "${href/ada\/$1/bob\/thief}")" 401 || return 1
  is "$(put "" "$href")" 401 || return 1
  is "$(status_of -H "Authorization: Bearer $token" "$href")" 404 || return 1 # allowed, not there yet
  is "$(put "$token" "$href")" 200 || return 1
  is "$(curl -s -H "Authorization: Bearer $token" "$href")" 'token bytes' || return 1
  read -r href token < <(lfs_post "$1" objects/batch "$(batch_of download "$oid" 11)" |
    jq -r '.objects[0].actions.download | "\(.href) \(.header.Authorization)"' | sed 's/ Bearer / /')
  is "$(put "$token" "$href")" 401
}

speaks_the_protocol() {
  is "$(lfs_post "$1" objects/batch '{}' -o /dev/null -w '%{http_code}')" 422 || return 1
  is "$(lfs_post "$1" objects/batch 'no json' -o /dev/null -w '%{http_code}')" 422 || return 1
  is "$(lfs_post "$1" objects/batch '{"operation":"download","objects":[{"oid":"x","size":-1}]}' | jq .objects[0].error.code)" 422 || return 1
  is "$(lfs_post "$1" objects/batch '{"operation":"download","hash_algo":"md5","objects":[]}' -o /dev/null -w '%{http_code}')" 409 || return 1
  is "$(status_of -u ada:correct-horse -H 'Accept: text/html' -H "Content-Type: $media" -d '{}' "$url/ada/$1.git/info/lfs/objects/batch")" 406 || return 1
  is "$(lfs_post "$1" objects/batch "$(batch_of download "$(echo no | oid_of)" 3)" -D - -o /dev/null | grep -ci "^content-type: $media")" 1 || return 1
  curl -s -D - -o /dev/null -H "Content-Type: $media" -d "$(batch_of download "$(echo no | oid_of)" 3)" "$url/ada/$1.git/info/lfs/objects/batch" |
    grep -qi '^lfs-authenticate: basic'
}

links_what_may_be_read() {  # a file of a repository that the caller may read is not sent again
  make_repository "$1-copy" true || return 1
  local before after
  before=$(grep -c ' method=PUT ' "$state/datastore.log" || true)
  cd "$state/$1" && git push -q "$(with_password "$1-copy")" main 2>/dev/null || return 1
  after=$(grep -c ' method=PUT ' "$state/datastore.log" || true)
  is "$after" "$before" || return 1
  git clone -q "$(with_password "$1-copy")" "$state/$1-copy-clone" && diff -r --exclude=.git "$state/$1" "$state/$1-copy-clone"
}

same_file_at_once() {
  local i pids=()
  head -c 2000000 /dev/urandom >"$state/race"
  local oid href token
  oid=$(oid_of <"$state/race")
  read -r href token < <(lfs_post "$1" objects/batch "$(batch_of upload "$oid" 2000000)" |
    jq -r '.objects[0].actions.upload | "\(.href) \(.header.Authorization)"' | sed 's/ Bearer / /')
  for i in 1 2 3 4 5 6; do
    (is "$(status_of -T "$state/race" -H "Authorization: Bearer $token" "$href")" 200) &
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i" || return 1; done
  curl -s -H "Authorization: Bearer $token" "$href" | cmp - "$state/race"
}

hashed_soon() {  # direct uploads count as trusted once they have been hashed
  for ((i = 0; i < 100; i++)); do
    ! grep -q . <(curl -s "$url/nowhere" >/dev/null; sqlite3 "$state/data/"*.db 'SELECT 1 FROM lfs_incoming' 2>/dev/null) && return 0
    sleep 0.2
  done
  return 1
}

fsck_is_clean() {
  datastore_stop
  env GIT_ADMIN_USERNAME=ada GIT_ADMIN_PASSWORD=correct-horse STACKGATE_LFS_JWT_SECRET=0123456789abcdef0123456789abcdef "${fsck_environment[@]}" \
    "$datastore_binary" fsck --data-dir "$state/data" "${fsck_flags[@]}" >"$state/fsck.log" 2>&1 || { cat "$state/fsck.log" >&2 && return 1; }
}

fsck_flags=() fsck_environment=(LC_ALL=C)
for word in "${store[@]}"; do
  if [[ $word =~ ^[A-Z][A-Z0-9_]*= ]]; then fsck_environment+=("$word"); else fsck_flags+=("$word"); fi
done

leg() {  # PREFIX DIRECT
  check "$1: push and clone with git-lfs" push_and_clone "$1"
  check "$1: what is here is not sent again" pushes_nothing_twice "$1"
  check "$1: an interrupted download goes on" fetches_with_ranges "$1"
  check "$1: git lfs lock, locks, unlock" locks "$1"
  check "$1: locks of others" others_locks "$1"
  check "$1: wrong bytes are refused and leave nothing" refuses_wrong_bytes "$1"
  check "$1: a hash tells nothing" leaks_nothing "$1"
  check "$1: the protocol's own errors" speaks_the_protocol "$1"
  if [ "$2" = direct ]; then
    check "$1: direct uploads are hashed soon" hashed_soon
  else
    check "$1: tokens are for one file of one repository" guards_tokens "$1"
    check "$1: one file from six clients at once" same_file_at_once "$1"
  fi
  check "$1: a file of a readable repository is linked" links_what_may_be_read "$1"
  check "$1: fsck finds nothing" fsck_is_clean
}

if ((${#store[@]} > 0)); then
  datastore_start "$state" "${store[@]}"
  leg s3-direct direct
  rm -rf "$state/data"
  fsck_flags+=(--s3-serve-direct=false)
  datastore_start "$state" "${store[@]}" --s3-serve-direct=false
  leg s3-through through
else
  datastore_start "$state"
  leg directory through
fi
((failed_checks == 0)) || { tail -n 30 "$state/datastore.log" >&2 && exit 1; }
