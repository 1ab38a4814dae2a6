#!/usr/bin/env bash
# What `stackgate plan` shows is accepted by the API server, and comes back as it was written: otherwise the operator
# would write it again and again.
source "$(dirname "$(realpath "$0")")/lib.sh"
kube apply -f "$here/optional-crds.yaml" >/dev/null || not_ok "the optional APIs can be installed"
kube wait --for condition=established --timeout=30s -f "$here/optional-crds.yaml" >/dev/null || not_ok "… and are served"

minor=$(kube version -o json | jq -r '.serverVersion.minor | gsub("[^0-9]"; "") | tonumber')
images=()
for service in datastore entitystore customizer evaluator guardrail puller trainer; do
  images+=("--image-$service" "registry.example.com/stackgate/$service:0.1.0")
done
# What Kubernetes learned after 1.20: it drops the one, and refuses the other.
older='.'
((minor >= 22)) || older='walk(if type == "object" then del(.namespaceSelector) else . end)
  | walk(if type == "array" then map(select(type != "object" or .type != "ContainerResource")) else . end)'
# plan FILE: the children of its objects, as a List.
plan() {
  objects "$1" | jq -s "map($older)[]" |
    "$gate_binary" plan --namespace "$ns" --kubernetes "$minor" --output json "${images[@]}" -
}

# collection OBJECT: its URL's path.
collection() {
  local version kind
  read -r version kind < <(jq -r '[.apiVersion, (.kind | ascii_downcase)] | join(" ")' <<<"$1")
  case $kind in
    ingress) kind=ingresses ;;
    *) kind=${kind}s ;;
  esac
  case $version in
    v1) echo "/api/v1/namespaces/$ns/$kind" ;;
    *) echo "/apis/$version/namespaces/$ns/$kind" ;;
  esac
}

# post OBJECT: prints the answer; fails with the API server's message.
post() {
  api POST "$(collection "$1")" -H 'Content-Type: application/json' --data-binary @- <<<"$1" |
    jq -c 'if .kind == "Status" then (.message, (.details.causes[]? | "\(.field): \(.message)")) | halt_error(1) else . end'
}

# missing WANTED LIVE: each place of WANTED that LIVE does not have with the same value.
missing() {
  jq -n -r --argjson wanted "$1" --argjson live "$2" '
    [$wanted | paths(scalars)] | map(. as $path | select(($wanted | getpath($path)) as $value
      | try ($live | getpath($path)) catch null | . != $value)
      | "\($path | map(tostring) | join(".")): \($wanted | getpath($path)) became \(try ($live | getpath($path)) catch null)")[]'
}

# plan_holds NAME FILE: every child is accepted, is stored as it was written, and stays the same object when it is applied
# once more.
plan_holds() {
  local name=$1 list child live again kind child_name lost='' refusals='' changed='' count=0
  if ! list=$(plan "$2" 2>"$scratch/complaint"); then
    not_ok "$name can be planned" "$(cat "$scratch/complaint")"
    return
  fi
  while read -r child; do
    count=$((count + 1))
    kind=$(jq -r '"\(.kind) \(.metadata.name)"' <<<"$child")
    child_name=$(jq -r .metadata.name <<<"$child")
    live=$(post "$child" 2>&1) || { refusals+="$kind: $live"$'\n' && continue; }
    live=$(api GET "$(collection "$child")/$child_name")
    lost+=$(missing "$child" "$live" | sed "s/^/$kind: /")
    # The first apply makes the operator own the fields, the second must change nothing.
    for again in 1 2; do
      live=$(api PATCH "$(collection "$child")/$child_name?fieldManager=stackgate&force=true" \
        -H 'Content-Type: application/apply-patch+yaml' --data-binary @- <<<"$child")
      [ "$again" = 2 ] || before=$(jq -r '.metadata.resourceVersion // .message' <<<"$live")
    done
    [ "$(jq -r .metadata.resourceVersion <<<"$live")" = "$before" ] || changed+="$kind ($before)"$'\n'
    api DELETE "$(collection "$child")/$child_name" -H 'Content-Type: application/json' \
      --data '{"propagationPolicy": "Background"}' >/dev/null
  done < <(jq -c '.items[]' <<<"$list")
  check "$name: something is planned" test "$count" -gt 0
  same "$name: all $count children are accepted" '' "$refusals"
  same "$name: … and stored as they were written" '' "$lost"
  same "$name: … and applying them again changes nothing" '' "$changed"
}

for set in minimal full; do
  for file in "$samples/$set"/*.yaml; do plan_holds "$set/$(basename "$file" .yaml)" "$file"; done
done
# What the full samples switch off.
json "$samples/full/inferenceservices.yaml" |
  jq 'del(.spec.multiNode, .spec.replicas, .spec.serviceAccountName) | .spec.scale.enabled = true
    | .spec.expose |= (.ingress.enabled = false | .httpRoute.enabled = true)' >"$scratch/scaled.json"
plan_holds "an inference service with an autoscaler and a route" "$scratch/scaled.json"
json "$samples/full/inferenceservices.yaml" |
  jq 'del(.spec.multiNode, .spec.replicas, .spec.scale.metrics) | .spec.scale.enabled = true
    | .spec.resources = {limits: {"nvidia.com/gpu": 1, cpu: 0.5, memory: "1024Mi"}, requests: {cpu: "250000u", memory: "1e6"}}
    | .spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0] |= (.labelSelector = {} | .namespaces = [])
    | .spec.env += [{name: "EMPTY", value: ""}] | .spec.tolerations += [{key: "", operator: "Exists"}]' >"$scratch/odd.json"
sed -i 's/0\.5,/"0.5",/; s/"cpu": 0.5/"cpu": "0.5"/' "$scratch/odd.json"
plan_holds "one with odd quantities and empty parts" "$scratch/odd.json"
