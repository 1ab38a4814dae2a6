#!/usr/bin/env bash
# What /metrics shows after reviews of every outcome, to Prometheus' own linter.
source "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/lib.sh"
good=$samples/minimal/stackguardrails.yaml
json "$good" >"$scratch/good.json"
json "$good" | jq '.spec.nimEndpoint.baseURL = "http://llm:8000"' >"$scratch/bad.json"
json "$good" | jq '.spec.nimEndpoint.baseURL = "http://localhost:8000/v1"' >"$scratch/warned.json"
gate_up
for each in good bad warned; do dry_run "$scratch/$each.json" >/dev/null 2>&1; done
curl -sS --noproxy '*' --cacert "$certificates/ca.crt" --data no --resolve "localhost:$gate_port:127.0.0.1" \
  "https://localhost:$gate_port/validate" >/dev/null
curl -fsS --noproxy '*' "http://127.0.0.1:$gate_metrics/metrics" >"$scratch/metrics"

for want in 'stackgate_gate_reviews_total{.*verdict="allowed"' 'stackgate_gate_reviews_total{.*verdict="denied"' \
  'stackgate_gate_findings_total{rule="guardrail-base-url"' 'stackgate_gate_refused_requests_total{reason="media_type"} 1' \
  'stackgate_gate_review_seconds_bucket{.*le="+Inf"' stackgate_gate_connections_total stackgate_gate_lookups_cached_total; do
  check "/metrics has $want" grep -q "^$want" "$scratch/metrics"
done
if [ -n "${PROMTOOL:-}" ]; then
  same "promtool check metrics has nothing to say" "" "$("$PROMTOOL" check metrics <"$scratch/metrics" 2>&1)"
  refused "… and would find a fault" 'error' "$PROMTOOL" check metrics <<<'a{b} 1'
else
  echo "skip promtool check metrics: \$PROMTOOL names no promtool (Debian's package prometheus has it)"
fi
