#!/usr/bin/env bash
# Models, judges and embeddings behind https with an authority of their own: trusted by --endpoint-ca-file or STACKGATE_ENDPOINT_CA,
# and only then.
#   STACKGATE_BIN=build/release/bin tests/e2e/evaluator/authorities.sh
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail
# shellcheck source=tests/e2e/evaluator/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=models-ca -keyout "$scratch/ca.key" -out "$scratch/ca.crt" 2>/dev/null
openssl req -newkey rsa:2048 -nodes -subj /CN=models -keyout "$scratch/tls.key" -out "$scratch/tls.csr" 2>/dev/null
openssl x509 -req -in "$scratch/tls.csr" -CA "$scratch/ca.crt" -CAkey "$scratch/ca.key" -CAcreateserial -days 1 \
  -extfile <(echo subjectAltName=IP:127.0.0.1) -out "$scratch/tls.crt" 2>/dev/null
CERT=$scratch/tls.crt KEY=$scratch/tls.key start_endpoint
start_datastore || exit 1
mkdir "$scratch/rows" "$scratch/documents"
printf '%s\n' '{"question":"say [[7]]"}' >"$scratch/rows/judged.jsonl"
printf '%s\n' '{"question":"a","documents":["aa","bb"],"relevant":[0]}' >"$scratch/documents/searched.jsonl"
dataset judged "$scratch/rows/judged.jsonl"
dataset searched "$scratch/documents/searched.jsonl"
is_created() { [ "$(status --json "$1" "$url/v1/evaluations")" = 201 ] || { cat "$scratch/answer" && return 1; }; }
says() { curl -s "$url/v1/evaluations/$1" | jq -r .status_details.message | grep -q "$2"; }
judged='{"name":"judged","model_endpoint":"https://'$endpoint'/v1","framework":"llm-as-judge","dataset":"ada/judged","judge":{"model_endpoint":"https://'$endpoint'/v1"},"params":{"prompt":"{{ item.question }}","judge_prompt":"say {{ sample.output_text }}","scores":{"rating":{"pattern":"\\[\\[(\\d+)\\]\\]"}},"max_retries":0}}'
searched='{"name":"searched","model_endpoint":"https://'$endpoint'/v1","framework":"retriever","dataset":"ada/searched","embeddings":{"model_endpoint":"https://'$endpoint'/v1"},"params":{"max_retries":0,"cutoffs":[1]}}'

start_evaluator file --endpoint-ca-file "$scratch/ca.crt" || exit 1
check "a model and a judge over TLS" is_created "$judged"
check "are asked" within 20 is_in judged completed
check "the judge, too" same 7 "$(score judged llm-as-judge llm-judge rating)"
check "embeddings over TLS" is_created "$searched"
check "are made" within 20 is_in searched completed
check "and found by" same 1 "$(score searched retriever evaluation recall_1)"
STACKGATE_ENDPOINT_CA=$(cat "$scratch/ca.crt") start_evaluator variable || exit 1
check "the authority as a variable" is_created "$judged"
check "is trusted" within 20 is_in judged completed
start_evaluator none || exit 1
check "without it" is_created "$judged"
check "the run waits, and says why" within 20 says judged certificate
check "nothing is asked" is_in judged running
exit "$failed"
