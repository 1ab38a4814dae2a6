#!/usr/bin/env bash
# The metrics against python3-nltk (BLEU, chrF's counts), scikit-learn (rankings) and short definitions in Python (words,
# F1, ROUGE), over drawn texts and rankings.
#   METRIC_CASES=build/release/bin/evaluator_metric_cases tests/evaluator/metrics/oracle.sh [COUNT]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
program=${METRIC_CASES:-$here/../../../build/release/bin/evaluator_metric_cases}
PATH=/usr/bin:$PATH # Debian's packages are for Debian's Python
[ -x "$program" ] || { echo "not ok $program is there" && exit 1; }
python3 "$here/oracle/metrics_oracle.py" "$program" "${1:-2000}" "${METRICS_SEED:-2718}"
