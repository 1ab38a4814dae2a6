#!/usr/bin/env bash
# The operator under the rights that the chart gives it: nothing that it does is refused, and nothing that it holds goes
# unused. On a control plane of its own, with an audit log and the admission plug-in that guards owner references.
# shellcheck disable=SC2154
E2E_STATE=${E2E_STATE:?run this through ./dev test e2e}/rights
export E2E_STATE
tests=$(dirname "$(realpath "$0")")/..
user=system:serviceaccount:stackgate-system:stackgate
"$tests/cluster/down.sh" "$E2E_STATE" --purge
mkdir -p "$E2E_STATE"
cat >"$E2E_STATE/policy.yaml" <<YAML
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
# The Roles that it writes tell which rights it hands on.
- {level: Request, users: ["$user"], resources: [{group: rbac.authorization.k8s.io, resources: [roles]}]}
- {level: Metadata, users: ["$user"]}
- {level: None}
YAML
APISERVER_FLAGS="--audit-policy-file $E2E_STATE/policy.yaml --audit-log-path $E2E_STATE/audit.log
  --enable-admission-plugins OwnerReferencesPermissionEnforcement" "$tests/cluster/up.sh" "$E2E_STATE" || exit 1
# shellcheck source=/dev/null
source "$tests/e2e/lib.sh"
trap '(finish) || checks_failed=1; "$tests/cluster/down.sh" "$state" --purge; ((checks_failed == 0)) || exit 1' EXIT
k() { kube -n "$ns" "$@"; }

# --- A cluster with every optional API
while read -r group version kind plural; do
  jq -n --arg g "$group" --arg v "$version" --arg k "$kind" --arg p "$plural" '{apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition", metadata: {name: "\($p).\($g)", annotations: {"api-approved.kubernetes.io": "https://example.com"}},
    spec: {group: $g, scope: "Namespaced", names: {kind: $k, plural: $p}, versions: [{name: $v, served: true, storage: true,
      subresources: {status: {}}, schema: {openAPIV3Schema: {type: "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}'
done <<'T' | kube apply -f - >/dev/null || not_ok "the optional APIs can be installed"
monitoring.coreos.com v1 ServiceMonitor servicemonitors
gateway.networking.k8s.io v1 HTTPRoute httproutes
leaderworkerset.x-k8s.io v1 LeaderWorkerSet leaderworkersets
T
install_rights default >/dev/null || not_ok "the chart's rights can be installed"
rendered Secret default | kube apply -f - >/dev/null
kube apply -f - >/dev/null <<'YAML'
apiVersion: v1
kind: Service
metadata: {name: stackgate-gate, namespace: stackgate-system}
spec: {type: ExternalName, externalName: localhost}
YAML

# --- Names that somebody else has taken, of every kind of child
foreign() { # API_VERSION KIND NAME [MORE]
  jq -cn --arg a "$1" --arg k "$2" --arg n "$3" --argjson more "${4:-{\}}" '{apiVersion: $a, kind: $k, metadata: {name: $n}} * $more'
}
pod='{"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}}'
{
  for name in taken taken-nodes taken-cache; do
    foreign v1 ServiceAccount $name
    foreign rbac.authorization.k8s.io/v1 Role $name
    foreign rbac.authorization.k8s.io/v1 RoleBinding $name '{"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "x"}}'
    foreign v1 ConfigMap $name-mpi-config
    foreign v1 ConfigMap $name-puller
    foreign v1 Secret $name-ssh-pk
    foreign v1 PersistentVolumeClaim $name-pvc '{"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}'
    foreign v1 Service $name '{"spec": {"ports": [{"port": 80}]}}'
    foreign apps/v1 Deployment $name "{\"spec\": {\"selector\": {\"matchLabels\": {\"a\": \"b\"}},
      \"template\": {\"metadata\": {\"labels\": {\"a\": \"b\"}}, \"spec\": {\"containers\": [{\"name\": \"a\", \"image\": \"a\"}]}}}}"
    foreign leaderworkerset.x-k8s.io/v1 LeaderWorkerSet $name-lws
    foreign batch/v1 Job $name "{\"spec\": {\"template\": $pod}}"
    foreign networking.k8s.io/v1 Ingress $name '{"spec": {"defaultBackend": {"service": {"name": "a", "port": {"number": 80}}}}}'
    foreign gateway.networking.k8s.io/v1 HTTPRoute $name
    foreign autoscaling/v1 HorizontalPodAutoscaler $name '{"spec": {"maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}}}'
    foreign monitoring.coreos.com/v1 ServiceMonitor $name
  done
} | k apply -f - >/dev/null || not_ok "objects of others can be made"

# --- The operator, as the chart starts it
read -r port metrics health <<<"$(free_port 3)"
images=()
for service in datastore entitystore customizer evaluator guardrail puller trainer; do
  images+=("--image-$service=registry.example.com/stackgate-$service:1")
done
operator_up() {
  start "$script" "$gate_binary" operator --listen "127.0.0.1:$port" --metrics-listen "127.0.0.1:$metrics" --health-listen "127.0.0.1:$health" \
    --certs self-managed --lease-seconds 3 --renew-seconds 2 --retry-seconds 1 --drain-seconds 0 --references warn --other-references warn \
    --log-format json --kubeconfig "$state/gate.kubeconfig" "${images[@]}"
  until_true 20 curl -fsS --noproxy '*' --max-time 2 "http://127.0.0.1:$health/readyz"
}
kube label namespace "$ns" stackgate.dev/demo=true >/dev/null
gate_scoped=1 install_webhooks "$port" service >/dev/null
check "the operator becomes ready" operator_up

# --- Every kind with every field, and again with names that are taken
kube apply -f - >/dev/null <<<'{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "grows"}, "provisioner": "example.com/none", "allowVolumeExpansion": true}'
apply_json() { k apply --validate=false -f - 2>&1; }
wait_for() { until_true 30 k get "$@"; }
until_true 30 dry_run <(json "$samples/minimal/stackguardrails.yaml")
for file in "$samples"/full/*.yaml; do
  json "$file" | jq '.metadata.name = "full-" + (.kind | ascii_downcase)' | apply_json
done >"$scratch/words" || not_ok "the full samples are admitted" "$(cat "$scratch/words")"
change() { json "$samples/$1.yaml" | jq ".metadata.name = \"$2\" | $3" | apply_json; }
ask='.spec.metrics = {enabled: true} | .spec.expose.httpRoute = {enabled: true, parentRefs: [{name: "public"}], hostnames: ["a.example.com"]}'
scale='.spec.resources.requests.cpu = "1" | del(.spec.replicas) | .spec.scale = {enabled: true, maxReplicas: 3, metrics: [{type: "Resource", resource: {name: "cpu", target: {type: "Utilization", averageUtilization: 70}}}]}'
nodes='.spec.multiNode = {size: 2, tensorParallelism: 1, pipelineParallelism: 2} | .spec.expose.ingress = {enabled: true, host: "a.example.com"}'
{
  for name in asks taken; do change minimal/inferenceservices $name "$ask | $scale"; done
  for name in nodes taken-nodes; do change minimal/inferenceservices $name "$nodes"; done
  change minimal/inferencecaches taken-cache .
  change minimal/stackevaluators evaluates .
  change minimal/stackcustomizers trains .
  change minimal/stackdatastores stores '.spec.pvc.storageClass = "grows"'
  change minimal/stackcustomizers queued '.spec.scheduler = {type: "queue", queueDialect: "kueue"} | .spec.trainingConfig.queueName = "a"'
} >"$scratch/words"
if wait_for httproute/asks servicemonitor/asks hpa/asks leaderworkerset/nodes-lws secret/nodes-ssh-pk ingress/nodes deployment/full-stackdatastore \
  job/full-inferencecache; then ok "children of every kind are made"; else not_ok "children of every kind are made" "$(cat "$scratch/words"; k get stackgate -o json | jq -r '.items[] | "\(.kind) \(.metadata.name): \([.status.conditions[]?.message] | join("; "))"'; tail -3 "$state/$script.log")"; fi
blocked() { [ "$(k get inferenceservice,inferencecache -o json | jq '[.items[] | select(.metadata.name | startswith("taken")) |
  select(any(.status.conditions[]?; .reason == "NameTaken"))] | length')" = 3 ]; }
check "a taken name is told in the status" until_true 30 blocked

# --- Changed, drifted, not asked for any more
for type in serviceaccount role rolebinding service deployment httproute hpa servicemonitor; do k label "$type/asks" app.kubernetes.io/component=other --overwrite; done >/dev/null
for each in leaderworkerset/nodes-lws ingress/nodes configmap/nodes-mpi-config job/full-inferencecache configmap/full-inferencecache-puller; do
  k label "$each" app.kubernetes.io/component=other --overwrite
done >/dev/null
sleep 3
owner() { k get "$1" "$2" -o json | jq -c '{metadata: {labels: {"app.kubernetes.io/managed-by": "stackgate", "app.kubernetes.io/part-of": "stackgate", app: .metadata.name},
  ownerReferences: [{apiVersion, kind, name: .metadata.name, uid: .metadata.uid, controller: true, blockOwnerDeletion: true}]}}'; }
# An older version made it, this one does not want it: one of each kind.
mine=$(owner inferenceservice asks)
{
  foreign v1 ServiceAccount old "$mine"
  foreign rbac.authorization.k8s.io/v1 Role old "$mine"
  foreign rbac.authorization.k8s.io/v1 RoleBinding old "$(jq -c '. + {roleRef: {apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "x"}}' <<<"$mine")"
  foreign v1 ConfigMap old "$mine"
  foreign v1 Secret old "$mine"
  foreign v1 PersistentVolumeClaim old "$(jq -c '. + {spec: {accessModes: ["ReadWriteOnce"], resources: {requests: {storage: "1Gi"}}}}' <<<"$mine")"
  foreign v1 Service old "$(jq -c '. + {spec: {ports: [{port: 80}]}}' <<<"$mine")"
  foreign apps/v1 Deployment old "$(jq -c '. + {spec: {replicas: 0, selector: {matchLabels: {a: "b"}}, template: {metadata: {labels: {a: "b"}}, spec: {containers: [{name: "a", image: "a"}]}}}}' <<<"$mine")"
  foreign leaderworkerset.x-k8s.io/v1 LeaderWorkerSet old "$mine"
  foreign batch/v1 Job old "$(jq -c --argjson pod "$pod" '. + {spec: {template: $pod}}' <<<"$mine")"
  foreign networking.k8s.io/v1 Ingress old "$(jq -c '. + {spec: {defaultBackend: {service: {name: "a", port: {number: 80}}}}}' <<<"$mine")"
  foreign gateway.networking.k8s.io/v1 HTTPRoute old "$mine"
  foreign autoscaling/v1 HorizontalPodAutoscaler old "$(jq -c '. + {spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: "apps/v1", kind: "Deployment", name: "a"}}}' <<<"$mine")"
  foreign monitoring.coreos.com/v1 ServiceMonitor old "$mine"
} | k create -f - >/dev/null
# A claim's protection is taken off by a controller that is not here: it is on its way.
pruned() { [ -z "$(k get serviceaccount,role,rolebinding,configmap,secret,pvc,service,deployment,leaderworkerset,job,ingress,httproute,hpa,servicemonitor \
  -o json | jq -r '.items[].metadata | select(.name == "old" and .deletionTimestamp == null)')" ]; }
check "what an older version left is pruned, of every kind" until_true 30 pruned
# A claim grows once it is bound, which is a controller's work that is not here either.
api PATCH "/api/v1/namespaces/$ns/persistentvolumeclaims/stores-pvc/status" -H 'Content-Type: application/merge-patch+json' \
  -d '{"status": {"phase": "Bound", "capacity": {"storage": "100Gi"}}}' >/dev/null
k patch stackdatastore stores --type merge -p '{"spec": {"pvc": {"size": "200Gi"}}}' >/dev/null
grown() { [ "$(k get pvc stores-pvc -o jsonpath='{.spec.resources.requests.storage}')" = 200Gi ]; }
check "a claim grows with its resource" until_true 30 grown
# The same trouble twice: its event is counted, not made again.
reason_is() { [ "$(k get stackdatastore stores -o jsonpath='{.status.conditions[?(@.type=="Ready")].reason}')" = "$1" ]; }
lost_is() { if [ "$1" = Lost ]; then reason_is ClaimLost; else ! reason_is ClaimLost; fi; }
for phase in Lost Bound Lost Bound; do
  api PATCH "/api/v1/namespaces/$ns/persistentvolumeclaims/stores-pvc/status" -H 'Content-Type: application/merge-patch+json' \
    -d "{\"status\": {\"phase\": \"$phase\"}}" >/dev/null
  check "a claim that is $phase is told" until_true 20 lost_is "$phase"
done
k patch inferencepipeline full-inferencepipeline --type merge -p "$(k get inferencepipeline full-inferencepipeline -o json |
  jq -c '{spec: {services: (.spec.services | map(.spec.replicas = 3))}}')" >/dev/null
sleep 3
k patch inferencepipeline full-inferencepipeline --type json -p '[{"op": "remove", "path": "/spec/services/0"}]' >/dev/null

# --- The operator comes again; the certificate's Secret and a lost lease are made anew
stop "$script"
kube -n stackgate-system delete secret stackgate-webhook-cert lease/stackgate-operator >/dev/null 2>&1
check "the operator comes back" operator_up
until_true 20 kube -n stackgate-system get secret stackgate-webhook-cert
sleep 5

# --- The comparison
jq -cs . "$state/audit.log" >"$scratch/events"
# The admission plug-in asks for these: without one of them no child of that kind would have been made.
proven=$(kube get crd -o json | jq -c '[.items[] | select(.spec.group == "stackgate.dev") | "update \(.spec.names.plural)/finalizers.stackgate.dev"]
  # When somebody makes a service of that name in the moment between look and creation; the rules refuse it at any other time.
  + ["get inferenceservices.stackgate.dev"]')
rights=$("$repo/tests/chart/build.sh" && "$repo/build/chart/render" -json "$repo/chart" | jq -rs --arg user "$user" --argjson proven "$proven" \
  --slurpfile events "$scratch/events" '$events[0] as $events | '"$(cat "$repo/tests/chart/rights.jq")" 2>&1)
same "every right is used, and no request was refused" "" "$rights"
check "… of some hundred requests" test "$(wc -l <"$state/audit.log")" -gt 100
