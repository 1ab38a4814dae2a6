#!/usr/bin/env bash
# What an operator meets in a long life: names that are taken, resources that are made again at once, broken specs that got
# in, changed Secrets, APIs that appear late, an API server that goes away, a forgetful etcd, a leader that was frozen; and
# what its metrics say of all that.
source "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/lib.sh"
k() { kube -n "$ns" "$@"; }
images=()
for service in datastore entitystore customizer evaluator guardrail puller trainer; do
  images+=("--image-$service=registry.example.com/stackgate-$service:1")
done

# operator_up NAME: one replica; its log is $state/$script-NAME.log.
operator_up() {
  local name=$script-$1 metrics
  shift
  metrics=$(free_port)
  echo "$metrics" >"$state/$name.metrics"
  start "$name" "$gate_binary" operator --no-admission --kubeconfig "$state/kubeconfig" --namespaces "$ns" --listen 127.0.0.1:0 \
    --metrics-listen "127.0.0.1:$metrics" --health-listen 127.0.0.1:0 --lease-namespace "$ns" --lease-seconds 3 --renew-seconds 2 \
    --retry-seconds 1 --log-format json --log-level debug --references warn --other-references warn "${images[@]}" "$@"
}
log_of() { cat "$state/$script-$1.log"; }
scrape() { curl -s --noproxy '*' "http://127.0.0.1:$(cat "$state/$script-$1.metrics")/metrics"; }
metric() { # OPERATOR NAME: the sum over all labels
  scrape "$1" |
    awk -v name="$2" '$1 ~ "^"name"($|{)" { sum += $2 } END { print sum + 0 }'
}
service() { # NAME [JQ]
  json "$samples/minimal/inferenceservices.yaml" | jq --arg n "$1" ".metadata.name = \$n | ${2:-.}" | k create --validate=false -f - >/dev/null
}
change() { k patch inferenceservice "$1" --type merge -p "$2" >/dev/null; }
exists() { k get "$@" >/dev/null 2>&1; }
at() { k get "$1" -o "jsonpath=$2"; }
is() { [ "$(at "$1" "$2")" = "$3" ]; }
reason='{.status.conditions[?(@.type=="Ready")].reason}'
message='{.status.conditions[?(@.type=="Ready")].message}'
image_of='{.spec.template.spec.containers[0].image}'
children() { k get deployment,service,role,rolebinding,serviceaccount -l "app=$1" -o name 2>/dev/null; }

leads() { [ "$(metric "$1" stackgate_leader)" = 1 ]; }
operator_up a
check "an operator starts and leads" until_true 30 leads a

# --- The eight gauges: the specification's names and labels, which are not Prometheus' style
states='inferenceService Failed NotReady Pending Ready Unknown
inferenceCache Failed InProgress NotReady PVCCreated Pending Ready Started Unknown
inferencePipeline Failed NotReady Ready Unknown
'
for kind in datastore entitystore customizer evaluator guardrail; do states+="stack_$kind Failed NotReady Pending Ready Unknown"$'\n'; done
gauges() { scrape a | grep -E '^[A-Za-z_]+_status_total[{ ]' | LC_ALL=C sort; }
# As the resources themselves tell it.
counted() {
  k get stackgate -o json | jq -r --arg states "${states%$'\n'}" '
    (reduce .items[] as $one ({}; .[($one.kind | sub("^Stack"; "stack_") | ascii_downcase) + " " + ($one.status.state // "Unknown")] += 1)) as $n
    | $states | split("\n")[] | split(" ") | .[0] as $kind | .[1:][]
    | "\($kind)_status_total{status=\"\(.)\"} \($n[($kind | ascii_downcase) + " " + .] // 0)"' | LC_ALL=C sort
}
true_to_life() { [ "$(gauges)" = "$(counted)" ]; }
total() { gauges | awk '{ sum += $2 } END { print sum + 0 }'; }
gauge() { gauges | grep -xF "$1_status_total{status=\"$2\"} $3"; } # KIND STATE COUNT

same "before there are resources each gauge has each of its states, with 0" "$(counted)" "$(gauges)"
same "… 42 values in all" "42 0" "$(gauges | wc -l) $(total)"

for file in "$samples"/minimal/*.yaml; do json "$file"; done | k create --validate=false -f - >/dev/null
service broken "$gate_fault"
until_true 20 exists deployment/guardrail
api PATCH "/apis/apps/v1/namespaces/$ns/deployments/guardrail/status" -H 'Content-Type: application/merge-patch+json' --data \
  "$(k get deployment guardrail -o json | jq -c '{status: (.spec.replicas as $n | {replicas: $n, updatedReplicas: $n, readyReplicas: $n, availableReplicas: $n, observedGeneration: .metadata.generation})}')" >/dev/null
check "one that became available is counted as Ready" until_true 20 gauge stack_guardrail Ready 1
check "one that may not be is counted as Failed" until_true 20 gauge inferenceService Failed 1
check "all gauges are true to the resources" until_true 20 true_to_life
same "… and count each once" "$(k get stackgate -o name | wc -l)" "$(total)"
if [ -n "${PROMTOOL:-}" ]; then
  same "promtool finds fault with these eight names, and with nothing else" \
    "$(awk -v quote="'" '{ name = $1 "_status_total"; print name " non-counter metrics should not have \"_total\" suffix" }
      /^inference/ { print name " metric names should be written in " quote "snake_case" quote " not " quote "camelCase" quote }' \
      <<<"${states%$'\n'}" | LC_ALL=C sort)" \
    "$(scrape a | "$PROMTOOL" check metrics 2>&1 | LC_ALL=C sort)"
else
  echo "skip promtool check metrics: \$PROMTOOL names no promtool (Debian's package prometheus has it)"
fi
k delete stackguardrail guardrail --wait=false >/dev/null
check "one that is deleted is counted no more" until_true 20 gauge stack_guardrail Ready 0
k delete inferencepipeline --all --wait=false >/dev/null # before what it would make again
k delete stackgate --all --wait=false >/dev/null
nothing() { [ "$(gauges | wc -l) $(total)" = "42 0" ]; }
check "… nor are any when all are gone" until_true 20 nothing
same "… but each state keeps its 0" "42" "$(gauges | grep -c ' 0$')"

# --- A name that a stranger has
k create service clusterip taken --tcp=80 >/dev/null
before=$(at service/taken '{.metadata.resourceVersion}')
service taken
check "a stranger's object is told" until_true 20 is inferenceservice/taken "$reason" NameTaken
says "… with its kind and name" "Service named taken" at inferenceservice/taken "$message"
sleep 4
same "… is left as it was" "$before" "$(at service/taken '{.metadata.resourceVersion}')"
waits=$(log_of a | jq -r 'select(.message == "reconcile waits" and (.resource | endswith("/taken"))) | .again_in_ms' | wc -l)
check "… and asked about at growing intervals: $waits times in 4 s" test "$((waits > 0 && waits <= 15))" = 1
k delete service taken >/dev/null
check "… and its name taken when it goes" until_true 30 is service/taken '{.metadata.labels.app\.kubernetes\.io/managed-by}' stackgate

# --- Deleted and made again at once: the children of the first one are still there (nobody collects them here)
service again
until_true 20 exists deployment/again
old=$(at deployment/again '{.metadata.uid}')
k delete inferenceservice again --wait=false >/dev/null && service again '.spec.image.tag = "2"'
check "a namesake waits for what its predecessor left, and says so" until_true 20 is inferenceservice/again "$reason" WaitingForDeletion
retries=$(metric a stackgate_queue_retries_total) writes=$(metric a stackgate_reconcile_writes_total)
check "writes are counted" test "$writes" -gt 10
sleep 5
check "… without haste" test "$(($(metric a stackgate_queue_retries_total) - retries))" -le 12
same "… without writes" "$writes" "$(metric a stackgate_reconcile_writes_total)"
same "… and adopts nothing" "$old" "$(at deployment/again '{.metadata.uid}')"
children again | xargs "$KUBECTL" --kubeconfig "$state/kubeconfig" -n "$ns" delete >/dev/null
made_anew() { is deployment/again "$image_of" registry.example.com/inference/llm-8b:2; }
check "… and goes on when it has been collected" until_true 40 made_anew

# --- Errors that got in while no gate looked
service sound
until_true 20 exists deployment/sound
before=$(at deployment/sound '{.metadata.resourceVersion}')
change sound '{"spec": {"resources": {"requests": {"cpu": "9"}, "limits": {"cpu": "1"}}, "image": {"tag": "9"}}}'
check "errors that got in are Failed" until_true 20 is inferenceservice/sound '{.status.state}' Failed
check "… with the gate's findings" grep -qE '\[[a-z-]+\]|spec\.' <<<"$(at inferenceservice/sound "$message")"
sleep 1
same "… and the workload is left alone" "$before" "$(at deployment/sound '{.metadata.resourceVersion}')"
k patch inferenceservice sound --type json -p '[{"op": "remove", "path": "/spec/resources/limits/cpu"}]' >/dev/null
check "… until they are mended" until_true 20 is deployment/sound "$image_of" registry.example.com/inference/llm-8b:9

# --- A Secret changes
inputs='{.spec.template.metadata.annotations.stackgate\.dev/inputs}'
before=$(at deployment/sound "$inputs")
k patch secret registry-api -p '{"stringData": {"REGISTRY_API_KEY": "another"}}' >/dev/null
restarts() { [ -n "$before" ] && [ "$(at deployment/sound "$inputs")" != "$before" ]; }
check "pods restart when a Secret changes" until_true 20 restarts

# --- An API that appears, and goes
kube delete crd servicemonitors.monitoring.coreos.com --ignore-not-found >/dev/null
service seen '.spec.metrics = {enabled: true}'
until_true 20 exists deployment/seen
jq -n '{apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: {name: "servicemonitors.monitoring.coreos.com"},
  spec: {group: "monitoring.coreos.com", scope: "Namespaced", names: {kind: "ServiceMonitor", plural: "servicemonitors"},
    versions: [{name: "v1", served: true, storage: true, schema: {openAPIV3Schema: {type: "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}' |
  kube create -f - >/dev/null
check "a ServiceMonitor is made as soon as there is such a type" until_true 40 exists servicemonitor/seen
kube delete crd servicemonitors.monitoring.coreos.com >/dev/null
change seen '{"spec": {"replicas": 2}}'
check "… and nothing hangs on it when the type goes" until_true 20 is deployment/seen '{.spec.replicas}' 2

# --- The API server goes away under load
for n in $(seq 1 12); do service "load-$n"; done
bash -c "state=$state; source $here/../cluster/processes.sh; stop kube-apiserver 1; exec $here/../cluster/up.sh $state apiserver" \
  >"$state/$script.restart" 2>&1 || not_ok "the API server comes back" "$(tail -3 "$state/$script.restart")"
for n in $(seq 1 12); do change "load-$n" '{"spec": {"replicas": 3}}'; done
loaded() { [ "$(k get deployment -o json | jq '[.items[] | select((.metadata.name | startswith("load-")) and .spec.replicas == 3)] | length')" = 12 ]; }
check "work goes on after the API server was killed" until_true 60 loaded
same "… the watches hear of it" 0 "$(metric a stackgate_watch_disconnected_seconds)"

# --- etcd forgets
read -r etcd_port _ <"$state/ports"
etcd() { curl -sf --noproxy '*' "http://127.0.0.1:$etcd_port/v3/kv/$1" -d "$2"; }
kill -STOP "$(pid_of "$script-a")"
for n in $(seq 1 12); do change "load-$n" '{"spec": {"replicas": 4}}'; done
k delete inferenceservice load-12 --wait=false >/dev/null
etcd compaction "$(etcd range '{"key": "AA=="}' | jq -c '{revision: .header.revision}')" >/dev/null || not_ok "etcd can be compacted"
kill -CONT "$(pid_of "$script-a")"
forgotten() { [ "$(k get deployment -o json | jq '[.items[] | select((.metadata.name | startswith("load-")) and .spec.replicas == 4)] | length')" -ge 11 ]; }
check "nothing is lost when etcd has forgotten what was missed" until_true 60 forgotten

# --- The leader is frozen beyond its lease, another one takes over, it comes back
until_true 20 leads a
operator_up b
knows_resources() { [ "$(metric b stackgate_cached_resources)" -gt 0 ]; }
check "… that knows the resources" until_true 20 knows_resources
kill -STOP "$(pid_of "$script-a")"
check "another one leads within lease and 2 s" until_true 8 leads b
change sound '{"spec": {"image": {"tag": "10"}}}'
check "… and works" until_true 20 is deployment/sound "$image_of" registry.example.com/inference/llm-8b:10
lines=$(log_of a | wc -l)
# Work for the one that comes back, if it believed in itself.
kill -STOP "$(pid_of "$script-b")"
change sound '{"spec": {"image": {"tag": "11"}}}'
kill -CONT "$(pid_of "$script-a")"
sleep 1
written=$(log_of a | tail -n +$((lines + 1)) | jq -c 'select(.message | test("^(child (created|updated|removed)|status)$"))')
same "the one that was frozen writes nothing" '' "$written"
kill -CONT "$(pid_of "$script-b")"
check "… and says that it leads no more" until_true 10 grep -q 'not leading any more' "$state/$script-a.log"
check "the work is done all the same, by whoever leads" until_true 30 is deployment/sound "$image_of" registry.example.com/inference/llm-8b:11
one_leader() { [ "$(($(metric a stackgate_leader) + $(metric b stackgate_leader)))" = 1 ]; }
check "one leads, not two" until_true 10 one_leader
for name in a b; do
  check "$name never crashed" alive "$script-$name"
  stop "$script-$name"
done
