#!/usr/bin/env bash
# Examples drawn and patterns run against CPython itself: random.Random(seed).sample, re.findall and re.sub.
#   HARNESS_CASES=build/release/bin/evaluator_harness_cases tests/evaluator/harness/oracle.sh [COUNT]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
program=${HARNESS_CASES:-$here/../../../build/release/bin/evaluator_harness_cases}
[ -x "$program" ] || { echo "not ok $program is there" && exit 1; }
python3 "$here/oracle/harness_oracle.py" "$program" "${1:-2000}" "${HARNESS_SEED:-2718}"
