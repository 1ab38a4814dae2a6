#!/usr/bin/env bash
# git and dulwich against stackgate-datastore: clone, fetch, push in both protocols, and what goes wrong on the way.
#   DATASTORE=build/release/bin/stackgate-datastore tests/e2e/storage/git.sh
# shellcheck disable=SC2317 # functions that check calls, and the trap
set -euo pipefail
here=$(dirname "$(realpath "$0")")
datastore=${DATASTORE:-$here/../../../build/release/bin/stackgate-datastore}
[ -x "$datastore" ] || { echo "not ok $datastore is there" && exit 1; }
state=$(mktemp -d)
server=
finish() {
  [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server" 2>/dev/null; } || true
  rm -rf "$state"
}
trap finish EXIT
trap 'exit 130' INT TERM

failed=0
# check NAME COMMAND...: its output is shown only when it fails.
check() {
  local name=$1
  shift
  if "$@" >"$state/said" 2>&1; then
    echo "ok $name"
  else
    echo "not ok $name"
    sed 's/^/  /' "$state/said" | tail -15
    failed=1
  fi
}
fails() { ! "$@"; }

export HOME=$state/home GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
mkdir "$HOME"
git config --global user.name Test
git config --global user.email test@example.org
git config --global init.defaultBranch main
git config --global advice.detachedHead false

password=correct-horse-battery-staple
# shellcheck source=tests/support/port.sh
source "$here/../../support/port.sh"
port=$(free_port)
export STACKGATE_DRAIN_WAIT=0s GIT_ADMIN_USERNAME=admin GIT_ADMIN_PASSWORD=$password
"$datastore" init --data-dir "$state/data" >"$state/init.log" 2>&1 || { echo "not ok init" && cat "$state/init.log" && exit 1; }
"$datastore" serve --data-dir "$state/data" --listen "127.0.0.1:$port" >"$state/server.log" 2>&1 &
server=$!
base=http://127.0.0.1:$port
url=http://admin:$password@127.0.0.1:$port
for _ in $(seq 600); do
  curl -fsS "$base/v1/health" >/dev/null 2>&1 && break
  kill -0 "$server" 2>/dev/null || { echo "not ok the server starts" && cat "$state/server.log" && exit 1; }
  sleep 0.1
done
new_repository() { # NAME PRIVATE
  curl -fsS -u "admin:$password" -H 'Content-Type: application/json' -d "{\"name\":\"$1\",\"private\":$2}" "$base/api/v1/user/repos" >/dev/null
}
status() { curl -sS -o "$state/body" -w '%{http_code}' "$@"; }
is() { [ "$1" = "$2" ] || { echo "got $1, not $2"; return 1; }; }
new_repository open false
new_repository closed true
cd "$state"

# --- who may what
check "a public repository is read by anyone" is "$(status "$base/admin/open.git/info/refs?service=git-upload-pack")" 200
check "nobody pushes without signing in" is "$(status "$base/admin/open.git/info/refs?service=git-receive-pack")" 401
check "and is told how" grep -qi '^www-authenticate: basic realm=' <(curl -sSi "$base/admin/open.git/info/refs?service=git-receive-pack")
check "a private repository asks strangers to sign in" is "$(status "$base/admin/closed.git/info/refs?service=git-upload-pack")" 401
check "so does one that is not there" is "$(status "$base/admin/none.git/info/refs?service=git-upload-pack")" 401
check "who has signed in hears that it is not there" is "$(status -u "admin:$password" "$base/admin/none.git/info/refs?service=git-upload-pack")" 404
check "a wrong password is refused" is "$(status -u admin:wrong "$base/admin/closed.git/info/refs?service=git-upload-pack")" 401
check "dumb HTTP is refused with words" is "$(status "$base/admin/open.git/info/refs")" 403
check "which git shows as they are text" grep -q 'smart HTTP' "$state/body"
check "other content types are refused" is "$(status -X POST -H 'Content-Type: text/plain' --data 0000 "$base/admin/open.git/git-upload-pack")" 415
check "the probe is answered at once" is "$(status -u "admin:$password" -H 'Content-Type: application/x-git-receive-pack-request' --data-binary 0000 "$base/admin/open.git/git-receive-pack")" 200
check "what is no push is refused" is "$(status -u "admin:$password" -H 'Content-Type: application/x-git-receive-pack-request' --data-binary nonsense "$base/admin/open.git/git-receive-pack")" 400
check "answers are not to be cached" grep -qi '^cache-control: no-cache, max-age=0, must-revalidate' <(curl -sSi "$base/admin/open.git/info/refs?service=git-upload-pack")

# --- personal tokens, as a password or in its place
new_token() { # SCOPE
  curl -fsS -u "admin:$password" -H 'Content-Type: application/json' -d "{\"name\":\"$1\",\"scopes\":[\"$1:repository\"]}" "$base/api/v1/users/admin/tokens" | jq -r .sha1
}
writer=$(new_token write) reader=$(new_token read)
by() { echo "http://$1@127.0.0.1:$port/admin/$2.git"; }
new_repository token true
git init -q t && (cd t && echo t >f && git add . && git commit -q -m t)
check "a token pushes as the password" git -C t push -q "$(by "admin:$writer" token)" main
check "and as the name alone" git -C t push -q "$(by "$writer:x-oauth-basic" token)" main:second
check "a token clones a private repository" git clone -q "$(by "admin:$writer" token)" token1
check "so does one for reading only" git clone -q "$(by "admin:$reader" token)" token2
check "as a header too" git -c "http.extraHeader=Authorization: Bearer $reader" clone -q "$base/admin/token.git" token3
check "what it clones is whole" cmp t/f token3/f
check "one for reading only pushes nothing" fails git -C t push -q "$(by "admin:$reader" token)" main:third
check "which is forbidden" is "$(status -u "admin:$reader" "$base/admin/token.git/info/refs?service=git-receive-pack")" 403
check "also when nothing was advertised" is "$(status -u "admin:$reader" -H 'Content-Type: application/x-git-receive-pack-request' --data-binary 0000 "$base/admin/token.git/git-receive-pack")" 403
check "and left nothing" is "$(git ls-remote "$(by "admin:$reader" token)" refs/heads/third)" ""
curl -fsS -o /dev/null -u "admin:$password" -X DELETE "$base/api/v1/users/admin/tokens/write"
check "a token that was withdrawn does nothing" is "$(status -u "admin:$writer" "$base/admin/token.git/info/refs?service=git-upload-pack")" 401

# --- both protocols, with and without ".git"
for version in 0 2; do
  git config --global protocol.version "$version"
  name=v$version
  new_repository "$name" false
  check "v$version: an empty repository is cloned" git clone -q "$base/admin/$name" "empty$version"
  rm -rf w && git clone -q "$url/admin/$name.git" w 2>/dev/null
  (cd w && echo one >a && git add . && git commit -q -m one && git tag -a -m first v1 && git tag light)
  check "v$version: a first push" git -C w push -q origin main --tags
  check "v$version: a clone has it" git clone -q "$base/admin/$name.git" "c$version"
  check "v$version: with its tags" is "$(git -C "c$version" tag | tr '\n' ' ')" "light v1 "
  (cd w && echo two >a && git commit -q -a -m two && git push -q origin main)
  check "v$version: a fetch brings what is new" git -C "c$version" pull -q
  check "v$version: the same commit" is "$(git -C "c$version" rev-parse HEAD)" "$(git -C w rev-parse HEAD)"
  check "v$version: a branch is made" git -C w push -q origin main:refs/heads/feature/x
  check "v$version: and deleted" git -C w push -q origin :feature/x
  check "v$version: and is gone" is "$(git ls-remote "$base/admin/$name" 'refs/heads/*' | cut -f2)" refs/heads/main
  check "v$version: the default branch is not deleted" fails git -C w push -q origin :main
  (cd w && git commit -q --amend -m rewritten)
  check "v$version: a rewritten branch is refused" fails git -C w push -q origin main
  check "v$version: unless forced" git -C w push -q -f origin main
  check "v$version: a shallow clone" git clone -q --depth 1 "$base/admin/$name" "shallow$version"
  check "v$version: has one commit" is "$(git -C "shallow$version" rev-list --count HEAD)" 1
  check "v$version: and deepens" git -C "shallow$version" fetch -q --unshallow
  check "v$version: a partial clone" git clone -q --filter=blob:none "$base/admin/$name" "partial$version"
  check "v$version: reads what it left out" git -C "partial$version" show HEAD~1:a
  check "v$version: nothing is broken" git -C "c$version" fsck --strict
done
git config --global --unset protocol.version

# --- large pushes: probe, chunks; many references: gzip
(cd w && git remote set-url origin "$url/admin/open.git" && head -c 30000000 /dev/urandom >big && git add big && git commit -q -m big)
check "30 MB are pushed" env GIT_TRACE_CURL="$state/trace" git -C w push -q origin main
check "by the probe" grep -q 'Content-Length: 4' "$state/trace"
check "and in chunks" grep -qi 'Transfer-Encoding: chunked' "$state/trace"
check "and come back whole" git clone -q "$base/admin/open" bigclone
check "bit by bit" cmp w/big bigclone/big
(cd w && t=$(git rev-parse HEAD) && for i in {1..3000}; do
  printf 'commit refs/tags/t%s\ncommitter T <t@example.org> 1700000000 +0000\ndata %s\n%s\nfrom %s\n' "$i" "${#i}" "$i" "$t"
done | git fast-import --quiet)
check "3,000 tags are pushed" git -C w push -q origin --tags
check "and cloned" env GIT_TRACE_CURL="$state/trace2" git -c protocol.version=0 clone -q --mirror "$base/admin/open.git" mirror
check "with a request that came gzipped" grep -qi 'content-encoding: gzip' "$state/trace2"
check "all of them" is "$(git -C mirror tag -l 't*' | wc -l)" 3000

# --- a race for one reference
new_repository race false
for i in 1 2 3 4 5 6; do
  git init -q "r$i" && (cd "r$i" && echo "$i" >f && git add . && git commit -q -m "$i" && git remote add o "$url/admin/race.git")
done
: >won
for i in 1 2 3 4 5 6; do
  { if git -C "r$i" push -q o main 2>/dev/null; then echo "$i" >>won; fi; } &
done
for job in $(jobs -p); do [ "$job" = "$server" ] || wait "$job" || true; done
check "of six who make the same branch one wins" is "$(wc -l <won)" 1
check "and it is that one's" is "$(git ls-remote "$base/admin/race" refs/heads/main | cut -f1)" "$(git -C "r$(cat won)" rev-parse HEAD)"

# --- what should not come in
new_repository hostile false
git init -q evil
(cd evil && blob=$(echo x | git hash-object -w --stdin) && tree=$(printf '100644 blob %s\t.git\n' "$blob" | git mktree) &&
  git update-ref refs/heads/main "$(git commit-tree -m evil "$tree")")
check "a tree with .git in it is refused" fails git -C evil push -q "$url/admin/hostile.git" main
check "and leaves nothing" is "$(git ls-remote "$url/admin/hostile.git")" ""
new_repository trunk false
(cd r1 && git push -q "$url/admin/trunk.git" main:trunk)
check "HEAD follows the first push to another branch" is "$(git ls-remote --symref "$base/admin/trunk" HEAD | head -1)" "ref: refs/heads/trunk	HEAD"

# --- killed in the middle
new_repository killed false
git init -q k && (cd k && head -c 20000000 /dev/urandom >big && git add . && git commit -q -m big)
(git -C k push -q "$url/admin/killed.git" main 2>/dev/null || true) &
client=$!
sleep 0.4
kill -9 "$server"
wait "$server" 2>/dev/null || true
wait "$client" || true
"$datastore" serve --data-dir "$state/data" --listen "127.0.0.1:$port" >>"$state/server.log" 2>&1 &
server=$!
for _ in $(seq 600); do
  if curl -fsS "$base/v1/health" >/dev/null 2>&1; then break; fi
  sleep 0.1
done
check "after kill -9 the same push goes through" git -C k push -q "$url/admin/killed.git" main
check "and all repositories are sound" "$datastore" fsck --data-dir "$state/data"

# --- a second client
python=
for each in python3 /usr/bin/python3; do
  if "$each" -c 'import dulwich' 2>/dev/null; then python=$each; fi
done
if [ -n "$python" ]; then
  check "dulwich clones" "$python" -c "from dulwich import porcelain; porcelain.clone('$base/admin/v2.git', 'dul').close()"
  check "dulwich pushes" "$python" -c "
from dulwich import porcelain
open('dul/d', 'w').write('d')
porcelain.add('dul', 'dul/d')
porcelain.commit('dul', b'by dulwich', author=b'D <d@d>', committer=b'D <d@d>')
porcelain.push('dul', '$url/admin/v2.git', 'refs/heads/main')"
  check "git sees it" git -C c2 fetch -q
  check "as dulwich wrote it" is "$(git -C c2 show origin/main:d)" d
else
  echo "skip dulwich: install python3-dulwich"
fi
check "no git process is left behind" fails pgrep -P "$server"
exit "$failed"
