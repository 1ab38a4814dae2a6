#!/usr/bin/env bash
# Which modules an adapter changes and by how much: ours against a reading of PEFT's rules in Python. ADAPTER_SEED draws others.
#   ADAPTER_CASES=build/release/bin/adapter_cases tests/e2e/model/adapter.sh [COUNT]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
program=${ADAPTER_CASES:-$here/../../../build/release/bin/adapter_cases}
[ -x "$program" ] || { echo "not ok $program is there" && exit 1; }
python3 "$here/adapter_oracle.py" "$program" "${1:-3000}" "${ADAPTER_SEED:-1618}"
