#!/usr/bin/env bash
# The repository API as scripts written for Gitea call it: curl and jq against the real binary, from an empty directory.
#   DATASTORE=build/release/bin/stackgate-datastore tests/e2e/storage/gitea-api.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
datastore=$(realpath "${DATASTORE:-build/release/bin/stackgate-datastore}")
work=$(mktemp -d)
server=
trap 'if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi; rm -rf "$work"' EXIT
failures=0
check() { # NAME WANTED GOT
  if [[ $2 == "$3" ]]; then echo "ok $1"; else
    echo "not ok $1: wanted '$2', got '$3'"
    failures=$((failures + 1))
  fi
}
holds() { # NAME PART WHOLE
  if [[ $3 == *"$2"* ]]; then echo "ok $1"; else
    echo "not ok $1: '$2' is not in '${3:0:300}'"
    failures=$((failures + 1))
  fi
}

start() { # FLAG…
  "$datastore" --data-dir "$work/data" --listen 127.0.0.1:0 --drain-wait 0s "$@" >>"$work/log" 2>&1 &
  server=$!
  for _ in $(seq 300); do
    base=$(grep -a -o 'http://127.0.0.1:[0-9]*' "$work/log" | tail -1 || true)
    [[ -n $base ]] && curl -fsS -o "$work/ignored" "$base/v1/health" 2>/dev/null && return
    sleep 0.1
  done
  echo "not ok the server starts: $(tail -5 "$work/log")"
  exit 1
}
stop() {
  kill "$server"
  wait "$server" 2>/dev/null || true
  server=
}

start
password=$(cat "$work/data/secrets/admin-password")
check 'the generated password is readable by its owner only' 600 "$(stat -c %a "$work/data/secrets/admin-password")"
holds 'the start tells where the password is' 'secrets/admin-password' "$(cat "$work/log")"
check 'the log does not hold it' 0 "$(grep -a -c "$password" "$work/log" || true)"
user=admin:$password

# call_as WHO METHOD PATH [JSON], WHO being nobody, name:password or an Authorization header: the body in $work/body, the
# head in $work/head; prints the status.
call_as() {
  local options=()
  case $1 in
    nobody) ;;
    Authorization:*) options=(-H "$1") ;;
    *) options=(-u "$1") ;;
  esac
  (($# < 4)) || options+=(-H 'Content-Type: application/json' -d "$4")
  curl -sS -o "$work/body" -D "$work/head" -w '%{http_code}' -X "$2" ${options[@]+"${options[@]}"} "$base$3"
}
call() { call_as "$user" "$@"; }
body() { jq -r "$1" "$work/body"; }
head_of() { grep -i "^$1:" "$work/head" | head -1 | cut -d' ' -f2- | tr -d '\r'; }

for path in /health /v1/health /v1/health/live /v1/health/ready /api/healthz /metrics /api/v1/version; do
  check "GET $path" 200 "$(call_as nobody GET "$path")"
done

# --- the specification's call
check 'a repository is made' 201 "$(call POST /api/v1/user/repos '{"name":"First","description":"d","private":true}')"
check 'its full name' admin/First "$(body .full_name)"
check 'it is private' true "$(body .private)"
check 'it is empty' true "$(body .empty)"
check 'its default branch' main "$(body .default_branch)"
check 'its clone URL' "$base/admin/First.git" "$(body .clone_url)"
check 'the owner may do all' 'true true true' "$(body '.permissions | "\(.admin) \(.push) \(.pull)"')"
check 'times are RFC 3339' true "$(body '.created_at | test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$")')"
check 'the same name again' 409 "$(call POST /api/v1/user/repos '{"name":"first"}')"
check 'without a name' 422 "$(call POST /api/v1/user/repos '{}')"
holds 'and the message says so' name "$(body .message)"
check 'a bad name' 422 "$(call POST /api/v1/user/repos '{"name":"a/b"}')"
check 'a body that is no JSON' 400 "$(call POST /api/v1/user/repos '{"name":')"
check 'without credentials' 401 "$(call_as nobody POST /api/v1/user/repos '{"name":"x"}')"
holds 'the challenge' 'Basic realm' "$(head_of WWW-Authenticate)"
check 'with a wrong password' 401 "$(call_as admin:wrong POST /api/v1/user/repos '{"name":"x"}')"
check 'a path that is none' 404 "$(call GET /api/v1/nothing)"
check 'a wrong method' 405 "$(call DELETE /api/v1/user/repos)"

# --- reading and changing it
check 'it is found in any case' 200 "$(call GET /api/v1/repos/ADMIN/first)"
check 'nobody sees it' 401 "$(call_as nobody GET /api/v1/repos/admin/First)"
check 'it is renamed' 200 "$(call PATCH /api/v1/repos/admin/First '{"name":"second","private":false}')"
check 'the former name leads to it' second "$(call GET /api/v1/repos/admin/First >/dev/null && body .name)"
check 'everybody sees it now' 200 "$(call_as nobody GET /api/v1/repos/admin/second)"
check 'and may not change it' 401 "$(call_as nobody PATCH /api/v1/repos/admin/second '{"private":true}')"
holds 'but is told to sign in for that' 'sign in to write' "$(body .message)"
check 'what is not there is not told apart from what is private' 401 "$(call_as nobody PATCH /api/v1/repos/admin/none '{"private":true}')"
holds 'in words neither' 'there is no such repository, or it is not for everybody' "$(body .message)"

# --- contents
check 'one with a first commit' 201 "$(call POST /api/v1/user/repos '{"name":"filled","auto_init":true,"description":"hello"}')"
check 'is not empty' false "$(body .empty)"
check 'its README' $'# filled\n\nhello' "$(call GET /api/v1/repos/admin/filled/contents/README.md >/dev/null && body '.content | @base64d')"
check 'the folder' README.md "$(call GET /api/v1/repos/admin/filled/contents >/dev/null && body '.[0].name')"
check 'raw' 200 "$(call GET /api/v1/repos/admin/filled/raw/README.md)"
check 'raw bytes' $'# filled\n\nhello' "$(cat "$work/body")"
holds 'never inline' attachment "$(head_of Content-Disposition)"
etag=$(head_of ETag)
check 'not again when unchanged' 304 "$(curl -sS -o "$work/body" -w '%{http_code}' -u "$user" -H "If-None-Match: $etag" "$base/api/v1/repos/admin/filled/raw/README.md")"
check 'media of a plain file' 200 "$(call GET /api/v1/repos/admin/filled/media/README.md)"
check 'a file that is not there' 404 "$(call GET /api/v1/repos/admin/filled/raw/none)"
check 'a revision that is not there' 404 "$(call GET '/api/v1/repos/admin/filled/contents/README.md?ref=none')"
check 'commits' 'Initial commit' "$(call GET /api/v1/repos/admin/filled/commits >/dev/null && body '.[0].commit.message | rtrimstr("\n")')"
sha=$(body '.[0].sha')
check 'one commit' "$sha" "$(call GET "/api/v1/repos/admin/filled/git/commits/$sha" >/dev/null && body .sha)"
check 'the tree' '100644 blob README.md' "$(call GET '/api/v1/repos/admin/filled/git/trees/main?recursive=1' >/dev/null && body '.tree[0] | "\(.mode) \(.type) \(.path)"')"
check 'commits of an empty one' 409 "$(call GET /api/v1/repos/admin/second/commits)"

# --- every address in an answer leads somewhere
printf '%s\n' '{"key":"header","value":{"summary":"A folder"}}' '{"key":"file","value":{"path":"dir/a b#c.txt","content":"aGk=","encoding":"base64"}}' >"$work/commit"
check 'one more' 201 "$(call POST /api/v1/user/repos '{"name":"linked","auto_init":true}')"
check 'a folder' 200 "$(curl -sS -o "$work/body" -w '%{http_code}' -u "$user" -H 'Content-Type: application/x-ndjson' --data-binary "@$work/commit" "$base/v1/hf/api/models/admin/linked/commit/main")"
hub_line() { # LINE: the status of a commit with it
  printf '%s\n' '{"key":"header","value":{"summary":"s"}}' "$1" >"$work/commit"
  curl -sS -o "$work/body" -w '%{http_code}' -u "$user" -H 'Content-Type: application/x-ndjson' --data-binary "@$work/commit" "$base/v1/hf/api/models/admin/linked/commit/main"
}
check 'no file takes the place of a folder' 400 "$(hub_line '{"key":"file","value":{"path":"dir","content":"aGk=","encoding":"base64"}}')"
holds 'which is named' '"dir" is a folder and would become a file' "$(jq -r .error "$work/body")"
check 'nor a folder that of a file' 400 "$(hub_line '{"key":"file","value":{"path":"README.md/x/y","content":"aGk=","encoding":"base64"}}')"
holds 'which is named too' '"README.md" is a file and would become a folder' "$(jq -r .error "$work/body")"
repository=/api/v1/repos/admin/linked
addresses=()
for path in "$repository" "$repository/contents" "$repository/contents/README.md" "$repository/contents/dir" "$repository/contents/dir/a%20b%23c.txt" \
  "$repository/commits" "$repository/branches" "$repository/branches/main" "$repository/git/trees/main?recursive=1"; do
  check "GET $path" 200 "$(call GET "$path")"
  mapfile -t -O "${#addresses[@]}" addresses < <(jq -r '.. | objects | to_entries[] | select((.key | test("(^|_)url$") or IN("self", "git", "html")) and .value != null and .value != "") | .value' "$work/body")
done
check 'there are many' true "$( ((${#addresses[@]} > 40)) && echo true)"
while read -r address; do
  case $address in
    *.git) continue ;;
  esac
  check "leads somewhere: ${address#"$base"}" 200 "$(call GET "${address#"$base"}")"
done < <(printf '%s\n' "${addresses[@]}" | sort -u)
blob=$(call GET "$repository/contents/dir/a%20b%23c.txt" >/dev/null && body .sha)
check 'a blob by its id' 'hi base64 2' "$(call GET "$repository/git/blobs/$blob" >/dev/null && body '"\(.content | @base64d) \(.encoding) \(.size)"')"
check 'a blob that is none' 404 "$(call GET "$repository/git/blobs/0000000000000000000000000000000000000000")"
check 'a blob with an id that is none' true "$([[ $(call GET "$repository/git/blobs/main") =~ ^4 ]] && echo true)"
check 'a tree that is none' 404 "$(call GET "$repository/git/trees/0000000000000000000000000000000000000000")"
check 'languages' '{}' "$(call GET "$repository/languages" >/dev/null && body 'tojson')"

# --- branches and tags
check 'a branch with a slash' 201 "$(call POST /api/v1/repos/admin/filled/branches '{"new_branch_name":"feature/x"}')"
check 'is read' feature/x "$(call GET /api/v1/repos/admin/filled/branches/feature/x >/dev/null && body .name)"
check 'twice' 409 "$(call POST /api/v1/repos/admin/filled/branches '{"new_branch_name":"feature/x"}')"
check 'a bad name' 422 "$(call POST /api/v1/repos/admin/filled/branches '{"new_branch_name":"a..b"}')"
check 'the list' 'feature/x main' "$(call GET /api/v1/repos/admin/filled/branches >/dev/null && body '[.[].name] | sort | join(" ")')"
check 'the default branch stays' 403 "$(call DELETE /api/v1/repos/admin/filled/branches/main)"
check 'another default' 200 "$(call PATCH /api/v1/repos/admin/filled '{"default_branch":"feature/x"}')"
check 'back' 200 "$(call PATCH /api/v1/repos/admin/filled '{"default_branch":"main"}')"
check 'a default that is not there' 422 "$(call PATCH /api/v1/repos/admin/filled '{"default_branch":"none"}')"
check 'deleted' 204 "$(call DELETE /api/v1/repos/admin/filled/branches/feature/x)"
check 'a tag' 201 "$(call POST /api/v1/repos/admin/filled/tags '{"tag_name":"v1","message":"one","target":"main"}')"
check 'names its commit' "$sha" "$(call GET /api/v1/repos/admin/filled/tags/v1 >/dev/null && body .commit.sha)"
check 'goes' 204 "$(call DELETE /api/v1/repos/admin/filled/tags/v1)"

# --- users, tokens, organisations, name spaces
check 'a user' 201 "$(call POST /api/v1/admin/users '{"username":"ann","password":"correct horse","email":"ann@example.com"}')"
ann=ann:'correct horse'
check 'who she is' ann "$(call_as "$ann" GET /api/v1/user >/dev/null && body .login)"
check 'she makes no users' 403 "$(call_as "$ann" POST /api/v1/admin/users '{"username":"bob","password":"12345678"}')"
check 'she changes nothing of others' 403 "$(call_as "$ann" DELETE /api/v1/repos/admin/filled)"
check 'a token to read' 201 "$(call_as "$ann" POST /api/v1/users/ann/tokens '{"name":"r","scopes":["read:repository"]}')"
reader=$(body .sha1)
check 'a token to write' 201 "$(call_as "$ann" POST /api/v1/users/ann/tokens '{"name":"w","scopes":["write:repository"]}')"
writer=$(body .sha1)
check 'a scope that is none' 422 "$(call_as "$ann" POST /api/v1/users/ann/tokens '{"name":"typo","scopes":["read:user","wrote:repository"]}')"
holds 'is named' '"wrote:repository" is not a scope' "$(body .message)"
holds 'beside the known ones' 'read:AREA and write:AREA with an AREA of activitypub, admin' "$(body .message)"
for area in activitypub admin issue misc notification organization package repository user; do
  check "the scopes of $area" 201 "$(call_as "$ann" POST /api/v1/users/ann/tokens '{"name":"'$area'","scopes":["read:'$area'","write:'$area'"]}')"
done
check 'tokens beget none' 401 "$(call_as "Authorization: token $writer" POST /api/v1/users/ann/tokens '{"name":"x"}')"
check 'the reader writes nothing' 403 "$(call_as "Authorization: token $reader" POST /api/v1/user/repos '{"name":"t"}')"
check 'the writer does' 201 "$(call_as "Authorization: token $writer" POST /api/v1/user/repos '{"name":"t"}')"
check 'Bearer' 200 "$(call_as "Authorization: Bearer $reader" GET /api/v1/user)"
check 'Basic with a token' 200 "$(call_as "ann:$reader" GET /api/v1/user)"
check 'secrets are shown once' '' "$(call_as "$ann" GET /api/v1/users/ann/tokens >/dev/null && body '[.[].sha1] | join("")')"
check 'a token is withdrawn' 204 "$(call_as "$ann" DELETE /api/v1/users/ann/tokens/r)"
check 'and of no use' 401 "$(call_as "Authorization: Bearer $reader" GET /api/v1/user)"
check 'an organisation' 201 "$(call_as "$ann" POST /api/v1/orgs '{"username":"team"}')"
check 'its repository' team/plans "$(call_as "$ann" POST /api/v1/orgs/team/repos '{"name":"plans","private":true}' >/dev/null && body .full_name)"
check 'it is not deleted with repositories' 409 "$(call_as "$ann" DELETE /api/v1/orgs/team)"
check 'a name space, by form' 201 "$(curl -sS -o "$work/body" -w '%{http_code}' -u "$user" -d namespace=data "$base/v1/datastore/namespaces")"
check 'its name' data "$(body .namespace)"
check 'again' 409 "$(curl -sS -o "$work/body" -w '%{http_code}' -u "$user" -d namespace=data "$base/v1/datastore/namespaces")"
check 'read' 200 "$(call GET /v1/datastore/namespaces/data)"

# --- lists
for i in 1 2 3 4 5; do call POST /api/v1/user/repos "{\"name\":\"page-$i\"}" >/dev/null; done
check 'a page' 2 "$(call GET '/api/v1/repos/search?q=page-&limit=2&page=2' >/dev/null && body '.data | length')"
check 'the total' 5 "$(head_of X-Total-Count)"
holds 'the next page' 'rel="next"' "$(head_of Link)"
check 'the order' page-5 "$(call GET '/api/v1/repos/search?q=page-&sort=created&order=desc' >/dev/null && body '.data[0].name')"
check 'an order that is none' 422 "$(call GET '/api/v1/repos/search?sort=colour')"
check 'others see public ones only' true "$(call_as nobody GET '/api/v1/repos/search?q=plans' >/dev/null && body '.data == []')"
check "the caller's own" true "$(call_as "$ann" GET /api/v1/user/repos >/dev/null && body '[.[].full_name] == ["ann/t"]')"

# --- guessing is slowed
for _ in 1 2 3 4 5 6; do call_as ann:guess GET /api/v1/user >/dev/null; done
check 'after six failures' 429 "$(call_as ann:guess GET /api/v1/user)"
check 'a wait is named' true "$([[ $(head_of Retry-After) =~ ^[0-9]+$ ]] && echo true)"
check 'who was right before is not held up' 200 "$(call_as "$ann" GET /api/v1/user)"

# --- git, deletion, a restart, fsck
export GIT_TERMINAL_PROMPT=0 GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
git clone -q "${base/:\/\//:\/\/$user@}/admin/filled.git" "$work/clone" 2>>"$work/git.log" || true
check 'git clones it' '# filled' "$(head -1 "$work/clone/README.md" 2>/dev/null || tail -3 "$work/git.log")"
echo more >"$work/clone/more"
git -C "$work/clone" add more
git -C "$work/clone" -c user.name=a -c user.email=a@example.com commit -qm more
check 'git pushes to it' 0 "$(git -C "$work/clone" push -q 2>>"$work/git.log" >&2; echo $?)"
check 'and the API shows it' more "$(call GET /api/v1/repos/admin/filled/commits >/dev/null && body '.[0].commit.message | rtrimstr("\n")')"
check 'deleted' 204 "$(call DELETE /api/v1/repos/admin/second)"
check 'gone' 404 "$(call GET /api/v1/repos/admin/second)"
stop
start
check 'after a restart all is there' 200 "$(call GET /api/v1/repos/admin/filled)"
check 'and the password the same' 200 "$(call GET /api/v1/user)"
stop
check 'fsck finds nothing' true "$("$datastore" fsck --data-dir "$work/data" 2>/dev/null | jq .clean)"
check 'gc works' 0 "$("$datastore" gc --data-dir "$work/data" 2>/dev/null | jq .failed)"
rm -rf "$work/data/repositories/0/1.git" "$work/data/repositories/0/2.git"
check 'fsck finds what is missing' missing-folder "$("$datastore" fsck --data-dir "$work/data" 2>/dev/null | jq -r '.faults[0].kind')"
check 'users by command line' $'admin\tadmin\nann' "$("$datastore" user list --data-dir "$work/data" 2>/dev/null)"

# --- a repository whose folder is gone
start
for path in /api/v1/repos/admin/filled/contents /v1/hf/api/models/admin/filled/tree/main /admin/filled /admin/filled.git/info/refs?service=git-upload-pack; do
  check "a lost folder is the server's fault: GET $path" 500 "$(call_as nobody GET "$path")"
  check 'whose paths are nobody else'"'"'s business' 0 "$(grep -c -a repositories/0 "$work/body" || true)"
done
holds 'the log has the path' "$work/data/repositories/0/2.git cannot be opened" "$(grep -a -i error "$work/log")"
stop

# --- the command line
ran() { # ARGUMENT…: output in $work/said, errors in $work/errors; prints the status
  local status=0
  "$datastore" "$@" </dev/null >"$work/said" 2>"$work/errors" || status=$?
  echo $status
}
check 'the user who is made is given a password' 0 "$(ran user add bob --data-dir "$work/data")"
holds 'which is shown' 'password: ' "$(cat "$work/said")"
for arguments in 'add bob' 'add a/b' 'password nobody'; do
  # shellcheck disable=SC2086 # two words
  check "user $arguments fails" 1 "$(ran user $arguments --data-dir "$work/data")"
  check 'and shows no password' '' "$(cat "$work/said")"
done
check 'who is on' 0 "$(ran user on bob --data-dir "$work/data")"
check 'is on already' 'bob is on already' "$(cat "$work/said")"
for command in fsck gc 'user list' 'user add eve' 'token list ann'; do
  # shellcheck disable=SC2086 # two words
  check "$command needs a store" 2 "$(ran $command --data-dir "$work/none")"
  holds 'says so' "there is no store in $work/none" "$(cat "$work/errors")"
  check 'and makes none' false "$([[ -e $work/none ]] && echo true || echo false)"
done
mkdir -p "$work/none"
check 'nor in a folder that is there' 2 "$(ran fsck --data-dir "$work/none")"
check 'which stays empty' '' "$(ls -A "$work/none")"
if [[ -z ${STACKGATE_DATABASE_URL:-} ]]; then # PostgreSQL's is not in the folder
  check 'a lost database is not replaced by an empty one' 2 "$(mkdir "$work/none/repositories" && ran fsck --data-dir "$work/none")"
  holds 'but asked for' 'restore the file from a backup' "$(cat "$work/errors")"
fi
check 'a word that serve does not take' 2 "$(ran serve extra --data-dir "$work/none")"
holds 'is named' 'serve: takes no such word (value: "extra")' "$(cat "$work/errors")"
check 'fsck repair is not fsck --repair' 2 "$(ran fsck repair --data-dir "$work/data")"
holds 'but nearly' 'did you mean --repair?' "$(cat "$work/errors")"
check 'a switch takes no word but true and false' 2 "$(ran serve --anonymous-read off --data-dir "$work/data")"
holds 'and says how it is written' 'write --anonymous-read=off' "$(cat "$work/errors")"
start --anonymous-read false
check 'a store that is closed to the anonymous is closed' 401 "$(call_as nobody GET /api/v1/repos/admin/linked)"
stop
exit $((failures > 0))
