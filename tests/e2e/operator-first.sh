#!/usr/bin/env bash
# The operator is in the cluster before its own definitions are: it says what it waits for, asks for nothing meanwhile, and
# works as soon as they come; also when they are taken away and come again. On a control plane of its own, which has never
# had them.
# shellcheck disable=SC2034,SC2154
E2E_STATE=${E2E_STATE:?run this through ./dev test e2e}/first
export E2E_STATE
tests=$(dirname "$(realpath "$0")")/..
"$tests/cluster/down.sh" "$E2E_STATE" --purge
"$tests/cluster/up.sh" "$E2E_STATE" || exit 1
without_crds=1
# shellcheck source=/dev/null
source "$tests/e2e/lib.sh"
trap '(finish) || checks_failed=1; "$tests/cluster/down.sh" "$state" --purge; ((checks_failed == 0)) || exit 1' EXIT
k() { kube -n "$ns" "$@"; }
k create secret generic registry-api --from-literal=REGISTRY_API_KEY=example >/dev/null
install_rights default >/dev/null || not_ok "the chart's rights can be installed"
log_has() { jq -e -s "any(.[]; $1)" "$state/$script.log" >/dev/null; }
# times TEXT: how often the log says so
times() { jq -s --arg text "$1" '[.[] | select(.message == $text)] | length' "$state/$script.log"; }
# calls: to the API server, all but those for the lease; watches count when they begin.
calls() {
  curl -s --noproxy '*' "http://127.0.0.1:$gate_metrics/metrics" |
    awk '/^stackgate_api_requests_total/ && !/resource="leases[.]/ { sum += $2 } END { print sum + 0 }'
}
quiet() { # NAME: five seconds without a request
  local before
  before=$(calls)
  check "$1: requests are counted" test "$before" -gt 0
  sleep 5
  same "$1" "$before" "$(calls)"
}
children() { k get "deployment/$1" "service/$1" "serviceaccount/$1"; }
service() { json "$samples/minimal/inferenceservices.yaml" | jq --arg n "$1" '.metadata.name = $n' | k create --validate=false -f - >/dev/null; }

refused "the control plane knows nothing of our kinds" "" kube get inferenceservices
certificates=$state/certificates
gate_certificate "$certificates"
start_operator "$script" --tls-cert "$certificates/tls.crt" --tls-key "$certificates/tls.key" \
  --kubeconfig "$state/gate.kubeconfig" --lease-seconds 3 --renew-seconds 2 --retry-seconds 1
check "the operator starts and is ready" gate_is_ready "$script"
waits() { log_has '.message == "custom resource definitions are not installed; waiting for them" and (.definitions | split(", ") | length) == 8'; }
check "… says which definitions it waits for" until_true 10 waits
check "… and what to do" log_has '(.cure // "") | contains("crds --apply")'
leads() { curl -s --noproxy '*' "http://127.0.0.1:$gate_metrics/metrics" | grep -qx 'stackgate_leader 1'; }
check "… and leads" until_true 20 leads
sleep 1
quiet "while it waits it asks for nothing"
check "… and lives" alive "$script"
lines=$(wc -l <"$state/$script.log")
check "… with few words: $lines lines" test "$lines" -le 20

install_crds >/dev/null || not_ok "the CRDs can be installed"
served() { [ "$(times 'a type is served now')" -ge "$1" ]; }
check "definitions that come are seen" until_true 30 served 8
service first
check "… and a resource becomes children" until_true 20 children first
sleep 1
quiet "… and all is quiet again"

# What somebody changes or deletes by hand is put back, and that is told.
repaired() { log_has ".level == \"info\" and .message == \"$1\" and (.why | contains(\"$2\"))"; }
k set image deployment/first '*=registry.example.com/other:1' >/dev/null
check "a change by hand is undone and logged" until_true 10 repaired "child updated" "image was changed"
k delete role first >/dev/null
check "… and a deletion" until_true 10 repaired "child created" "somebody deleted it"
repairs() { curl -s --noproxy '*' "http://127.0.0.1:$gate_metrics/metrics" | grep -qx 'stackgate_drift_repairs_total{kind="InferenceService"} 2'; }
check "… and both are counted" until_true 5 repairs
log_has '.message == "status" and .was == "" and .reason != "" and .why != ""'
same "a status is logged with its reason" 0 "$?"

for file in "$repo"/crds/*.yaml; do kube delete -f "$file" --wait=false >/dev/null; done
gone() { [ "$(times 'a definition of ours is gone, and with it its resources: what was made for them goes too')" -ge 8 ]; }
check "definitions that are taken away are let go" until_true 60 gone
sleep 1
quiet "… and nothing is asked for"
install_crds >/dev/null || not_ok "the CRDs can be installed again"
check "… until they come again" until_true 30 served 16
service second
check "… and a resource becomes children" until_true 20 children second

# The API server goes away and comes again: under rights that it does not know for a moment.
said() { [ "$(times "$1")" -ge "$2" ]; }
lost='the API server does not answer; what is known of the cluster grows old' back='the API server answers again'
probe() { curl -sS --noproxy '*' "http://127.0.0.1:$gate_health/readyz?verbose"; }
"$tests/cluster/down.sh" "$state" apiserver
check "an API server that goes away is told" until_true 20 said "$lost" 1
says "… to who asks, too" '[!]watches: no answer from the API server for ' probe
check "… and one that comes back" "$tests/cluster/up.sh" "$state" apiserver
until_true 30 said "$back" 1
sleep 15
same "… each in one line" "1 1" "$(times "$lost") $(times "$back")"
says "… and all is well" '[+]watches ok' probe
says "… no right is missing" '[+]rights ok' probe
same "… nor was one said to be" 0 "$(jq -s '[.[] | select(.message | startswith("a right is missing"))] | length' "$state/$script.log")"
"$gate_binary" operator --no-admission --no-leader-elect --kubeconfig "$state/gate.kubeconfig" \
  --metrics-listen 127.0.0.1:0 --health-listen 127.0.0.1:0 >"$scratch/second" 2>&1 &
second=$!
check "a second one that leaves the election out is warned" until_true 20 grep -q 'another process holds the lease' "$scratch/second"
kill "$second"
wait "$second"
same "… and ends with 0" 0 "$?"
check "it is the same process all the while" alive "$script"
stop "$script"
"$tests/cluster/down.sh" "$state" apiserver
rm "$state/$script.log"
start_operator "$script" --tls-cert "$certificates/tls.crt" --tls-key "$certificates/tls.key" --kubeconfig "$state/gate.kubeconfig" \
  >/dev/null 2>&1 & # waits until it is ready
check "an operator that starts without an API server says so" until_true 20 said "$lost" 1
says "… and why it is not ready" '[-]caches failed: the first lists are not complete yet: GET /apis/autoscaling: ' probe
"$tests/cluster/up.sh" "$state" apiserver
wait $!
check "… and works when it comes" until_true 30 gate_is_ready "$script"
check "… and says so" until_true 10 said "$back" 1
same "… and never in panic" '' "$(jq -r 'select(.level == "error") | .message' "$state/$script.log")"
