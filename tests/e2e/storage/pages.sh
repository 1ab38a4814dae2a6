#!/usr/bin/env bash
# The web interface in real Chromium: signing in, creating, uploading, reading, changing, deleting; by keyboard, on a
# phone, without scripts; what must do nothing does nothing. Screenshots go to build/screenshots/. With --s3 what depends on
# where things are stored.
#   DATASTORE=build/release/bin/stackgate-datastore tests/e2e/storage/pages.sh [--s3]
set -euo pipefail
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
for tool in npm git chromium python3; do
  command -v $tool >/dev/null || { echo "skip the pages in a browser: install $tool" && exit 0; }
done
browser=$storage_here/../../../build/pages-browser
shots=$storage_here/../../../build/screenshots
mkdir -p "$browser" "$shots"
cp "$storage_here"/pages/{package.json,package-lock.json,drive.mjs,checks.mjs} "$browser"
[ "$browser/node_modules/.package-lock.json" -nt "$storage_here/pages/package-lock.json" ] ||
  (cd "$browser" && npm ci --no-audit --no-fund >npm.log 2>&1) ||
  { tail "$browser/npm.log" >&2 && echo "skip the pages in a browser: npm cannot fetch its driver" && exit 0; }
storage_begin
git config --global user.name 'Ada <b>Lovelace</b>'
serve

# --- something to look at
api -o "$state/ignored" "$url/api/v1/user/repos" -d '{"name":"support-conversations","description":"Support conversations & an adapter <b>trained</b> on them","private":false}'
for name in llama-3-lora eval-prompts tokenizer-tests; do
  api -o "$state/ignored" "$url/api/v1/user/repos" -d "{\"name\":\"$name\",\"description\":\"Made for the list\",\"private\":true,\"auto_init\":true}"
done
work=$state/work
git init -q -b main "$work"
python3 "$storage_here/pages/fixture.py" "$work"
git -C "$work" add .
git -C "$work" commit -q -m 'Add the conversations'
for i in $(seq 35); do
  echo "line $i" >>"$work/docs/log.txt"
  git -C "$work" add docs/log.txt
  git -C "$work" commit -q -m "Note $i"
done
sed -i 's/Counts the rows/Counts all rows/; s/file)$/file if _.strip())/' "$work/src/train.py"
git -C "$work" rm -q empty.txt
git -C "$work" commit -q -am $'Count rows that are not empty <script>alert(1)</script>\n\nA longer explanation <b>here</b>.'
git -C "$work" tag v1.0 HEAD~3
git -C "$work" branch feature/shorter
git -C "$work" push -q "$(remote support-conversations)" --all
git -C "$work" push -q "$(remote support-conversations)" --tags

status=0
stored=
[ "$storage_leg" = sqlite ] || stored=1
(cd "$browser" && URL=$url SHOTS=$shots STORED=$stored COMMIT=$(git -C "$work" rev-parse HEAD) node drive.mjs) || status=1
check "the log holds no password and no token" bash -c "! grep -a -E 'correct-horse|hf_sg[0-9a-f]{20}' '$state/datastore.log'"
((status == 0 && failed_checks == 0))
