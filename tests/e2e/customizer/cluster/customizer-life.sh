#!/usr/bin/env bash
# stackgate-customizer with a cluster: a real API server, a stand-in for schedulers and node whose pods are processes that
# really train, and the rights that the operator plans. On Volcano: an adapter made, why it waits, what is refused before,
# cancelled, killed while it waits, objects deleted by others; each of its rights is used, and none is missing.
# shellcheck disable=SC2154,SC2317 # what the library sets; functions that check calls
set -euo pipefail
# shellcheck source=tests/e2e/customizer/cluster/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
prepare || exit 1
give_role '{type: gang}' || exit 1
make_setup '{"type":"gang"}'
start_clustered || exit 1

check "the model of the ConfigMap is known" bash -c "curl -sf $url/v1/customization/targets | jq -e '.data[0].name == \"acme/tiny@1.0\"'"
check "one is created" is_created "$(body first ',"output_model":"ada/green@1.0.0"')"
check "it is completed" becomes first completed
check "each stage once" same "completed 1 completed 1 completed 1" "$(record first | jq -r '[.status_details.stages[] | "\(.status) \(.attempts)"] | join(" ")')"
check "its trainer's reports came" bash -c "curl -s $url/v1/customizations/first | jq -e '.status_details.percentage_done == 100 and .status_details.steps_completed == 20'"
check "the adapter is ready" bash -c "curl -s '$entitystore/v1/adapters?namespace=ada&name=green' | jq -e '.adapters[0].status == \"ready\"'"
check "what its pods wrote is kept" bash -c "curl -s $url/v1/customizations/first/logs | grep -q '\[upload-1\] .*adapter'"
token=$(k get secret "$(id_of first)" -o 'jsonpath={.data.token}' | base64 -d)
check "its token is in a Secret" test -n "$token"
k get vcjob,jobs.batch,configmap,pods,events -o json >"$scratch/objects.json"
check "and in no other object, and no log" bash -c "! grep -qF '$token' '$scratch/objects.json' '$scratch/customizer.log'"

touch "$standin/hold"
check "one whose queue takes nothing in" is_created "$(body held)"
check "says so, and names the queue" waits held "the default queue has not taken it in yet"
check "it waits" same pending "$(state held)"
before=$(k get vcjob,jobs.batch,pvc,configmap,secret -o json | jq -r '.items[].metadata | "\(.name) \(.uid) \(.resourceVersion)"')
kill -9 "$customizer_pid"
{ wait "$customizer_pid" || true; } 2>/dev/null
start_clustered || exit 1
check "killed and started again, it still waits" waits held "the default queue has not taken it in yet"
check "and no object was written" same "$before" "$(k get vcjob,jobs.batch,pvc,configmap,secret -o json | jq -r '.items[].metadata | "\(.name) \(.uid) \(.resourceVersion)"')"
rm "$standin/hold"
touch "$standin/full"
check "without room it says what is missing" waits held "has no room for its pod"
rm "$standin/full"
check "and runs when there is room" becomes held completed

long='"max_steps":4000,"checkpoint_interval":20'
check "a long one" is_created "$(body long '' "$long")"
check "trains" within 30 has_steps long 5
check "cancel" same 200 "$(status -X POST "$url/v1/customizations/long/cancel")"
check "it is cancelled" becomes long cancelled
check "its Volcano Job is gone" bash -c "! '$KUBECTL' --kubeconfig '$control/kubeconfig' -n '$ns' get vcjob '$(id_of long)-training-1'"
long_id=$(id_of long)
check "it is deleted" same 204 "$(status -X DELETE "$url/v1/customizations/long")"
has_no_objects() { [ -z "$(k get jobs.batch,vcjob,pvc,configmap,secret -l "stackgate.dev/customization=$1" -o name)" ]; }
check "with all its objects" within 20 has_no_objects "$long_id"

check "one whose Job somebody deletes" is_created "$(body shot '' '"max_steps":400,"checkpoint_interval":20')"
check "it trains" within 30 has_steps shot 60
k delete vcjob "$(id_of shot)-training-1" --wait=false >/dev/null
check "goes on in a second attempt behind its checkpoint" becomes shot completed
check "of two" same 2 "$(stage shot 1 attempts)"

k create -f - >/dev/null <<YAML
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: cust-00000000000000000000
  labels: {app.kubernetes.io/managed-by: stackgate-customizer, stackgate.dev/customization: cust-00000000000000000000}
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: "$(k get configmap owner -o 'jsonpath={.metadata.uid}')"}]
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
YAML
stop_customizer
start_clustered || exit 1
check "objects of nobody are reported" within 10 grep -q 'cust-00000000000000000000' "$scratch/customizer.log"
check "and left alone" k get pvc cust-00000000000000000000
# What is known of the cluster before it is stored.
quota() { k apply --validate=false -f - >/dev/null <<<"{\"apiVersion\":\"v1\",\"kind\":\"ResourceQuota\",\"metadata\":{\"name\":\"team\"},\"spec\":{\"hard\":$1}}"; }
quota '{"requests.memory":"32Mi"}'
check "what a ResourceQuota never allows is refused" refused "$(body greedy)" 422 'needs 256Mi requests.memory, and the namespace'"'"'s ResourceQuota team allows 32Mi'
check "with its place and a cure" jq -e '.detail[0] | .loc == ["body", "config"] and (.msg | contains("; choose a configuration that needs less"))' "$scratch/answer"
quota '{"persistentvolumeclaims":"2"}'
k patch resourcequota team --type merge -p '{"spec":{"hard":{"persistentvolumeclaims":"2"}},"status":{}}' >/dev/null
k get --raw "/api/v1/namespaces/$ns/resourcequotas/team" | jq '.status = {hard: .spec.hard, used: {persistentvolumeclaims: "2"}}' |
  k replace --raw "/api/v1/namespaces/$ns/resourcequotas/team/status" -f - >/dev/null
check "what it does not allow now is a warning" is_created "$(body tight '' '"max_steps":2')"
check "in its record" bash -c "curl -s $url/v1/customizations/tight | jq -r '.warnings[]' | grep -F 'of the 2 that the namespace'"
check "which waits, and names the quota" waits tight "the namespace's quota does not allow persistentvolumeclaims now: exceeded quota: team"
k delete resourcequota team >/dev/null
check "until there is room" becomes tight completed

# LimitRanges: the verdict on a body is the API server's on the pods and the claim that were made for the first one.
k get vcjob,jobs.batch,pvc -l "stackgate.dev/customization=$(id_of first)" -o json | jq '{apiVersion: "v1", kind: "List", items: [.items[] |
  {apiVersion: "v1", kind: (if .kind == "Job" then "Pod" else .kind end), metadata: {name: "\(.metadata.name)-again"},
   spec: (.spec.tasks[0].template.spec // .spec.template.spec // (.spec | del(.volumeName)))} | .spec.automountServiceAccountToken? = false]}' |
  jq 'del(.items[] | select(.kind != "Pod") | .spec.automountServiceAccountToken)' >"$scratch/again.json"
check "there are three pods and a claim to judge" same "PersistentVolumeClaim Pod Pod Pod" "$(jq -r '.items[].kind' "$scratch/again.json" | sort | xargs)"
limits() { k apply --validate=false -f - >/dev/null <<<"{\"apiVersion\":\"v1\",\"kind\":\"LimitRange\",\"metadata\":{\"name\":\"team\"},\"spec\":{\"limits\":[$1]}}"; }
# judged: "201 yes": what is answered to a body, and whether the API server makes its pods and its claim
judged() { echo "$(status --json "$(body one)" "$url/v1/customizations?dry_run=true") $(k create --dry-run=server -f "$scratch/again.json" >"$scratch/made" 2>&1 && echo made || echo refused)"; }
is_judged() { same "$1" "$(judged)"; }
# both_judge NAME refused|made LIMIT…
both_judge() {
  limits "$3"
  check "a LimitRange of $1: both say $2" within 10 is_judged "$([ "$2" = made ] && echo 200 || echo 422) $2"
  [ "$2" = made ] || check "with the words of a LimitRange" grep -q 'LimitRange team' "$scratch/answer"
}
both_judge "what fits" made '{"type":"Container","max":{"cpu":"2","memory":"1Gi"},"min":{"cpu":"50m"}},{"type":"PersistentVolumeClaim","max":{"storage":"1Gi"}}'
both_judge "smaller containers" refused '{"type":"Container","max":{"cpu":"99m"}}'
both_judge "larger containers" refused '{"type":"Container","min":{"memory":"65Mi"},"default":{"memory":"1Gi"},"defaultRequest":{"memory":"512Mi"}}'
both_judge "limits below requests" refused '{"type":"Container","default":{"memory":"100Mi"}}'
both_judge "limits at requests" made '{"type":"Container","default":{"memory":"256Mi"}}'
both_judge "pods whose limits nobody states" refused '{"type":"Pod","max":{"cpu":"1"}}'
both_judge "pods whose limits are given" made '{"type":"Pod","max":{"cpu":"1"}},{"type":"Container","default":{"cpu":"1"}}'
both_judge "pods that request something else" refused '{"type":"Pod","min":{"ephemeral-storage":"1Gi"}}'
both_judge "a ratio" refused '{"type":"Container","maxLimitRequestRatio":{"cpu":"1.5"},"default":{"cpu":"200m"}}'
both_judge "a larger ratio" made '{"type":"Container","maxLimitRequestRatio":{"cpu":"2"},"default":{"cpu":"200m"}}'
both_judge "smaller claims" refused '{"type":"PersistentVolumeClaim","max":{"storage":"1023Mi"}}'
both_judge "larger claims" refused '{"type":"PersistentVolumeClaim","min":{"storage":"2Gi"}}'
k delete limitrange team >/dev/null

check "nothing that a customization does was forbidden" bash -c "! grep -i forbidden '$scratch/customizer.log'"
stop_customizer # a watch is in the audit log when it ends
# Names that are taken are asked about where a replica was killed. The queue is the cluster's: a right that the chart binds.
check "each right of its Role is used, and no other is missing" same "refused: get /apis/scheduling.volcano.sh/v1beta1/queues/default
unused: get /configmaps
unused: get batch.volcano.sh/jobs
unused: get batch/jobs" "$(unused_rights)"
exit "$failed"
