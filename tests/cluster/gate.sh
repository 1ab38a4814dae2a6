# Sourced, after processes.sh and with $state, $KUBECTL set. Stackgate's gate as a process beside a control plane:
# CRDs, rights, certificates, webhook configurations, and the process itself.
# shellcheck shell=bash disable=SC2154

repo=$(cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.." && pwd)
gate_binary=${STACKGATE:-$repo/build/release/bin/stackgate}

kube() { "$KUBECTL" --kubeconfig "${gate_admin:-$state/kubeconfig}" "$@"; }

# until_true SECONDS COMMAND...: repeats the command quietly until it succeeds.
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || return 1
    sleep 0.1
  done
}

# The 1.20 client does not know x-kubernetes-validations and the like: the server judges, not the client.
install_crds() {
  local files=() file
  for file in "$repo"/crds/*.yaml; do files+=(-f "$file"); done
  kube apply --validate=false "${files[@]}"
  kube wait --for=condition=Established --timeout=30s "${files[@]}"
  # Established comes a moment before the new paths are served.
  until_true 30 kube get stackgate -A
}

# gate_authority DIR: the demo's own certificate authority.
gate_authority() {
  mkdir -p "$1"
  [ -s "$1/ca.crt" ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=stackgate-ca" \
    -keyout "$1/ca.key" -out "$1/ca.crt" -addext basicConstraints=critical,CA:TRUE \
    -addext keyUsage=critical,keyCertSign,cRLSign 2>/dev/null
}

# gate_certificate DIR [ADDRESS...]: a new leaf, put in place as Kubernetes does with a mounted secret: the files are links
# into "..data", itself a link that is replaced in one step.
gate_certificate() {
  local dir=$1 names=DNS:localhost,DNS:stackgate.stackgate-system.svc,IP:127.0.0.1 fresh address
  shift
  for address; do names+=,IP:$address; done
  gate_authority "$dir"
  fresh=$(mktemp -d "$dir/..XXXXXXXX")
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=stackgate -keyout "$fresh/tls.key" \
    -out "$fresh/tls.csr" 2>/dev/null
  openssl x509 -req -in "$fresh/tls.csr" -CA "$dir/ca.crt" -CAkey "$dir/ca.key" -set_serial "0x$(openssl rand -hex 8)" \
    -days 30 -out "$fresh/tls.crt" -extfile <(printf '%s\n' basicConstraints=CA:FALSE keyUsage=digitalSignature \
      extendedKeyUsage=serverAuth "subjectAltName=$names") 2>/dev/null
  ln -sfn "$(basename "$fresh")" "$dir/..data_tmp"
  mv -T "$dir/..data_tmp" "$dir/..data"
  for file in tls.crt tls.key; do [ -L "$dir/$file" ] || ln -s "..data/$file" "$dir/$file"; done
}

# start_gate NAME [FLAG...]: one replica, on ports of its own; sets gate_port, gate_metrics and gate_health. With
# gate_command=operator the reconciler is in the same process.
start_gate() {
  local name=$1
  shift
  if [ ! -s "$state/$name.ports" ]; then free_port 3 >"$state/$name.ports"; fi
  read -r gate_port gate_metrics gate_health <"$state/$name.ports"
  start "$name" "$gate_binary" "${gate_command:-gate}" --listen "${gate_listen:-127.0.0.1}:$gate_port" --metrics-listen "127.0.0.1:$gate_metrics" \
    --health-listen "127.0.0.1:$gate_health" --log-format json --drain-seconds "${gate_drain:-1}" "$@"
  until_true 20 gate_is_ready "$name" || {
    echo "the gate did not become ready; the end of $state/$name.log:" >&2
    tail -5 "$state/$name.log" >&2
    return 1
  }
}

gate_is_ready() {
  alive "$1" && curl -fsS --max-time 2 --noproxy '*' "http://127.0.0.1:$gate_health/readyz"
}

# start_operator NAME [FLAG...]: the same with the reconciler; resources that name no image get one that does not exist.
start_operator() {
  local service images=()
  for service in datastore entitystore customizer evaluator guardrail puller trainer; do
    images+=("--image-$service" "registry.example.com/stackgate/$service:0.1.0")
  done
  gate_command=operator start_gate "$@" "${images[@]}"
}

# rendered KINDS [RENDERING]: objects of these kinds (a pattern) as JSON, from a committed rendering of the chart:
# gate-only (default) or default. So neither Go nor Helm is needed here, and tests/chart/render.sh keeps it true.
rendered() {
  perl -0777 -ne 'for (split /^---\n/m) { print "---\n$_" if /^kind: (?:'"$1"')$/m && !/helm.sh.hook:/ }' \
    "$repo/tests/chart/golden/${2:-gate-only}.yaml" | kube create --dry-run=client --validate=false -o json -f -
}

# install_rights [RENDERING]: what the chart allows its service account, which is who gate.kubeconfig says it is: with
# gate-only (the default) the rights of the admission controller alone, with default the operator's.
install_rights() {
  kube apply -f - <<'YAML' && rendered 'ServiceAccount|(?:Cluster)?Role(?:Binding)?' "${1:-gate-only}" | kube apply -f -
apiVersion: v1
kind: Namespace
metadata: {name: stackgate-system, labels: {pod-security.kubernetes.io/enforce: restricted}}
YAML
}

# kubeconfig_of USER FILE: to act as that user, "system:serviceaccount:NAMESPACE:NAME".
kubeconfig_of() {
  local pki=$state/pki made
  made=$(mktemp -d)
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/O=system:serviceaccounts/CN=$1" -keyout "$made/key" \
    -out "$made/csr" 2>/dev/null
  openssl x509 -req -in "$made/csr" -CA "$pki/cluster-ca.crt" -CAkey "$pki/cluster-ca.key" -set_serial "0x$(openssl rand -hex 8)" \
    -days 1 -out "$made/crt" -extfile <(echo extendedKeyUsage=clientAuth) 2>/dev/null
  kube config view --raw -o json | jq --arg key "$(base64 -w0 <"$made/key")" --arg crt "$(base64 -w0 <"$made/crt")" \
    '.users[0].user = {"client-key-data": $key, "client-certificate-data": $crt}' >"$2"
  rm -r "$made"
}

# install_webhooks PORT CA_FILE [FAILURE_POLICY]: the chart's configurations, pointed at a process on this machine at
# $gate_address; only for namespaces with the label stackgate.dev/demo when $gate_scoped is set. With CA_FILE "service"
# they name the Service and leave caBundle to the gate. Without match conditions, which servers before 1.28 do not know.
install_webhooks() {
  local url="https://${gate_address:-127.0.0.1}:$1" ca=''
  [ "$2" = service ] || ca=$(base64 -w0 <"$2")
  rendered '(?:Mutating|Validating)WebhookConfiguration' | jq --arg url "$url" --arg ca "$ca" --arg port "$1" \
    --arg policy "${3:-Fail}" --arg scoped "${gate_scoped:-}" '.webhooks[] |= (del(.matchConditions) | .failurePolicy = $policy |
      if $ca == "" then .clientConfig.service.port = ($port | tonumber)
      else .clientConfig = {url: ($url + .clientConfig.service.path), caBundle: $ca} end |
      if $scoped == "" then . else .namespaceSelector = {matchLabels: {"stackgate.dev/demo": "true"}} end)' | kube apply -f -
}
