#!/usr/bin/env bash
# The gate in front of a current custom-resource server: it is asked before CEL and names everything at once.
# shellcheck disable=SC2154 # lib.sh sets them
source "$(dirname "$(realpath "$0")")/../lib.sh"
gate_up

for file in "$samples"/{minimal,full}/*.yaml; do
  check "$(basename "$(dirname "$file")")/$(basename "$file" .yaml) passes the gate and the CEL rules" dry_run <(json "$file")
done

# With the gate in front: one refusal that names all, although the server would stop at CEL.
json "$samples/minimal/stackguardrails.yaml" | jq '.spec.nimEndpoint.baseURL = "http://llm:8000" | .spec.replicas = -1 | .spec.configStore = {}' >"$scratch/many.json"
words=$(dry_run "$scratch/many.json")
for field in spec.nimEndpoint.baseURL spec.replicas spec.configStore; do
  says "the gate's refusal comes first and names $field" "$field: " echo "$words"
done
says "the user is told by name who asks" 'admin' grep -m1 -o '"user":"admin"' "$state/$script.log"
