#!/usr/bin/env bash
# The node itself, without Stackgate: what the other scripts lean on, and each trouble that they provoke.
source "$(dirname "$(realpath "$0")")/lib.sh"
image=registry.test/workload:1

# pod NAME [JQ]: a pod of the stand-in image, changed by the jq program.
pod() {
  jq -n --arg name "$1" --arg image "$image" '{apiVersion: "v1", kind: "Pod", metadata: {name: $name, labels: {app: $name}},
    spec: {containers: [{name: "main", image: $image}], terminationGracePeriodSeconds: 1}}' | jq "${2:-.}" | k apply -f - >/dev/null
}

same "the node has eight GPUs" 8 "$(kube get nodes -o jsonpath='{.items[0].status.allocatable.nvidia\.com/gpu}')"

pod unknown '.spec.containers[0].image = "registry.test/unknown:1"'
pod hungry '.spec.containers[0] += {resources: {limits: {memory: "32Mi"}}, env: [{name: "STANDIN_ALLOCATE", value: "64"}]}'
pod greedy '.spec.containers[0].resources.limits = {"nvidia.com/gpu": "9"}'
pod secretless '.spec.containers[0].env = [{name: "A", valueFrom: {secretKeyRef: {name: "registry-api", key: "no-such-key"}}}]'
pod crashing '.spec.containers[0].env = [{name: "STANDIN_EXIT", value: "serve:7"}]'
k apply -f - >/dev/null <<YAML
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      securityContext: {runAsNonRoot: true, fsGroup: 2000, seccompProfile: {type: RuntimeDefault}}
      initContainers:
      - {name: migrate, image: "$image", args: [migrate]}
      - {name: pull, image: "$image", args: [pull], env: [{name: STACKGATE_PULL_TARGET, value: /data}],
         volumeMounts: [{name: data, mountPath: /data}]}
      containers:
      - name: web
        image: $image
        ports: [{name: api, containerPort: 8000}]
        env: [{name: SECRET, valueFrom: {secretKeyRef: {name: registry-api, key: REGISTRY_API_KEY}}}]
        resources: {limits: {nvidia.com/gpu: 1, memory: 64Mi}}
        readinessProbe: {httpGet: {path: /v1/health/ready, port: api}, periodSeconds: 1}
        securityContext: {readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
        volumeMounts: [{name: data, mountPath: /data}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{name: api, port: 80, targetPort: api}]}
YAML
await "two pods with a claim, GPUs and no rights become ready" 60 '.status.availableReplicas == 2' deployment web
address=$(k get service web -o jsonpath='{.spec.clusterIP}')
check "a Service's address answers" until_true 10 fetch "http://$address/health"
pod_address=$(k get pods -l app=web -o jsonpath='{.items[0].status.podIP}')
says "a pod sees a Secret's value" SECRET=key fetch "http://$pod_address:8000/standin/environment"

# dns NAME: one question of type A to the cluster's DNS.
dns() {
  perl -MSocket -e 'my $name = join "", map { chr(length) . $_ } split /\./, $ARGV[0];
    socket my $s, PF_INET, SOCK_DGRAM, 0; setsockopt $s, SOL_SOCKET, SO_RCVTIMEO, pack "qq", 2, 0;
    send $s, pack("n6", 1, 256, 1, 0, 0, 0) . "$name\0" . pack("n2", 1, 1), 0, sockaddr_in(53, inet_aton("10.254.0.1"));
    recv $s, my $answer, 512, 0; die "no answer for $ARGV[0]\n" unless unpack "x6n", $answer; print inet_ntoa substr $answer, -4' "$1"
}
check "DNS knows the Service" until_true 10 dns "web.$ns.svc.cluster.local"
same "… by its address" "$address" "$(dns "web.$ns.svc.cluster.local")"

fetch "http://$pod_address:8000/standin/not-ready" >/dev/null
await "a pod whose readiness fails is taken away" 60 '.status.availableReplicas == 1' deployment web
fetch "http://$pod_address:8000/standin/exit/3" >/dev/null 2>&1
await "a pod that ends is started again" 60 '.status.availableReplicas == 2' deployment web

waiting='.status.containerStatuses[]?.state.waiting.reason'
await "an unknown image is told" 60 "$waiting == \"ImagePullBackOff\"" pod unknown
await "a container that takes too much memory is killed" 60 \
  '.status.containerStatuses[]? | [.state, .lastState] | any(.terminated.exitCode == 137 and .terminated.reason == "OOMKilled")' pod hungry
await "too many GPUs cannot be scheduled" 30 \
  'any(.status.conditions[]?; .reason == "Unschedulable" and (.message | contains("Insufficient nvidia.com/gpu")))' pod greedy
await "a missing key of a Secret is told" 30 "$waiting == \"CreateContainerConfigError\"" pod secretless
await "a container that ends with an error is started again, and again later" 60 "$waiting == \"CrashLoopBackOff\"" pod crashing

k delete deployment web --wait=false >/dev/null
gone "pods go with their Deployment" 60 pods "$(k get pods -l app=web -o jsonpath='{.items[0].metadata.name}')"
volume=$(k get pvc data -o jsonpath='{.spec.volumeName}')
check "the puller wrote to the volume" "$node_scripts/exec.sh" "$state" test -s "/var/volumes/$volume/model.bin"
k delete pvc data --timeout=60s >/dev/null
check "the volume goes with its claim" until_true 60 "$node_scripts/exec.sh" "$state" test ! -e "/var/volumes/$volume"
