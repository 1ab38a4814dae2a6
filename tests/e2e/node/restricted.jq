# Pods in; a line for each thing that Pod Security's level `restricted` forbids, or that the operator promises beside it.
# Source: https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
def name: "\(.metadata.name)";
def containers: (.spec.initContainers // [])[], .spec.containers[];
. as $pod | name as $name | (.spec.securityContext // {}) as $all |
[
  (select(.spec.hostNetwork or .spec.hostPID or .spec.hostIPC) | "a namespace of the host"),
  (.spec.volumes[]? | select(keys - ["name"] | .[0] | IN("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret") | not)
    | "volume \(.name): \(keys - ["name"] | .[0])"),
  ($all.sysctls[]? | "sysctl \(.name)"),
  (containers | (.securityContext // {}) as $own | .name as $c |
    (select($own.privileged) | "\($c): privileged"),
    (select($own.allowPrivilegeEscalation != false) | "\($c): allowPrivilegeEscalation"),
    (select($own.capabilities.drop != ["ALL"]) | "\($c): does not drop ALL"),
    (select($own.capabilities.add // [] | . - ["NET_BIND_SERVICE"] | length > 0) | "\($c): adds capabilities"),
    (select(($own.runAsNonRoot // $all.runAsNonRoot) != true) | "\($c): runAsNonRoot"),
    (select(($own.runAsUser // $all.runAsUser) == 0) | "\($c): runAsUser 0"),
    (select($own.seccompProfile.type // $all.seccompProfile.type | IN("RuntimeDefault", "Localhost") | not) | "\($c): seccompProfile"),
    (.ports[]? | select(.hostPort // 0 != 0) | "\($c): hostPort"))
] | .[] | "\($name): \(.)"
