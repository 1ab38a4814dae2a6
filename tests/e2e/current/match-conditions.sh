#!/usr/bin/env bash
# The chart's match conditions: they compile on the oldest API server that is given them, and leave out the updates that
# would pass anyway and no other. Decided by the API server's own code (tests/cluster/match-conditions), because the
# webhooks here come through a 1.20 server, which does not know them.
# shellcheck disable=SC2154 # lib.sh sets them
source "$(dirname "$(realpath "$0")")/../lib.sh"
program=$kube_cache/crdserver/match-conditions
if ! complete_crdserver "$kube_cache/crdserver" || [ ! -x "$program" ]; then
  echo "skip match conditions: $program could not be built from tests/cluster/match-conditions (see build/logs/crdserver.log)"
  exit 0
fi

rendered '(?:Mutating|Validating)WebhookConfiguration' default >"$scratch/webhooks.json"
: >"$scratch/requests" && : >"$scratch/wanted"
changed='not asked: something-to-review-changed' deleted='not asked: not-while-being-deleted'

# request NAME WANTED OPERATION OBJECT OLD_OBJECT: both objects are filters of the stored resource.
request() {
  jq -c --arg name "$1" --arg operation "$3" "{name: \$name, operation: \$operation, object: ($4), oldObject: ($5)}" \
    "$scratch/stored.json" >>"$scratch/requests" || not_ok "the request '$1' can be made"
  printf '%s\t%s\n' "$1" "$2" >>"$scratch/wanted"
}
update() { request "$1" "$2" UPDATE "$3" "${4:-.}"; } # NAME WANTED NEW [OLD]

json "$samples/minimal/inferenceservices.yaml" | jq '.metadata += {namespace: "ml", uid: "1", resourceVersion: "7", generation: 3,
  labels: {team: "a"}, annotations: {note: "a"}, managedFields: [{manager: "kubectl"}]} | .spec.replicas = 1 | .status = {state: "Pending"}' >"$scratch/stored.json"
request "a creation" asked CREATE . null
request "a creation without anything" asked CREATE 'del(.spec, .metadata.labels, .metadata.annotations)' null
request "a deletion" asked DELETE null .
update "nothing" "$changed" .
update "a finalizer that comes" "$changed" '.metadata.finalizers = ["example.com/a"]'
update "a finalizer that goes" "$changed" . '.metadata.finalizers = ["example.com/a"]'
update "an owner, a version, a manager" "$changed" '.metadata += {ownerReferences: [{name: "a"}], resourceVersion: "8", managedFields: []}'
update "the status" "$changed" '.status.state = "Ready"'
update "a label" asked '.metadata.labels.team = "b"'
update "a first label" asked . 'del(.metadata.labels)'
update "the last label, which goes" asked 'del(.metadata.labels)'
update "an annotation" asked '.metadata.annotations.note = "b"'
update "a first annotation" asked . 'del(.metadata.annotations)'
update "what kubectl apply notes" asked '.metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"] = "{}"'
update "neither labels nor annotations, before and after" "$changed" 'del(.metadata.labels, .metadata.annotations) | .metadata.finalizers = ["a/b"]' \
  'del(.metadata.labels, .metadata.annotations)'
update "a number" asked '.spec.replicas = 2'
update "a number of another type" asked '.spec.replicas = "1"'
update "a field that comes" asked '.spec.nodeSelector = {disk: "ssd"}'
update "a field that goes" asked 'del(.spec.replicas)'
update "a null" asked '.spec.replicas = null'
update "a spec that is null" asked '.spec = null'
update "a spec that goes" asked 'del(.spec)'
update "a spec that comes" asked . 'del(.spec)'
update "a spec of another type" asked '.spec = "none"'
update "a change while it is being deleted" "$deleted" '.metadata.deletionTimestamp = "2026-01-01T00:00:00Z" | .spec.replicas = 2'
update "its last finalizer, which goes" "$deleted" '.metadata += {deletionTimestamp: "2026-01-01T00:00:00Z"}' \
  '.metadata += {deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["example.com/a"]}'
# What an evaluation may cost is bounded, and beyond that an update would be refused.
jq '.spec.env = [range(4000) | {name: "VARIABLE_\(.)", value: ("x" * 200)}]' "$scratch/stored.json" >"$scratch/large.json"
mv "$scratch/large.json" "$scratch/stored.json"
update "nothing of nearly a megabyte" "$changed" '.metadata.finalizers = ["example.com/a"]'
update "the end of nearly a megabyte" asked '.spec.env[3999].value = "y"'
for file in "$samples"/full/*.yaml; do
  json "$file" | jq '.metadata.namespace = "ml"' >"$scratch/stored.json"
  name=$(basename "$file" .yaml)
  update "$name: a finalizer" "$changed" '.metadata.finalizers = ["example.com/a"]'
  update "$name: one more field" asked '.spec.another = 1'
done

same "both webhooks have both conditions, which compile" "$(for hook in early validate; do
  printf 'compiled\t%s.stackgate.dev\t%s\n' $hook not-while-being-deleted $hook something-to-review-changed
done | sort)" "$("$program" "$scratch/webhooks.json" </dev/null 2>&1 | sort)"
"$program" "$scratch/webhooks.json" <"$scratch/requests" >"$scratch/verdicts" 2>"$scratch/words" || not_ok "the requests are judged" "$(cat "$scratch/words")"
while IFS=$'\t' read -r name wanted; do
  same "$name: $wanted" "$(printf '%s\n' "$wanted" "$wanted")" "$(awk -F '\t' -v name="$name" '$1 == name { print $3 }' "$scratch/verdicts")"
done <"$scratch/wanted"

# The compiler is one that refuses.
jq '.webhooks[].matchConditions[1].expression |= sub("has\\(object.spec\\)"; "has(thing.spec)")' "$scratch/webhooks.json" >"$scratch/wrong.json"
refused "an expression with a slip does not compile" "undeclared reference to 'thing'" "$program" "$scratch/wrong.json" </dev/null
