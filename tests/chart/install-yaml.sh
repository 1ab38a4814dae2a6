#!/usr/bin/env bash
# Writes install.yaml for `kubectl apply --server-side -f`: the namespace, the CustomResourceDefinitions, and the chart
# rendered with its defaults. The Job that upgrades the definitions is left out, because they are in the file.
#   install-yaml.sh OUT [RENDER_FLAG...]
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
repo=$(realpath "$here/../..")
out=$(realpath -m "${1:?usage: install-yaml.sh OUT [RENDER_FLAG...]}")
shift
"$here/build.sh"
mkdir -p "$(dirname "$out")"
{
  cat <<'YAML'
apiVersion: v1
kind: Namespace
metadata:
  name: stackgate-system
  labels:
    app.kubernetes.io/part-of: stackgate
    pod-security.kubernetes.io/enforce: restricted
YAML
  for file in "$repo"/crds/*.yaml; do
    echo ---
    cat "$file"
  done
  "$repo/build/chart/render" -no-hooks -manager kubectl "$@" "$repo/chart"
} >"$out.new"
mv "$out.new" "$out"
