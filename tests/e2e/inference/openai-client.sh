#!/usr/bin/env bash
# Our answers through OpenAI's client from npm, and what the client sends through our readers; no server between them.
#   INFERENCE_CASES=build/release/bin/inference_cases tests/e2e/inference/openai-client.sh
set -euo pipefail
here=$(dirname "$(realpath "$0")")
build=$here/../../../build
program=${INFERENCE_CASES:-$build/release/bin/inference_cases}
[ -x "$program" ] || { echo "not ok $program is there" && exit 1; }

. "$here/client-dir.sh"
client_dir "$here" "$build"
"$program" answers >"$client/answers.jsonl"
failed=0
(cd "$client" && node client.mjs answers.jsonl requests.jsonl) || failed=1
"$program" requests <"$client/requests.jsonl" >"$client/read.txt"
cat "$client/read.txt"
! grep -q '^not ok' "$client/read.txt" || failed=1
exit "$failed"
