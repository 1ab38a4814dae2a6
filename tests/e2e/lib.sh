# Sourced by every end-to-end script. ./dev test e2e/NAME runs one on a control plane of its own; $E2E_STATE is its state.
#
# A script gets: a namespace of its own ($ns), removed at the end together with the webhook configurations and every
# process that was started through it. It reports checks as "ok NAME", "not ok NAME", "skip NAME: why".
# shellcheck shell=bash disable=SC2034,SC2154
set -uo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
state=${E2E_STATE:?run this through './dev test e2e', which starts the control plane}
source "$here/checks.sh"
source "$here/../cluster/processes.sh"
source "$here/../cluster/binaries.sh"
find_kube || { echo "not ok kubectl is at hand" && exit 1; }
source "$here/../cluster/gate.sh"
samples=$repo/crds/samples
# A fault of any kind that has resources which neither a schema nor a CEL rule states: without a gate every server takes it.
gate_fault='.spec.resources.requests.cpu = "9" | .spec.resources.limits.cpu = "1"' gate_fault_field=spec.resources.requests.cpu
script=$(basename "$0" .sh)
scratch=$(mktemp -d)
ns=$script-$RANDOM
rm -rf "${state:?}/$script"* # of an earlier run

finish() {
  local file
  for file in "$state/$script"*.pid; do [ ! -e "$file" ] || stop "$(basename "$file" .pid)"; done
  remove_webhooks
  kube get stackgate -A -o json | jq -r '.items[] | select(.metadata.finalizers) | [.kind, .metadata.namespace, .metadata.name] | @tsv' |
    while read -r kind space name; do kube -n "$space" patch "$kind" "$name" --type merge -p '{"metadata":{"finalizers":null}}'; done >/dev/null
  # There is no namespace controller here: what lives in it is deleted by hand, the empty shell stays.
  kube -n "$ns" delete stackgate --all --wait=false >/dev/null 2>&1
  rm -rf "$scratch"
  ((checks_failed == 0)) || exit 1
}
trap finish EXIT
trap 'exit 130' INT TERM

# golden NAME FILE TEXT: the text equals tests/e2e/golden/FILE; UPDATE_GOLDEN=1 writes it instead.
golden() {
  local file=$here/golden/$2
  [ -z "${UPDATE_GOLDEN:-}" ] || printf '%s\n' "$3" >"$file"
  same "$1" "$(cat "$file" 2>/dev/null)" "$3"
}

remove_webhooks() {
  kube delete validatingwebhookconfiguration,mutatingwebhookconfiguration -l app.kubernetes.io/part-of=stackgate \
    --ignore-not-found >/dev/null 2>&1
}

# gate_up [FLAG...]: this script's gate with certificates from files, and both webhook configurations.
gate_up() {
  certificates=$state/$script.certificates
  [ -e "$certificates/tls.crt" ] || gate_certificate "$certificates"
  start_gate "$script" --tls-cert "$certificates/tls.crt" --tls-key "$certificates/tls.key" \
    --kubeconfig "$state/gate.kubeconfig" "$@" || { not_ok "the gate starts" && exit 1; }
  install_webhooks "$gate_port" "$certificates/ca.crt" >/dev/null
  until_true 15 gate_answers || { not_ok "the API server calls the gate" "$(tail -5 "$state/$script.log")" && exit 1; }
}

# A resource that the schema alone refuses, refused with our words: the API server has noticed the configurations.
gate_answers() {
  local words
  words=$(dry_run <(echo '{"apiVersion": "stackgate.dev/v1alpha1", "kind": "StackGuardrail", "metadata": {"name": "probe"}, "spec": {}}'))
  [[ $words =~ \[[a-z]+(-[a-z]+)*\] ]]
}

# objects FILE: what is in it, as a stream of JSON objects without a namespace.
objects() {
  kube create --dry-run=client --validate=false -o json -f "$1" | jq 'if .kind == "List" then .items[] else . end | del(.metadata.namespace)'
}
json() { objects "$1" | jq -s '.[0]'; }

# api METHOD PATH [CURL_ARGUMENT...]: a raw call as the administrator.
api() {
  local method=$1 path=$2
  shift 2
  curl -sS --noproxy '*' --cacert "$state/pki/cluster-ca.crt" --cert "$state/pki/admin.crt" --key "$state/pki/admin.key" \
    -X "$method" "$@" "$server$path"
}

# dry_run FILE: creates the JSON object without storing it, by a raw call (kubectl's own dry run asks the old OpenAPI first);
# prints the API server's message and causes when that fails.
dry_run() {
  local object kind
  object=$(cat "$1")
  kind=$(jq -r '.kind | ascii_downcase' <<<"$object")
  api POST "/apis/stackgate.dev/v1alpha1/namespaces/$ns/${kind}s?dryRun=All" -H 'Content-Type: application/json' \
    --data-binary @- <<<"$object" | jq -r 'if .kind == "Status" then
      (.message, (.details.causes[]? | "\(.field): \(.message)")), ("" | halt_error(1)) else empty end'
}

# load SECONDS FILE: 50 dry-run creations of the resource in FILE per second over one connection to the API server, each
# through both webhooks; prints how many of each status there were ("600 201").
load() {
  api POST "/apis/stackgate.dev/v1alpha1/namespaces/$ns/stackguardrails?dryRun=All&n=[1-$(($1 * 50))]" --rate 50/s \
    -H 'Content-Type: application/json' --data-binary "@$2" -o /dev/null -w '%{http_code}\n' | sort | uniq -c | sed 's/^ *//'
}

apply() { kube -n "$ns" apply --validate=false "$@"; }

server=$(kube config view --raw -o jsonpath='{.clusters[0].cluster.server}')
# Behind the custom-resource server they are there already. A script that sets without_crds installs them itself, and makes
# what its resources name.
[ -e "$state/crdserver.pid" ] || [ -n "${without_crds:-}" ] || install_crds >/dev/null || { not_ok "the CRDs can be installed" && exit 1; }
install_rights >/dev/null || { not_ok "the gate's rights can be installed" && exit 1; }
kube create namespace "$ns" >/dev/null
# The Secrets, ConfigMaps and so on that the samples name come with the stack.
[ -n "${without_crds:-}" ] || objects "$samples/stack.yaml" | jq -s '{apiVersion: "v1", kind: "List", items: map(select(.apiVersion != "stackgate.dev/v1alpha1"))}' |
  kube -n "$ns" apply -f - >/dev/null || not_ok "what the samples name can be created"
kube -n "$ns" create secret generic guardrail-db --from-literal=password=example >/dev/null
