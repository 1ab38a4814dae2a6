#!/usr/bin/env bash
# A gate that may not watch what references point at: it serves, it says what it lacks, and it takes what it is given.
source "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/lib.sh"
good=$samples/minimal/stackguardrails.yaml
json "$good" >"$scratch/good.json"
json "$good" | jq "$gate_fault" >"$scratch/bad.json"
dry() { kube -n "$ns" create --dry-run=server --validate=false -f "$1"; }
probe() { curl -fsS --noproxy '*' "http://127.0.0.1:$gate_health/readyz?verbose"; }
metric() { curl -fsS --noproxy '*' "http://127.0.0.1:$gate_metrics/metrics" | grep "^stackgate_gate_watch_denied{.*resource=\"$1\""; }
gate_kube() { "$KUBECTL" --kubeconfig "$state/gate.kubeconfig" "$@"; }

kube delete clusterrolebinding stackgate-namespaces stackgate-cluster >/dev/null
until_true 10 bash -c "! $(printf '%q ' "$KUBECTL" --kubeconfig "$state/gate.kubeconfig") auth can-i list secrets -A"
gate_up
check "a gate without rights is ready" gate_is_ready "$script"
says "… and /readyz?verbose names what it may not do" '[!]rights: ' probe
says "… each as kubectl asks about it" '(kubectl auth can-i list secrets --all-namespaces)' probe
read -ra question <<<"$(probe | grep -o 'kubectl auth can-i list storageclasses[^)]*')"
refused "… and kubectl answers that question with no" 'no' gate_kube "${question[@]:1}"
check "… a gauge stands at 1" until_true 10 bash -c "$(declare -f metric); gate_metrics=$gate_metrics; metric secrets | grep -q ' 1$'"
check "… the log says what follows" grep -q '"a right is missing: references to such objects are asked about one by one, or not checked"' "$state/$script.log"
same "… and one log line tells it, not one for each attempt" 1 \
  "$(grep -c '"check":"kubectl auth can-i list secrets --all-namespaces"' "$state/$script.log")"
refused "what a resource says about itself is judged all the same" "$gate_fault_field" dry "$scratch/bad.json"
says "what cannot be looked up is a warning" '[reference-unchecked]' dry "$scratch/good.json"

install_rights >/dev/null
whole() { ! probe | grep -q '^\[!\]'; }
check "given the rights, it has them within half a minute" until_true 40 whole
says "… and says so" '[+]rights ok' probe
check "… the gauge is back at 0" until_true 10 bash -c "$(declare -f metric); gate_metrics=$gate_metrics; metric secrets | grep -q ' 0$'"
check "… and in the log" grep -q '"a right that was missing is there","right":"list secrets in all namespaces"' "$state/$script.log"
json "$samples/minimal/inferenceservices.yaml" | jq '.spec.authSecret = "nowhere"' >"$scratch/missing.json"
refused "… and a missing Secret is refused" 'nowhere' dry "$scratch/missing.json"
