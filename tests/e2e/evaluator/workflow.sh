#!/usr/bin/env bash
# stackgate-evaluator with a stand-in for an Argo Workflows server that runs the containers' scripts, over TLS with its own
# CA: evaluations of lm-eval-harness submitted, followed, cancelled; servers that forbid, are away, or lose their pods; the
# evaluator killed in the middle.
#   STACKGATE_BIN=build/release/bin tests/e2e/evaluator/workflow.sh
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail
# shellcheck source=tests/e2e/evaluator/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
datastore=http://127.0.0.1:9 # nobody: these evaluations need none
export STACKGATE_EVALUATION_IMAGE_LM_EVAL_HARNESS=registry.example.com/eval/lm:1
export STACKGATE_EVALUATION_IMAGE_RAG=registry.example.com/eval/rag:1

# The framework: task "slow" waits for a file (and no longer than this test), "broken" fails, others have half of it right.
mkdir "$scratch/bin"
cat >"$scratch/bin/lm_eval" <<'LM_EVAL'
#!/bin/sh
SLOW_UNTIL=
echo "lm_eval $*"
case $STACKGATE_TASKS in
  slow) while [ -d "${SLOW_UNTIL%/*}" ] && [ ! -e "$SLOW_UNTIL" ]; do sleep 0.1; done ;;
  broken) echo "ValueError: no such task" && exit 1 ;;
esac
echo "Requesting API:  50%|#####     |"
mkdir -p "$STACKGATE_OUTPUT/llama"
printf '{"doc_id":%d,"doc":{"q":1},"target":"a","filtered_resps":["b"],"filter":"none","metrics":["exact_match"],"exact_match":%d}\n' \
  0 1 1 0 >"$STACKGATE_OUTPUT/llama/samples_${STACKGATE_TASKS}_2026-01-01T00-00-00.jsonl"
printf '{"results":{"%s":{"alias":"x","exact_match,none":0.5,"exact_match_stderr,none":0.1,"bleu,none":NaN}},"versions":{"%s":3.0},"n-shot":{"%s":5},"higher_is_better":{},"n-samples":{"%s":{"original":9,"effective":9}}}' \
  "$STACKGATE_TASKS" "$STACKGATE_TASKS" "$STACKGATE_TASKS" "$STACKGATE_TASKS" >"$STACKGATE_OUTPUT/llama/results_2026-01-01T00-00-00.json"
LM_EVAL
sed -i "s|SLOW_UNTIL=.*|SLOW_UNTIL=$scratch/go|" "$scratch/bin/lm_eval"
chmod +x "$scratch/bin/lm_eval"

openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=argo-ca -keyout "$scratch/ca.key" -out "$scratch/ca.crt" 2>/dev/null
openssl req -newkey rsa:2048 -nodes -subj /CN=argo -keyout "$scratch/tls.key" -out "$scratch/tls.csr" 2>/dev/null
openssl x509 -req -in "$scratch/tls.csr" -CA "$scratch/ca.crt" -CAkey "$scratch/ca.key" -CAcreateserial -days 1 \
  -extfile <(printf 'subjectAltName=IP:127.0.0.1') -out "$scratch/tls.crt" 2>/dev/null
# start_argo: sets $argo and $argo_pid; the same port when it is started again, without the workflows it had
start_argo() {
  rm -f "$scratch/argo.port"
  PATH=$scratch/bin:$PATH python3 "$here/argo.py" --run --port "${argo_port:-0}" --port-file "$scratch/argo.port" \
    --cert "$scratch/tls.crt" --key "$scratch/tls.key" --token argo-token-1 --forbidden-token nobody --read-only-token reader &
  argo_pid=$!
  pids+=("$argo_pid")
  within 10 test -e "$scratch/argo.port"
  argo_port=$(cat "$scratch/argo.port")
  argo=https://127.0.0.1:$argo_port
}
# asked METHOD PATTERN: how often the workflow server was
asked() {
  curl -s --cacert "$scratch/ca.crt" "$argo/-/requests" |
    jq --arg m "$1" --arg p "$2" '[.[] | select(.method == $m and (.path | test($p)) and (.body | contains("serverDryRun") | not))] | length'
}
start_argo
printf argo-token-1 >"$scratch/token"
start() {
  start_evaluator server --lease 2s --patience 1h --workflow-server-url "$argo" --workflow-namespace models \
    --workflow-service-account workflows --workflow-token-file "$scratch/token" --workflow-ca-file "$scratch/ca.crt"
}
start || exit 1

# harness NAME TASK [MEMBERS]
harness() {
  printf '{"name":"%s","framework":"lm-eval-harness","model_endpoint":"http://127.0.0.1:9/v1","model":"llama","tasks":["%s"]%s}' "$1" "$2" "${3:-}"
}
is_created() { [ "$(status --json "$1" "$url/v1/evaluations")" = 201 ] || { cat "$scratch/answer" && return 1; }; }
# refused BODY WORDS
refused() {
  local got
  got=$(status --json "$1" "$url/v1/evaluations")
  if [ "$got" != 422 ] || ! grep -qF -- "$2" "$scratch/answer"; then echo "$got" && cat "$scratch/answer" && return 1; fi
}

check "an evaluation becomes a workflow" is_created "$(harness first gsm8k)"
check "and is completed" within 30 is_in first completed
check "with the framework's scores" same 0.5 "$(score first gsm8k exact_match exact_match)"
check "what was no number is null" same null "$(score first gsm8k bleu bleu)"
check "its log is the framework's" bash -c "curl -s $url/v1/evaluations/first/logs | grep -q 'lm_eval --model local-completions --model_args model=llama,'"
check "and holds no marked results" bash -c "! curl -s $url/v1/evaluations/first/logs | grep -q stackgate-results"
check "records of its samples are kept" bash -c "curl -s $url/v1/evaluations/first/samples | jq -e '.data | length == 2 and .[0].record.scores.exact_match == 1 and .[1].record.scores.exact_match == 0'"
check "and in the zip" bash -c "curl -s '$url/v1/evaluations/first/results?format=zip' >$scratch/a.zip && python3 -m zipfile -e $scratch/a.zip $scratch/unpacked && [ \$(wc -l <$scratch/unpacked/gsm8k.jsonl) = 2 ]"
check "one workflow was submitted, with the ServiceAccount" bash -c "
  curl -s --cacert $scratch/ca.crt $argo/-/requests | jq -e '[.[] | select(.method == \"POST\" and (.body | contains(\"serverDryRun\") | not))] | length == 1 and (.[0].body | fromjson | .workflow.spec.serviceAccountName == \"workflows\")'"
check "a framework that fails says why" is_created "$(harness broken broken)"
check "and so does the evaluation" within 30 is_in broken failed
check "in its words" bash -c "curl -s $url/v1/evaluations/broken | jq -e '.status_details.message | contains(\"ValueError: no such task\")'"

check "a slow one" is_created "$(harness slow slow)"
check "runs" within 20 bash -c "curl -s $url/v1/evaluations/slow/logs | grep -q 'workflow is running'"
kill -9 "$evaluator_pid"
wait "$evaluator_pid" 2>/dev/null || true
start || exit 1
touch "$scratch/go"
check "killed in the middle, it is gone on with" within 40 is_in slow completed
check "as the same workflow" same 3 "$(asked POST '^/api/v1/workflows/models$')"
rm "$scratch/go"

check "one to cancel" is_created "$(harness stopped slow)"
check "that runs" within 20 bash -c "curl -s $url/v1/evaluations/stopped/logs | grep -q 'workflow is running'"
check "is cancelled" bash -c "curl -sf -X POST $url/v1/evaluations/stopped/cancel >/dev/null"
check "soon" within 20 is_in stopped cancelled
check "and its workflow stopped" same 1 "$(asked PUT '/stop$')"
check "deleted, its workflow is, too" bash -c "[ \$(curl -s -o /dev/null -w '%{http_code}' -X DELETE $url/v1/evaluations/stopped) = 204 ]"
check "on the server" same 1 "$(asked DELETE '^/api/v1/workflows/models/')"

check "a key does not go into a workflow" refused "$(harness keyed gsm8k ',"api_key":"sk-secret-1"')" "the Secret stackgate-evaluator-keys"
check "a framework without an image is refused" refused '{"name":"mt","framework":"mt-bench","model_endpoint":"http://127.0.0.1:9/v1","model":"m","params":{"engine":"workflow"}}' "STACKGATE_EVALUATION_IMAGE_MT_BENCH"
printf nobody >"$scratch/token"
check "without rights nothing is taken" refused "$(harness forbidden gsm8k)" "give the ServiceAccount the verbs"
printf reader >"$scratch/token"
check "nor with the right to look only" refused "$(harness watched gsm8k)" "does not let us create workflows"
printf wrong >"$scratch/token"
check "with a token that it does not know neither" refused "$(harness unknown gsm8k)" "(401)"
printf argo-token-1 >"$scratch/token"
kill -9 "$argo_pid"
wait "$argo_pid" 2>/dev/null || true
check "with the server away it is taken" is_created "$(harness later gsm8k)"
check "and says that it waits" within 20 bash -c "curl -s $url/v1/evaluations/later/logs | grep -q 'workflow server cannot be reached'"
start_argo
check "and runs when the server is there" within 60 is_in later completed
check "WorkflowTemplates of the configured images, and no others" bash -c "
  $bin/stackgate-evaluator templates --workflow-namespace models | grep -c '^kind: WorkflowTemplate$' | grep -qx 2"
check "no token is in the log" bash -c "! grep -q argo-token-1 $scratch/server.log"
((failed == 0))
