// Protobuf bodies read by OpenTelemetry's own classes, written as OTLP's JSON:
//   NODE_PATH=… node read.cjs traces|metrics|logs FILE…     one line for each file
const fs = require("fs");
const path = require("path");
const home = path.dirname(require.resolve("@opentelemetry/otlp-transformer/package.json"));
const proto = require(path.join(home, "build/src/generated/root.js")).opentelemetry.proto.collector;
const requests = {
  traces: proto.trace.v1.ExportTraceServiceRequest,
  metrics: proto.metrics.v1.ExportMetricsServiceRequest,
  logs: proto.logs.v1.ExportLogsServiceRequest,
};
const type = requests[process.argv[2]];
const ids = new Set(["traceId", "spanId", "parentSpanId"]);
for (const file of process.argv.slice(3)) {
  const plain = type.toObject(type.decode(fs.readFileSync(file)), {longs: String, bytes: String, enums: Number, json: true});
  const text = JSON.stringify(plain, (key, value) =>
    ids.has(key) ? Buffer.from(value, "base64").toString("hex") : value);
  console.log(text);
}
