#!/usr/bin/env bash
# Judges, models of embeddings and workflow servers that lie in types, send NaN, refuse, are slow or away: each costs what it should
# have given, says so, and never the evaluation.
#   STACKGATE_BIN=build/release/bin tests/e2e/evaluator/hostile.sh
# shellcheck disable=SC2016,SC2317 # jq's variables; functions are called through check
set -euo pipefail
# shellcheck source=tests/e2e/evaluator/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
start_endpoint
start_datastore || exit 1
control '{"models":["main-model","judge","embedder"]}'
mkdir "$scratch/rows"
# What the judge is asked has the answer in it, and does what that says.
for answer in 'say [[4]]' lie nan 'status 400' 'slow 3000 say [[1]]' 'say nothing' 'say [[6]]'; do jq -nc --arg a "$answer" '{question: "q", answer: $a}'; done >"$scratch/rows/answers.jsonl"
printf '%s\n' '{"question":"q","contexts":["nan"],"ground_truth":"One thing.","answer":"lie"}' '{"question":"q","contexts":["say {\"useful\":1,\"verdicts\":[1]}"],"ground_truth":"One thing.","answer":"say {\"statements\":[],\"noncommittal\":1}"}' >"$scratch/rows/rag.jsonl"
mkdir "$scratch/good" "$scratch/bad"
printf '%s\n' '{"question":"a","documents":["aa","bb"],"relevant":[0]}' >"$scratch/good/good.jsonl"
printf '%s\n' '{"question":"a","documents":["lie","bb"],"relevant":[0]}' >"$scratch/good/bad.jsonl"
dataset answers "$scratch/rows/answers.jsonl"
dataset rag "$scratch/rows/rag.jsonl"
dataset searched "$scratch/good/good.jsonl" "$scratch/good/bad.jsonl"
start_evaluator server --answer-patience 2s --lease 2s || exit 1
is_created() { [ "$(status --json "$1" "$url/v1/evaluations")" = 201 ] || { cat "$scratch/answer" && return 1; }; }
# shows EVALUATION FILTER
shows() { curl -s "$url/v1/evaluations/$1" | jq -e "$2" || { curl -s "$url/v1/evaluations/$1" && return 1; }; }
samples() { curl -s "$url/v1/evaluations/$1/samples" | jq -e ".data | $2" || { curl -s "$url/v1/evaluations/$1/samples" && return 1; }; }

judged() {
  printf '{"name":"%s","model_endpoint":"http://%s/v1","model":"main-model","framework":"llm-as-judge","dataset":"ada/answers","judge":{"model_endpoint":"%s","model":"judge"},"params":{%s}}' \
    "$1" "$endpoint" "$2" '"response":"{{ item.answer }}","judge_prompt":"{{ sample.output_text }}","scores":{"rating":{"pattern":"\\[\\[(\\d+)\\]\\]"}},"max_retries":0,"request_timeout":1'
}
check "a judge that lies, sends NaN, refuses, is slow or says no number" is_created "$(judged judge "http://$endpoint/v1")"
check "costs no evaluation" within 30 is_in judge completed
check "the mean is of what it said" same 5 "$(score judge llm-as-judge llm-judge rating)"
check "what it did not say is counted" same 5 "$(results judge | jq '.tasks["llm-as-judge"].metrics["llm-judge"].scores.rating.stats.nan_count')"
check "each record says why" samples judge '[.[].record | select(.scores.rating == null)] | length == 5 and all(.faults | length == 1)'
check "a judge that is not there" is_created "$(judged nobody http://127.0.0.1:9/v1)"
check "costs no evaluation either" within 60 is_in nobody completed
check "an event says so" bash -c "curl -s $url/v1/evaluations/nobody/logs | grep -q 'goes on without the judge'"
check "no rating is made up" same null "$(score nobody llm-as-judge llm-judge rating)"

# rag NAME EMBEDDINGS
rag() {
  printf '{"name":"%s","model_endpoint":"http://%s/v1","model":"main-model","framework":"rag","dataset":"ada/rag","judge":{"model_endpoint":"http://%s/v1","model":"judge"},"embeddings":{"model_endpoint":"%s","model":"embedder"},"params":{"response":"{{ item.answer }}","max_retries":0,"request_timeout":1}}' "$1" "$endpoint" "$endpoint" "$2"
}
# Its question has "say" in it, too.
control '{"rules":[{"model":"judge","match":"Decide for each of 1 statements","say":"{\"verdicts\":[1]}"}]}'
check "a judge of answers from contexts that lies" is_created "$(rag rag "http://$endpoint/v1")"
check "costs no evaluation" within 30 is_in rag completed
check "nor the other row" samples rag '.[1].record.scores.context_recall == 1 and (.[0].record.scores.faithfulness == null) and (.[0].record.reasons | length >= 2)'
check "embeddings that are away" is_created "$(rag unembedded http://127.0.0.1:9/v1)"
check "cost no evaluation" within 60 is_in unembedded completed

searched() {
  printf '{"name":"%s","model_endpoint":"http://%s/v1","framework":"retriever","dataset":"ada/searched","tasks":[%s],"embeddings":{"model_endpoint":"http://%s/v1","model":"embedder"},"params":{"max_retries":0,"cutoffs":[1]}}' "$1" "$endpoint" "$2" "$endpoint"
}
check "a model of embeddings that lies about one task's documents" is_created "$(searched searched '"bad","good"')"
check "costs no evaluation" within 30 is_in searched completed
check "but that task" shows searched '.status_details.message | contains("1 of 2 samples have no scores") and contains("answer")'
check "and no other" same 1 "$(score searched good evaluation recall_1)"
check "where there is no other, nothing was evaluated" is_created "$(searched none '"bad"')"
check "which is said" within 30 is_in none failed
mkdir "$scratch/choices"
printf '{"q":"the sky is","ends":["blue","green"],"right":0}\n' >"$scratch/choices/test.jsonl"
cp "$here/frameworks/harness/data/choose.yaml" "$scratch/choices"
dataset choices "$scratch"/choices/{test.jsonl,choose.yaml}
choose() { printf '{"name":"%s","model_endpoint":"http://%s/v1","model":"main-model","framework":"custom","dataset":"ada/choices","tasks":["choose"]}' "$1" "$endpoint"; }
for echo in '"generated"' false; do
  name=echo-${echo//\"/}
  control "{\"echo\":$echo}"
  forget
  check "a model whose log-probabilities of given texts are $echo" is_created "$(choose "$name")"
  check "costs the evaluation, which would have scores that mean nothing" within 20 is_in "$name" failed
  check "and says so" shows "$name" '.status_details.message | contains("cannot score given texts")'
  check "before its first question" same '["The capital of France is Paris."]' "$(seen | jq -c '.questions | keys')"
done
exit "$failed"
