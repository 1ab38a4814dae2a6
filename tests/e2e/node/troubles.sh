#!/usr/bin/env bash
# What can go wrong with pods, and that the status says so in words to act on; then each cure.
source "$(dirname "$(realpath "$0")")/lib.sh"
source "$here/operator.sh"
operator_up

# service NAME JQ: an InferenceService of the stand-in image, changed by the jq program.
service() {
  jq -n --arg name "$1" '{apiVersion: "stackgate.dev/v1alpha1", kind: "InferenceService", metadata: {name: $name}, spec: {
    image: {repository: "registry.test/workload", tag: "1"}, authSecret: "registry-api", resources: {limits: {"nvidia.com/gpu": 1}},
    startupProbe: {probe: {periodSeconds: 1, failureThreshold: 1200}}, readinessProbe: {probe: {periodSeconds: 1}}}}' | jq "$2" | k apply --validate=false -f - >/dev/null ||
    not_ok "$1 is admitted"
}
# told NAME SECONDS KIND OBJECT STATE REASON TEXT: the status comes to say so.
told() {
  await "$1" "$2" ".status.state == \"$5\" and any(.status.conditions[]?; .type == \"Ready\" and .status == \"False\" and
    .reason == \"$6\" and (.message | contains(\"$7\")))" "$3" "$4"
}
ready() { await "$1" 90 '.status.state == "Ready"' "$2" "$3"; }
change() { k patch inferenceservice "$1" --type merge -p "$2" >/dev/null || not_ok "$1 is changed"; }

k create secret generic extra --from-literal=now=a >/dev/null
# A Service that is not ours bears the name.
k create service clusterip taken --tcp=80 >/dev/null

service unknown '.spec.image.tag = "999"'
service greedy '.spec.resources.limits["nvidia.com/gpu"] = 9'
service keyless '.spec.env = [{name: "A", valueFrom: {secretKeyRef: {name: "extra", key: "later"}}}]'
service hungry '.spec.resources.limits.memory = "32Mi" | .spec.env = [{name: "STANDIN_ALLOCATE", value: "64"}]'
service ending '.spec.env = [{name: "STANDIN_EXIT", value: "serve:7"}]'
service unready '.spec.env = [{name: "STANDIN_READY", value: "no"}]'
service taken .
k apply --validate=false -f - >/dev/null <<'YAML'
apiVersion: stackgate.dev/v1alpha1
kind: StackGuardrail
metadata: {name: claiming}
spec:
  nimEndpoint: {baseURL: "http://llm:8000/v1"}
  configStore: {pvc: {create: true, storageClass: none, size: 1Gi, volumeAccessMode: ReadWriteOnce}}
YAML
k create secret generic database --from-literal=password=secret >/dev/null
k apply --validate=false -f - >/dev/null <<'YAML'
apiVersion: stackgate.dev/v1alpha1
kind: StackEntitystore
metadata: {name: migrating}
spec:
  env: [{name: STANDIN_EXIT, value: "migrate:3"}]
  datastore: {endpoint: "http://datastore:8000"}
  databaseConfig: {host: postgres, databaseName: a, credentials: {user: a, secretName: database, passwordKey: password}}
YAML

told "too many GPUs" 30 inferenceservice greedy Pending Unschedulable nvidia.com/gpu
told "a missing key of a Secret" 30 inferenceservice keyless Pending SecretKeyNotFound 'later'
told "memory" 30 inferenceservice hungry NotReady OutOfMemory '137'
told "an exit code" 30 inferenceservice ending NotReady CrashLoopBackOff '7'
told "a failed migration" 30 stackentitystore migrating Pending InitContainerFailed '3'
told "a claim without a volume" 30 stackguardrail claiming Pending ClaimPending claiming-pvc
told "a name that is taken" 30 inferenceservice taken Failed NameTaken 'Service'
told "readiness that does not come" 30 inferenceservice unready NotReady ReplicasNotReady ''
told "an unknown image, by name" 60 inferenceservice unknown Pending ImagePullBackOff registry.test/workload:999

# --- Cures
change unknown '{"spec": {"image": {"tag": "2"}}}'
change greedy '{"spec": {"resources": {"limits": {"nvidia.com/gpu": 1}}}}'
k patch secret extra --type merge -p '{"stringData": {"later": "b"}}' >/dev/null
change hungry '{"spec": {"resources": {"limits": {"memory": "128Mi"}}}}'
change ending '{"spec": {"env": null}}'
k delete service taken >/dev/null
k delete stackguardrail claiming >/dev/null
fetch "http://$(k get pods -l app=unready -o jsonpath='{.items[0].status.podIP}'):8000/standin/ready" >/dev/null
ready "an image that exists cures" inferenceservice unknown
ready "fewer GPUs cure" inferenceservice greedy
ready "the key cures" inferenceservice keyless
ready "more memory cures" inferenceservice hungry
ready "a program that stays cures" inferenceservice ending
ready "a name that is free again cures" inferenceservice taken
ready "readiness cures" inferenceservice unready
