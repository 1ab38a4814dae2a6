#!/usr/bin/env bash
# The logits of the graph against the same mathematics in numpy, over drawn models, adapters and batches. GRAPH_SEED draws
# others.
#   GRAPH_CASES=build/release/bin/graph_cases tests/e2e/model/graph.sh
set -euo pipefail
here=$(dirname "$(realpath "$0")")
build=$here/../../../build
program=${GRAPH_CASES:-$build/release/bin/graph_cases}
seed=${GRAPH_SEED:-7} failed=0
[ -x "$program" ] || { echo "skip the graph against numpy: it was built without libtorch" && exit 0; }
PATH=/usr/bin:$PATH # Debian's packages are for Debian's Python
python3 -c 'import numpy' 2>/dev/null || { echo "skip the graph against numpy: install python3-numpy" && exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 "$here/graph/oracle.py" make "$scratch" "$seed"
for how in "1 kernels" "2 kernels" "1 tensors" "2 tensors" "1 bfloat16"; do
  for model in "$scratch"/*/; do
    # shellcheck disable=SC2086 # two arguments
    "$program" "$model" $how || { echo "not ok ${model##*/} runs with $how" && failed=1; }
  done
  python3 "$here/graph/oracle.py" compare "$scratch" "${how#* }" | sed "s/$/, threads: $how/" || failed=1
done
exit "$failed"
