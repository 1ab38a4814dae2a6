#!/usr/bin/env bash
# Every bad sample is refused by a real API server, and kubectl prints each fault with its field and the cure.
# golden/ holds kubectl's words; UPDATE_GOLDEN=1 ./dev test e2e/gate-refusals writes them anew.
source "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/lib.sh"
gate_up

# one FILE INDEX: the n-th document of a file of bad samples, as it is written.
documents() { awk -v out="$scratch/$2" 'BEGIN {n = 1} /^---$/ {n++; next} {print > (out "." n ".yaml")}' "$1"; }

# A current server merges before it asks the gate, and cannot merge a list that names an entry twice.
applied_refused() {
  local words
  ! words=$(kube -n "$ns" apply --server-side --validate=false --field-manager e2e -f "$1" 2>&1) || { echo "accepted: $words" && return 1; }
  [[ $words == *'is invalid'* || $words == *'duplicate entries for key'* ]] || { echo "$words" && return 1; }
}

for file in "$samples"/bad/*.yaml; do
  plural=$(basename "$file" .yaml)
  documents "$file" "$plural"
  for document in "$scratch/$plural".*.yaml; do
    grep -q '^kind:' "$document" || continue
    name=$(basename "$document" .yaml)
    words=$(kube -n "$ns" apply --validate=false -f "$document" 2>&1) && not_ok "$name is refused" "$words"
    words=${words//$ns/NAMESPACE}
    golden "$name is refused with kubectl's words as recorded" "$name.txt" "$words"
    same "$name: every cause names its rule" '' "$(grep -E '^\* |is invalid: .' <<<"$words" | grep -vE '\[[a-z0-9-]+\]$')"
    refused "$name is refused as a dry run" 'denied the request' dry_run <(json "$document")
    check "$name is refused by server-side apply" applied_refused "$document"
    causes=$(grep -cE '^\* |is invalid: .' <<<"$words") # a single cause stands on the first line
    offline=$("$gate_binary" validate --output json "$document" | jq '[.[] | select(.severity == "error")] | length')
    check "$name: the gate names at least the $offline faults that 'stackgate validate' finds" test "$causes" -ge "$offline"
  done
done
same "nothing bad was stored" "" "$(kube -n "$ns" get stackgate -o name 2>/dev/null)"

# Each of the two webhooks holds on its own.
kube delete mutatingwebhookconfiguration -l app.kubernetes.io/part-of=stackgate >/dev/null
sleep 1
json "$samples/minimal/stackguardrails.yaml" | jq "$gate_fault" >"$scratch/amounts.json"
refused "the validating webhook alone refuses" "$gate_fault_field" apply -f "$scratch/amounts.json"
install_webhooks "$gate_port" "$certificates/ca.crt" >/dev/null
kube delete validatingwebhookconfiguration -l app.kubernetes.io/part-of=stackgate >/dev/null
sleep 1
refused "the early webhook alone refuses" "$gate_fault_field" apply -f "$scratch/amounts.json"
install_webhooks "$gate_port" "$certificates/ca.crt" >/dev/null
sleep 1

# Schema faults and cross-field faults in one refusal, not one after the other.
json "$samples/minimal/stackguardrails.yaml" | jq '.spec.nimEndpoint.baseURL = "http://llm:8000" | .spec.replicas = "two"' >"$scratch/both.json"
words=$(apply -f "$scratch/both.json" 2>&1)
says "a wrong type and a broken rule come in one refusal" 'spec.replicas' echo "$words"
says "… and the other one too" 'spec.nimEndpoint.baseURL' echo "$words"

# References: a Secret that is missing, then there.
json "$samples/minimal/inferenceservices.yaml" | jq '.spec.authSecret = "not-there-yet"' >"$scratch/secret.json"
refused "a missing secret is named" 'not-there-yet' apply -f "$scratch/secret.json"
kube -n "$ns" create secret generic not-there-yet --from-literal=WRONG=x >/dev/null
refused "a secret without the key is named with the key" 'REGISTRY_API_KEY' apply -f "$scratch/secret.json"
kube -n "$ns" delete secret not-there-yet >/dev/null
kube -n "$ns" create secret generic not-there-yet --from-literal=REGISTRY_API_KEY=hunter2 >/dev/null
check "the same resource passes the moment the secret is there" apply -f "$scratch/secret.json"
for i in 1 2 3 4 5 6 7 8 9 10; do
  kube -n "$ns" create secret generic "fresh-$i" --from-literal=REGISTRY_API_KEY=x >/dev/null
  jq --arg n "fresh-$i" '.metadata.name = $n | .spec.authSecret = $n' "$scratch/secret.json" >"$scratch/fresh.json"
  apply -f "$scratch/fresh.json" >>"$scratch/fresh.out" 2>&1 || echo "refused" >>"$scratch/fresh.out"
done
check "ten secrets made a moment before their users are all seen" test "$(grep -c created "$scratch/fresh.out")" = 10

# What a guardrail's ConfigMap holds is compiled.
kube -n "$ns" create configmap rails --from-literal=config.yml='rails: {input: {flows: [check lengths on input]}}' \
  --from-literal=rails.co=$'define flow x\n  do y\n' >/dev/null
json "$samples/minimal/stackguardrails.yaml" | jq '.metadata.name = "compiled" | .spec.configStore.configMap.name = "rails"' >"$scratch/rails.json"
refused "a faulty configuration is refused with key and line" 'configMap rails.co:2:3: there is no flow "y"' apply -f "$scratch/rails.json"
refused "… with all its faults" 'configMap config.yml:1:25 rails.input.flows[0]: there is no flow "check lengths on input"; did you mean' \
  apply -f "$scratch/rails.json"
kube -n "$ns" create configmap rails --from-literal=config.yml='rails: {input: {flows: [check length on input]}}' --dry-run=client -o json |
  kube -n "$ns" replace -f - >/dev/null
check "the same guardrail passes the moment it is mended" apply -f "$scratch/rails.json"
check "no secret value stands in the gate's log" test "$(grep -c hunter2 "$state/$script.log")" = 0
