#!/usr/bin/env bash
# The customizer's pages in real Chromium: a training watched while it goes on, its loss, stages, log and adapter; by keyboard, on a
# phone, in the dark, without scripts, below a proxy's path. Screenshots go to build/screenshots/.
#   STACKGATE_BIN=build/release/bin tests/e2e/customizer/pages.sh
# shellcheck disable=SC2154 # what the library sets
set -euo pipefail
# shellcheck source=tests/e2e/customizer/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
suite=$(dirname "$(realpath "$0")")
for tool in npm chromium; do
  command -v $tool >/dev/null || { echo "skip the customizer's pages in a browser: install $tool" && exit 0; }
done
[ -e "$bin/libstackgate-learner.so" ] || { echo "skip the customizer's pages: libstackgate-learner.so is built where libtorch is" && exit 0; }
pages=$suite/../storage/pages browser=$suite/../../../build/pages-browser shots=$(realpath "$suite/../../..")/build/screenshots
mkdir -p "$browser" "$shots"
cp "$pages"/{package.json,package-lock.json} "$browser"
[ "$browser/node_modules/.package-lock.json" -nt "$pages/package-lock.json" ] ||
  (cd "$browser" && npm ci --no-audit --no-fund >npm.log 2>&1) ||
  { tail "$browser/npm.log" >&2 && echo "skip the customizer's pages in a browser: npm cannot fetch its driver" && exit 0; }
start_datastore || exit 1
start_entitystore || exit 1
make_model || exit 1
mkdir -p "$scratch/rows/training" "$scratch/rows/validation"
for i in {1..24}; do echo '{"prompt":"The colour of thing '$((i % 9))' is","completion":" green and gold."}'; done >"$scratch/rows/training/a.jsonl"
head -4 "$scratch/rows/training/a.jsonl" >"$scratch/rows/validation/a.jsonl"
(cd "$scratch/rows" && dataset colours training/a.jsonl validation/a.jsonl)
start_customizer || exit 1
check "one is created" is_created "$(body first ',"output_model":"ada/green@1.0.0","description":"<script>window.hacked=1</script>"' '"max_steps":30,"val_check_interval":10')"
check "it is completed" becomes first completed
check "a long one is created" is_created "$(body long '' '"max_steps":100000,"val_check_interval":10')"
has_steps() { [ "$(record long | jq .status_details.steps_completed)" -ge 5 ]; }
check "it trains" within 30 has_steps
check "another waits for its turn" is_created "$(body waits)"
waits() { record waits | jq -e '.message | test("waits for 1 other")' >/dev/null; }
check "and says so" within 10 waits
mkdir "$scratch/page"
ln -s "$(realpath "$browser/node_modules")" "$scratch/page/node_modules"
cp "$suite/page.mjs" "$pages/checks.mjs" "$scratch/page"
URL=$url SHOTS=$shots node "$scratch/page/page.mjs" || failed=1
((failed == 0))
