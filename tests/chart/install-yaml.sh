#!/usr/bin/env bash
# Writes what `kubectl apply --server-side -f crds.yaml -f install.yaml` installs: install.yaml is the namespace and the
# chart rendered with its defaults, without the Job that upgrades the definitions; crds.yaml, beside it, has those. They
# are in a file of their own because `kubectl delete -f install.yaml` is what comes to mind for removal, and whoever
# deletes the definitions deletes every resource, its workload and the models of caches.
#   install-yaml.sh OUT [RENDER_FLAG...]
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
repo=$(realpath "$here/../..")
out=$(realpath -m "${1:?usage: install-yaml.sh OUT [RENDER_FLAG...]}")
shift
"$here/build.sh"
mkdir -p "$(dirname "$out")"
crds=$(dirname "$out")/crds.yaml
{
  cat <<'YAML'
# The CustomResourceDefinitions of Stackgate. Do not `kubectl delete -f` this file: with the definitions goes EVERY
# resource of Stackgate in the cluster, its workload, and the volumes of caches.
YAML
  for file in "$repo"/crds/*.yaml; do
    echo ---
    cat "$file"
  done
} >"$crds.new"
{
  cat <<'YAML'
# The operator of Stackgate: kubectl apply --server-side -f crds.yaml -f install.yaml
# `kubectl delete -f install.yaml` removes the operator, its namespace and its webhooks. The definitions, the resources
# and their workloads stay.
apiVersion: v1
kind: Namespace
metadata:
  name: stackgate-system
  labels:
    app.kubernetes.io/part-of: stackgate
    pod-security.kubernetes.io/enforce: restricted
YAML
  "$repo/build/chart/render" -no-hooks -manager kubectl "$@" "$repo/chart"
} >"$out.new"
mv "$crds.new" "$crds"
mv "$out.new" "$out"
