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

client=$top/build/jinja-oracle
"$here/oracle/fetch.sh" "$client" || exit 0
python3 "$here/oracle/conversations.py" "$client/templates.json" "$program" "$client" "$count" "$seed"
