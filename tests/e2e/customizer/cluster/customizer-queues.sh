#!/usr/bin/env bash
# stackgate-customizer with each scheduler's queue: what is refused before it is stored, why one waits, taken in, put back and
# taken in again without another attempt. The stand-in moves states as the documentation shows; its sources are named there.
# shellcheck disable=SC2154,SC2317 # what the library sets; functions that check calls
set -euo pipefail
# shellcheck source=tests/e2e/customizer/cluster/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
prepare || exit 1
"$repo/tests/chart/build.sh" || exit 1
"$repo/build/chart/render" -json "$repo/chart" | jq 'select(.kind == "ClusterRole" and (.metadata.name | startswith("stackgate-customizer-")))' |
  k apply --validate=false -f - >/dev/null
# may_get_queues SCHEDULER: the chart's ClusterRole, bound
may_get_queues() { k create clusterrolebinding customizer-queues --clusterrole "stackgate-customizer-$1" --serviceaccount "$ns:customizer" >/dev/null; }
# with SCHEDULER_OF_THE_RESOURCE SETUP QUEUE: a customizer with that scheduler and its rights
with() {
  { [ -z "${customizer_pid:-}" ] || stop_customizer; } 2>/dev/null
  k delete clusterrolebinding customizer-queues --ignore-not-found >/dev/null 2>&1
  give_role "$1" "$3" && make_setup "$2" && start_clustered
}
# put_status PATH STATUS: of an object
put_status() { k get --raw "$1" | jq --argjson s "$2" '.status = $s' | k replace --raw "$1/status" -f - >/dev/null; }
long='"max_steps":1200,"checkpoint_interval":20'
may_not() { k auth can-i "$@" --as "system:serviceaccount:$ns:customizer" -q && return 1 || return 0; }
# A right that was just given is known a moment later.
becomes_refused() { within 10 refused "$@"; }
# goes_back NAME SWITCH: while it trains it is put back, waits, and goes on in the same attempt
put_back() {
  check "$1 trains" within 40 has_steps "$1" 20
  touch "$standin/hold" "$standin/$2"
  check "put back, it waits" within 30 is_in "$1" pending
}

# Whose Job is deleted goes by the cluster's own garbage collector, where that is built: the stand-in, which else collects, is
# stopped meanwhile.
start_collector || echo "skip what a cluster's garbage collector takes: ./dev test node builds kube-controller-manager"
alone() { [ -z "${collector_pid:-}" ] || kill "-$1" "$standin_pid"; }
# owned KIND ID: what Jobs of that customization own
owned() { k get "$1" -o json | jq -c --arg id "$2" '[.items[].metadata | select(any(.ownerReferences[]?; .name | startswith($id))).name]'; }
# are_gone KIND NAMES: a pod that was told to go is its kubelet's affair
are_gone() { [ -z "$(k get "$1" -o json | jq -r --argjson names "$2" '.items[].metadata | select(.deletionTimestamp == null and IN(.name; $names[])).name')" ]; }
# remember KIND ID: sets ${of_jobs[KIND]}, which are some
declare -A of_jobs=()
remember() {
  of_jobs[$1]=$(owned "$1" "$2")
  check "its Jobs have $1" test "${of_jobs[$1]}" != '[]'
}
has_no_objects() { [ -z "$(k get jobs.batch,pvc,configmap,secret -l "stackgate.dev/customization=$1" -o name)" ]; }
# delete_all NAME KIND: with what its scheduler has made for its Jobs
delete_all() {
  local id each
  id=$(id_of "$1")
  for each in "$2" pods; do remember "$each" "$id"; done
  alone STOP
  check "it is deleted" same 204 "$(status -X DELETE "$url/v1/customizations/$1")"
  for each in "$2" pods; do check "its $each go with their Jobs" within 60 are_gone "$each" "${of_jobs[$each]}"; done
  alone CONT
  check "and so do all its objects" within 20 has_no_objects "$id"
}

# has_event NAME WORDS: among what happened to it
is_event() { jq -r '.data[] | "\(.message) \(.detail)"' <<<"$(curl -s "$url/v1/customizations/$1/events")" | grep -F "$2" >/dev/null; }
has_event() { within 5 is_event "$@" || { curl -s "$url/v1/customizations/$1/events" | jq -c '.data[] | [.message, .detail]' && return 1; }; }

# --- Kueue
with '{type: queue, queueDialect: kueue}' '{"type":"queue","dialect":"kueue","queue":"research"}' research || exit 1
check "without its LocalQueue it is refused" refused "$(body one)" 422 "Kueue's queue research, which is not there"
k create -f - >/dev/null <<'YAML'
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: research}
spec: {clusterQueue: cluster}
YAML
local_queue=/apis/kueue.x-k8s.io/v1beta1/namespaces/$ns/localqueues/research
put_status $local_queue '{"conditions":[{"type":"Active","status":"False","reason":"ClusterQueueIsInactive","message":"Can'"'"'t submit new workloads to clusterQueue"}]}'
check "an inactive LocalQueue is refused" refused "$(body one)" 422 "the LocalQueue research, which takes in nothing: Can't submit new workloads"
put_status $local_queue '{"conditions":[{"type":"Active","status":"True","reason":"Ready","message":"Can submit new workloads to clusterQueue"}]}'
check "who may not get ClusterQueues does not know" same 200 "$(status --json "$(body one)" "$url/v1/customizations?dry_run=true")"
may_get_queues kueue
check "who may refuses what has none" becomes_refused "$(body one)" 422 "whose ClusterQueue cluster is not there" "?dry_run=true"
k create -f - >/dev/null <<'YAML'
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: cluster}
spec: {stopPolicy: Hold}
YAML
check "or one that is held" refused "$(body one)" 422 "whose ClusterQueue cluster takes in nothing: its stopPolicy is Hold"
cluster_quota() { # CPU
  k patch clusterqueue cluster --type merge -p '{"spec":{"stopPolicy":"None","resourceGroups":[{"coveredResources":["cpu","memory"],"flavors":[
    {"name":"any","resources":[{"name":"cpu","nominalQuota":"'"$1"'"},{"name":"memory","nominalQuota":"8Gi"}]}]}]}}' >/dev/null
}
cluster_quota 50m
check "or one that never has enough" refused "$(body one)" 422 "needs 100m cpu, and no flavor of Kueue's ClusterQueue cluster has more than 50m"
cluster_quota 4
# Its visibility API, which the stand-in serves, and somebody else's Workload before ours.
k create -f - >/dev/null <<YAML
apiVersion: v1
kind: Service
metadata: {name: kueue-visibility-server}
spec: {type: ExternalName, externalName: localhost}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.visibility.kueue.x-k8s.io}
spec:
  group: visibility.kueue.x-k8s.io
  version: v1beta1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {namespace: $ns, name: kueue-visibility-server, port: $(cat "$standin/port")}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata: {name: job-of-another}
spec: {queueName: research, active: true}
YAML
check "Kueue's visibility API is served" within 20 k get --raw "/apis/visibility.kueue.x-k8s.io/v1beta1/namespaces/$ns/localqueues/research/pendingworkloads"
touch "$standin/hold"
check "an active one is taken" is_created "$(body kueued '' "$long")"
check "without quota it waits, with Kueue's words" waits kueued "it waits in the queue research: couldn't assign flavors to pod set main"
check "and its position" waits kueued "; 1 is before it in the queue"
check "pending" is_in kueued pending
rm "$standin/hold"
put_back kueued preempt
check "and says why" waits kueued "Preempted to accommodate a workload"
rm "$standin/hold"
check "it is completed" becomes kueued completed
check "each stage once" same "1 1 1" "$(attempts kueued)"
check "it may not get queues of the cluster" may_not get queues.scheduling.run.ai
delete_all kueued workloads.kueue.x-k8s.io
stop_customizer # a watch is in the audit log when it ends
# Services are for trainings on several nodes; names that are taken are asked about where a replica was killed.
check "each right of its Role is used, and none is missing but the chart's" same "refused: get /apis/kueue.x-k8s.io/v1beta1/clusterqueues/cluster
unused: create /services
unused: delete /services
unused: get /configmaps
unused: get batch/jobs" "$(unused_rights)"

# --- KAI
with '{type: queue, queueDialect: kai}' '{"type":"queue","dialect":"kai","queue":"leaf"}' leaf || exit 1
check "who may not get KAI's queues does not know" same 200 "$(status --json "$(body one)" "$url/v1/customizations?dry_run=true")"
may_get_queues kai
check "who may refuses what has no queue" becomes_refused "$(body one)" 422 "KAI's queue leaf, which is not there" "?dry_run=true"
k create -f - >/dev/null <<'YAML'
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: leaf}
spec: {parentQueue: root}
YAML
put_status /apis/scheduling.run.ai/v2/queues/leaf '{"childQueues":["below"]}'
check "or one that is no leaf" refused "$(body one)" 422 "KAI's queue leaf, which has queues below it"
put_status /apis/scheduling.run.ai/v2/queues/leaf '{}'
touch "$standin/hold"
check "a leaf is taken" is_created "$(body kai '' "$long")"
check "what KAI does not look at says so" waits kai "KAI has not looked at it yet; it needs a leaf queue leaf"
mv "$standin/hold" "$standin/full"
check "without room it says what is missing" waits kai "it waits in the queue leaf: "
rm "$standin/full"
put_back kai evict
check "and its events tell why" has_event kai "its pod was evicted: reclaimed by a job of a queue under its quota"
rm "$standin/hold"
check "reclaimed, it goes on behind its checkpoint and is completed" becomes kai completed
check "in a second attempt" same "1 2 1" "$(attempts kai)"
delete_all kai podgroups.scheduling.run.ai

# --- Run:ai
with '{type: queue}' '{"type":"queue","queue":"project-a"}' project-a || exit 1
touch "$standin/hold"
check "Run:ai's queue is not looked at" is_created "$(body runai '' "$long")"
check "what it does not look at says so" waits runai "Run:ai has not looked at it yet; it needs a leaf queue project-a"
rm "$standin/hold"
put_back runai evict
check "and its events tell why" has_event runai "its pod was evicted: reclaimed by a job of a queue under its quota"
rm "$standin/hold"
check "evicted, it goes on behind its checkpoint and is completed" becomes runai completed
check "in a second attempt" same "1 2 1" "$(attempts runai)"

# --- Volcano's queue
with '{type: gang}' '{"type":"gang","queue":"research"}' research || exit 1
may_get_queues volcano
check "Volcano: without its queue it is refused" becomes_refused "$(body one)" 422 "Volcano's queue research, which is not there" "?dry_run=true"
k create -f - >/dev/null <<'YAML'
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {weight: 1, capability: {cpu: 50m}}
YAML
put_status /apis/scheduling.volcano.sh/v1beta1/queues/research '{"state":"Closed"}'
check "a closed one refuses" refused "$(body one)" 422 "Volcano's queue research, which is closed"
put_status /apis/scheduling.volcano.sh/v1beta1/queues/research '{"state":"Open"}'
check "one that is too small refuses" refused "$(body one)" 422 "needs 100m cpu, and Volcano's queue research has room for 50m"
k patch queue.scheduling.volcano.sh research --type merge -p '{"spec":{"capability":{"cpu":"4"}}}' >/dev/null
check "an open one that is large enough takes it" is_created "$(body gang '' "$long")"
check "and it trains" within 40 has_steps gang 20

# --- The StackCustomizer is deleted, and its customizer with it: a customization that runs goes, whatever was made for it.
stop_customizer
id=$(k get vcjob -o 'jsonpath={.items[0].metadata.labels.stackgate\.dev/customization}')
for each in podgroups.scheduling.volcano.sh pods; do remember "$each" "$id"; done
if [ -n "${collector_pid:-}" ]; then
  alone STOP
  k delete configmap owner >/dev/null # which stands for it
  for each in podgroups.scheduling.volcano.sh pods; do check "its $each go with their Jobs" within 60 are_gone "$each" "${of_jobs[$each]}"; done
  alone CONT
  check "and so does all that customizers have made" within 20 bash -c "[ -z \"\$('$KUBECTL' --kubeconfig '$control/kubeconfig' -n $ns get vcjob,jobs.batch,pvc,configmap,secret,service -l app.kubernetes.io/managed-by=stackgate-customizer -o name)\" ]"
fi

check "nothing that a customization does was forbidden" bash -c "! grep -i forbidden '$scratch/customizer.log'"
exit "$failed"
