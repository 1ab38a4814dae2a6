#!/usr/bin/env bash
# Without cert-manager: two replicas agree on one authority in a Secret, and keep caBundle right.
source "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/lib.sh"
json "$samples/minimal/stackguardrails.yaml" >"$scratch/good.json"
jq "$gate_fault" "$scratch/good.json" >"$scratch/bad.json"
secret=stackgate-webhook-cert

kube -n stackgate-system delete secret "$secret" --ignore-not-found >/dev/null
kube apply -f - >/dev/null <<'YAML'
apiVersion: v1
kind: Service
metadata: {name: stackgate-gate, namespace: stackgate-system}
spec: {type: ExternalName, externalName: localhost}
YAML
install_webhooks 1 service Ignore >/dev/null

# Both at once: they race for the Secret.
start_gate "$script-a" --certs self-managed --kubeconfig "$state/gate.kubeconfig" &
first=$!
start_gate "$script-b" --certs self-managed --kubeconfig "$state/gate.kubeconfig"
same "the second replica becomes ready" 0 "$?"
port_b=$gate_port
wait "$first"
same "the first replica becomes ready" 0 "$?"
read -r port_a _ <"$state/$script-a.ports"

authority() { kube -n stackgate-system get secret "$secret" -o json | jq -r '.data | to_entries[] | select(.key | . == "ca.crt") | .value'; }
bundle() { kube get "$1webhookconfiguration" stackgate-gate -o jsonpath='{.webhooks[0].clientConfig.caBundle}'; }
check "one Secret holds the authority" test -n "$(authority)"
filled() { [ -n "$(bundle validating)" ] && [ "$(bundle validating)" = "$(bundle mutating)" ]; }
check "caBundle is filled in both configurations" until_true 20 filled
bundle validating | base64 -d >"$scratch/ca.crt"
for port in "$port_a" "$port_b"; do
  # A 405 is an answer too: what counts is that the certificate was believed.
  check "the replica on $port is trusted under the Service's name" curl -sS --noproxy '*' --max-time 5 --cacert "$scratch/ca.crt" \
    --connect-to "stackgate-gate.stackgate-system.svc:443:127.0.0.1:$port" -o /dev/null https://stackgate-gate.stackgate-system.svc/
  install_webhooks "$port" service Fail >/dev/null
  kube patch validatingwebhookconfiguration stackgate-gate --type json -p '[{"op":"remove","path":"/webhooks/0/clientConfig/caBundle"}]' >/dev/null
  check "… caBundle comes back when somebody wipes it" until_true 30 filled
  refuses() { ! dry_run "$scratch/bad.json" >"$scratch/words" && grep -qF "$gate_fault_field" "$scratch/words"; }
  check "the API server is refused through the replica on $port" until_true 15 refuses
  check "… and accepted" dry_run "$scratch/good.json"
done

# The Secret is lost; no call fails meanwhile.
load 12 "$scratch/good.json" >"$scratch/codes" &
loader=$!
sleep 1
kube -n stackgate-system delete secret "$secret" >/dev/null
there_again() { [ -n "$(authority)" ]; }
check "a lost Secret is made again" until_true 60 there_again
wait "$loader"
same "of 600 calls none failed meanwhile" "600 201" "$(cat "$scratch/codes")"

# A replica goes; the other one holds.
stop "$script-a"
check "with one replica left resources still pass" dry_run "$scratch/good.json"
refused "… or not" "$gate_fault_field" dry_run "$scratch/bad.json"

# A process ends in order: nothing of it outlives the client that it uses.
gone() { ! kill -0 "$ending"; }
for command in gate operator; do
  "$gate_binary" "$command" --certs self-managed --kubeconfig "$state/gate.kubeconfig" --listen 127.0.0.1:0 \
    --metrics-listen 127.0.0.1:0 --health-listen 127.0.0.1:0 --drain-seconds 0 >"$scratch/ending" 2>&1 &
  ending=$!
  check "stackgate $command keeps its own certificates" until_true 20 grep -q '"gate serves"' "$scratch/ending"
  kill "$ending"
  until_true 20 gone || kill -KILL "$ending"
  wait "$ending"
  same "… and ends with 0" 0 "$?"
done
