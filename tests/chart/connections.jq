# The chart's NetworkPolicies of one namespace in (slurped); "COMPONENT COMPONENT PORT" a line for each connection between our pods that
# both ends allow.
def components: [.podSelector.matchLabels["app.kubernetes.io/component"] | values];
map(select(.kind == "NetworkPolicy" and (.metadata.name | startswith("stackgate-")))) as $policies |
[$policies[] | .spec.podSelector.matchLabels["app.kubernetes.io/component"] as $from | .spec.egress[]? | select(.to) | .ports as $ports |
  .to[] | components[] as $to | ($ports // [{port: "any"}])[] | "\($from) \($to) \(.port)"] as $out |
[$policies[] | .spec.podSelector.matchLabels["app.kubernetes.io/component"] as $to | .spec.ingress[]? | .ports as $ports |
  (if .from then .from[] | components[] else "*" end) as $from | ($ports // [{port: "any"}])[] | "\($from) \($to) \(.port)"] as $in |
$out | unique[] | select(. as $each | $in | any(. == $each or . == ($each | sub("^[^ ]+"; "*"))))
