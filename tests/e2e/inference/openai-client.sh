#!/usr/bin/env bash
# Our answers through OpenAI's client from npm, and what the client sends through our readers; no server between them.
#   INFERENCE_CASES=build/release/bin/inference_cases tests/e2e/inference/openai-client.sh
set -euo pipefail
here=$(dirname "$(realpath "$0")")
build=$here/../../../build
program=${INFERENCE_CASES:-$build/release/bin/inference_cases}
command -v npm >/dev/null || { echo "skip OpenAI's client: install node and npm" && exit 0; }
[ -x "$program" ] || { echo "not ok $program is there" && exit 1; }

client=$build/openai-client
mkdir -p "$client"
cp "$here"/client/{package.json,package-lock.json,client.mjs} "$client"
if ! [ "$client/node_modules/.package-lock.json" -nt "$here/client/package-lock.json" ]; then
  (cd "$client" && npm ci --no-audit --no-fund >npm.log 2>&1) ||
    { tail "$client/npm.log" >&2 && echo "skip OpenAI's client: npm cannot fetch it" && exit 0; }
fi
"$program" answers >"$client/answers.jsonl"
failed=0
(cd "$client" && node client.mjs answers.jsonl requests.jsonl) || failed=1
"$program" requests <"$client/requests.jsonl" >"$client/read.txt"
cat "$client/read.txt"
! grep -q '^not ok' "$client/read.txt" || failed=1
exit "$failed"
