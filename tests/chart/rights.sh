#!/usr/bin/env bash
# The program that compares rights held with rights used (rights.jq), on small cases.
set -uo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
failed=0
role='[{"kind": "ClusterRole", "metadata": {"name": "stackgate-namespaces"}, "rules": [
  {"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list"]},
  {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["create"]}]},
  {"kind": "ClusterRole", "metadata": {"name": "stackgate-user-edit"}, "rules": [{"apiGroups": ["x"], "resources": ["y"], "verbs": ["z"]}]}]'
event() { # VERB GROUP RESOURCE SUBRESOURCE CODE [USER] [REQUEST_OBJECT]
  jq -cn --arg v "$1" --arg g "$2" --arg r "$3" --arg s "$4" --argjson c "$5" --arg u "${6:-me}" --argjson o "${7:-null}" \
    '{verb: $v, user: {username: $u}, requestURI: "/x", requestObject: $o, responseStatus: {code: $c},
      objectRef: ({resource: $r, apiGroup: $g} + if $s == "" then {} else {subresource: $s} end)}'
}
case_is() { # NAME WANTED PROVEN EVENT...
  local got
  got=$(jq -r --arg user me --argjson proven "$3" --argjson events "$(printf '%s\n' "${@:4}" | jq -cs .)" -f "$here/rights.jq" <<<"$role" 2>&1)
  if [ "$got" = "$2" ]; then echo "ok $1"; else
    printf 'not ok %s\n%s\n' "$1" "$got"
    failed=1
  fi
}
all=("$(event get '' pods '' 200)" "$(event list '' pods '' 200)" "$(event get '' pods log 404)" "$(event create apps deployments '' 409)")
handed=$(event create rbac.authorization.k8s.io roles '' 201 me '{"rules": [{"apiGroups": [""], "resources": ["pods/log"], "verbs": ["list"]}]}')
refused_role=$(event create rbac.authorization.k8s.io roles '' 403 me '{"rules": [{"apiGroups": [""], "resources": ["pods/log"], "verbs": ["list"]}]}')
case_is "what is used is not told" "unused: list pods/log" '[]' "${all[@]}"
case_is "a right in a Role that was created is used" "" '[]' "${all[@]}" "$handed"
case_is "a Role that was refused proves nothing" "unused: list pods/log
refused: create /x" '[]' "${all[@]}" "$refused_role"
case_is "what is proven otherwise is not told" "" '["list pods/log"]' "${all[@]}"
case_is "a proof without a right is out of date" "not held, but said to be proven: get nodes" '["list pods/log", "get nodes"]' "${all[@]}"
case_is "a sub-resource is another resource" "unused: get pods
unused: list pods" '["list pods/log"]' "${all[@]:2}" 
case_is "somebody else's requests do not count" "unused: create deployments.apps
unused: list pods/log" '[]' "${all[@]:0:3}" "$(event create apps deployments '' 201 another)"
case_is "a refused request is a missing right" "unused: create deployments.apps
unused: list pods/log
refused: create /x" '[]' "${all[@]:0:3}" "$(event create apps deployments '' 403)"
exit $failed
