#!/usr/bin/env bash
# The evaluator's pages in real Chromium: a run watched while it goes on, scores, samples with their differences,
# comparisons; by keyboard, on a phone, in the dark, without scripts. Screenshots go to build/screenshots/.
#   STACKGATE_BIN=build/release/bin tests/e2e/evaluator/pages.sh
set -euo pipefail
# shellcheck source=tests/e2e/evaluator/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
for tool in npm git chromium python3; do
  command -v $tool >/dev/null || { echo "skip the evaluator's pages in a browser: install $tool" && exit 0; }
done
pages=$here/../storage/pages browser=$here/../../../build/pages-browser shots=$(realpath "$here/../../..")/build/screenshots
mkdir -p "$browser" "$shots"
cp "$pages"/{package.json,package-lock.json} "$browser"
[ "$browser/node_modules/.package-lock.json" -nt "$pages/package-lock.json" ] ||
  (cd "$browser" && npm ci --no-audit --no-fund >npm.log 2>&1) ||
  { tail "$browser/npm.log" >&2 && echo "skip the evaluator's pages in a browser: npm cannot fetch its driver" && exit 0; }
start_endpoint
start_datastore || exit 1
mkdir "$scratch/rows"
for i in $(seq 40); do
  printf '{"question":"say the answer is %d","answer":"the answer is %d","other":"the answer is %d"}\n' "$i" "$i" $((i % 4 == 0 ? i : 0))
done >"$scratch/rows/qa.jsonl"
printf '%s\n' '{"question":"say <script>window.hacked=1</script>","answer":"<img src=x onerror=window.hacked=1>"}' >"$scratch/rows/hostile.jsonl"
for i in $(seq 60); do printf '{"question":"slow 200 say a %d","answer":"a %d"}\n' "$i" "$i"; done >"$scratch/rows/slow.jsonl"
for each in qa hostile slow; do dataset "$each" "$scratch/rows/$each.jsonl"; done
start_evaluator pages --lease 2s || exit 1
# similar NAME DATASET REFERENCE [MEMBERS]
similar() {
  post "$(printf '{"name":"%s","model_endpoint":"http://%s/v1","model":"main-model","framework":"similarity-metrics","dataset":"ada/%s"%s,"params":{"prompt":"{{ item.question }}","reference":"{{ item.%s }}","parallelism":2,"max_retries":0}}' \
    "$1" "$endpoint" "$2" "${4:-}" "$3")" >"$scratch/made" || true
  jq -e .id "$scratch/made" >/dev/null || { echo "not ok $1 is created" && cat "$scratch/made"; }
}
similar better qa answer
similar worse qa other
similar seeded qa answer ',"seed":7'
similar hostile hostile answer
for each in better worse seeded hostile; do within 30 is_in "$each" completed || echo "not ok $each is completed"; done
similar running slow answer
mkdir "$scratch/page"
ln -s "$(realpath "$browser/node_modules")" "$scratch/page/node_modules"
cp "$here/page.mjs" "$pages/checks.mjs" "$scratch/page"
URL=$url SHOTS=$shots node "$scratch/page/page.mjs" || failed=1
((failed == 0))
