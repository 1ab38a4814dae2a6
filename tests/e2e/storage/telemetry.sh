#!/usr/bin/env bash
# Spans, log lines and metrics of a real service at a small collector: in JSON, in protobuf as OpenTelemetry's own
# classes read it, while the collector refuses, and what is still there at the end.
#   DATASTORE=build/release/bin/stackgate-datastore tests/e2e/storage/telemetry.sh
# shellcheck disable=SC2016 # the words in single quotes are jq's
set -euo pipefail
here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/support/datastore.sh
source "$here/../../support/datastore.sh"
state=$(mktemp -d)
collector=
finish() {
  datastore_stop
  [ -z "$collector" ] || kill "$collector" 2>/dev/null || true
  rm -rf "$state"
}
trap finish EXIT
trap 'exit 130' INT TERM

sent=$state/sent reader=$here/../../../build/otlp-reader
mkdir "$sent"
python3 "$here/otlp/collector.py" "$state/port" "$sent" 2>"$state/collector.log" &
collector=$!
for ((i = 0; i < 100; i++)); do [ ! -s "$state/port" ] || break; sleep 0.1; done
collector_url=http://127.0.0.1:$(cat "$state/port")
common=(OTEL_EXPORTER_OTLP_ENDPOINT="$collector_url" OTEL_EXPORTER_OTLP_HEADERS='authorization=Bearer%20abc' OTEL_SERVICE_NAME=my-store
  OTEL_RESOURCE_ATTRIBUTES='service.namespace=team-a,deployment.environment=team-a' OTEL_LOG_LEVEL=INFO
  OTEL_PYTHON_EXCLUDED_URLS='health,/api/v1/version' OTEL_BSP_SCHEDULE_DELAY=100 OTEL_BLRP_SCHEDULE_DELAY=100
  OTEL_METRIC_EXPORT_INTERVAL=500)
trace=4bf92f3577b34da6a3ce929d0e0e4736 parent=00f067aa0ba902b7 unsampled=11112f3577b34da6a3ce929d0e0e4736

# documents SIGNAL: what came, one JSON document on each line.
documents() {
  local files
  files=("$sent/$1"-*.json)
  if [ -e "${files[0]}" ]; then cat "${files[@]}"; fi
  files=("$sent/$1"-*.pb)
  if [ -e "${files[0]}" ]; then NODE_PATH="$reader/node_modules" node "$here/otlp/read.cjs" "$1" "${files[@]}"; fi
}
spans() { documents traces | jq -c '.resourceSpans[].scopeSpans[].spans[]'; }
records() { documents logs | jq -c '.resourceLogs[].scopeLogs[].logRecords[]'; }
metrics() { documents metrics | jq -c '.resourceMetrics[].scopeMetrics[].metrics[]'; }
# some FILTER [jq arguments]: whether it is true of one of the values on stdin.
some() { local filter=$1; shift; jq -e -s "$@" "any(.[]; $filter)" >/dev/null; }
attribute='def attribute($key): (.attributes[] | select(.key == $key) | .value);'
waits_for() { for ((i = 0; i < 300; i++)); do "$@" 2>/dev/null && return 0; sleep 0.1; done; return 1; }
ask() { curl -s -o /dev/null -H "traceparent: 00-$trace-$parent-$1" -H 'tracestate: vendor=x' "$url$2"; }

span_arrived() { spans | some "$attribute .traceId == \$t and .parentSpanId == \$p and .kind == 2 and .traceState == \"vendor=x\" and
  attribute(\"http.request.method\").stringValue == \"GET\" and attribute(\"http.response.status_code\").intValue == \"200\" and
  attribute(\"url.path\").stringValue == \"/api/v1/repos/search\" and (.name | startswith(\"GET /\"))" --arg t "$trace" --arg p "$parent"; }
log_arrived() { records | some "$attribute .traceId == \$t and .body.stringValue == \"request\" and attribute(\"status\").intValue == \"200\"" --arg t "$trace"; }
log_names_the_span() {
  local span
  span=$(spans | jq -r --arg t "$trace" 'select(.traceId == $t) | .spanId' | head -1)
  records | some '.spanId == $s and .traceId == $t' --arg s "$span" --arg t "$trace"
}
counter_arrived() { metrics | some "$attribute .name == \"stackgate_http_requests_total\" and .sum.isMonotonic and .sum.aggregationTemporality == 2 and
  any(.sum.dataPoints[]; attribute(\"code\").stringValue == \"200\" and (.asInt | tonumber) > 0)"; }
histogram_arrived() { metrics | some '.name == "stackgate_http_request_duration_seconds" and .unit == "s" and
  any(.histogram.dataPoints[]; (.bucketCounts | length) == (.explicitBounds | length) + 1 and (.bucketCounts | map(tonumber) | add) == (.count | tonumber))'; }
gauge_arrived() { metrics | some '.name == "process_resident_memory_bytes" and .unit == "By" and .gauge.dataPoints[0].asDouble > 1000000'; }
says_who() { documents traces | some "$attribute .resourceSpans[0].resource | attribute(\"service.name\").stringValue == \"my-store\" and
  attribute(\"service.namespace\").stringValue == \"team-a\" and attribute(\"service.version\") != null"; }
no_probes() { ! spans | some "$attribute attribute(\"url.path\").stringValue | test(\"health|metrics|version\")"; }
unsampled_is_left_out() { ! spans | some '.traceId == $t' --arg t "$unsampled"; }

# drive NAME: one service, its spans, lines and metrics.
drive() {
  local name=$1
  curl -s -o /dev/null "$url/v1/health"
  ask 01 /v1/health/ready
  ask 01 /metrics
  ask 01 /api/v1/version
  curl -s -o /dev/null -H "traceparent: 00-$unsampled-$parent-00" "$url/api/v1/repos/search"
  ask 01 /api/v1/repos/search
  check "$name: the request's span arrives with the caller's trace" waits_for span_arrived
  check "$name: its log line arrives with the same trace" waits_for log_arrived
  check "$name: and names the request's span" waits_for log_names_the_span
  check "$name: counters arrive as monotonic sums" waits_for counter_arrived
  check "$name: latencies arrive as histograms" waits_for histogram_arrived
  check "$name: gauges arrive" waits_for gauge_arrived
  check "$name: the service says who it is" says_who
  check "$name: health, metrics and excluded URLs are not traced" no_probes
  check "$name: a trace that the caller does not sample is left out" unsampled_is_left_out
}

datastore_start "$state/json" "${common[@]}" OTEL_EXPORTER_OTLP_PROTOCOL=http/json
drive JSON
check "large bodies are compressed" grep -q '^/v1/metrics application/json gzip Bearer abc$' "$sent/heads"

metrics_are_sound() { curl -sf "$url/metrics" | promtool check metrics; }
if command -v promtool >/dev/null; then check "/metrics passes promtool" metrics_are_sound; else echo "skip /metrics passes promtool: install prometheus"; fi

# Away for two seconds: nothing is lost, requests are served, one line says it at most.
touch "$sent/refuse"
trace=5bf92f3577b34da6a3ce929d0e0e4736
served() { [ "$(curl -s -m 5 -o /dev/null -w '%{http_code}' -H "traceparent: 00-$trace-$parent-01" -H 'tracestate: vendor=x' "$url/api/v1/repos/search")" = 200 ]; }
check "requests are served while the collector refuses" served
sleep 2
rm "$sent/refuse"
check "what waited arrives when it is back" waits_for span_arrived
few_complaints() { [ "$(grep -c 'telemetry does not arrive' "$state/json/datastore.log")" -le 1 ]; }
check "the log has one line about it at most" few_complaints

# What is not sent yet when the process is told to end.
trace=6bf92f3577b34da6a3ce929d0e0e4736
datastore_stop
datastore_start "$state/flush" "${common[@]}" OTEL_EXPORTER_OTLP_PROTOCOL=http/json OTEL_BSP_SCHEDULE_DELAY=600000
ask 01 /api/v1/repos/search
datastore_stop
check "spans that wait are sent at the end" span_arrived
last_line() { records | some '.body.stringValue == "stopped"'; }
check "and so are the last log lines" last_line

# A collector that is gone for good delays nothing but the end, and that by seconds.
datastore_start "$state/gone" "${common[@]}" OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9
check "requests are served without a collector" served
began=$SECONDS
datastore_stop
ends_soon() { ((SECONDS - began <= 8)); }
check "the end does not wait for a collector that is gone" ends_soon

grpc() { ! OTEL_EXPORTER_OTLP_PROTOCOL=grpc "$datastore_binary" --data-dir "$state/x" >"$state/said" 2>&1 && grep -q -- '--otel-protocol: .*http/protobuf' "$state/said"; }
check "gRPC is refused with what to write instead" grpc

rm -f "$sent"/*
mkdir -p "$reader"
cp "$here/otlp/package.json" "$here/otlp/package-lock.json" "$reader/"
if ! command -v npm >/dev/null || ! (cd "$reader" && npm ci --no-audit --no-fund >npm.log 2>&1); then
  echo "skip protobuf: npm cannot fetch OpenTelemetry's classes"
else
  trace=7bf92f3577b34da6a3ce929d0e0e4736
  datastore_start "$state/protobuf" "${common[@]}"
  drive protobuf
  datastore_stop
fi
! grep -q Traceback "$state/collector.log" || { cat "$state/collector.log" >&2 && echo "not ok the collector could read everything" && exit 1; }
((failed_checks == 0))
