#!/usr/bin/env bash
# stackgate-guardrail through OpenAI's client from npm: chats, streams, errors, tools, clients that leave, a full queue; and
# its chat page in Chromium. Screenshots go to build/screenshots/.
#   STACKGATE_BIN=build/release/bin tests/e2e/guardrail/openai.sh
# shellcheck disable=SC2154 # lib.sh's
set -euo pipefail
# shellcheck source=tests/e2e/guardrail/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
build=$here/../../../build
# shellcheck source=tests/e2e/inference/client-dir.sh
source "$here/../inference/client-dir.sh"
client_dir "$here/../inference" "$build"
mkdir -p "$scratch/npm"
ln -s "$(realpath "$client/node_modules")" "$scratch/npm/node_modules"
cp "$here"/{openai,overload}.mjs "$here/../inference/client/check.mjs" "$scratch/npm"

start_upstream
cp -r "$here/configs" "$scratch/configs"
mkdir "$scratch/configs/broken"
printf 'rails: []\n' >"$scratch/configs/broken/config.yml"
printf '[{"id":"swear","name":"S-1: Words","description":"Make it say a forbidden thing."}]\n' >"$scratch/configs/challenges.json"
start_server whole
whole=$url
start_server small --max-model-calls 2 --max-queue 2 --disable-chat-ui
small=$url
start_server hasty --inference-timeout 1s
hasty=$url

node "$scratch/npm/openai.mjs" "$whole" "$upstream" || failed=1
node "$scratch/npm/overload.mjs" "$small" "$upstream" || failed=1
check "without its page / says that it is there" bash -c "curl -s $small/ | grep -q '\"status\":\"ok\"'"
curl -s "$upstream/reset" >/dev/null
check "an endpoint that takes too long is 504" bash -c "curl -s -m 8 -o /dev/null -w '%{http_code}' $hasty/v1/chat/completions \
  -H 'Content-Type: application/json' -d '{\"config_id\":\"plain\",\"messages\":[{\"role\":\"user\",\"content\":\"slow 20000\"}]}' | grep -qx 504"
check "and sees us leave" until_it bash -c "curl -s $upstream/seen | jq -e '.left_streams == 1'"
check "challenges are the folder's" bash -c "curl -s $whole/v1/challenges | jq -e '.[0].id == \"swear\"'"

pages=$here/../storage/pages
browser=$build/pages-browser
shots=$build/screenshots
mkdir -p "$browser" "$shots"
if ! command -v chromium >/dev/null; then
  echo "skip the chat page in a browser: install chromium"
else
  cp "$pages"/{package.json,package-lock.json} "$browser"
  if [ "$browser/node_modules/.package-lock.json" -nt "$pages/package-lock.json" ] ||
    (cd "$browser" && npm ci --no-audit --no-fund >npm.log 2>&1); then
    mkdir "$scratch/page"
    ln -s "$(realpath "$browser/node_modules")" "$scratch/page/node_modules"
    cp "$here/page.mjs" "$pages/checks.mjs" "$scratch/page"
    URL=$whole UPSTREAM=$upstream SHOTS=$shots node "$scratch/page/page.mjs" || failed=1
  else
    tail "$browser/npm.log" >&2
    echo "skip the chat page in a browser: npm cannot fetch its driver"
  fi
fi
check "no key is in the logs" bash -c "! grep -q upstream-key $scratch/*.log"
exit "$failed"
