#!/usr/bin/env bash
# Stackgate installed from its chart: both replicas, the webhook behind its Service, and nothing lost while it rolls.
source "$(dirname "$(realpath "$0")")/lib.sh"
source "$here/operator.sh"
k create configmap rails --from-literal=config.yml='models: []' >/dev/null
operator_up
ok "Stackgate is installed from its chart, and both replicas are ready"

says "a good resource passes the webhook behind its Service" StackGuardrail dry_run stackguardrails "$good_guardrail"
refused "a bad one is refused with our words" 'spec.nimEndpoint.baseURL' dry_run stackguardrails "$bad_guardrail"
same "the webhooks name the Service, not an address" "stackgate-gate stackgate-gate" \
  "$(kube get validatingwebhookconfiguration,mutatingwebhookconfiguration -o json | jq -r '[.items[].webhooks[].clientConfig.service.name] | join(" ")')"

# shellcheck disable=SC2046 # a list of names
for pod in $(operator_pods); do
  address=$(kube -n "$operator_ns" get pod "$pod" -o jsonpath='{.status.podIP}')
  check "$pod says that it is ready" fetch -f "http://$address:8081/readyz"
  fetch "http://$address:8080/metrics" >"$scratch/metrics"
  resident=$(awk '$1 == "process_resident_memory_bytes" {printf "%d", $2 / 1048576}' "$scratch/metrics")
  check "… and uses little memory (${resident:-?} MiB)" test "${resident:-999}" -le 60
done

# 20 reviews a second while every pod is replaced.
api POST "/apis/stackgate.dev/v1alpha1/namespaces/$ns/stackguardrails?dryRun=All&n=[1-400]" --rate 20/s --max-time 20 \
  -H 'Content-Type: application/json' --data-binary "$good_guardrail" -w '\n%{http_code}\n' >"$scratch/codes" 2>&1 &
load=$!
before=$(operator_pods)
kube -n "$operator_ns" rollout restart deployment/stackgate >/dev/null
check "a restart rolls through within 60 s" operator_rolled 60
wait "$load"
same "no review fails meanwhile" "400 of 201" "$(grep -cx 201 "$scratch/codes") of 201$(jq -rR 'fromjson? | objects | select(.kind == "Status").message' "$scratch/codes")"
same "… and both pods are new" "" "$(grep -xFf <(echo "$before") <(operator_pods))"
