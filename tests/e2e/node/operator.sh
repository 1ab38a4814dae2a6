# Sourced, after lib.sh. Stackgate as it is installed: image, rendered chart, both replicas.
# shellcheck shell=bash disable=SC2034,SC2154
operator_ns=stackgate-system
operator_binary=${STACKGATE:-$repo/build/release/bin/stackgate}
operator_repository=registry.test/stackgate
read -r -a render_flags <<<"${RENDER_FLAGS:-}"
lease_seconds=6 # shorter than the default: fail-over is waited for

# operator_image TAG [BINARY]: builds the image and hands it to the node.
operator_image() {
  local archive=$scratch/$1.tar
  IMAGE_LIMIT_MB=0 "$repo/tests/cluster/image.sh" "$operator_repository:$1" "$archive" "${2:-$operator_binary}" >/dev/null &&
    "$node_scripts/exec.sh" "$state" ctr -n k8s.io images import - <"$archive" >/dev/null
}

# render TAG [FLAG...]: the chart for this cluster. What comes last wins.
render() {
  local tag=$1 flags=() service
  shift
  [ -n "${own_images:-}" ] || for service in $("$repo/build/chart/render" -values "$repo/chart" | jq -r '.images | keys[]'); do
    flags+=(-set "images.$service=registry.test/workload:1")
  done
  "$repo/build/chart/render" -kube-version 1.20.2 -api-versions v1,apps/v1,policy/v1beta1 "${flags[@]}" \
    -set "image.repository=$operator_repository" -set "image.tag=$tag" \
    -set "operator.leaderElection.leaseDurationSeconds=$lease_seconds" -set operator.leaderElection.renewDeadlineSeconds=4 \
    -set operator.leaderElection.retryPeriodSeconds=1 "${render_flags[@]}" "$@" "$repo/chart"
}

# A three-way merge, as Helm does it.
apply_all() { kube apply --validate=false -f "$@"; }
install_crds() {
  local files=() file
  for file in "$repo"/crds/*.yaml; do files+=(-f "$file"); done
  apply_all "${files[@]:1}" && kube wait --for=condition=Established --timeout=30s "${files[@]}"
}

# operator_up [TAG]: installs Stackgate from the chart unless this very program runs already. With a TAG: of this imported image, and
# resources run the images that the chart names beside it, no stand-ins.
operator_up() {
  local tag=${1:-} own_images=${1:-} words
  [ -n "$tag" ] || tag=$(sha256sum "$operator_binary" | cut -c1-12) || { not_ok "$operator_binary is built" && exit 1; }
  if [ "$(kube -n "$operator_ns" get deployment stackgate -o jsonpath='{.status.availableReplicas} {.spec.template.spec.containers[0].image}' 2>/dev/null)" = \
    "2 $operator_repository:$tag" ] && operator_refuses; then return; fi
  words=$("$repo/tests/chart/build.sh" 2>&1) || { not_ok "the chart's renderer is built" "$words" && exit 1; }
  [ -n "$own_images" ] || words=$(operator_image "$tag" 2>&1) || { not_ok "the operator's image is built and imported" "$words" && exit 1; }
  words=$(install_crds 2>&1) || { not_ok "the CustomResourceDefinitions are installed" "$words" && exit 1; }
  kube create namespace "$operator_ns" >/dev/null 2>&1
  words=$(render "$tag" -no-hooks >"$scratch/install.yaml" && apply_all "$scratch/install.yaml" 2>&1) ||
    { not_ok "the rendered chart is applied" "$words" && exit 1; }
  operator_rolled 90 || { not_ok "both replicas become ready within 90 s" "$(operator_look)" && exit 1; }
  until_true 30 operator_refuses || { not_ok "the API server reaches the webhook" "$(operator_refusal)" && exit 1; }
}

operator_rolled() { kube -n "$operator_ns" rollout status deployment/stackgate --timeout="$1s" >/dev/null 2>&1; }

operator_look() {
  kube -n "$operator_ns" get pods -o wide --no-headers | cut -c1-120
  kube -n "$operator_ns" get events --sort-by=.lastTimestamp -o jsonpath='{range .items[*]}{.message}{"\n"}{end}' | tail -4 | cut -c1-200
  kube -n "$operator_ns" logs deployment/stackgate --tail=8 2>&1 | cut -c1-300
}

operator_pods() { kube -n "$operator_ns" get pods -l app.kubernetes.io/component=operator -o json |
  jq -r '.items[] | select(.metadata.deletionTimestamp | not) | .metadata.name'; }

# dry_run PLURAL JSON: the API server's answer to a creation that is not stored.
dry_run() {
  api POST "/apis/stackgate.dev/v1alpha1/namespaces/$ns/$1?dryRun=All" -H 'Content-Type: application/json' --data-binary "$2" |
    jq -r 'if .kind == "Status" then (.message, (.details.causes[]? | "\(.field): \(.message)")), ("" | halt_error(1)) else .kind end'
}
good_guardrail='{"apiVersion": "stackgate.dev/v1alpha1", "kind": "StackGuardrail", "metadata": {"name": "probe"}, "spec": {
  "nimEndpoint": {"baseURL": "http://llm:8000/v1"}, "configStore": {"configMap": {"name": "rails"}}}}'
bad_guardrail=${good_guardrail/llm:8000\/v1/llm:8000}
operator_refusal() { dry_run stackguardrails "$bad_guardrail" 2>&1; }
operator_refuses() { [[ $(operator_refusal) == *spec.nimEndpoint.baseURL* ]]; }
