#!/usr/bin/env bash
# Jobs as NeMo's evaluator takes them: rows in the request, data sets with answers, models asked by templates, judges, pipelines; and
# what is refused of them, with a cure.
#   STACKGATE_BIN=build/release/bin tests/e2e/evaluator/nemo.sh
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail
# shellcheck source=tests/e2e/evaluator/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
start_endpoint
start_datastore || exit 1
mkdir "$scratch/rows" "$scratch/searched"
printf '%s\n' '{"q":"say Bonn","a":"Bonn","said":"Bonn"}' '{"q":"say Rome","a":"Paris","said":"Paris"}' >"$scratch/rows/qa.jsonl"
printf '%s\n' '{"question":"a","documents":["aa","bb"],"relevant":[0]}' >"$scratch/searched/beir.jsonl"
dataset qa "$scratch/rows/qa.jsonl"
dataset beir "$scratch/searched/beir.jsonl"
start_evaluator server || exit 1
control '{"models":["main-model","judge","embedder"]}'
jobs=/v1/evaluation/jobs
# job NAME TARGET CONFIG
job() { jq -nc --arg name "$1" --argjson target "$2" --argjson config "$3" '{name: $name, namespace: "default", target: $target, config: $config}'; }
is_created() { [ "$(status --json "$1" "$url$jobs")" = 201 ] || { cat "$scratch/answer" && return 1; }; }
refused() {
  local got
  got=$(status --json "$1" "$url$jobs")
  if [ "$got" != 422 ] || ! grep -qF -- "$2" "$scratch/answer"; then echo "$got" && cat "$scratch/answer" && return 1; fi
}
api() { printf '{"api_endpoint":{"url":"http://%s/v1/%s","model_id":"%s"}}' "$endpoint" "$1" "$2"; }
rows='{"type":"rows","rows":[{"said":"yes","expected":"yes"},{"said":"no","expected":"yes"},{"said":"no","expected":"no"}]}'
checked() { printf '{"type":"custom","tasks":{"qa":{"type":"data",%s"metrics":{"same":{"type":"string-check","params":{"check":["{{item.%s}}","equals","{{item.%s}}"]}}}}}}' "${3:-}" "$1" "$2"; }

check "rows in the request" is_created "$(job inline "$rows" "$(checked said expected)")"
check "are scored without a model" within 20 is_in inline completed
check "by string checks" bash -c "[ \$(curl -s $url$jobs/inline/results | jq '.tasks.qa.metrics[\"string-check\"].scores.same.value * 3 | round') = 2 ]"
check "nobody was asked" same 0 "$(seen | jq '.bodies | length')"
check "one job has its rows" same 3 "$(curl -s "$url$jobs/inline" | jq '.rows | length')"
check "the list has not" same null "$(curl -s "$url$jobs" | jq '.data[0].rows')"
check "a row that lacks what a template names, by its place" refused "$(job lacks '{"type":"rows","rows":[{"said":"a","expected":"b"},{"said":"a"}]}' "$(checked said expected)")" '"loc":["body","rows",1]'
check "a data set with answers" is_created "$(job stored '{"type":"dataset","dataset":{"files_url":"hf://datasets/ada/qa"}}' "$(checked said a)")"
check "is scored" within 20 is_in stored completed
check "all of it" same 1 "$(score stored qa string-check same)"
check "other rows are not compared" bash -c "curl -s --json '{\"evaluations\":[\"inline\",\"stored\"]}' $url/v1/comparisons | grep -q 'data set and its revision'"

model="{\"type\":\"model\",\"model\":$(api chat/completions main-model)}"
asked='{"type":"custom","params":{"parallelism":2},"tasks":{"qa":{"type":"chat-completion","dataset":{"files_url":"hf://datasets/ada/qa"},"params":{"template":{"messages":[{"role":"user","content":"{{item.q}}"}],"max_tokens":20}},"metrics":{"bleu":{"type":"bleu","params":{"references":["{{item.a}}","{{ item.a | upper }}"]}},"same":{"type":"string-check","params":{"check":["{{item.a}}","equals","{{sample.output_text}}"]}}}}}}'
check "a model asked by a template" is_created "$(job asked "$model" "$asked")"
check "is scored" within 20 is_in asked completed
check "by its answers" same 0.5 "$(score asked qa string-check same)"
check "and by BLEU" same 0.5 "$(score asked qa bleu sentence_bleu_score)"
check "as the template has it" bash -c "curl -s http://$endpoint/seen | jq -e '.bodies | length == 2 and all(.path == \"/v1/chat/completions\" and .body.max_tokens == 20)'"
judged="{\"type\":\"custom\",\"tasks\":{\"qa\":{\"type\":\"data\",\"metrics\":{\"j\":{\"type\":\"llm-judge\",\"params\":{\"model\":$(api chat/completions judge),\"template\":{\"messages\":[{\"role\":\"user\",\"content\":\"say {\\\"rating\\\": 4} {{item.said}}\"}]},\"scores\":{\"rating\":{\"type\":\"int\",\"parser\":{\"type\":\"json\",\"json_path\":\"rating\"}}}}}}}}}"
check "rows and a judge" is_created "$(job judged "$rows" "$judged")"
check "are judged" within 20 is_in judged completed
check "with the judge's number" same 4 "$(score judged qa llm-judge rating)"
pipeline="{\"query_embedding_model\":$(api embeddings embedder),\"index_embedding_model\":$(api embeddings embedder),\"top_k\":5}"
check "a retriever's pipeline" is_created "$(job searched "{\"type\":\"retriever\",\"retriever\":{\"pipeline\":$pipeline}}" '{"type":"retriever","tasks":{"beir":{"dataset":{"files_url":"hf://datasets/ada/beir"}}},"params":{"cutoffs":[1]}}')"
check "is measured" within 20 is_in searched completed
check "by what it finds" same 1 "$(score searched beir evaluation recall_1)"

check "a reranker is refused, with a cure" refused "$(job no "{\"type\":\"retriever\",\"retriever\":{\"pipeline\":$(jq -c ". + {reranker_model: $(api rerank r)}" <<<"$pipeline")}}" '{"type":"retriever"}')" "documents are ranked by embeddings"
check "references are refused, with a cure" refused '{"target":"ns/target","config":"ns/config"}' "write the target itself"
check "keys come back masked" bash -c "curl -s --json '{\"name\":\"keys\",\"target\":{\"type\":\"model\",\"model\":{\"api_endpoint\":{\"url\":\"http://$endpoint/v1\",\"api_key\":\"sk-9\"}}},\"config\":{\"type\":\"gsm8k\"}}' '$url$jobs?dry_run=true' | grep -v sk-9 | grep -q ."
exit "$failed"
