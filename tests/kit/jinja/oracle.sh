#!/usr/bin/env bash
# The template engine against Jinja2: the table of cases, and published chat templates over drawn conversations; with
# npm's @huggingface/jinja as a second opinion, whose differences are counted and decide nothing.
#   JINJA_CASES=build/release/bin/jinja_render_cases tests/kit/jinja/oracle.sh [CONVERSATIONS]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$here/../../..
program=${JINJA_CASES:-$top/build/release/bin/jinja_render_cases}
count=${1:-12} seed=${JINJA_SEED:-31415}
PATH=/usr/bin:$PATH # Debian's packages are for Debian's Python
python3 -c 'import jinja2' 2>/dev/null || { echo "skip templates against Jinja2: install python3-jinja2" && exit 0; }
[ -x "$program" ] || { echo "not ok $program is there" && exit 1; }

if out=$(python3 "$here/oracle/jinja2_oracle.py" golden | diff - "$here/oracle/golden.jsonl"); then
  echo "ok golden.jsonl is what Jinja2 makes of the cases"
else
  printf 'not ok golden.jsonl is what Jinja2 makes of the cases\n%s\n' "$out"
  exit 1
fi

command -v npm >/dev/null || { echo "skip published chat templates: install node and npm" && exit 0; }
client=$top/build/jinja-oracle
mkdir -p "$client"
cp "$here"/oracle/{package.json,package-lock.json,templates.mjs,second_opinion.mjs} "$client"
[ "$client/node_modules/.package-lock.json" -nt "$here/oracle/package-lock.json" ] ||
  (cd "$client" && npm ci --no-audit --no-fund >npm.log 2>&1) ||
  { tail "$client/npm.log" >&2 && echo "skip published chat templates: npm cannot fetch them" && exit 0; }
(cd "$client" && node templates.mjs >templates.json)
python3 "$here/oracle/conversations.py" "$client/templates.json" "$program" "$client" "$count" "$seed"
