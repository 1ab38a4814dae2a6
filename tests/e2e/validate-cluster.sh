#!/usr/bin/env bash
# `stackgate validate --cluster`: what a resource names is looked for in the cluster of a kubeconfig; its exit status and
# words when that is not there, or when the cluster cannot be asked.
source "$(dirname "$(realpath "$0")")/lib.sh"

# A resource that names one Secret and nothing else; the namespace comes from the command line.
json "$samples/minimal/stackentitystores.yaml" |
  jq '.spec.databaseConfig.credentials |= (.secretName = "store-db" | .passwordKey = "password")' >"$scratch/store.json"
validate() { "$gate_binary" validate --cluster --kubeconfig "$state/kubeconfig" "$@" "$scratch/store.json"; }

# ends NAME STATUS TEXT COMMAND...: ends with this status, and the text is in its output.
ends() {
  local name=$1 wanted=$2 text=$3 words status=0
  shift 3
  words=$("$@" 2>&1) || status=$?
  if ((status == wanted)) && [[ $words == *"$text"* ]]; then
    ok "$name"
  else
    not_ok "$name" "wanted '$text', exit $wanted; got exit $status: $words"
  fi
}
findings() { validate -n "$ns" --output json | jq -r '.[] | "\(.severity) \(.rule) \(.path)"'; }

ends "a Secret that is missing is an error" 1 'store-db' validate -n "$ns"
same "… this one finding, at its field" 'error required-secret-missing spec.databaseConfig.credentials.secretName' "$(findings)"
ends "… only a warning, if so wished" 0 'warning' validate -n "$ns" --references warn
ends "… and not looked for, if so wished" 0 'no findings' validate -n "$ns" --references off

kube -n "$ns" create secret generic store-db --from-literal=other=hush >/dev/null
ends "a key that is missing in it is an error, with the keys that there are" 1 'it holds other' validate -n "$ns"
same "… this one finding, at its field" 'error required-secret-key-missing spec.databaseConfig.credentials.passwordKey' "$(findings)"
same "… without a word of the Secret's values" '' "$(validate -n "$ns" 2>&1 | grep -E 'hush|aHVza')"

kube -n "$ns" patch secret store-db -p '{"stringData": {"password": "hush"}}' >/dev/null
ends "with Secret and key there are no findings" 0 'no findings' validate -n "$ns"
ends "another namespace has no such Secret" 1 'store-db' validate -n default
ends "without --cluster nothing is looked for" 0 '' "$gate_binary" validate -n default "$scratch/store.json"

# The namespace and the cluster are those of the kubeconfig's context, as kubectl has it.
kube config view --raw -o json | jq --arg ns "$ns" '.contexts += [{name: "here", context: (.contexts[0].context + {namespace: $ns})}]
  | .clusters += [{name: "nobody", cluster: {server: "https://127.0.0.1:1"}}]
  | .contexts += [{name: "nobody", context: (.contexts[0].context + {cluster: "nobody"})}]' >"$scratch/kubeconfig"
with() { "$gate_binary" validate --cluster --kubeconfig "$scratch/kubeconfig" "$@" "$scratch/store.json"; }
ends "the context's namespace is the documents'" 0 'no findings' with --context here
ends "… and what the command line names comes before it" 1 'store-db' with --context here -n default

# --- A cluster that cannot be asked is not a cluster that has nothing.
ends "a cluster that nobody is at: 2, with the reason" 2 'the cluster stopped answering' timeout 60 \
  "$gate_binary" validate --cluster --kubeconfig "$scratch/kubeconfig" --context nobody -n "$ns" "$scratch/store.json"
ends "a context that there is not: 2, by name" 2 'elsewhere' with --context elsewhere
ends "a kubeconfig that there is not: 2, by name" 2 "$scratch/none" "$gate_binary" validate --cluster --kubeconfig "$scratch/none" "$scratch/store.json"
kubeconfig_of system:serviceaccount:default:nobody "$scratch/powerless"
# Of the API server that answers but forbids, the findings tell, one for each thing that was not looked for.
powerless() { "$gate_binary" validate --cluster --kubeconfig "$scratch/powerless" -n "$ns" "$@" "$scratch/store.json"; }
ends "what may not be asked about is a warning, never an error" 0 'could not be asked about Secret "store-db"' powerless
ends "… and fails a run that takes no warnings" 1 reference-unchecked powerless --warnings-as-errors
