#!/usr/bin/env bash
# The dashboards of chart/dashboards: JSON as Grafana takes it, expressions as promtool takes them, panels that do not overlap; and the
# ServiceMonitors that chart and operator make, in promtool's judgement. With a folder of what programs answer at /metrics: each metric
# that the dashboards query is there.
#   dashboards.sh [FOLDER]     FOLDER/*.txt, all programs that there are
set -uo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
repo=$(realpath "$here/../..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
same() { if [ "$2" = "$3" ]; then echo "ok $1"; else failed=1 && printf 'not ok %s\n%s\n' "$1" "$(diff <(echo "$2") <(echo "$3"))"; fi; }

for file in "$repo"/chart/dashboards/*.json; do
  name=$(basename "$file" .json)
  same "$name: an id for each panel, a title, a query" "" "$(jq -r '(.panels | group_by(.id)[] | select(length > 1) | "id \(.[0].id) twice"),
    (.panels[] | select((.title == "") or (.targets | length == 0)) | "panel \(.id)"), (select(.uid == null or .title == null or .schemaVersion == null) | "no uid")' "$file")"
  same "$name: no panel lies on another" "" "$(jq -r '[.panels[] | .id as $id | .gridPos | range(.x; .x + .w) as $x | range(.y; .y + .h) as $y | [$x, $y, $id]]
    | group_by(.[0:2])[] | select(length > 1) | "\(.[0][2]) and \(.[1][2])"' "$file" | sort -u)"
  jq -r '.panels[].targets[].expr | gsub("[$]namespace"; "team")' "$file" >>"$scratch/expressions"
done

# promtool judges expressions as those of rules.
if promtool=${PROMTOOL:-$(command -v promtool)}; then
  jq -Rn '{groups: [{name: "g", rules: [inputs | {record: "a", expr: ., labels: {n: "\(input_line_number)"}}]}]}' "$scratch/expressions" >"$scratch/rules.yaml"
  same "promtool finds no fault with their expressions" "" "$("$promtool" check rules "$scratch/rules.yaml" 2>&1 | grep -i error)"
  # A ServiceMonitor as the Prometheus Operator makes a scrape configuration of it, but for discovery, which Debian's promtool lacks.
  "$here/build.sh" >/dev/null
  {
    "$repo/build/chart/render" -json -set metrics.serviceMonitor.enabled=true -set 'metrics.serviceMonitor.stackNamespaces=[team]' "$repo/chart"
    jq -c '.items[]' "$repo"/tests/reconcile/plan/golden/inference*.json
  } | jq -c 'select(.kind == "ServiceMonitor")' >"$scratch/monitors"
  same "there are ServiceMonitors of the chart and of the operator" "true true" \
    "$(jq -rs '[.[].metadata.name] | "\(any(. == "stackgate-stack")) \(length > 2)"' "$scratch/monitors")"
  jq -s 'def plain: gsub("[^a-zA-Z0-9_]"; "_");
    {scrape_configs: [to_entries[] | .key as $n | .value as $m | $m.spec.endpoints[] | {
      job_name: "\($n)/\($m.metadata.name)/\(.port)", metrics_path: .path,
      static_configs: [{targets: ["found:8000"]}],
      relabel_configs: ([$m.spec.selector.matchLabels // {} | to_entries[] | {source_labels: ["__meta_kubernetes_service_label_\(.key | plain)"], regex: .value, action: "keep"}]
        + [$m.spec.selector.matchExpressions[]? | {source_labels: ["__meta_kubernetes_service_label_\(.key | plain)"], regex: (.values | join("|")), action: "keep"}]
        + [{source_labels: ["__meta_kubernetes_endpoint_port_name"], regex: .port, action: "keep"}]
        + [$m.spec.targetLabels[]? | {source_labels: ["__meta_kubernetes_service_label_\(. | plain)"], target_label: (. | plain)}])}
      + (if .interval then {scrape_interval: .interval} else {} end) + (if .scrapeTimeout then {scrape_timeout: .scrapeTimeout} else {} end)]}' \
    "$scratch/monitors" >"$scratch/prometheus.yaml"
  same "promtool finds no fault with their ServiceMonitors" "" "$("$promtool" check config "$scratch/prometheus.yaml" 2>&1 | grep -viE 'SUCCESS|^Checking|^$')"
  jq '.scrape_configs[0].scrape_timeout = "1h"' "$scratch/prometheus.yaml" >"$scratch/wrong.yaml"
  same "… and would find one" 1 "$("$promtool" check config "$scratch/wrong.yaml" 2>&1 | grep -c 'scrape timeout greater')"
else
  echo "skip the expressions: \$PROMTOOL names no promtool (Debian's package prometheus has it)"
fi

# A histogram's name has an end; `up` and what becomes of labels are Prometheus' own.
if [ -n "${1:-}" ]; then
  cat "$1"/*.txt >"$scratch/metrics"
  sed -nE 's/^# TYPE ([^ ]+) histogram$/\1_bucket\n\1_sum\n\1_count/p; s/^# TYPE ([^ ]+) .*/\1/p' "$scratch/metrics" | sort -u >"$scratch/known"
  grep -oE '\b((stackgate|vllm|stack|process)[_:][a-zA-Z_:]+|inference[A-Z][A-Za-z_]+)' "$scratch/expressions" | grep -vE '_$|^stack_$' | sort -u >"$scratch/queried"
  same "the programs have each metric that they query" "" "$(comm -23 "$scratch/queried" "$scratch/known")"
fi
exit $failed
