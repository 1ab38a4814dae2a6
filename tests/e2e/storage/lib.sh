# Sourced by the scripts of this folder. One that is called with --s3 runs over PostgreSQL and a Ceph gateway that clients
# reach directly; without it over SQLite and a directory. The servers are its own, or a pair that runs already
# (tests/support/storage-servers.sh, STORAGE_SERVERS): there it has a database and a bucket of its own.
# storage_begin makes $state, starts what the leg needs, tells the datastore of it by environment variables, and ends all
# at the script's end. Servers started with serve() lead a process group: end_hard kills it whole, as a node's end would.
# shellcheck shell=bash
storage_here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
storage_support=$storage_here/../../support
# shellcheck source=tests/support/datastore.sh
source "$storage_support/datastore.sh"
storage_leg=sqlite
[ "${1:-}" != --s3 ] || storage_leg=postgres-s3
admin=ada:correct-horse
media='application/vnd.git-lfs+json'

storage_end() {
  local pid
  for pid in "${served[@]:-}"; do [ -z "$pid" ] || end_hard "$pid"; done
  [ ! -e "$state/servers" ] || "$storage_support/storage-servers.sh" stop "$state/servers" || true
  if [ -n "${KEEP:-}" ]; then echo "kept: $state"; else
    umount "$state/small" 2>/dev/null || true
    rm -rf "$state"
  fi
}

# storage_begin [LEG]: a script that makes sense on one leg only names it. With storage_own=1 before it, it takes servers
# of its own: it will stop them. With storage_unmigrated=1 the database is empty.
storage_begin() {
  storage_leg=${1:-$storage_leg}
  state=$(mktemp -d)
  served=()
  trap storage_end EXIT
  trap 'exit 130' INT TERM
  export HOME=$state GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
  export GIT_ADMIN_USERNAME=ada GIT_ADMIN_PASSWORD=correct-horse STACKGATE_LFS_JWT_SECRET=0123456789abcdef0123456789abcdef
  export STACKGATE_LOG_FORMAT=text STACKGATE_DRAIN_WAIT=0s STACKGATE_DATA_DIR=$state/data
  git config --global user.name Ada
  git config --global user.email ada@example.org
  git config --global init.defaultBranch main
  git config --global advice.detachedHead false
  [ "$storage_leg" != postgres-s3 ] || start_leg_servers
}

start_leg_servers() {
  local why
  why=$("$storage_support/storage-servers.sh" available 2>&1) || { echo "skip $(basename "$0") on PostgreSQL and Ceph: $why" && exit 0; }
  servers=${STORAGE_SERVERS:-}
  if [ -n "${storage_own:-}" ] || [ ! -s "$servers/s3" ]; then
    servers=$state/servers
    chmod o+x "$state" # PostgreSQL does not run as root
    "$storage_support/storage-servers.sh" start "$servers" || { echo "not ok PostgreSQL and a Ceph gateway start" && exit 1; }
  fi
  s3_fact() { sed -n "s/^$1=//p" "$servers/s3"; }
  STACKGATE_S3_ENDPOINT=$(s3_fact endpoint) STACKGATE_S3_REGION=$(s3_fact region)
  S3_ACCESS_KEY=$(s3_fact access_key) S3_SECRET_KEY=$(s3_fact secret_key)
  STACKGATE_S3_ENDPOINT=${STACKGATE_S3_ENDPOINT#http://} STACKGATE_S3_SSL=false
  STACKGATE_DATABASE_PASSWORD=$(cat "$servers/postgres/password")
  export STACKGATE_S3_ENDPOINT STACKGATE_S3_REGION STACKGATE_S3_SSL S3_ACCESS_KEY S3_SECRET_KEY STACKGATE_DATABASE_PASSWORD
  fresh_place
}

# new_database: empty, in the leg's server; prints its URL.
new_database() {
  local name="leg-$$-$SRANDOM"
  PGPASSWORD=$STACKGATE_DATABASE_PASSWORD psql -q "$(cat "$servers/url")" -c "CREATE DATABASE \"$name\"" || return 1
  echo "$(sed 's#/[^/]*$##' "$servers/url")/$name"
}

# fresh_place: a database, a bucket and a data directory that nobody has used.
fresh_place() {
  rm -rf "$STACKGATE_DATA_DIR"
  [ "$storage_leg" = postgres-s3 ] || return 0
  STACKGATE_DATABASE_URL=$(new_database) STACKGATE_S3_BUCKET=leg-$$-$SRANDOM
  export STACKGATE_DATABASE_URL STACKGATE_S3_BUCKET
  "$storage_support/rgw.sh" bucket "$servers/rgw" "$STACKGATE_S3_BUCKET"
  [ -n "${storage_unmigrated:-}" ] || migrate_once
}

migrate_once() {
  "$datastore_binary" migrate >"$state/migrate.log" 2>&1 || { cat "$state/migrate.log" >&2 && echo "not ok the database migrates" && exit 1; }
}

# rows QUERY: what the datastore's database says.
rows() {
  if [ "$storage_leg" = postgres-s3 ]; then
    PGPASSWORD=$STACKGATE_DATABASE_PASSWORD psql -qAt "$STACKGATE_DATABASE_URL" -c "$1"
  else
    sqlite3 "$STACKGATE_DATA_DIR/datastore.db" "$1"
  fi
}

# serve [FLAG…]: sets $server and $url. The port stays the same when $port is set.
serve() {
  local i
  port=${port:-$(free_port)}
  url=http://127.0.0.1:$port
  setsid "$datastore_binary" serve --listen "127.0.0.1:$port" "$@" >>"$state/datastore.log" 2>&1 &
  server=$!
  served+=("$server")
  for ((i = 0; i < 1200; i++)); do
    ! curl -sf -o /dev/null --max-time 2 "$url/v1/health/ready" || return 0
    kill -0 "$server" 2>/dev/null || break
    sleep 0.05
  done
  echo "not ok the datastore starts"
  tail -n 20 "$state/datastore.log" >&2
  exit 1
}

# end_hard PID: the group, at once.
end_hard() {
  kill -9 -- "-$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || true
}
end_soft() {
  kill "$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || true
}

is() { [ "$1" = "$2" ] || { echo "  expected \"$2\", got \"${1:0:400}\"" >&2 && return 1; }; }
fails() { ! "$@"; }
status_of() { curl -s -o "${answer:-/dev/null}" --max-time "${limit:-60}" -w '%{http_code}' "$@"; }
api() { curl -sf -u "$admin" -H 'Content-Type: application/json' "$@"; }
make_repository() { api -o /dev/null -d "{\"name\":\"$1\",\"private\":${2:-true}}" "$url/api/v1/user/repos"; }
remote() { echo "${url/:\/\//://$admin@}/ada/$1.git"; }
tip_of() { git ls-remote "$(remote "$1")" "refs/heads/${2:-main}" 2>/dev/null | cut -f1; }
batch_of() { printf '{"operation":"%s","transfers":["basic"],"objects":[{"oid":"%s","size":%s}]}' "$1" "$2" "$3"; }
lfs_batch() { curl -s -u "$admin" -H "Content-Type: $media" -H "Accept: $media" -d "$(batch_of "$2" "$3" "$4")" "$url/ada/$1.git/info/lfs/objects/batch"; }

# carry_out LINK [CURL…]: what an action of a batch says, on curl's command line. Prints the status.
carry_out() {
  local link=$1 headers=() line
  shift
  while read -r line; do headers+=(-H "$line"); done < <(jq -r '.header // {} | to_entries[] | "\(.key): \(.value)"' <<<"$link")
  status_of "${headers[@]}" "$@" "$(jq -r .href <<<"$link")"
}

# upload REPOSITORY FILE: 0 when the datastore acknowledged it, verify included.
upload() {
  local oid size entry link
  oid=$(sha256sum "$2" | cut -d' ' -f1) size=$(stat -c %s "$2")
  entry=$(lfs_batch "$1" upload "$oid" "$size" | jq -c '.objects[0]') || return 1
  [ "$(jq -r '.oid // empty' <<<"$entry")" = "$oid" ] && [ "$(jq -c '.error // empty' <<<"$entry")" = "" ] || return 1
  link=$(jq -c '.actions.upload // empty' <<<"$entry")
  [ -n "$link" ] || return 0
  [ "$(carry_out "$link" -T "$2")" = 200 ] || return 1
  link=$(jq -c '.actions.verify // empty' <<<"$entry")
  [ -z "$link" ] || [ "$(carry_out "$link" -H "Content-Type: $media" -d "{\"oid\":\"$oid\",\"size\":$size}")" = 200 ]
}

# download REPOSITORY OID SIZE [CURL…]: the bytes.
download() {
  local link headers=() line
  link=$(lfs_batch "$1" download "$2" "$3" | jq -c '.objects[0].actions.download // empty')
  [ -n "$link" ] || return 1
  while read -r line; do headers+=(-H "$line"); done < <(jq -r '.header // {} | to_entries[] | "\(.key): \(.value)"' <<<"$link")
  curl -sf "${headers[@]}" "${@:4}" "$(jq -r .href <<<"$link")"
}

# leave KILOBYTES: as much of the disk at $state/small stays free
leave() {
  rm -f "$state/small/ballast"
  local free
  free=$(df --output=avail -k "$state/small" | tail -1)
  ((free <= $1)) || head -c $(((free - $1) * 1024)) /dev/zero >"$state/small/ballast"
}
roomy() { rm -f "$state/small/ballast"; }

# hub_body COUNT PREFIX BYTES: a commit's NDJSON of so many files.
hub_body() {
  python3 - "$@" <<'PY'
import base64, json, random, sys
count, prefix, size = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
print(json.dumps({"key": "header", "value": {"summary": f"{count} files below {prefix}"}}))
for i in range(count):
    content = f"{prefix} {i}\n".encode() + random.Random(f"{prefix}{i}").randbytes(size)
    print(json.dumps({"key": "file", "value": {"path": f"{prefix}/{i // 100}/{i}.bin", "encoding": "base64",
                                               "content": base64.b64encode(content).decode()}}))
PY
}
# hub_commit REPOSITORY BODY-FILE [BRANCH]: prints the new commit.
hub_commit() {
  curl -sf --max-time "${limit:-60}" -u "$admin" -H 'Content-Type: application/x-ndjson' --data-binary "@$2" \
    "$url/v1/hf/api/models/ada/$1/commit/${3:-main}" | jq -er .commitOid
}

# all_sound: our fsck over everything, git's over every repository.
all_sound() {
  local repository
  if ! "$datastore_binary" fsck >"$state/fsck.json" 2>"$state/fsck.err" || [ "$(jq .clean "$state/fsck.json")" != true ]; then
    jq -c '.faults[:5]' "$state/fsck.json" >&2 || true
    tail -3 "$state/fsck.err" >&2
    return 1
  fi
  for repository in "$STACKGATE_DATA_DIR"/repositories/*/*.git; do
    git -C "$repository" -c safe.directory='*' fsck --full --strict --no-dangling >"$state/git-fsck" 2>&1 || { cat "$state/git-fsck" >&2 && return 1; }
  done
}

storage_done() {
  ((failed_checks == 0)) || { tail -n "${LOG_LINES:-15}" "$state/datastore.log" | cut -c1-300 >&2 && exit 1; }
}
