#!/usr/bin/env bash
# What passes, runs: resources drawn at random around the samples; whatever the rules admit is planned, and the API server
# must accept every child in a server-side dry run. DRAWS (per kind, default 500) and DICE_SEED draw others.
source "$(dirname "$(realpath "$0")")/lib.sh"
kube apply -f "$here/optional-crds.yaml" >/dev/null || not_ok "the optional APIs can be installed"
kube wait --for condition=established --timeout=30s -f "$here/optional-crds.yaml" >/dev/null || not_ok "… and are served"
minor=$(kube version -o json | jq -r '.serverVersion.minor | gsub("[^0-9]"; "") | tonumber')
tests=${PLAN_TESTS:-$repo/build/release/bin/reconcile_plan_tests}
seed=${DICE_SEED:-507519742}
echo "DICE_SEED=$seed"

mkdir "$scratch/plans"
# The caller reads the checks below, not those of the drawing program.
unset GTEST_OUTPUT
if ! DICE_SEED=$seed DRAWS=${DRAWS:-500} PLAN_DUMP=$scratch/plans "$tests" --gtest_brief=1 \
  --gtest_filter='*WhatTheGateAdmitsIsPlanned*' >"$scratch/log" 2>&1; then
  not_ok "what the rules admit can be planned" "$(tail -20 "$scratch/log")"
fi
# An older server serves another version of the autoscaling API, and knows none of those below.
older='.'
((minor >= 23)) || older='(.. | objects | select(.apiVersion? == "autoscaling/v2")).apiVersion = "autoscaling/v2beta2"'
((minor >= 22)) || older+=' | walk(if . == "ReadWriteOncePod" then "ReadWriteOnce" else . end)'
((minor >= 22)) || older+=' | walk(if type == "object" then del(.namespaceSelector) else . end)
  | walk(if type == "array" then map(select(type != "object" or .type != "ContainerResource")) else . end)'


# Thousands of requests: one curl with many connections, each request described by a block of its configuration.
server=$(kube config view --raw -o jsonpath='{.clusters[0].cluster.server}')
post_all() { # FILE of objects, one per line: answers in $scratch/answers/N.json
  rm -rf "$scratch/answers" "$scratch/bodies" && mkdir "$scratch/answers" "$scratch/bodies"
  split -l 1 -a 6 -d "$1" "$scratch/bodies/"
  jq -r --arg server "$server" --arg ns "$ns" --arg scratch "$scratch" '
    (.kind | ascii_downcase | if . == "ingress" then "ingresses" else . + "s" end) as $plural
    | (if .apiVersion == "v1" then "api/v1" else "apis/" + .apiVersion end) as $base
    | (input_line_number - 1 | tostring | ("000000"[:6 - length]) + .) as $n
    | "next\nurl = \"\($server)/\($base)/namespaces/\($ns)/\($plural)?dryRun=All&fieldManager=stackgate\"
header = \"Content-Type: application/json\"\ndata-binary = \"@\($scratch)/bodies/\($n)\"
output = \"\($scratch)/answers/\($n).json\"\ncacert = \"\($ENV.pki)/cluster-ca.crt\"\ncert = \"\($ENV.pki)/admin.crt\"
key = \"\($ENV.pki)/admin.key\"\nnoproxy = \"*\"\nsilent"' "$1" | sed 1d >"$scratch/curl"
  curl --no-progress-meter --parallel --parallel-max 8 --config "$scratch/curl"
}
export pki=$state/pki

for kind in inferenceservices inferencecaches inferencepipelines stackdatastores stackentitystores stackcustomizers \
  stackevaluators stackguardrails; do
  files=("$scratch/plans/$kind"-*.json)
  [ -e "${files[0]}" ] || { not_ok "$kind: some of the draws are admitted" && continue; }
  jq -c --arg ns "$ns" ".items[] | $older | .metadata.namespace = \$ns" "${files[@]}" >"$scratch/children"
  count=$(wc -l <"$scratch/children")
  post_all "$scratch/children"
  find "$scratch/answers" -name '*.json' -exec jq -r 'select(.kind == "Status" and .status == "Failure") | .message' {} + >"$scratch/refused"
  same "$kind: all $count children of ${#files[@]} admitted resources are accepted" '' "$(sort "$scratch/refused" | uniq -c | head -c 3000)"
  same "$kind: … none is passed over" "$count" "$(find "$scratch/answers" -name '*.json' -size +0 | wc -l)"
done
