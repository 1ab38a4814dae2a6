#!/usr/bin/env bash
# The gate and the API server come and go.
source "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/lib.sh"
good=$samples/minimal/stackguardrails.yaml
json "$good" >"$scratch/good.json"
json "$good" | jq "$gate_fault" >"$scratch/bad.json"
dry() { dry_run "$1"; }
probe() { curl -sS --noproxy '*' "http://127.0.0.1:$gate_health/readyz?verbose"; }
metric() { # NAME: the sum over all labels
  curl -fsS --noproxy '*' "http://127.0.0.1:$gate_metrics/metrics" |
    awk -v name="$1" '$1 ~ "^"name"($|{)" { sum += $2; seen = 1 } END { print seen ? sum : "none" }'
}
# times NAME TEXT: how many of its log's messages begin so
times() { jq -s --arg text "$2" '[.[] | select(.message | startswith($text))] | length' "$state/$1.log"; }
# field NAME TEXT FIELD: of those messages
field() { jq -r --arg text "$2" --arg field "$3" 'select(.message | startswith($text)) | .[$field]' "$state/$1.log"; }
lost='the API server does not answer' back='the API server answers again'
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
same "a healthy start counts no failed watches" 0 "$(metric stackgate_watch_failures_total)"
refused "a restarted gate refuses again" "$gate_fault_field" dry "$scratch/bad.json"
check "… within five seconds ($took ms)" test "$took" -lt 5000

# The API server restarts.
"$here/../cluster/down.sh" "$state" apiserver
check "the gate lives on without an API server" gate_is_ready "$script"
told() { [ "$(times "$1" "$2")" -ge 1 ]; }
check "… says within a quarter of a minute that it is gone" until_true 15 told "$script" "$lost"
says "… names the error" 'onnect' field "$script" "$lost" error
says "… shows it to who asks" '[!]watches: no answer from the API server for ' probe
says "… with caches that are good for the while" '[+]caches ok' probe
check "… and in a gauge" test "$(metric stackgate_watch_disconnected_seconds | cut -d. -f1)" -ge 5
sleep 10
same "… in one line, however many watches there are" 1 "$(times "$script" "$lost")"
check "… and counts what fails" test "$(metric stackgate_watch_failures_total)" -gt 0
"$here/../cluster/up.sh" "$state" apiserver
check "it says that the API server is back" until_true 20 told "$script" "$back"
check "… and for how long it was away" test "$(field "$script" "$back" away_seconds)" -ge 10
same "… in one line" 1 "$(times "$script" "$back")"
same "… the gauge is back at 0" 0 "$(metric stackgate_watch_disconnected_seconds)"
check "the gate accepts after the API server's restart" dry "$scratch/good.json"
refused "the gate refuses after the API server's restart" "$gate_fault_field" dry "$scratch/bad.json"
json "$samples/minimal/inferenceservices.yaml" | jq '.spec.authSecret = "later"' >"$scratch/later.json"
refused "its view of secrets is fresh: a missing one is missing" 'later' dry "$scratch/later.json"
kube -n "$ns" create secret generic later --from-literal=REGISTRY_API_KEY=x >/dev/null
check "… and a new one is seen" dry "$scratch/later.json"
# An API server that has just started refuses everybody for a moment.
sleep 15
says "after a restart no right is missing" '[+]rights ok' probe
same "… nor was one said to be" 0 "$(times "$script" 'a right is missing')"
same "… nor counted" 0 "$(metric stackgate_gate_watch_denied | sed s/none/0/)"
says "… and the watches are well" '[+]watches ok' probe

# A gate that starts before its API server.
stop "$script"
"$here/../cluster/down.sh" "$state" apiserver
start "$script-early" "$gate_binary" gate --listen "127.0.0.1:$gate_port" --metrics-listen "127.0.0.1:$gate_metrics" \
  --health-listen "127.0.0.1:$gate_health" --tls-cert "$certificates/tls.crt" --tls-key "$certificates/tls.key" \
  --kubeconfig "$state/gate.kubeconfig"
sleep 2
check "a gate that starts without an API server waits" alive "$script-early"
refused "… and is not ready" '' gate_is_ready "$script-early"
check "… says why" until_true 15 told "$script-early" "$lost"
says "… also to who asks" ' first lists are not complete yet, ' probe
says "… with the last error" 'onnect' grep -F '[-]caches' <(probe)
"$here/../cluster/up.sh" "$state" apiserver
check "… until the API server is there" until_true 30 gate_is_ready "$script-early"
check "… and then works" dry "$scratch/good.json"
check "… and says that the API server is there" until_true 5 told "$script-early" "$back"
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
refused "the second refuses as the first did" "$gate_fault_field" dry "$scratch/bad.json"
refused "the first is gone from its port" '' curl -ksS --max-time 2 "https://127.0.0.1:$first/"
