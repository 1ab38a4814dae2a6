#!/usr/bin/env bash
# The chart without a cluster: what it renders with its defaults, that names agree, that every value does something, and
# that wrong values are refused in words. UPDATE_GOLDEN=1 rewrites golden/.
set -uo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
repo=$(realpath "$here/../..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
ok() { echo "ok $1"; }
not_ok() { # NAME [DETAIL]
  failed=1
  printf 'not ok %s\n' "$1"
  [ -z "${2:-}" ] || printf '%s\n' "$2" | sed 's/^/  /' | head -30
}
same() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "$(diff <(echo "$2") <(echo "$3"))"; fi; }
render() { "$repo/build/chart/render" "$@" "$repo/chart"; }

words=$("$here/build.sh" 2>&1) || { not_ok "the renderer can be built" "$words" && exit 1; }

# --- Golden files
golden() { # NAME FILE [FLAG...]
  local text
  text=$(render "${@:3}" 2>&1)
  [ -z "${UPDATE_GOLDEN:-}" ] || printf '%s\n' "$text" >"$here/golden/$2"
  same "$1" "$(cat "$here/golden/$2")" "$text"
}
golden "the default rendering is the known one" default.yaml
golden "the rendering without reconciler is the known one" gate-only.yaml -f "$here/values/gate-only.yaml"
golden "the notes are the known ones" notes.txt -notes

# --- Which of our pods reach which others, where both ends have a policy: COMPONENT COMPONENT PORT.
connections() { render -json -set 'networkPolicy.stack.namespaces=[team]' "$@" | jq -rsf "$here/connections.jq" | sort; }
[ -z "${UPDATE_GOLDEN:-}" ] || connections >"$here/golden/connections.txt"
same "the policies of resources allow the known connections" "$(cat "$here/golden/connections.txt")" "$(connections)"
same "… which chosen clients do not change" "$(cat "$here/golden/connections.txt")" "$(connections -set 'networkPolicy.stack.clientsFrom=[{"podSelector": {}}]')"
same "they leave nothing open but DNS, the API server and what is outside" "[53,443,2746,4318,5000,5432,6443,9000,19530]" \
  "$(render -json -set 'networkPolicy.stack.namespaces=[team]' | jq -cs '[.[] | select(.kind == "NetworkPolicy") | .spec.egress[] | select(.to | not) | .ports[].port] | unique')"

# --- Names within one rendering agree.
renderings=(default "$here"/values/*.yaml)
for file in "${renderings[@]}"; do
  name=$(basename "$file" .yaml) flags=(-f "$file")
  [ "$file" != default ] || flags=()
  if words=$(render -json "${flags[@]}" 2>&1 >"$scratch/$name.json"); then
    same "$name: names agree" "" "$(jq -rs -f "$here/agree.jq" "$scratch/$name.json" 2>&1)"
    same "$name: nothing is bound to the usual namespace" "" \
      "$(render -namespace elsewhere -release other "${flags[@]}" | grep stackgate-system)"
    same "$name: the pods run with nothing" "" "$(jq -r 'select(.spec.template) | .spec.template.spec as $pod | $pod.containers[] |
      select((.securityContext | .readOnlyRootFilesystem and .runAsNonRoot and (.allowPrivilegeEscalation | not) and .capabilities == {drop: ["ALL"]}) and
        $pod.securityContext.seccompProfile.type == "RuntimeDefault" and $pod.securityContext.runAsUser == 65532 and
        ($pod.hostNetwork // $pod.hostPID | not) | not) | .name' "$scratch/$name.json")"
  else
    not_ok "$name renders" "$words"
  fi
done
# … and the check itself can fail: CHANGE of a rendering|what is said of it.
while IFS='|' read -r file change text; do
  words=$(jq -c "$change" "$scratch/$file.json" | jq -rs -f "$here/agree.jq" 2>&1)
  if [[ $words == *"$text"* ]]; then ok "a chart with $change is found out"; else not_ok "a chart with $change is found out" "$words"; fi
done <<'T'
default|if .kind == "Service" then .spec.selector.x = "y" else . end|selects no pod
default|if .kind == "Service" then .spec.ports[0].targetPort = "admissio" else . end|no container port admissio
default|if .kind == "Service" then .metadata.name += "2" else . end|no such Service
default|if .kind == "Deployment" then .spec.template.spec.containers[0].ports[0].containerPort = 9444 else . end|nothing listens on 9444
default|if .kind == "Deployment" then .spec.template.spec.serviceAccountName = "x" else . end|no ServiceAccount x
default|if .kind == "ClusterRole" then .metadata.name += "2" else . end|no such role
default|if .kind == "ClusterRole" then .rules[0].verbs = ["*"] else . end|has a wildcard
default|if .webhooks then .metadata.name = "x" else . end|not among --webhook-config-names
everything|if .kind == "ServiceMonitor" and .metadata.name == "stackgate" then .spec.endpoints[0].port = "api" else . end|finds no Service
everything|if .metadata.name == "stackgate" and .kind == "NetworkPolicy" then .spec.ingress[0].ports[0].port = "web" else . end|no port web
everything|if .kind == "NetworkPolicy" and .metadata.name == "stackgate-guardrail" then .metadata.name += "s" else . end|no component guardrail
cert-manager|if .kind == "Certificate" then .spec.dnsNames = ["a"] else . end|the certificate is for
cert-manager|if .kind == "Issuer" then .metadata.name += "2" else . end|no Issuer stackgate-webhook
own-secret|if .kind == "Deployment" then .spec.template.spec.containers[0].volumeMounts[0].mountPath = "/x" else . end|--tls-cert is not where
T
kinds_of() { jq -r 'select(.webhooks) | .webhooks[0].rules[0].resources[]' "$scratch/default.json" | sort -u; }
same "the webhooks are for every kind that there is" "$(basename -as .yaml "$repo"/crds/stackgate.dev_*.yaml | sed 's/.*_//')" "$(kinds_of)"
same "the chart's version is the program's" "$(sed -nE 's/.*version = "(.*)";/\1/p' "$repo/services/kit/base/version.hpp")" \
  "$(sed -nE 's/^appVersion: "?([^"]*)"?/\1/p' "$repo/chart/Chart.yaml")"

# --- Every value does something: with one value put back to its default, the rendering is another.
render -values >"$scratch/defaults"
leaves='[paths(type != "object" or . == {})] | map(select(all(.[]; type == "string")))'
: >"$scratch/moved"
for file in "$here"/values/*.yaml; do
  render -values -f "$file" >"$scratch/values"
  whole=$(render -f "$file" && render -notes -f "$file")
  while read -r path; do
    jq -c --argjson p "$path" --slurpfile d "$scratch/defaults" '($d[0] | getpath($p)) as $was | setpath($p; $was)' "$scratch/values" >"$scratch/one.json"
    if [ "$(render -f "$scratch/one.json" 2>&1 && render -notes -f "$scratch/one.json" 2>&1)" = "$whole" ]; then
      not_ok "$(basename "$file"): the value $path does something"
    else
      echo "$path" >>"$scratch/moved"
    fi
  done < <(jq -c --slurpfile mine "$scratch/values" ". as \$d | ($leaves)[] | . as \$p | select((\$d | getpath(\$p)) != (\$mine[0] | getpath(\$p)))" "$scratch/defaults")
done
same "every value of values.yaml does something" "" \
  "$(jq -c "($leaves)[]" "$scratch/defaults" | grep -vxFf <(sort -u "$scratch/moved"))"

# --- Older Kubernetes
render -json -kube-version 1.20.2 -api-versions v1,apps/v1,policy/v1beta1 -f "$here/values/namespaces.yaml" >"$scratch/old.json"
same "Kubernetes 1.20 gets a v1beta1 budget" policy/v1beta1 "$(jq -r 'select(.kind == "PodDisruptionBudget") | .apiVersion' "$scratch/old.json")"
same "… and webhooks without what it does not know" "null null" \
  "$(jq -rs '[.[] | select(.webhooks) | .webhooks[] | (.matchConditions, .namespaceSelector)] | unique | "\(.[0]) \(.[1])"' "$scratch/old.json")"
same "Kubernetes 1.28 gets match conditions and a selector" "2 stackgate" "$(jq -rs '[.[] | select(.kind == "ValidatingWebhookConfiguration") | .webhooks[0] |
  (.matchConditions | length), (.namespaceSelector | if .matchExpressions[0].values == ["team-a", "team-b"] then "stackgate" else . end)] | join(" ")' "$scratch/namespaces.json")"
same "rights are bound in the watched namespaces alone" "team-a team-b" "$(jq -rs '[.[] | select(.roleRef.name == "stackgate-namespaces") | .metadata.namespace] | join(" ")' "$scratch/namespaces.json")"

same "a StackCustomizer's ServiceAccount may get its scheduler's queues" "team-a/customizer stackgate-customizer-volcano
get scheduling.volcano.sh/queues
list /nodes
get storage.k8s.io/storageclasses" "$(jq -rs '(.[] | select(.kind == "ClusterRoleBinding" and (.metadata.name | endswith("-volcano"))) |
  "\(.subjects[0].namespace)/\(.subjects[0].name) \(.roleRef.name)"), (.[] | select(.kind == "ClusterRole" and .metadata.name == "stackgate-customizer-volcano") |
  .rules[] | "\(.verbs[0]) \(.apiGroups[0])/\(.resources[0])")' "$scratch/everything.json")"

# --- Wrong values: FLAGS|TEXT
while IFS='|' read -r flags text; do
  # shellcheck disable=SC2086 # several flags
  if words=$(render $flags 2>&1); then
    not_ok "$flags is refused"
  elif [[ $words == *"$text"* ]]; then ok "$flags is refused"; else not_ok "$flags is refused" "wanted '$text', got: $words"; fi
done <<'T'
-set operator.replica=2|Additional property replica is not allowed
-set operatr.replicas=2|Additional property operatr is not allowed
-set operator.replicas=-1|operator.replicas: Must be greater than or equal to 0
-set operator.replicas="two"|operator.replicas: Invalid type. Expected: integer
-set operator.upgradeCRD=yes-please|operator.upgradeCRD: Invalid type
-set operator.admissionController.timeoutSeconds=31|Must be less than or equal to 30
-set operator.admissionController.failurePolicy=fail|failurePolicy must be one of
-set operator.admissionController.references=maybe|references must be one of
-set operator.extraArgs=[workers]|operator.extraArgs.0
-set certificates.mode=letsencrypt|certificates.mode must be one of
-set certificates.mode=secret|certificates.secretName must name a Secret
-set certificates.mode=secret -set certificates.secretName=tls|certificates.caBundle must be the PEM text
-set certificates.mode=secret -set certificates.secretName=tls -set certificates.caBundle=LS0tLS1C|not base64
-set certificates.secretName=tls|for certificates.mode secret; it is self-managed
-set operator.admissionController.enabled=false -set operator.reconciler.enabled=false|nothing would run
-set operator.leaderElection.renewDeadlineSeconds=15|must be below leaseDurationSeconds
-set operator.leaderElection.retryPeriodSeconds=10|must be below renewDeadlineSeconds
-set watchNamespaces=[Team]|watchNamespaces.0
-set watchNamespaces=[a,a]|must be unique
-set customizers.slurm=[]|Additional property slurm is not allowed
-set customizers.kai=[{"name":"customizer"}]|namespace is required
-set gpuResources=[gpu]|gpuResources.0
-set image.tag=a:b|image.tag
-set image.digest=abc|image.digest
-set image.repository=""|image.repository
-set logLevel=trace|logLevel must be one of
-set images.frontend=a:1|Additional property frontend
-set networkPolicy.stack.externalPorts.databases=[5432]|Additional property databases
-set networkPolicy.stack.externalPorts.database=[70000]|Must be less than or equal to 65535
-set networkPolicy.stack.namespaces=[Team]|networkPolicy.stack.namespaces.0
-set metrics.serviceMonitor.interval=30|metrics.serviceMonitor.interval: Invalid type
-set podDisruptionBudget.maxUnavailable=0|podDisruptionBudget.maxUnavailable
-kube-version 1.19.0|incompatible with Kubernetes 1.19.0
T
same "a bare off, which YAML reads as false, is off" "--references=off" \
  "$(render -json -set operator.admissionController.references=off | jq -r 'select(.kind == "Deployment") | .spec.template.spec.containers[0].args[] | select(startswith("--references"))')"
exit $failed
