# The sample stack as this node can run it: stand-in images, little memory, small claims; what it says otherwise stays.
def standin: "registry.test/workload";
(.. | objects | select(has("repository") and has("tag"))) |= (.repository = standin | .tag = $tag | del(.pullSecrets))
| (.. | objects | select(has("modelPuller"))) |= (.modelPuller = standin + ":1" | del(.pullSecret))
| (.. | objects | select(has("sharedMemorySizeLimit"))).sharedMemorySizeLimit = "64Mi"
| (.. | objects | select(has("nvidia.com/gpu") and has("memory"))).memory = "64Mi"
| (.. | objects | select(has("size") and has("volumeAccessMode"))).size = "1Gi"
| if .kind == "InferenceService" then .spec.replicas = 1 else . end
| (if .kind == "InferenceService" then .spec elif .kind == "InferencePipeline" then .spec.services[].spec else empty end) |=
    (.startupProbe.probe = {periodSeconds: 1, failureThreshold: 1200} | .readinessProbe.probe = {periodSeconds: 1})
