#!/usr/bin/env bash
# Large files with git and git-lfs as they are, and by curl what they would never send.
#   DATASTORE=build/release/bin/stackgate-datastore tests/e2e/storage/lfs.sh [--s3]
# With --s3 first straight to and from the gateway by presigned URLs, then through the datastore.
set -euo pipefail
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
command -v git-lfs >/dev/null || { echo "skip large files: install git-lfs" && exit 0; }
storage_begin
git config --global lfs.locksverify true
git lfs install --skip-repo >/dev/null

lfs_post() {  # REPOSITORY PATH BODY [curl arguments]
  local repository=$1 path=$2 body=$3
  shift 3
  curl -s -u "$admin" -H "Content-Type: $media" -H "Accept: $media" -d "$body" "$@" "$url/ada/$repository.git/info/lfs/$path"
}
oid_of() { sha256sum | cut -d' ' -f1; }

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
  git push -q "$(remote "$name")" main 2>"$state/push.log" || { cat "$state/push.log" >&2 && return 1; }
  cd "$state" && git clone -q "$(remote "$name")" "$name-clone" || return 1
  diff -r --exclude=.git "$name" "$name-clone"
}

pushes_nothing_twice() {  # NAME
  local before after
  before=$(grep -c 'PUT' "$state/datastore.log" || true)
  cd "$state/$1" && git branch -f again && git push -q "$(remote "$1")" again 2>/dev/null || return 1
  after=$(grep -c 'PUT' "$state/datastore.log" || true)
  is "$after" "$before"
}

fetches_with_ranges() {  # an interrupted download goes on where it ended
  local oid size link
  cd "$state/$1" || return 1
  oid=$(oid_of <large.bin) size=$(stat -c %s large.bin)
  rm -rf "$state/$1-resume"
  GIT_LFS_SKIP_SMUDGE=1 git clone -q "$(remote "$1")" "$state/$1-resume" || return 1
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
  git remote add origin "$(remote "$name")" 2>/dev/null || true
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
  curl -sf -u "$admin" -H 'Content-Type: application/json' -o /dev/null \
    -d '{"username":"bob","email":"bob@example.org","password":"battery-staple-9"}' "$url/api/v1/admin/users" || return 1
  curl -sf -u bob:battery-staple-9 -H 'Content-Type: application/json' -o /dev/null -d '{"name":"shared"}' "$url/api/v1/user/repos" || return 1
  bob="$url/bob/shared.git/info/lfs"
  id=$(curl -s -u bob:battery-staple-9 -H "Content-Type: $media" -d '{"path":"x.bin"}' "$bob/locks" | jq -r .lock.id)
  is "$(curl -s -u "$admin" -H "Content-Type: $media" -d '{}' "$bob/locks/verify" | jq -r '.theirs[0].id')" "$id" || return 1
  is "$(status_of -u "$admin" -H "Content-Type: $media" -d '{}' "$bob/locks/$id/unlock")" 403 || return 1
  is "$(status_of -u "$admin" -H "Content-Type: $media" -d '{"force":true}' "$bob/locks/$id/unlock")" 200 || return 1
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

# jwt CLAIMS [SECRET]: as Gitea signs what git-lfs-authenticate hands out.
jwt() {
  python3 - "$1" "${2:-$STACKGATE_LFS_JWT_SECRET}" <<'PY'
import base64, hashlib, hmac, sys
spell = lambda raw: base64.urlsafe_b64encode(raw).rstrip(b"=")
text = spell(b'{"alg":"HS256","typ":"JWT"}') + b"." + spell(sys.argv[1].encode())
print((text + b"." + spell(hmac.new(sys.argv[2].encode(), text, hashlib.sha256).digest())).decode())
PY
}

takes_gitea_tokens() {  # for one repository and operation, at the batch call alone
  local id user now oid href header
  id=$(api "$url/api/v1/repos/ada/$1" | jq .id) user=$(api "$url/api/v1/user" | jq .id) now=$(date +%s)
  printf 'gitea bytes' >"$state/gitea"
  oid=$(oid_of <"$state/gitea")
  claims() { printf '{"RepoID":%s,"Op":"%s","UserID":%s,"exp":%s,"nbf":%s}' "$1" "$2" "$user" "$((now + ${3:-600}))" "$((now - 5))"; }
  ask() { status_of -H "Authorization: Bearer $1" -H "Content-Type: $media" -H "Accept: $media" -d "$(batch_of "$2" "$oid" 11)" "$url/ada/$3.git/info/lfs/objects/batch"; }
  local up down
  up=$(jwt "$(claims "$id" upload)") down=$(jwt "$(claims "$id" download)")
  is "$(answer=$state/batch ask "$up" upload "$1")" 200 || return 1
  [ "$(carry_out "$(jq -c '.objects[0].actions.upload' "$state/batch")" -T "$state/gitea")" = 200 ] || return 1
  header=$(jq -c '.objects[0].actions.verify // empty' "$state/batch")
  [ -z "$header" ] || is "$(carry_out "$header" -H "Content-Type: $media" -d "{\"oid\":\"$oid\",\"size\":11}")" 200 || return 1
  is "$(answer=$state/batch ask "$down" download "$1")$(jq -r '.objects[0].actions.download | type' "$state/batch")" 200object || return 1
  is "$(ask "$up" download "$1")" 200 || return 1
  is "$(ask "$down" upload "$1")" 401 || return 1
  make_repository "$1-other" || return 1
  is "$(ask "$up" upload "$1-other")" 401 || return 1
  is "$(ask "$(jwt "$(claims "$id" upload -600)")" upload "$1")" 401 || return 1
  is "$(ask "$(jwt "$(claims "$id" upload)" another-secret-another-secret-00)" upload "$1")" 401 || return 1
  user=999999
  is "$(ask "$(jwt "$(claims "$id" upload)")" upload "$1")" 401 || return 1
  href=$url/ada/$1.git/info/lfs/objects/$oid
  is "$(status_of -H "Authorization: Bearer $up" "$href")" 401
}

tells_clock_skew() { curl -sf "$url/metrics" | grep -E '^datastore_s3_clock_skew_seconds -?[0-9]+$' >/dev/null; }

speaks_the_protocol() {
  is "$(lfs_post "$1" objects/batch '{}' -o /dev/null -w '%{http_code}')" 422 || return 1
  is "$(lfs_post "$1" objects/batch 'no json' -o /dev/null -w '%{http_code}')" 422 || return 1
  is "$(lfs_post "$1" objects/batch '{"operation":"download","objects":[{"oid":"x","size":-1}]}' | jq .objects[0].error.code)" 422 || return 1
  is "$(lfs_post "$1" objects/batch '{"operation":"download","hash_algo":"md5","objects":[]}' -o /dev/null -w '%{http_code}')" 409 || return 1
  is "$(status_of -u "$admin" -H 'Accept: text/html' -H "Content-Type: $media" -d '{}' "$url/ada/$1.git/info/lfs/objects/batch")" 406 || return 1
  is "$(lfs_post "$1" objects/batch "$(batch_of download "$(echo no | oid_of)" 3)" -D - -o /dev/null | grep -ci "^content-type: $media")" 1 || return 1
  curl -s -D - -o /dev/null -H "Content-Type: $media" -d "$(batch_of download "$(echo no | oid_of)" 3)" "$url/ada/$1.git/info/lfs/objects/batch" |
    grep -qi '^lfs-authenticate: basic'
}

links_what_may_be_read() {  # a file of a repository that the caller may read is not sent again
  make_repository "$1-copy" true || return 1
  local before after
  before=$(grep -c ' method=PUT ' "$state/datastore.log" || true)
  cd "$state/$1" && git push -q "$(remote "$1-copy")" main 2>/dev/null || return 1
  after=$(grep -c ' method=PUT ' "$state/datastore.log" || true)
  is "$after" "$before" || return 1
  git clone -q "$(remote "$1-copy")" "$state/$1-copy-clone" && diff -r --exclude=.git "$state/$1" "$state/$1-copy-clone"
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
  local waiting
  for ((i = 0; i < 200; i++)); do
    waiting=$(rows 'SELECT count(*) FROM lfs_incoming') || return 1
    [ "$waiting" != 0 ] || return 0
    sleep 0.1
  done
  is "$waiting" 0
}

reads_what_moves() {  # one that began before its file was hashed goes on after it, where the file is then
  local oid
  head -c 32000000 /dev/urandom >"$state/moving" # more than the sockets between hold
  oid=$(oid_of <"$state/moving")
  upload "$1" "$state/moving" || return 1
  download "$1" "$oid" 32000000 --limit-rate 6M | cmp - "$state/moving"
}

fsck_is_clean() {
  end_soft "$server"
  "$datastore_binary" fsck >"$state/fsck.json" 2>"$state/fsck.log" || { cat "$state/fsck.json" "$state/fsck.log" >&2 && return 1; }
}

is_in_s3() {  # a client that is not ours finds every large file, whole, under its hash, and nothing else
  python3 - "http://$STACKGATE_S3_ENDPOINT" "$S3_ACCESS_KEY" "$S3_SECRET_KEY" "$STACKGATE_S3_REGION" "$STACKGATE_S3_BUCKET" "$state/fsck.json" <<'PY'
import hashlib, json, sys
import boto3
from botocore.config import Config
endpoint, access_key, secret_key, region, bucket, report = sys.argv[1:]
s3 = boto3.client("s3", endpoint_url=endpoint, aws_access_key_id=access_key, aws_secret_access_key=secret_key, region_name=region,
                  config=Config(s3={"addressing_style": "path"}))
count = size = 0
for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
    for entry in page.get("Contents", []):
        key = entry["Key"]
        if not key.startswith("lfs/"): sys.exit(f"{key} is not below lfs/")
        digest, read = hashlib.sha256(), 0
        for chunk in s3.get_object(Bucket=bucket, Key=key)["Body"].iter_chunks(1 << 20):
            digest.update(chunk)
            read += len(chunk)
        if key.rsplit("/", 1)[1] != digest.hexdigest(): sys.exit(f"{key} has the hash {digest.hexdigest()}")
        if read != entry["Size"]: sys.exit(f"{key} is listed with {entry['Size']} bytes and has {read}")
        count += 1
        size += read
if s3.list_multipart_uploads(Bucket=bucket).get("Uploads"): sys.exit("an upload in parts was left behind")
said = json.load(open(report))
if count < 30 or (count, size) != (said["large_files"], said["large_file_bytes"]):
    sys.exit(f"the bucket has {count} files of {size} bytes, fsck says {said}")
PY
}

leg() {  # PREFIX DIRECT
  check "$1: push and clone with git-lfs" push_and_clone "$1"
  check "$1: what is here is not sent again" pushes_nothing_twice "$1"
  check "$1: an interrupted download goes on" fetches_with_ranges "$1"
  check "$1: git lfs lock, locks, unlock" locks "$1"
  check "$1: locks of others" others_locks "$1"
  check "$1: wrong bytes are refused and leave nothing" refuses_wrong_bytes "$1"
  check "$1: a hash tells nothing" leaks_nothing "$1"
  check "$1: tokens that Gitea's way of signing gives are for the batch call" takes_gitea_tokens "$1"
  check "$1: the protocol's own errors" speaks_the_protocol "$1"
  if [ "$2" = direct ]; then
    check "$1: a download goes on while its file is hashed and moved" reads_what_moves "$1"
    check "$1: direct uploads are hashed soon" hashed_soon
  else
    check "$1: tokens are for one file of one repository" guards_tokens "$1"
    check "$1: one file from six clients at once" same_file_at_once "$1"
  fi
  check "$1: a file of a readable repository is linked" links_what_may_be_read "$1"
  if [ "$storage_leg" = postgres-s3 ]; then check "$1: the distance to S3's clock is told" tells_clock_skew; fi
  check "$1: fsck finds nothing" fsck_is_clean
  if [ "$storage_leg" = postgres-s3 ]; then check "$1: boto3 finds in S3 what fsck counts, each with its hash" is_in_s3; fi
}

if [ "$storage_leg" = postgres-s3 ]; then
  serve
  leg s3-direct direct
  fresh_place
  serve --s3-serve-direct=false
  leg s3-through through
else
  serve
  leg directory through
fi
storage_done
