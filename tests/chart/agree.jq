# The objects of one rendering in; a line out for every name that hangs in the air.
def named($kind): map(select(.kind == $kind));
def names($kind): named($kind) | map(.metadata.name);
def covers($labels): . as $want | ($labels // {}) as $has | all($want | to_entries[]; $has[.key] == .value);
(named("Deployment") | first) as $deployment | $deployment.spec.template as $pod | $pod.spec.containers[0] as $container
| ($deployment.metadata.namespace) as $ns | (named("Service")) as $services | . as $all
| ($container.args | map(select(startswith("--")) | ltrimstr("--") | capture("(?<key>[^=]*)=?(?<value>.*)")) | from_entries) as $flags
| ($container.ports | map(.name)) as $ports
# Those of the operator; the others are for pods of resources.
| (named("NetworkPolicy") | map(select(.metadata.name == "stackgate"))) as $own_policies
| (named("ServiceMonitor") | map(select(.metadata.name == "stackgate"))) as $own_monitors
| [
  (named("Deployment")[] | select(.spec.selector.matchLabels | covers($pod.metadata.labels) | not) | "its own pods are not the Deployment's"),
  ($services[] | select(.spec.selector | covers($pod.metadata.labels) | not) | "Service \(.metadata.name) selects no pod"),
  ($services[] | . as $s | .spec.ports[] | .targetPort as $port | select($ports | index($port) | not) | "Service \($s.metadata.name): no container port \($port)"),
  (named("PodDisruptionBudget")[] | select(.spec.selector.matchLabels | covers($pod.metadata.labels) | not) | "the budget selects no pod"),
  ($own_policies[] | select(.spec.podSelector.matchLabels | covers($pod.metadata.labels) | not) | "the network policy selects no pod"),
  ($own_policies[].spec.ingress[].ports[].port | . as $port | select($ports | index($port) | not) | "network policy: no port \(.)"),
  (($container.livenessProbe, $container.readinessProbe).httpGet.port | . as $port | select($ports | index($port) | not) | "probe: no port \(.)"),
  ($container.ports[] | .containerPort as $n | select([$flags.listen, $flags["metrics-listen"], $flags["health-listen"]] | index(":\($n)") | not) | "nothing listens on \($n)"),
  ($own_monitors[] | . as $m | select(any($services[]; .metadata.labels as $l | ($m.spec.selector.matchLabels | covers($l)) and ([.spec.ports[].name] | index($m.spec.endpoints[0].port))) | not) | "the ServiceMonitor finds no Service"),
  ($own_monitors[] | select(.spec.namespaceSelector.matchNames != [$ns]) | "the ServiceMonitor looks elsewhere"),
  (.[] | select(.webhooks) | . as $c | .webhooks[].clientConfig.service as $s | select(any($services[]; .metadata.name == $s.name and .metadata.namespace == $s.namespace and ([.spec.ports[].port] | index($s.port))) | not) | "\($c.kind): no such Service \($s)"),
  (.[] | select(.webhooks and $flags.certs == "self-managed") | select(.metadata.name != $flags["webhook-config-names"]) | "\(.kind) is not among --webhook-config-names"),
  (select($flags.certs == "self-managed" and $flags["service-namespace"] != $ns) | "--service-namespace \($flags["service-namespace"])"),
  (select($flags.certs == "self-managed") | named("Service") | select(map(.metadata.name) | index($flags["service-name"]) | not) | "--service-name \($flags["service-name"])"),
  (select($flags["lease-name"]) | named("Role") | select([.[].rules[] | select(.resources == ["leases"]) | .resourceNames // empty] | flatten | index($flags["lease-name"]) | not) | "no right on the Lease \($flags["lease-name"])"),
  (select($flags["lease-namespace"] // $ns | . != $ns) | "--lease-namespace \($flags["lease-namespace"])"),
  (select($flags.certs == "self-managed") | named("Role")[] | select([.rules[] | select(.resources == ["secrets"]) | .resourceNames // empty] | flatten | index("stackgate-webhook-cert") | not) | "no right on the certificate's Secret"),
  (named("Certificate")[] | select(.spec.secretName == "stackgate-webhook-cert") | select(.spec.dnsNames[0] != "stackgate-gate.\($ns).svc") | "the certificate is for \(.spec.dnsNames)"),
  (select(any($all[]; .kind == "Certificate")) | .[] | select(.webhooks) | select(.metadata.annotations["cert-manager.io/inject-ca-from"] != "\($ns)/stackgate-webhook") | "\(.kind): no CA is injected"),
  (select(any($all[]; .kind == "Certificate")) | named("Certificate") | select(map(.spec.secretName) | index($pod.spec.volumes[0].secret.secretName) | not) | "the mounted Secret is no Certificate's"),
  (named("Certificate")[] | .spec.issuerRef | select(.kind == "Issuer") | .name as $n | select($all | names("Issuer") | index($n) | not) | "no Issuer \($n)"),
  (select($pod.spec.volumes) | select([$container.volumeMounts[].name] != [$pod.spec.volumes[].name]) | "volumes and mounts differ"),
  (select($pod.spec.volumes) | select($flags["tls-cert"] != "\($container.volumeMounts[0].mountPath)/tls.crt") | "--tls-cert is not where the Secret is"),
  (.[] | select(.spec.template.spec.serviceAccountName) | .spec.template.spec.serviceAccountName as $n | select($all | names("ServiceAccount") | index($n) | not) | "no ServiceAccount \($n)"),
  (.[] | select(.roleRef) | . as $b | select(any($all[]; .kind == $b.roleRef.kind and .metadata.name == $b.roleRef.name) | not) | "\(.kind) \(.metadata.name): no such role"),
  (.[] | select(.subjects and (.metadata.name | startswith("stackgate-customizer-") | not)) | . as $b | .subjects[] | . as $s | select(any($all[]; .kind == $s.kind and .metadata.name == $s.name and .metadata.namespace == $s.namespace) | not) | "\($b.metadata.name): no such subject"),
  (.[] | select(.rules) | . as $r | .rules[] | select((.verbs, .resources, .apiGroups) | flatten | index("*")) | select($r.webhooks | not) | "\($r.metadata.name) has a wildcard"),
  (named("NetworkPolicy")[] | . as $p | .spec.ingress[]?, .spec.egress[]? | (.from[]?, .to[]?).podSelector.matchLabels["app.kubernetes.io/component"] // empty | . as $c
    | select($all | names("NetworkPolicy") | index("stackgate-\($c)") | not) | "network policy \($p.metadata.name): no component \($c)"),
  (.[] | select(.metadata.labels["app.kubernetes.io/part-of"] != "stackgate") | "\(.kind) \(.metadata.name) lacks our labels")
] | .[]
