#!/usr/bin/env bash
# Searching, with the real datastore and an endpoint whose embeddings count letters: documents embedded and found, a process
# killed while it embeds, an index kept, an index damaged, answers from contexts judged.
#   STACKGATE_BIN=build/release/bin tests/e2e/evaluator/retrieval.sh
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail
# shellcheck source=tests/e2e/evaluator/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
start_endpoint
start_datastore || exit 1
mkdir "$scratch/beir"
letters=(a b c d e f g h i j k l m n o p q r s t)
for i in $(seq 0 399); do
  printf '{"_id":"d%d","title":"","text":"%s%s"}\n' "$i" "$(printf "%0.s${letters[i / 20]}" $(seq 1 30))" "$(printf "%0.s${letters[i % 20]}" $(seq 1 10))"
done >"$scratch/beir/corpus.jsonl"
# The one with these letters, in these shares, is the nearest; the last query has nothing relevant.
printf '%s\n' '{"_id":"q1","text":"aaabaaab"}' '{"_id":"q2","text":"bbbc"}' '{"_id":"q3","text":"z"}' >"$scratch/beir/queries.jsonl"
printf 'query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td22\t1\nq2\td399\t1\n' >"$scratch/beir/qrels.tsv"
printf '%s\n' '{"question":"say it","contexts":["say {\"useful\":1}"],"ground_truth":"x","answer":"say {\"statements\":[\"s\"]}"}' >"$scratch/beir/rows.jsonl"
dataset beir "$scratch/beir/corpus.jsonl" "$scratch/beir/queries.jsonl" "$scratch/beir/qrels.tsv"
dataset cached "$scratch/beir/rows.jsonl"
start_evaluator first --lease 2s --patience 1h || exit 1

# searching NAME PARAMS [FRAMEWORK [MEMBERS [DATASET]]]
searching() {
  printf '{"name":"%s","model_endpoint":"http://%s/v1","framework":"%s","dataset":"ada/%s","embeddings":{"model_endpoint":"http://%s/v1"}%s,"params":{"parallelism":1,"max_retries":0%s}}' \
    "$1" "$endpoint" "${3:-retriever}" "${5:-beir}" "$endpoint" "${4:-}" "$2"
}
is_created() { [ "$(status --json "$1" "$url/v1/evaluations")" = 201 ] || { cat "$scratch/answer" && return 1; }; }
embeds() { seen | jq '[.questions | to_entries[] | select(.key | startswith("[")) | .value] | add // 0'; }
embeds_at_least() { [ "$(embeds)" -ge "$1" ]; }

# 13 calls of 32 passages; killed among them.
control '{"delay_ms":150}'
check "an evaluation is created" is_created "$(searching found ',"cutoffs":[1,5]')"
check "its documents are being embedded" within 20 embeds_at_least 5
kill -9 "$evaluator_pid"
control '{"delay_ms":0}'
mv "$scratch/first.data" "$scratch/second.data"
start_evaluator second --lease 2s --patience 1h || exit 1
check "the next process goes on with it" within 30 is_in found completed
check "and embedded nothing twice but what was under way" bash -c "curl -s http://$endpoint/seen | jq -e '[.questions | to_entries[] | select(.key | startswith(\"[\")) | .value - 1] | add <= 1'"
check "what is nearest is found first" same 0.75 "$(score found retriever evaluation recall_1)"
check "precision and nDCG beside it" same "1 1" "$(score found retriever evaluation precision_1) $(score found retriever evaluation mrr)"
check "a query without relevant documents is counted" same 1 "$(results found | jq '.tasks.retriever.metrics.evaluation.scores.recall_1.stats.nan_count')"
check "its records name what was found" bash -c "curl -s $url/v1/evaluations/found/samples | jq -e '.data[0].record.retrieved[0].document == \"d1\"'"
check "an event says how far it was" bash -c "curl -s $url/v1/evaluations/found/logs | grep -q '400 of 400 passages embedded'"

forget
check "another one over the same documents" is_created "$(searching again ',"cutoffs":[1,5]')"
check "is completed" within 20 is_in again completed
check "with the vectors that are there" same 2 "$(embeds)"
check "and the same scores" same "$(results found | jq -c .tasks)" "$(results again | jq -c .tasks)"
check "by a graph" is_created "$(searching graph ',"cutoffs":[1,5],"index":"hnsw"')"
check "the same is found" within 30 is_in graph completed
check "with the same scores" same "$(results found | jq -c .tasks)" "$(results graph | jq -c .tasks)"

printf 'damage' | dd of="$(echo "$scratch"/second.data/vectors/*.hnsw)" bs=1 seek=5000 conv=notrunc status=none
forget
check "an evaluation over a damaged index" is_created "$(searching damaged ',"cutoffs":[1,5],"index":"hnsw"')"
check "is completed" within 30 is_in damaged completed
check "with an index that was made again" same 15 "$(embeds)"
check "as the log says" grep -q "its checksum is wrong" "$scratch/second.log"
check "a vector database that there is not is no index" same 422 "$(status --json "$(searching nowhere ',"index":"vector-db"')" "$url/v1/evaluations")"

forget
check "answers from contexts are judged" is_created "$(searching cached ',"response":"{{ item.answer }}"' rag ",\"judge\":{\"model_endpoint\":\"http://$endpoint/v1\"}" cached)"
check "to the end" within 20 is_in cached completed
check "what the judge does not say is no score, and counted" bash -c "curl -s $url/v1/evaluations/cached/results | jq -e '.tasks.rag.metrics.evaluation.scores.faithfulness | .value == null and .stats.nan_count == 1'"
check "and the record says why" bash -c "curl -s $url/v1/evaluations/cached/samples | jq -e '.data[0].record.reasons | length >= 2'"
exit "$failed"
