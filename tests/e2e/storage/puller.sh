#!/usr/bin/env bash
# stackgate-puller against this repository's datastore and a real nginx: whole models, resumed after kill -9 without
# fetching a byte twice, every failure in words with its exit code, credentials that stay where they belong.
#   DATASTORE=build/release/bin/stackgate-datastore tests/e2e/storage/puller.sh
set -euo pipefail
user_home=$HOME
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
nginx_cache=${XDG_CACHE_HOME:-$user_home/.cache}
NGINX=${NGINX:-$(PATH=$PATH:/usr/sbin type -P nginx || echo "$nginx_cache/stackgate/tools/nginx/usr/sbin/nginx")}
# shellcheck source=tests/e2e/storage/puller-lib.sh
source "$storage_here/puller-lib.sh"
storage_begin sqlite
serve
start_nginx
make_model "$state/web/model"
sums "$state/web/model"
make_repository tiny
commit=$(publish_model "$state/web/model" tiny)
model=$state/web/model out=$state/models/tiny
from_datastore=(--datastore-url "$url" --model ada/tiny --output "$out")
from_web=(--directory-url "$web/model" --output "$out" --exclude '*.bin' --exclude 'original/' --exclude 'consolidated*')
export DATASTORE_USERNAME=ada DATASTORE_PASSWORD=correct-horse STACKGATE_LOG_FORMAT=json

whole_from() { ends 0 "$@" && complete "$out" "$model" && nothing_left "$out"; }
check "a model comes from the datastore, shards as its index names them" whole_from "${from_datastore[@]}"
check "the manifest names the commit" is "$(jq -r .revision "$out/.stackgate-model.json")" "$commit"
tells_progress() { is "$(tail -1 "$state/out" | jq -c '[.percent, .downloadedBytes == .totalBytes]')" '[100,true]'; }
check "progress is told as JSON lines" tells_progress
again() { ends 0 "${from_datastore[@]}" && said 'complete already' && complete "$out" "$model"; }
check "run again, nothing is downloaded" again
broken() {
  printf x | dd of="$out/config.json" bs=1 seek=3 conv=notrunc status=none
  ends 0 "${from_datastore[@]}" && said 'complete already' && ends 0 "${from_datastore[@]}" --verify && said 'comes again' && complete "$out" "$model"
}
check "--verify finds and mends what the sizes do not show" broken
by_commit() { rm -rf "$out" && whole_from --datastore-url "$url" --model "ada/tiny@$commit" --output "$out" && rm -rf "$out" &&
  whole_from --registry-endpoint "$url/v1/hf" --model ada/tiny --revision "$commit" --output "$out"; }
REGISTRY_API_KEY=$(api -d '{"name":"pull","scopes":["all"]}' "$url/api/v1/users/ada/tokens" | jq -r .sha1)
export REGISTRY_API_KEY
check "a commit is a revision; a registry takes the key as bearer" by_commit
as_planned() { # with nothing but the variables that the operator's plan gives
  rm -rf "$out"
  env STACKGATE_PULL_SOURCE=datastore STACKGATE_PULL_ENDPOINT="$url" STACKGATE_PULL_REPOSITORY=ada/tiny STACKGATE_PULL_REVISION=main \
    STACKGATE_PULL_TARGET="$out" "$puller" >"$state/out" 2>"$state/err" && complete "$out" "$model"
}
check "the operator's variables are enough" as_planned
unset REGISTRY_API_KEY

rm -rf "$out"
check "a model comes from a plain directory" whole_from "${from_web[@]}"
next_revision() { # only what has changed is fetched
  echo '{"model_type":"llama","v":2}' >"$model/config.json" && sums "$model" && fresh_log
  whole_from "${from_web[@]}" && is "$(requests 'model/model-')" 0 && is "$(requests model/config)" 1
}
check "another revision fetches only what has changed" next_revision
foreign() { echo mine >"$out/notes.txt" && echo x >>"$model/config.json" && sums "$model" && ends 2 "${from_web[@]}" && said notes.txt && rm "$out/notes.txt" && whole_from "${from_web[@]}"; }
check "a directory with somebody's files is not replaced" foreign

# Struck down at a moment of chance, as often as it takes: each byte goes over the wire once.
struck() {
  local rounds=0 code
  : >"$state/kept"
  rm -rf "$out" && fresh_log
  while :; do
    "$puller" --directory-url "$web/slow" --output "$out" --exclude '*.bin' --exclude original/ --exclude 'consolidated*' >"$state/out" 2>"$state/err" &
    local pid=$!
    (sleep "0.$((3 + RANDOM % 6))" && kill -9 $pid) 2>/dev/null &
    code=0
    wait $pid 2>/dev/null || code=$?
    complete_or_absent "$out" "$model" || return 1
    find "$state/models" -name '*.part' -printf '%s\n' >>"$state/kept"
    ((code != 0)) || break
    is "$code" 137 || { tail -2 "$state/err" >&2 && return 1; }
    ((++rounds < 60)) || return 1
  done
  ((rounds > 1)) || { echo "  it was never struck" >&2 && return 1; }
  complete "$out" "$model" || return 1
  # A request begins where the kept bytes of the last one ended.
  python3 - "$state/nginx/pulls.log" "$state/kept" <<'PY'
import collections, re, sys
starts = collections.defaultdict(list)
for line in open(sys.argv[1], encoding="utf-8"):
    method, uri, status, range_, if_range = re.match(r'(\S+) (.+) (\d+) "([^"]*)" "((?:[^"\\]|\\.)*)"', line).groups()
    if method != "GET" or "SHA256SUMS" in uri:
        continue
    if range_ == "-":
        starts[uri].append(0)
    else:
        assert if_range != "-", line
        assert status == "206", line
        starts[uri].append(int(re.match(r"bytes=(\d+)-$", range_)[1]))
kept = {int(line) for line in open(sys.argv[2], encoding="utf-8")}
assert any(len(set(each)) > 2 for each in starts.values()), starts
for uri, each in starts.items():
    assert each == sorted(each) and set(each) - {0} <= kept, (uri, each, kept)
PY
}
check "kill -9 at moments of chance: complete or not there, and every request goes on where the last one ended" struck

dies_at() { # POINT: the first run dies there, the next ends well; fetched bytes stay fetched
  rm -rf "$out" && fresh_log
  code=0
  STACKGATE_FAIL_POINT=$1 "$with_fail_points" "${from_web[@]}" >"$state/out" 2>"$state/err" || code=$?
  is "$code" 137 && complete_or_absent "$out" "$model" || return 1
  whole_from "${from_web[@]}" || return 1
  [ "$1" = part ] || [ "$1" = fetched ] || is "$(requests 'model/model-00001[^ ]*')" 1
}
for point in planned part fetched kept moved ready published; do check "it dies at \"$point\" and loses nothing" dies_at $point 2>/dev/null; done
replaced_at() { # the same where an older model is replaced
  echo "{\"v\":\"$1\"}" >"$model/config.json" && sums "$model" && fresh_log
  STACKGATE_FAIL_POINT=$1 "$with_fail_points" "${from_web[@]}" >"$state/out" 2>"$state/err" || true
  [ -s "$out/.stackgate-model.json" ] && whole_from "${from_web[@]}" && is "$(requests model/model-0)" 0
}
for point in kept moved ready published; do check "an older model stands until the new one is whole (\"$point\")" replaced_at $point 2>/dev/null; done

# A claim is a mount point: nothing can be renamed over it.
if mkdir "$state/claim" && mount -t tmpfs -o size=8m none "$state/claim" 2>/dev/null; then
  trap 'umount "$state/claim" 2>/dev/null; storage_end' EXIT
  mounted=("${from_web[@]/$out/$state/claim}")
  in_claim() { ends 0 "${mounted[@]}" && complete "$state/claim" "$model" && nothing_left "$state/claim"; }
  check "a model comes into a claim's root" in_claim
  claim_dies_at() {
    echo "{\"claim\":\"$1\"}" >"$model/config.json" && sums "$model" && fresh_log
    STACKGATE_FAIL_POINT=$1 "$with_fail_points" "${mounted[@]}" >"$state/out" 2>"$state/err" || true
    complete_or_absent "$state/claim" "$model" 2>/dev/null || [ "$1" = kept ] || return 1
    in_claim && is "$(requests model/model-0)" 0
  }
  for point in kept moved ready published; do check "in a claim it dies at \"$point\" and loses nothing" claim_dies_at $point 2>/dev/null; done
  rm -rf "${state:?}/claim/"* "$state"/claim/.stackgate*
  full() { head -c 4000000 /dev/zero >"$state/claim/ballast" && ends 4 "${mounted[@]}" && said 'no space left' && said 'storage.pvc.size' && rm "$state/claim/ballast"; }
  check "no room: exit code 4, before a byte is fetched" full
  filled_meanwhile() { # by somebody else; then there is room again
    fresh_log
    (sleep 1 && head -c 20000000 /dev/zero >"$state/claim/ballast") 2>/dev/null &
    ends 4 --directory-url "$web/slow" "${mounted[@]:2}" && said 'No space left on device' && said 'what was downloaded is kept' || return 1
    rm "$state/claim/ballast"
    in_claim && grep -q '^GET /model/model-.* 206 "bytes=' "$state/nginx/pulls.log"
  }
  check "a volume that fills up on the way: exit code 4, and what came is kept" filled_meanwhile
  left_behind() { # parts of a revision that nobody wants any more
    rm -rf "${state:?}/claim/"* "$state"/claim/.stackgate*
    STACKGATE_FAIL_POINT=kept "$with_fail_points" "${mounted[@]}" >"$state/out" 2>"$state/err" || true
    head -c 3000000 /dev/urandom >"$model/model-00001-of-00002.safetensors"
    head -c 2500000 /dev/urandom >"$model/model-00002-of-00002.safetensors"
    sums "$model"
    head -c 4000000 /dev/zero >"$state/claim/.stackgate-pull/parts/$(printf %040d 7).part" && in_claim
  }
  check "what other revisions left behind makes room" left_behind 2>/dev/null
  mount -o remount,ro "$state/claim"
  read_only() { ends 7 "${mounted[@]}" && said 'Read-only file system' && said 'for writing'; }
  check "a claim that is read only: exit code 7" read_only
else
  echo "skip claims: mounting a tmpfs needs root"
fi

refused() { ends "$1" --registry-endpoint "$web/s/$2" --model a/b --output "$state/none" && said "$3" && said "$4" && [ ! -e "$state/none" ]; }
check "401: exit code 3" refused 3 401 '401 Unauthorized' REGISTRY_API_KEY
check "403: exit code 3" refused 3 403 '403 Forbidden' licence
check "404: exit code 5" refused 5 404 '404 Not Found' revision
check "500: exit code 1" refused 1 500 '500 Internal Server Error' later
check "a web page is no registry: exit code 8" refused 8 200 'is no JSON' 'Hugging Face API'
proxied() { http_proxy=$web/s/407/ ends 3 --directory-url "http://models.example.com/x" --output "$state/none" && said '407 Proxy'; }
check "407: exit code 3" proxied
wrong_password() { DATASTORE_PASSWORD=x ends 3 "${from_datastore[@]}" && said '401 Unauthorized'; }
check "a wrong password at the datastore: exit code 3" wrong_password
no_revision() { ends 5 "${from_datastore[@]}" --revision nowhere && said '404 Not Found'; }
check "no such revision: exit code 5" no_revision
wrong_bytes() { mkdir -p "$state/web/wrong" && echo right >"$state/web/wrong/x" && sums "$state/web/wrong" && echo wrong >"$state/web/wrong/x" &&
  ends 6 --directory-url "$web/wrong" --output "$state/none" && said SHA-256 && [ ! -e "$state/none" ]; }
check "other bytes than were listed: exit code 6" wrong_bytes
in_circles() { ends 8 --directory-url "$web/loop" --output "$state/none" && said 'too many redirects'; }
check "redirects in circles: exit code 8" in_circles
side_by_side() {
  rm -rf "$out" && "$puller" --directory-url "$web/slow" "${from_web[@]:2}" >/dev/null 2>&1 &
  local first=$!
  sleep 1
  ends 1 "${from_web[@]}" && said 'another pull' && wait $first && complete "$out" "$model" && nothing_left "$out"
}
check "the second of two pulls into one output waits for its turn: exit code 1" side_by_side
hostile() { mkdir -p "$state/web/hostile" && printf '%064d  %s\n' 0 "$1" >"$state/web/hostile/SHA256SUMS" && ends 8 --directory-url "$web/hostile" --output "$state/none" && [ ! -e "$state/none" ]; }
for path in ../up /etc/passwd 'a/../../b' '.stackgate-pull/lock'; do check "the path $path is refused: exit code 8" hostile "$path"; done

keeps_secrets() { # the other origin serves the files and never sees the key
  fresh_log && rm -rf "$out" && cp "$model/SHA256SUMS" "$state/web/SHA256SUMS" && REGISTRY_API_KEY=very-secret ends 0 "${from_web[@]/$web\/model/$web\/away}" || return 1
  complete "$out" "$model" && grep -q '302 .*very-secret' "$state/nginx/pulls.log" && ! grep '^GET [^ ]* 20[06] .*very-secret' "$state/nginx/pulls.log" >&2
}
check "credentials do not follow a redirect to another origin" keeps_secrets
tls=https://127.0.0.1:$tls_port
downgrade() { ends 8 --directory-url "$tls/plain" --ca-file "$state/nginx/certificate" --output "$state/none" && said 'from https to http'; }
check "a redirect from https to http is refused" downgrade
authority() {
  mkdir -p "$state/authorities/..data" && cp "$state/nginx/certificate" "$state/authorities/..data/company.crt" && ln -sfn ..data/company.crt "$state/authorities/company.crt"
  ends 1 "${from_web[@]/$web/$tls}" && said --ca-dir && rm -rf "$out" && whole_from "${from_web[@]/$web/$tls}" --ca-dir "$state/authorities"
}
check "an authority of one's own, from a mounted ConfigMap" authority

setsid python3 "$storage_here/puller_api.py" "$state/api-port" "$state/patches" &
served+=($!)
for _ in $(seq 100); do [ ! -s "$state/api-port" ] || break; sleep 0.05; done
printf 'apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: "http://127.0.0.1:%s"}}]\n' \
  "$(cat "$state/api-port")" >"$state/kubeconfig"
reports() {
  rm -rf "$out" && STACKGATE_PULL_PROGRESS=tiny-puller STACKGATE_NAMESPACE=team KUBECONFIG=$state/kubeconfig ends 0 "${from_datastore[@]}" || return 1
  is "$(tail -1 "$state/patches" | jq -r '.path | split("?")[0]')" /api/v1/namespaces/team/configmaps/tiny-puller &&
    is "$(tail -1 "$state/patches" | jq -r .type)" application/merge-patch+json &&
    is "$(tail -1 "$state/patches" | jq -c '.body.data | [.downloadedBytes == .totalBytes, .reason, (.profiles | fromjson | .[0].name)]')" '[true,null,"ada/tiny"]'
}
check "the ConfigMap is told that the model is there" reports
reports_failure() {
  STACKGATE_PULL_PROGRESS=tiny-puller STACKGATE_NAMESPACE=team KUBECONFIG=$state/kubeconfig ends 5 "${from_datastore[@]}" --revision nowhere &&
    is "$(tail -1 "$state/patches" | jq -r .body.data.reason)" ModelNotFound
}
check "and why it is not" reports_failure
last_words() { : >"$state/last" && ends 5 "${from_datastore[@]}" --revision nowhere --termination-log "$state/last" && grep -q '^404 Not Found: .*; ' "$state/last"; }
check "the last words go to the container's termination message" last_words
storage_done
