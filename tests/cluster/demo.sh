#!/usr/bin/env bash
# The tour behind ./dev demo: a cluster with the operator, good and bad resources, and kubectl's own words.
#   demo.sh local          on a control plane of its own, in build/demo
#   demo.sh current [-y]   in the cluster of the current kubectl context, in a namespace of its own
# Leaves nothing behind: every process is stopped and every object that it made is removed.
set -euo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.."
source tests/support/progress.sh
source tests/support/tour.sh
source tests/cluster/processes.sh
source tests/cluster/binaries.sh
state=$PWD/build/demo
source tests/cluster/gate.sh
where=${1:-local} began=$SECONDS

refusals=0 causes=0 acceptances=0

# typed COMMAND...: as a person would type it, folded with backslashes where it is longer than a line.
typed() {
  local line='  $' word
  for word; do
    [[ $word =~ ^[A-Za-z0-9_./:=,-]+$ ]] || word="'$word'"
    if ((${#line} + ${#word} + 3 > width)); then
      printf '%s \\\n' "$line"
      line='     '
    fi
    line+=" $word"
  done
  printf '%s\n' "$line"
}

# show WANTED COMMAND...: prints the command, then what it says. WANTED is "passes" or "refused": if it is not
# so, the demo ends.
show() {
  local wanted=$1 words status=0
  shift
  printf '\n%s%s%s\n' "$bold" "$(typed "$@")" "$plain"
  words=$("$@" 2>&1) || status=$?
  if [ "$wanted" = refused ]; then
    refusals=$((refusals + 1))
    # A single cause stands on the first line.
    causes=$((causes + $(grep -cE '^\* |is invalid: .|[0-9]: error' <<<"$words" || true)))
  else
    acceptances=$((acceptances + $(grep -cE ' (created|configured)$' <<<"$words" || true)))
  fi
  printf '%s\n' "$words" | grep -v '^$' | wrap 2 2 | sed -E \
    "s/^(  [^ ].*(created|configured|deleted|labeled))$/$green\1$plain/; s/^(  The .* is invalid:|  Error[^:]*:)/$red\1$plain/; s/^(  \* )([^ :]+):/\1$bold\2$plain:/; s/^(  Warning:)/$yellow\1$plain/"
  if [ "$wanted" = refused ]; then ((status != 0)); else ((status == 0)); fi ||
    { printf '%sThis should have been different (%s); see %s%s\n' "$red" "wanted: $wanted" "$state" "$plain" >&2 && exit 1; }
}
kubectl() { "$KUBECTL" --kubeconfig "$state/kubeconfig" "$@"; }
stackgate() { "$gate_binary" "$@"; }
file() { mkdir -p "$state/files" && cat >"$state/files/$1"; }

made=()
finish() {
  local status=$?
  trap - EXIT
  end_step
  if [ "$where" = current ] && ((${#made[@]} > 0)); then
    printf '\n  %sremoving %s%s\n' "$dim" "${made[*]}" "$plain"
    # The configurations first: afterwards nothing stands in the way of the rest.
    kubectl delete "${made[@]}" --ignore-not-found --wait=false >/dev/null 2>&1 || true
  fi
  "$repo/tests/cluster/down.sh" "$state"
  ((status != 0)) || rm -rf "$state"  # after a failure the logs stay
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM

start_local() {
  tests/cluster/down.sh "$state" --purge
  step "starting etcd and kube-apiserver" "4 s" demo-up tests/cluster/up.sh "$state"
  step "installing the CustomResourceDefinitions" "2 s" demo-crds install_crds
  install_rights default >/dev/null
  gate_certificate "$state/certificates"
  start_operator operator --tls-cert "$state/certificates/tls.crt" --tls-key "$state/certificates/tls.key" \
    --kubeconfig "$state/gate.kubeconfig"
  install_webhooks "$gate_port" "$state/certificates/ca.crt" >/dev/null
}

probe() {
  local words
  words=$(kubectl create --dry-run=server --validate=false -f - \
    <<<'{"apiVersion":"stackgate.dev/v1alpha1","kind":"StackGuardrail","metadata":{"name":"probe"},"spec":{"replicas":-1}}' 2>&1)
  [[ $words == *'* spec'*']'* ]]
}

start_current() {
  local space=stackgate-demo-$RANDOM answer='' address
  tests/cluster/down.sh "$state" --purge
  mkdir -p "$state"
  (umask 077 && "$KUBECTL" config view --raw --minify --flatten >"$state/kubeconfig")
  kubectl config set-context --current --namespace "$space" >/dev/null
  say "This uses the cluster $(kubectl config view --minify -o jsonpath='{.clusters[0].cluster.server}'):" \
    "a namespace $space, the CustomResourceDefinitions of stackgate.dev where they are missing, and two webhook" \
    "configurations that hold for this namespace only. All of it is removed at the end."
  if [ "${2:-}" != -y ]; then
    [ -t 0 ] || { say "Run it with -y to agree." && exit 1; }
    read -rp "  Go on? [y/N] " answer
    [[ $answer == [yY]* ]] || exit 1
  fi
  if kubectl get validatingwebhookconfiguration stackgate-gate >/dev/null 2>&1; then
    say "Stackgate is already installed there: its webhook configuration 'stackgate-gate' exists. Nothing was changed."
    exit 1
  fi
  if kubectl get crd stackguardrails.stackgate.dev >/dev/null 2>&1; then
    say "The CustomResourceDefinitions are there already and stay as they are."
  else
    mapfile -t -O "${#made[@]}" made < <(sed -nE 's,^  name: (.*\.stackgate\.dev)$,customresourcedefinition/\1,p' crds/*.yaml)
    step "installing the CustomResourceDefinitions" "2 s" demo-crds install_crds
  fi
  made=(validatingwebhookconfiguration/stackgate-gate mutatingwebhookconfiguration/stackgate-gate "namespace/$space" "${made[@]}")
  kubectl create namespace "$space" >/dev/null
  kubectl label namespace "$space" stackgate.dev/demo=true >/dev/null
  # Which of this machine's addresses the API server can reach is found by trying.
  # shellcheck disable=SC2046 # a list of addresses
  gate_certificate "$state/certificates" $(hostname -I)
  gate_listen=0.0.0.0 start_operator operator --tls-cert "$state/certificates/tls.crt" --tls-key "$state/certificates/tls.key" \
    --kubeconfig "$state/kubeconfig" --namespaces "$space" --lease-namespace "$space"
  for address in 127.0.0.1 $(hostname -I); do
    [[ $address != *:* ]] || continue
    gate_scoped=1 gate_address=$address install_webhooks "$gate_port" "$state/certificates/ca.crt" >/dev/null
    until_true 4 probe && return
  done
  say "The API server cannot reach this machine at any of: 127.0.0.1 $(hostname -I). A cluster elsewhere needs the gate" \
    "inside it; './dev demo' without --use-current shows the same on a cluster of its own."
  exit 1
}

printf '\n%sStackgate%s  Nothing reaches the cluster that could not run.\n' "$bold" "$plain"
title "A cluster with Stackgate's operator"
if [ "$where" = current ]; then
  find_kube || KUBECTL=$(command -v kubectl) || die "--use-current needs kubectl"
  start_current "$@"
else
  find_kube || die "run './dev demo', which builds the Kubernetes test binaries first"
  start_local
fi
say "Kubernetes $(kubectl version -o json | jq -r '.serverVersion.gitVersion'), a real API server:" \
  "$(kubectl config view --minify -o jsonpath='{.clusters[0].cluster.server}')"
say "Its operator, one process. The gate in it is asked about every resource: https://127.0.0.1:$gate_port"
show passes kubectl api-resources --api-group stackgate.dev -o name

title "What is right passes"
say "A whole stack that fits together, with the Secrets and ConfigMaps that it names."
show passes kubectl apply -f crds/samples/stack.yaml

title "What passed becomes workloads"
have_states() { [ "$(kubectl get stackgate -o json | jq '[.items[] | select(.status.state == null)] | length')" = 0 ]; }
until_true 20 have_states
say "Each resource got its ServiceAccount, Role, Service, Deployment, Job, claim: as small as they can be."
show passes kubectl get deployments,jobs,services,persistentvolumeclaims -l app.kubernetes.io/managed-by=stackgate -o name
[ "$where" = current ] || say "There is no node here, so no pod runs. The status says what each waits for:"
show passes kubectl get inferenceservices,inferencecaches,stackentitystores -o \
  'custom-columns=KIND:.kind,NAME:.metadata.name,STATE:.status.state,REASON:.status.conditions[0].reason,MESSAGE:.status.conditions[0].message'
echo
say "What somebody changes by hand is put back at once:"
before=$(kubectl get service entitystore -o jsonpath='{.metadata.uid}')
show passes kubectl delete service entitystore
is_back() { [ "$(kubectl get service entitystore -o jsonpath='{.metadata.uid}' | sed "s/$before//")" ]; }
until_true 10 is_back
show passes kubectl get service entitystore

title "What could not run is refused, with every fault at once"
say "One bad resource of each kind. These are kubectl's own words."
for bad in crds/samples/bad/*.yaml; do
  show refused kubectl apply --validate=false -f "$bad"
done

title "From refused to accepted"
say "A service with several mistakes. Each line says what is wrong, what to write, and which rule says so."
file chat.yaml <<'YAML'
apiVersion: stackgate.dev/v1alpha1
kind: InferenceService
metadata:
  name: chat
spec:
  image:
    repository: registry.example.com/inference/llm-8b
    tag: 1.8.3
  authSecret: team-registry
  replicas: -1
  resources:
    requests: {memory: 64Gi}
    limits: {memory: 32Gi}
  env:
    - {name: INF_PEFT_SOURCE, value: entitystore}
  metrics:
    enabled: true
    serviceMonitor: {interval: 10s, scrapeTimeout: 30s}
YAML
cd "$state/files"
show passes cat chat.yaml
show refused kubectl apply -f chat.yaml
echo
say "Everything mended but the Secret, which does not exist yet:"
sed -i 's/replicas: -1/replicas: 2/; s/requests: .*/requests: {memory: 32Gi, nvidia.com\/gpu: 1}/
  s/limits: .*/limits: {memory: 64Gi, nvidia.com\/gpu: 1}/; s/value: entitystore}/value: "http:\/\/entitystore:8000"}/
  s/interval: 10s, scrapeTimeout: 30s/interval: 30s, scrapeTimeout: 10s/' chat.yaml
show refused kubectl apply -f chat.yaml
show passes kubectl create secret generic team-registry --from-literal=REGISTRY_API_KEY=example
show passes kubectl apply -f chat.yaml
echo
say "Warnings come along with what is accepted. And an update is held to the same rules:"
show refused kubectl patch inferenceservice chat --type merge -p '{"spec":{"replicas":-2}}'

title "Deleting what is in use"
show passes kubectl patch inferenceservice chat --type merge -p '{"spec":{"storage":{"nimCache":{"name":"llm-cache"}}}}'
show refused kubectl delete inferencecache llm-cache --wait=false
cd - >/dev/null

title "The same verdict without a cluster"
say "In an editor, a hook or a pipeline: the same rules, with line and column."
show refused stackgate validate crds/samples/bad/stackguardrails.yaml
echo
say "Typing mistakes are found by name:"
show refused stackgate validate crds/samples/typos.yaml
show passes stackgate validate crds/samples/stack.yaml

title "That was it"
elapsed=$((SECONDS - began))
say "$acceptances objects accepted, $refusals attempts refused with $causes reasons in all, in $elapsed seconds."
say "Every rule has a page: build/release/bin/stackgate rules"
say "To try your own: ./dev up, then export KUBECONFIG=build/cluster/kubeconfig"
