# crds/samples/stack.yaml as a cluster of one node can run it, a document at a time: the operator's own images, values for
# "change-me", no object store, small claims and little memory; both models are the one that is pushed to the datastore. What the
# sample says otherwise stays. Arguments: $secret, $lfs (32 letters), $inference (image), $tag.
def data($name; $more): if .metadata.name == $name then .stringData += $more else . end;
def shared($more): .spec.env = ([.spec.env[]? | select(.name as $n | $more | has($n) | not)] + ($more | to_entries | map({name: .key, value: .value})));
def small: del(.image.pullSecrets)
  | .image = {repository: $inference, tag: $tag}
  | .resources.limits = {memory: "1Gi", "nvidia.com/gpu": 1} | .resources.requests = {cpu: "50m", memory: "256Mi"}
  | .startupProbe.probe = {periodSeconds: 1, failureThreshold: 1200} | .readinessProbe.probe = {periodSeconds: 1}
  | .env = [.env[]? | select(.name | startswith("INF_MAX") | not)] + [{name: "STACKGATE_THREADS", value: "1"}, {name: "STACKGATE_KV_CACHE", value: "64Mi"}];

(.. | objects | select(has("stringData"))).stringData |= with_entries(if .value == "change-me" then .value = $secret else . end)
| if .kind == "Secret" then data("datastore-lfs-jwt"; {jwtSecret: $lfs}) | data("datastore-reader"; {DATASTORE_USERNAME: "admin"}) else . end
| (.. | objects | select(has("size") and has("volumeAccessMode"))).size = "1Gi"
| if .kind | startswith("Stack") then del(.spec.image) else . end
| if .kind == "StackDatastore" then del(.spec.objectStoreConfig)
  elif .kind == "StackCustomizer" then .spec.scheduler = {type: "queue", queueDialect: "kai"} | .spec.trainingConfig.queueName = "default"
  elif .kind == "InferenceCache" then .spec.source = {datastore: {endpoint: "http://datastore:8000", repository: "admin/tiny", authSecret: "datastore-reader"}}
  elif .kind == "InferenceService" then .spec |= (small
      | .replicas = 1 | .storage.sharedMemorySizeLimit = "64Mi" | del(.storage.nimCache.profile)
      | .env |= map(if .name == "INF_PEFT_REFRESH_INTERVAL" then .value = "1" else . end)
      | .env += [{name: "STACKGATE_SERVED_MODEL_NAME", value: "demo/tiny"}])
  elif .kind == "InferencePipeline" then .spec.services[].spec |= (small | .storage.nimCache.name = "embedder")
  elif .kind == "ConfigMap" and .metadata.name == "guardrail-config" then .data = {"shop__config.yml": $rails}
  elif .kind == "ConfigMap" and .metadata.name == "customizer-models" then .data = {customizationTargets: ({targets: {"demo/tiny@1.0": {model_uri: "datastore://admin/tiny", model_path: "tiny"}}} | tojson)}
  elif .kind == "ConfigMap" and .metadata.name == "customizer-training" then .data = {training: ({container_defaults: {resources: {requests: {cpu: "100m", memory: "256Mi"}, limits: {memory: "2Gi"}}}} | tojson)}
  else . end
