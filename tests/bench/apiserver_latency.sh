#!/usr/bin/env bash
# What the gate adds at the API server: 50 creations at a time, without webhooks and with both.
# One JSON object per figure on stdout, a table on stderr.
set -euo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.."
source tests/cluster/processes.sh
source tests/cluster/binaries.sh
find_kube
state=$(mktemp -d)
source tests/cluster/gate.sh
trap 'tests/cluster/down.sh "$state" --purge' EXIT
creations=${CREATIONS:-1000} parallel=50

tests/cluster/up.sh "$state" >&2
install_crds >/dev/null
gate_certificate "$state/certificates"
start_gate gate --tls-cert "$state/certificates/tls.crt" --tls-key "$state/certificates/tls.key" --kubeconfig "$state/kubeconfig"
kube create --dry-run=client --validate=false -o json -f crds/samples/minimal/stackguardrails.yaml |
  jq -c 'del(.metadata.namespace)' >"$state/object.json"
kube create configmap guardrail-config --from-literal=config.yml='models: []' >/dev/null
server=$(kube config view --raw -o jsonpath='{.clusters[0].cluster.server}')

# requests NAMES: curl's words for all creations. Generated names would now and then meet, which the server answers with 500.
requests() {
  jq -r --arg names "$1" --argjson count "$creations" --arg pki "$state/pki" \
    --arg url "$server/apis/stackgate.dev/v1alpha1/namespaces/default/stackguardrails" '
    range($count) as $i | .metadata.name = "\($names)-\($i)" |
    (if $i > 0 then "next" else empty end), "url = \($url)", "data-binary = \(tojson | tojson)",
    "header = \"Content-Type: application/json\"", "cacert = \($pki)/cluster-ca.crt", "cert = \($pki)/admin.crt",
    "key = \($pki)/admin.key", "noproxy = *", "http1.1", "output = /dev/null",
    "write-out = \"%{http_code} %{time_total}\\n\""' "$state/object.json"
}

# milliseconds CONFIGURATION: sorted times of all creations; fails when one was not "201 Created".
milliseconds() {
  curl -sS -Z --parallel-max "$parallel" --parallel-immediate -K <(requests "$1") 2>/dev/null >"$state/times"
  [ "$(grep -c '^201 ' "$state/times")" = "$creations" ] || { sort "$state/times" | cut -d' ' -f1 | uniq -c >&2 && return 1; }
  awk '{printf "%.2f\n", $2 * 1000}' "$state/times" | sort -n >"$state/$1"
}
percentile() { awk -v p="$2" '{v[NR] = $1} END {i = int(NR * p / 100 + 0.999); print v[i < 1 ? 1 : i]}' "$state/$1"; }

milliseconds first-warm-up
milliseconds without
install_webhooks "$gate_port" "$state/certificates/ca.crt" >/dev/null
sleep 2
milliseconds second-warm-up
milliseconds with

printf '%-44s %10s %10s\n' "creation at the API server, 50 at a time" p50 p99 >&2
for run in without with; do
  printf '  %-42s %7s ms %7s ms\n' "$run the gate" "$(percentile $run 50)" "$(percentile $run 99)" >&2
done
for p in 50 99; do
  jq -nc --arg p "$p" --argjson value "$(percentile with "$p")" --argjson beside "$(percentile without "$p")" \
    '{name: "apiserver_create_p\($p)", value: $value, unit: "ms", limit: null, within: true, beside: $beside}'
done
