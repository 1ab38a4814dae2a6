#!/usr/bin/env bash
# Our signatures against botocore's, byte for byte, over random requests. SIGV4_SEED repeats a run.
#   SIGV4_CASES=build/release/bin/sigv4_cases tests/e2e/storage/sigv4-oracle.sh [COUNT]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
program=${SIGV4_CASES:-$here/../../../build/release/bin/sigv4_cases}
count=${1:-5000} seed=${SIGV4_SEED:-$RANDOM}
python3 -c 'import botocore' 2>/dev/null || { echo "skip signatures against botocore: install python3-boto3" && exit 0; }
[ -x "$program" ] || { echo "not ok $program is there" && exit 1; }
if out=$(python3 "$here/sigv4_oracle.py" "$program" "$count" "$seed"); then
  read -r cases _ presigned <<<"$out"
  echo "ok $presigned presigned URLs and $((cases - presigned)) signed headers are botocore's, byte for byte (seed $seed)"
else
  echo "not ok signatures are botocore's (seed $seed): cases, differences: ${out:-none}"
  exit 1
fi
