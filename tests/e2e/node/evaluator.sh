#!/usr/bin/env bash
# Our own evaluator as a StackEvaluator, and our own datastore as the StackDatastore beside it: their images, the plans' variables,
# probes, migrations and read-only roots; data sets pinned; programs of models run in the pod; and evaluations as workflows of a
# stand-in for an Argo Workflows server, over TLS with its own CA and a token of a Secret.
# shellcheck disable=SC2317 # functions are called through check
source "$(dirname "$(realpath "$0")")/lib.sh"
source "$here/operator.sh"
source "$here/registry.sh"
parts=$repo/tests/e2e/evaluator
postgres=$repo/tests/support/postgres.sh
if ! why=$("$postgres" available 2>&1); then echo "skip $script: $why" && exit 0; fi
stop_all() {
  "$postgres" stop "$scratch/postgres" immediate >/dev/null 2>&1
  finish
}
trap stop_all EXIT
evaluator_image=registry.test/stackgate-evaluator datastore_image=registry.test/stackgate-datastore
operator_up
IMAGE_PYTHON=yes import_image "the evaluator's image" 70 "$evaluator_image:tested" "$bin/stackgate-evaluator"
import_image "the datastore's image" 40 "$datastore_image:tested" "$bin/stackgate-datastore"

# --- On the node: PostgreSQL, a model's endpoint, the workflow server.
address=$(kube get nodes -o jsonpath='{.items[0].status.addresses[?(@.type=="InternalIP")].address}')
chmod 711 "$scratch"
words=$(POSTGRES_LISTEN='*' "$postgres" start "$scratch/postgres" 2>&1) || { not_ok "PostgreSQL starts" "$words" && exit 1; }
export PGPASSWORD
PGPASSWORD=$(cat "$scratch/postgres/password")
sql() { psql -qAt -h 127.0.0.1 -p "$(cat "$scratch/postgres/port")" -U stackgate -d "$1" -c "$2"; }
for name in datastore evaluator; do sql stackgate "CREATE DATABASE $name"; done
HOST=0.0.0.0 python3 "$parts/endpoint.py" "$scratch/port" &
helpers+=("$!")
until_true 10 test -e "$scratch/port" || { not_ok "the model's endpoint starts" && exit 1; }
endpoint=$address:$(cat "$scratch/port")

openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=argo-ca -keyout "$scratch/ca.key" -out "$scratch/ca.crt" 2>/dev/null
openssl req -newkey rsa:2048 -nodes -subj /CN=argo -keyout "$scratch/tls.key" -out "$scratch/tls.csr" 2>/dev/null
openssl x509 -req -in "$scratch/tls.csr" -CA "$scratch/ca.crt" -CAkey "$scratch/ca.key" -CAcreateserial -days 1 \
  -extfile <(printf 'subjectAltName=DNS:argo-server,IP:%s' "$address") -out "$scratch/tls.crt" 2>/dev/null
# start_argo [TOKEN]: the workflow server, which forgets its workflows; sets $argo_pid
start_argo() {
  rm -f "$scratch/argo.port"
  PATH=$scratch/frameworks:$PATH python3 "$parts/argo.py" --run --host "$address" --port 2746 --port-file "$scratch/argo.port" \
    --cert "$scratch/tls.crt" --key "$scratch/tls.key" --token "${1:-argo-token-1}" --forbidden-token nobody >"$scratch/argo.log" 2>&1 &
  argo_pid=$!
  helpers+=("$argo_pid")
  until_true 10 test -e "$scratch/argo.port" || not_ok "the workflow server starts" "$(cat "$scratch/argo.log")"
}
stop_argo() { kill "$argo_pid" && wait "$argo_pid" 2>/dev/null; }
argo() { fetch --cacert "$scratch/ca.crt" "https://$address:2746$1" "${@:2}"; }
plays() { argo /-/play -d "$1" >/dev/null; }
# asked METHOD PATTERN: how often it was
asked() { made | jq --arg m "$1" --arg p "$2" '[.[] | select(.method == $m and (.path | test($p)))] | length'; }
made() { argo /-/requests | jq '[.[] | select(.body | contains("serverDryRun") | not)]'; } # all but dry runs

# --- Both services
k create service clusterip argo-server --tcp=2746 --dry-run=client -o json | jq 'del(.spec.selector)' | k apply --validate=false -f - >/dev/null
jq -n --arg ip "$address" '{apiVersion: "v1", kind: "Endpoints", metadata: {name: "argo-server"},
  subsets: [{addresses: [{ip: $ip}], ports: [{name: "2746", port: 2746}]}]}' | k apply --validate=false -f - >/dev/null
k create serviceaccount workflows >/dev/null
k create secret generic argo --from-literal=token=argo-token-1 >/dev/null
k create configmap argo-ca --from-file="$scratch/ca.crt" >/dev/null
k create secret generic db --from-literal=password="$PGPASSWORD" >/dev/null
k create secret generic git-admin --from-literal=GIT_ADMIN_USERNAME=ada --from-literal=GIT_ADMIN_PASSWORD=correct-horse >/dev/null
k create secret generic lfs-jwt --from-literal=jwtSecret=0123456789abcdef0123456789abcdef >/dev/null
k create secret generic config --from-literal=config_environment.sh='' >/dev/null
k create secret generic inline --from-literal=STACKGATE_ANONYMOUS_READ=true >/dev/null
k create secret generic init --from-literal=note=nothing >/dev/null
mkdir "$scratch/frameworks"
jq -n --arg address "$address" --argjson port "$(cat "$scratch/postgres/port")" --arg datastore "$datastore_image" --arg evaluator "$evaluator_image" '
  def database($name): {host: $address, port: $port, databaseName: $name, credentials: {user: "stackgate", secretName: "db", passwordKey: "password"}};
  {apiVersion: "v1", kind: "List", items: [
    {apiVersion: "stackgate.dev/v1alpha1", kind: "StackDatastore", metadata: {name: "datastore"}, spec: {
      image: {repository: $datastore, tag: "tested"}, databaseConfig: database("datastore"),
      pvc: {create: true, size: "1Gi", volumeAccessMode: "ReadWriteOnce"}, secrets: {gitAdminSecret: "git-admin", lfsJwtSecret: "lfs-jwt",
        datastoreConfigSecret: "config", datastoreInitSecret: "init", datastoreInlineConfigSecret: "inline"}}},
    {apiVersion: "stackgate.dev/v1alpha1", kind: "StackEvaluator", metadata: {name: "evaluator"}, spec: {
      image: {repository: $evaluator, tag: "tested"}, databaseConfig: database("evaluator"),
      workflowServer: {endpoint: "https://argo-server:2746", serviceAccount: "workflows"},
      vectorDB: {endpoint: "http://milvus:19530"}, datastore: {endpoint: "http://datastore:8000/v1/hf"}, entitystore: {endpoint: "http://entitystore:8000"},
      evaluationImages: ([("bigcodeEvalHarness", "lmEvalHarness", "similarityMetrics", "llmAsJudge", "mtBench", "retriever", "rag", "bfcl", "agenticEval")
        | {key: ., value: "registry.test/evaluation:1"}] | from_entries),
      env: [{name: "STACKGATE_LEASE", value: "2s"},
        {name: "STACKGATE_WORKFLOW_SERVER_TOKEN", valueFrom: {secretKeyRef: {name: "argo", key: "token"}}},
        {name: "STACKGATE_WORKFLOW_CA", valueFrom: {configMapKeyRef: {name: "argo-ca", key: "ca.crt"}}}]}}]}' >"$scratch/stack.json"
check "a datastore and an evaluator are admitted" k apply --validate=false -f "$scratch/stack.json"
server_log() { k logs -l "app=$1" --tail=12 2>&1 | cut -c1-400; }
for name in datastore evaluator; do
  if watch_for 90 '.status.state == "Ready"' "stack$name" "$name"; then
    ok "the $name becomes Ready ($took ms)"
  else
    not_ok "the $name becomes Ready (waited 90 s)" "$(look "stack$name" "$name" && server_log "$name")"
    exit 1
  fi
done
hub_address=$(k get service datastore -o jsonpath='{.spec.clusterIP}'):8000
hub=http://$hub_address/v1/hf
at=http://$(k get service evaluator -o jsonpath='{.spec.clusterIP}'):8000
pod=$(k get pods -l app=evaluator -o jsonpath='{.items[0].metadata.name}')
same "the pod's user, root file system, rights and filter are the plan's" '[true,true,["ALL"],"RuntimeDefault"]' "$(k get pod "$pod" -o json |
  jq -c '[.spec.securityContext.runAsNonRoot, .spec.containers[0].securityContext.readOnlyRootFilesystem, .spec.containers[0].securityContext.capabilities.drop, .spec.securityContext.seccompProfile.type]')"
same "it signs in to the datastore as the plan found out" git-admin "$(k get pod "$pod" -o json |
  jq -r '.spec.containers[0].env[] | select(.name == "DATASTORE_PASSWORD").valueFrom.secretKeyRef.name')"
says "its tables are the migration's" evaluation sql evaluator "SELECT tablename FROM pg_tables WHERE tablename = 'evaluation'"

# --- Data sets
# commit NAME FILE...: these files, by their own names
commit() {
  local name=$1 file
  shift
  {
    printf '{"key":"header","value":{"summary":"data"}}\n'
    for file; do
      jq -nc --arg path "$(basename "$file")" --arg content "$(base64 -w0 "$file")" '{key:"file",value:{path:$path,content:$content,encoding:"base64"}}'
    done
  } | fetch -f -u ada:correct-horse -H 'Content-Type: application/x-ndjson' --data-binary @- "$hub/api/datasets/ada/$name/commit/main" >/dev/null
}
# dataset NAME PRIVATE FILE...
dataset() {
  fetch -f -u ada:correct-horse --json "{\"type\":\"dataset\",\"name\":\"$1\",\"private\":$2}" "$hub/api/repos/create" >/dev/null && commit "$1" "${@:3}"
}
mkdir "$scratch/rows"
printf '{"q":"say %s","a":"%s"}\n' grey grey red red blue green >"$scratch/rows/test.jsonl"
cat >"$scratch/rows/colours.yaml" <<'YAML'
task: colours
output_type: generate_until
test_split: test
doc_to_text: "{{ q }}"
doc_to_target: "{{ a }}"
generation_kwargs: {until: ["\n"], max_gen_toks: 8}
metric_list: [{metric: exact_match}]
metadata: {version: 1.0}
YAML
# What the model is to say is the program's body: right; wrong; a file; a socket; another process.
for body in 'a + b' 'a - b' "open('/etc/passwd').read()" "__import__('socket').socket()" "__import__('os').fork()"; do
  jq -nc --arg body "$body" '{task_id: $body, prompt: "# say     return \($body)\ndef add(a, b):\n",
    test: "def check(candidate):\n    assert candidate(1, 2) == 3\n", entry_point: "add"}'
done >"$scratch/rows/programs.jsonl"
check "data sets go to the datastore" dataset colours true "$scratch"/rows/{test.jsonl,colours.yaml}
check "… and programs" dataset programs true "$scratch/rows/programs.jsonl"
check "… and one that everybody may read" dataset open false "$scratch/rows/test.jsonl"

state() { fetch "$at/v1/evaluations/$1" | jq -r .status; }
is_in() { [ "$(state "$1")" = "$2" ]; }
# ends NAME STATE [SECONDS]
ends() {
  if until_true "${3:-30}" is_in "$1" "$2"; then ok "$1 is $2"; else not_ok "$1 is $2" "$(fetch "$at/v1/evaluations/$1"; fetch "$at/v1/evaluations/$1/logs"; server_log evaluator)"; fi
}
# post NAME FRAMEWORK MEMBERS: the answer, without 201 a failure
post() {
  fetch --max-time 20 --fail-with-body --json "$(printf '{"name":"%s","model_endpoint":"http://%s/v1","model":"main-model","framework":"%s"%s}' "$1" "$endpoint" "$2" "$3")" "$at/v1/evaluations"
}
score() { fetch "$at/v1/evaluations/$1/results" | jq -r --arg s "$2" '[.tasks[].metrics[].scores[$s].value | values][0]'; }
log_of() { fetch "$at/v1/evaluations/$1/logs"; }
in_log() { log_of "$1" | grep -qF -- "$2"; } # NAME TEXT

# --- Here, in the pod
check "a custom task is taken" post custom custom ',"dataset":"ada/colours","tasks":["colours"]'
ends custom completed
same "its score" 0.6666666666666666 "$(score custom exact_match)"
check "its data set was pinned" grep -qE '^hf://datasets/ada/colours@[0-9a-f]{40}$' <(fetch "$at/v1/evaluations/custom" | jq -r .dataset)
check "programs of models are taken" post programs bigcode-eval-harness ',"dataset":"ada/programs","tasks":["programs"],"params":{"format":"completions"}'
ends programs completed
same "one of them is right" 0.2 "$(score programs pass@1)"
same "what the others wanted they were refused" 'a + b: ""
a - b: AssertionError
open: PermissionError
__import__: PermissionError
__import__: PermissionError' "$(fetch "$at/v1/evaluations/programs/samples" |
  jq -r '.data[].record | "\(.item.task_id | split("(")[0]): \(.programs[0].reason // "\"\"" | split(":")[0] | split(" at ")[0])"')"

# --- As workflows
cat >"$scratch/frameworks/lm_eval" <<LM_EVAL
#!/bin/sh
echo "lm_eval \$*"
case \$STACKGATE_TASKS in
  slow) while [ ! -e "$scratch/go" ]; do sleep 0.1; done ;;
  broken) echo "ValueError: no such task" && exit 1 ;;
esac
LM_EVAL
# It reads the data set as an image would: at the revision that it gets, from the datastore's Service.
cat >"$scratch/frameworks/evaluate-similarity-metrics" <<SIMILARITY
#!/bin/sh
set -eu
rest=\${STACKGATE_DATASET#hf://datasets/} revision=\${STACKGATE_DATASET##*@} where=\${STACKGATE_DATASTORE_URL#http://}
echo "reading \$rest"
curl -sSf --noproxy '*' --connect-to "\${where%%/*}:$hub_address" -o data "\$STACKGATE_DATASTORE_URL/datasets/\${rest%@*}/resolve/\$revision/test.jsonl"
printf '{"tasks":{"similarity-metrics":{"metrics":{"rows":{"scores":{"rows":{"value":%d}}}}}}}' "\$(wc -l <data)" >"\$STACKGATE_OUTPUT/results.json"
SIMILARITY
cat >>"$scratch/frameworks/lm_eval" <<'LM_EVAL'
mkdir -p "$STACKGATE_OUTPUT/llama"
printf '{"results":{"%s":{"alias":"x","exact_match,none":0.5,"exact_match_stderr,none":0.1}},"versions":{"%s":3.0},"n-shot":{"%s":5},"higher_is_better":{}}' \
  "$STACKGATE_TASKS" "$STACKGATE_TASKS" "$STACKGATE_TASKS" >"$STACKGATE_OUTPUT/llama/results_2026-01-01T00-00-00.json"
LM_EVAL
chmod +x "$scratch"/frameworks/*
harness() { post "$1" lm-eval-harness ",\"tasks\":[\"$2\"]"; }
similarity=',"dataset":"ada/open","params":{"engine":"workflow","prompt":"{{ item.q }}","reference":"{{ item.a }}"}'

start_argo another-token
refused "a token that the server does not know is 422" '(401)' harness unknown gsm8k
stop_argo
says "with the server away it is taken, with a warning" 'cannot be reached' harness later gsm8k
check "its log has that it waits" until_true 20 in_log later 'cannot be reached'
start_argo
ends later completed 60
same "with the framework's score" 0.5 "$(score later exact_match)"
same "its workflow's pods run as the ServiceAccount, as one submit" workflows \
  "$(made | jq -r '.[] | select(.method == "POST").body | fromjson.workflow.spec.serviceAccountName')"
same "the token is the Secret's, each time" '["Bearer argo-token-1"]' "$(argo /-/requests | jq -c '[.[].authorization] | unique')"

check "one that reads its data set is taken" post pinned similarity-metrics "$similarity"
printf '{"q":"more","a":"more"}\n' >>"$scratch/rows/test.jsonl"
check "which then grows" commit open "$scratch/rows/test.jsonl"
ends pinned completed
same "it read what was there when it was created" 3 "$(score pinned rows)"
check "its results are fetched as a file" bash -c "curl -sSf --noproxy '*' '$at/v1/evaluations/pinned/results?format=zip' -o '$scratch/a.zip' && cd '$scratch' &&
  python3 -m zipfile -e a.zip unpacked && jq -e '.complete and .tasks[\"similarity-metrics\"].metrics.rows.scores.rows.value == 3' unpacked/results.json && grep -q 'reading ada/open@' unpacked/log.txt"
check "another one" post grown similarity-metrics "$similarity"
ends grown completed
same "reads what is there now" 4 "$(score grown rows)"

check "one whose framework fails" harness broken broken
ends broken failed
says "its message has the framework's words" 'ValueError: no such task' fetch "$at/v1/evaluations/broken"
check "its log is kept" in_log broken 'lm_eval --model local-completions'

plays '{"cut_events":1,"cut_log":1,"error_in_stream":false}'
check "one whose streams are cut" harness cut gsm8k
ends cut completed
same "has each line of its log once" 1 "$(log_of cut | grep -c 'lm_eval --model')"
plays '{"final":"Error","message":"pod deleted","log":["lost"],"then":{}}'
check "one whose pod is lost" harness lost gsm8k
ends lost completed 45
same "was retried, once" 1 "$(asked PUT '/retry$')"
check "as its log has it" in_log lost 'is retried: pod deleted'
plays '{"fail":{"get":[503,"cut","html"],"submit":[503,503]}}'
check "one while the server answers nonsense" harness nonsense gsm8k
ends nonsense completed 60
plays '{}'

check "one to stop" harness stopped slow
check "that runs" until_true 20 in_log stopped 'workflow is running'
check "is cancelled" fetch -f -X POST -o /dev/null "$at/v1/evaluations/stopped/cancel"
ends stopped cancelled
check "its workflow was asked to stop" test "$(asked PUT '/(stop|terminate)$')" -ge 1

# --- The pod goes; what it had begun goes on.
check "a slow one" harness slow slow
check "runs" until_true 20 in_log slow 'workflow is running'
before=$(asked POST .)
k delete pod "$pod" --wait=false >/dev/null
gone "the evaluator ends with its pod" 30 pod "$pod"
check "another pod takes its place" until_true 60 fetch -f "$at/v1/health/ready"
touch "$scratch/go"
ends slow completed 60
same "with the workflow that was there" "$before" "$(asked POST .)"
says "its metrics are where the plan's ServiceMonitor looks" stackgate_evaluator_ fetch "$at/metrics"
same "no token is in its log" 0 "$(k logs -l app=evaluator --tail=-1 | grep -c argo-token-1)"
