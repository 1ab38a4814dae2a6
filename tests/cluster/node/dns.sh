#!/usr/bin/env bash
# Cluster DNS inside a node: dnsmasq, told of Services and endpoints as they change.
#   dns.sh KUBECONFIG ADDRESS
# Answers NAME.NAMESPACE.svc.cluster.local with the Service's address, of a headless Service with its pods' addresses, and
# HOSTNAME.NAME.NAMESPACE.svc.cluster.local for a pod with a host name in one.
set -uo pipefail
export KUBECONFIG=$1
hosts=/run/dns.hosts
: >"$hosts"
dnsmasq --keep-in-foreground --conf-file=/dev/null --user=root --pid-file= --no-resolv --no-hosts --addn-hosts="$hosts" \
  --listen-address="$2" --bind-interfaces --local=/cluster.local/ --local-ttl=1 --no-negcache &
server=$!
trap 'kill $(jobs -p) 2>/dev/null' EXIT

write_hosts() {
  kubectl get services,endpoints -A -o json | jq -r '
    (.items | map(select(.kind == "Service"))) as $services |
    ($services | map(select(.spec.clusterIP == "None") | .metadata | .namespace + "/" + .name)) as $headless |
    def zone: .metadata | "\(.name).\(.namespace).svc.cluster.local";
    ($services[] | select((.spec.clusterIP // "None") != "None") | "\(.spec.clusterIP) \(zone)"),
    (.items[] | select(.kind == "Endpoints" and (.metadata | .namespace + "/" + .name | IN($headless[]))) | zone as $zone |
      .subsets[]?.addresses[]? | "\(.ip) \($zone)", (select(.hostname) | "\(.ip) \(.hostname).\($zone)"))' | sort -u >"$hosts.new" &&
    [ -s "$hosts.new" ] && ! cmp -s "$hosts.new" "$hosts" && cat "$hosts.new" >"$hosts" && kill -HUP "$server"
}

while kill -0 "$server"; do
  # One line for each change; what comes within a fifth of a second is one change.
  { kubectl get services -A --watch -o name & kubectl get endpoints -A --watch -o name & wait -n; kill %% ; } 2>/dev/null |
    while read -r _; do
      while read -t 0.2 -r _; do :; done
      write_hosts
    done
  sleep 1 # the API server went away
done
