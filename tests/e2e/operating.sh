#!/usr/bin/env bash
# What chart/OPERATING.md promises: its table of metrics, the copy of all resources and what it restores, and the glass
# that is broken while the gate is down.
source "$(dirname "$(realpath "$0")")/lib.sh"
guide=$repo/chart/OPERATING.md
secret=stackgate-webhook-cert
kube -n stackgate-system delete secret "$secret" --ignore-not-found >/dev/null
kube -n stackgate-system delete lease stackgate-operator --ignore-not-found >/dev/null
install_rights default >/dev/null
kube create namespace "$ns" >/dev/null 2>&1
kube apply -f - >/dev/null <<'YAML'
apiVersion: v1
kind: Service
metadata: {name: stackgate-gate, namespace: stackgate-system}
spec: {type: ExternalName, externalName: localhost}
YAML
operator() {
  start_operator "$script" --certs self-managed --kubeconfig "$state/gate.kubeconfig" --lease-namespace stackgate-system \
    --lease-seconds 3 --renew-seconds 2 --retry-seconds 1 --references off --other-references off ||
    { not_ok "the operator starts" && exit 1; }
}
operator
webhooks() { install_webhooks "$gate_port" service Fail >/dev/null; }
webhooks
check "the API server calls the gate" until_true 30 gate_answers

# --- Metrics
exported() { curl -s --noproxy '*' "http://127.0.0.1:$gate_metrics/metrics" | sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' | LC_ALL=C sort; }
# told [PATTERN]: the first column of the guide's table, without rows that match.
# shellcheck disable=SC2016 # backticks of Markdown
told() { sed -n '/^## Metrics$/,/^## /p' "$guide" | grep -vE "${1:-^$}" | sed -n 's/^|\([^|]*\)|.*/\1/p' | grep -oE '`[^`]+`' | tr -d '`' | LC_ALL=C sort; }
leads() { curl -s --noproxy '*' "http://127.0.0.1:$gate_metrics/metrics" | grep '^stackgate_leader 1'; }
check "the operator leads" until_true 30 leads
same "the guide tells every metric of the operator, and no other" "$(exported)" "$(told)"
metrics_in_alerts() { # the words of expressions that look like metrics of ours
  grep -oE '\b(stackgate|log|process)_[a-z_]+\b' <(sed -n '/ expr:/,/ for:/p' "$repo/chart/alerts.yaml") | LC_ALL=C sort -u
}
same "alerts ask for metrics that there are" "" "$(comm -23 <(metrics_in_alerts) <(exported))"
check "… and for some" test "$(metrics_in_alerts | wc -l)" -ge 8

# --- A copy of all resources, by the guide's own words, and what it restores
copy=$(perl -0777 -ne 'print $1 if /kubectl get stackgate -A -o json \| jq \x27(.*?)\x27 >resources\.json/s' "$guide")
check "the guide says how to copy all resources" test -n "$copy"
k() { kube -n "$ns" "$@"; }
for kind in inferencecaches inferencepipelines stackguardrails; do json "$samples/minimal/$kind.yaml"; done | k create --validate=false -f - >/dev/null
made() { [ "$(k get inferenceservices -o name | wc -l)" -ge 1 ] && [ -n "$(k get icache -o 'jsonpath={.items[0].status.state}')" ]; }
check "a pipeline's services are made" until_true 30 made
kube get stackgate -A -o json | jq "$copy" >"$scratch/resources.json"
specs() { k get inferencecaches,inferencepipelines,stackguardrails -o json | jq -c '[.items[] | [.kind, .metadata.name, .spec]] | sort'; }
before=$(specs)
same "services of pipelines are not copied" 0 "$(jq --arg ns "$ns" '[.items[] | select(.metadata.namespace == $ns and .kind == "InferenceService")] | length' "$scratch/resources.json")"
k delete inferencepipelines --all >/dev/null # before what it would make again
k delete stackgate --all >/dev/null
all_gone() { [ -z "$(k get stackgate -o name)" ]; }
check "all resources can be deleted" until_true 20 all_gone
jq --arg ns "$ns" '.items |= map(select(.metadata.namespace == $ns))' "$scratch/resources.json" | k apply --validate=false -f - >"$scratch/words" 2>&1
same "what was deleted is restored as it was" "$before" "$(specs)"
check "… and works again" until_true 30 made

# --- The gate is down
stop "$script"
refused "with the gate down no cache can be deleted" 'failed calling webhook "validate.stackgate.dev"' k delete inferencecaches --all --timeout=5s
json "$samples/minimal/stackguardrails.yaml" >"$scratch/good.json"
refused "… nor anything changed" 'failed calling webhook' dry_run "$scratch/good.json"
check "… but all else can be deleted" k delete stackguardrails --all --timeout=5s
mapfile -t glass < <(sed -n 's/^    kubectl \(delete [a-z]*webhookconfiguration stackgate-gate\)$/\1/p' "$guide")
same "the guide names two commands" 2 "${#glass[@]}"
for words in "${glass[@]}"; do
  # shellcheck disable=SC2086 # several words
  check "kubectl $words" kube $words
done
check "then the cache can be deleted" until_true 15 k delete inferencecaches --all --timeout=5s
check "… and resources pass unchecked" dry_run "$scratch/good.json"
operator
webhooks # as an upgrade of the chart or a second apply does: without caBundle
bundles() { kube get validatingwebhookconfiguration,mutatingwebhookconfiguration stackgate-gate -o json | jq '[.items[].webhooks[].clientConfig.caBundle | select(. != null and . != "")] | length'; }
full() { [ "$(bundles)" = 2 ]; }
check "applied again, the webhooks are trusted again within seconds" until_true 15 full
check "… and refuse what could not run" until_true 15 gate_answers
check "… and let good ones pass" dry_run "$scratch/good.json"

# --- While the operator runs, configurations that are taken away come back as well when they are applied
for words in "${glass[@]}"; do
  # shellcheck disable=SC2086
  kube $words >/dev/null
done
webhooks
check "an operator that has seen them go trusts new ones as well" until_true 15 full
check "… and refuses" until_true 15 gate_answers

# --- The gate alone has what is not marked as the operator's
stop "$script"
start_gate "$script-alone" --certs self-managed --kubeconfig "$state/gate.kubeconfig" || not_ok "the gate starts"
same "the guide tells every metric of the gate, and no other" "$(exported)" "$(told '; operator \|$')"

# --- A port that the system chooses is told
gate_certificate "$scratch/certificates"
start "$script-any" "$gate_binary" gate --no-cluster --listen 127.0.0.1:0 --metrics-listen 127.0.0.1:0 --health-listen 127.0.0.1:0 \
  --tls-cert "$scratch/certificates/tls.crt" --tls-key "$scratch/certificates/tls.key" --log-format json
port() { jq -r 'select(.message == "gate serves") | .port' "$state/$script-any.log"; }
told_port() { [ -n "$(port)" ]; }
until_true 10 told_port
check "port 0: the log tells the real one" curl -sS --noproxy '*' --max-time 5 --cacert "$scratch/certificates/ca.crt" -o /dev/null "https://127.0.0.1:$(port)/"
install_rights >/dev/null
