#!/usr/bin/env bash
# The gate and the API server come and go.
source "$(dirname "$(realpath "$0")")/lib.sh"
good=$samples/minimal/stackguardrails.yaml
json "$good" >"$scratch/good.json"
json "$good" | jq '.spec.nimEndpoint.baseURL = "http://llm:8000"' >"$scratch/bad.json"
dry() { kube -n "$ns" create --dry-run=server --validate=false -f "$1"; }
gate_up

# No gate: the failure policy decides.
stop "$script"
refused "without a gate and with failurePolicy Fail nothing passes" 'failed calling webhook' dry "$scratch/good.json"
install_webhooks "$gate_port" "$certificates/ca.crt" Ignore >/dev/null
sleep 1
check "without a gate and with failurePolicy Ignore resources pass" dry "$scratch/good.json"
check "… bad ones too" dry "$scratch/bad.json"

began=$(date +%s%N)
gate_up
took=$((($(date +%s%N) - began) / 1000000))
refused "a restarted gate refuses again" 'spec.nimEndpoint.baseURL' dry "$scratch/bad.json"
check "… within five seconds ($took ms)" test "$took" -lt 5000

# The API server restarts.
"$here/../cluster/down.sh" "$state" apiserver
check "the gate lives on without an API server" gate_is_ready "$script"
"$here/../cluster/up.sh" "$state" apiserver
check "the gate accepts after the API server's restart" dry "$scratch/good.json"
refused "the gate refuses after the API server's restart" 'spec.nimEndpoint.baseURL' dry "$scratch/bad.json"
json "$samples/minimal/inferenceservices.yaml" | jq '.spec.authSecret = "later"' >"$scratch/later.json"
refused "its view of secrets is fresh: a missing one is missing" 'later' dry "$scratch/later.json"
kube -n "$ns" create secret generic later --from-literal=REGISTRY_API_KEY=x >/dev/null
check "… and a new one is seen" dry "$scratch/later.json"

# A gate that starts before its API server.
stop "$script"
"$here/../cluster/down.sh" "$state" apiserver
start "$script-early" "$gate_binary" gate --listen "127.0.0.1:$gate_port" --metrics-listen "127.0.0.1:$gate_metrics" \
  --health-listen "127.0.0.1:$gate_health" --tls-cert "$certificates/tls.crt" --tls-key "$certificates/tls.key" \
  --kubeconfig "$state/gate.kubeconfig"
sleep 2
check "a gate that starts without an API server waits" alive "$script-early"
refused "… and is not ready" '' gate_is_ready "$script-early"
"$here/../cluster/up.sh" "$state" apiserver
check "… until the API server is there" until_true 30 gate_is_ready "$script-early"
check "… and then works" dry "$scratch/good.json"
stop "$script-early"

# Two replicas: the first is told to stop while calls come in; the API server is sent to the second meanwhile.
gate_up
first=$gate_port
start_gate "$script-second" --tls-cert "$certificates/tls.crt" --tls-key "$certificates/tls.key" --kubeconfig "$state/gate.kubeconfig"
second=$gate_port
load 8 "$scratch/good.json" >"$scratch/codes" &
sleep 2
kill "$(pid_of "$script")"
install_webhooks "$second" "$certificates/ca.crt" >/dev/null
wait $!
same "no call fails while one of two replicas goes" "400 201" "$(cat "$scratch/codes")"
gone() { ! alive "$1"; }
check "the first has ended by itself" until_true 60 gone "$script"
refused "the second refuses as the first did" 'spec.nimEndpoint.baseURL' dry "$scratch/bad.json"
refused "the first is gone from its port" '' curl -ksS --max-time 2 "https://127.0.0.1:$first/"
