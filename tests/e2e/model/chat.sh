#!/usr/bin/env bash
# Whole requests through our chat templates and through Jinja2 as vLLM and transformers prepare them: published templates,
# drawn conversations with tools, parts, nulls. CHAT_SEED draws others.
#   CHAT_CASES=build/release/bin/chat_cases tests/e2e/model/chat.sh [CONVERSATIONS]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
top=$here/../../..
program=${CHAT_CASES:-$top/build/release/bin/chat_cases}
PATH=/usr/bin:$PATH # Debian's packages are for Debian's Python
python3 -c 'import jinja2' 2>/dev/null || { echo "skip chat requests against Jinja2: install python3-jinja2" && exit 0; }
[ -x "$program" ] || { echo "not ok $program is there" && exit 1; }
"$top/tests/kit/jinja/oracle/fetch.sh" "$top/build/jinja-oracle" || exit 0
python3 "$here/chat_oracle.py" "$top/build/jinja-oracle/templates.json" "$program" "${1:-12}" "${CHAT_SEED:-2718}"
