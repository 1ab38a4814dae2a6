#!/usr/bin/env bash
# What the chart renders, in the API server's judgement: every object of every combination of values that the tests have,
# then an installation, the same once more, an upgrade, and its removal.
source "$(dirname "$(realpath "$0")")/lib.sh"
"$repo/tests/chart/build.sh" || { not_ok "the chart's renderer can be built" && exit 1; }
render() { "$repo/build/chart/render" -kube-version 1.20.2 -api-versions v1,apps/v1,policy/v1beta1 "$@" "$repo/chart"; }
# What this API server lacks; everything else has to be accepted.
absent='cert-manager.io/v1|monitoring.coreos.com/v1'
for namespace in team-a team-b; do kube create namespace $namespace >/dev/null 2>&1; done

for file in default "$repo"/tests/chart/values/*.yaml; do
  name=$(basename "$file" .yaml) flags=(-f "$file")
  [ "$file" != default ] || flags=()
  render -json "${flags[@]}" | jq -c --arg absent "^($absent)\$" 'select(.apiVersion | test($absent) | not)' >"$scratch/$name.json"
  objects=$(wc -l <"$scratch/$name.json")
  # Checked by the client's schema, too: an unknown field is an error.
  words=$(kube apply --dry-run=server --validate=true -f "$scratch/$name.json" 2>&1)
  same "$name: all $objects objects are accepted" "$objects" "$(grep -c 'server dry run' <<<"$words")"
  ! grep -E '^(Error|error|The )' <<<"$words" | sed 's/^/  /' | head -20
done

# --- install.yaml, in one go as a user applies it
"$repo/tests/chart/install-yaml.sh" "$scratch/install.yaml" -kube-version 1.20.2 -api-versions v1,apps/v1,policy/v1beta1 ||
  not_ok "install.yaml can be made"
both=(-f "$scratch/crds.yaml" -f "$scratch/install.yaml")
check "install.yaml is applied, with the definitions" kube apply --validate=false "${both[@]}"
same "… without the Job for the definitions, which are beside it" "" "$(kube -n stackgate-system get jobs -o name)"
state_of() { kube -n stackgate-system get "$@" -o json | jq -c '[.items[] | [.kind, .metadata.name, .metadata.generation // .metadata.resourceVersion]]'; }
what=deployments,services,poddisruptionbudgets,validatingwebhookconfigurations,mutatingwebhookconfigurations,crds,clusterroles
# What the operator writes into them.
kube -n stackgate-system patch secret stackgate-webhook-cert -p '{"data": {"tls.crt": "YQ=="}}' >/dev/null
kube patch validatingwebhookconfiguration stackgate-gate --type json \
  -p "[{\"op\": \"add\", \"path\": \"/webhooks/0/clientConfig/caBundle\", \"value\": \"$(base64 -w0 <"$state/pki/cluster-ca.crt")\"}]" >/dev/null
before=$(state_of $what)
check "install.yaml is applied again" kube apply --validate=false "${both[@]}"
same "… and changes nothing" "$before" "$(state_of $what)"
check "an upgrade is applied" kube apply --validate=false -f <(sed 's/0\.1\.0/0.1.1/; s/timeoutSeconds: 5/timeoutSeconds: 6/' "$scratch/install.yaml")
same "… and changes what differs" "6 stackgate:0.1.1" "$(kube get validatingwebhookconfiguration stackgate-gate -o jsonpath='{.webhooks[0].timeoutSeconds}') $(
  kube -n stackgate-system get deployment stackgate -o jsonpath='{.spec.template.spec.containers[0].image}')"
same "… and leaves the certificate" "YQ==" "$(kube -n stackgate-system get secret stackgate-webhook-cert -o jsonpath='{.data.tls\.crt}')"
check "… and the authority that the API server trusts" test -n "$(kube get validatingwebhookconfiguration stackgate-gate -o jsonpath='{.webhooks[0].clientConfig.caBundle}')"

# --- The operator's account may do what its table says, and no more
kubeconfig_of system:serviceaccount:stackgate-system:stackgate "$scratch/operator.kubeconfig"
may() { "$KUBECTL" --kubeconfig "$scratch/operator.kubeconfig" auth can-i "$@"; }
until_true 10 may list secrets -A
while read -r wanted verb what; do
  # shellcheck disable=SC2086 # several words
  same "the operator may $verb $what: $wanted" "$wanted" "$(may $verb $what 2>/dev/null)"
done <<'T'
yes patch stackguardrails.stackgate.dev --subresource=status -A
yes create deployments.apps -A
yes patch validatingwebhookconfigurations.admissionregistration.k8s.io/stackgate-gate
no patch validatingwebhookconfigurations.admissionregistration.k8s.io/another
no create validatingwebhookconfigurations.admissionregistration.k8s.io
no create clusterroles.rbac.authorization.k8s.io
no escalate roles.rbac.authorization.k8s.io -A
no bind clusterroles.rbac.authorization.k8s.io
no create pods --subresource=exec -A
no get nodes
no delete namespaces
no patch customresourcedefinitions.apiextensions.k8s.io
no impersonate users
no delete stackguardrails.stackgate.dev -A
T

# --- Removal by deleting what was applied: the operator goes, the definitions and what users have made stay
remove_webhooks
apply -f "$samples/minimal/inferencecaches.yaml" >/dev/null || not_ok "a resource can be made"
# All but the namespace, which would never end here without its controller.
perl -0777 -ne 'print join "---\n", grep { !/^kind: Namespace$/m } split /^---\n/m' "$scratch/install.yaml" >"$scratch/delete.yaml"
same "install.yaml is that and a namespace" 1 "$(($(grep -c '^kind:' "$scratch/install.yaml") - $(grep -c '^kind:' "$scratch/delete.yaml")))"
kube delete -f "$scratch/delete.yaml" --ignore-not-found --wait=false >/dev/null 2>&1
same "after removal nothing of the operator is left" "" "$(kube get deployments,services,secrets,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings,validatingwebhookconfigurations,mutatingwebhookconfigurations \
  -A -l helm.sh/chart -o name 2>/dev/null)"
same "the definitions stay" 8 "$(kube get crd -o name | grep -c stackgate.dev)"
same "a user's resource stays" 1 "$(kube -n "$ns" get inferencecaches -o name | wc -l)"
check "… and can be deleted: nothing holds it" kube -n "$ns" delete inferencecaches --all --timeout=10s
install_rights >/dev/null
