#!/usr/bin/env bash
# Certificates from files, replaced as Kubernetes replaces a mounted secret, while the API server keeps calling.
source "$(dirname "$(realpath "$0")")/lib.sh"
json "$samples/minimal/stackguardrails.yaml" >"$scratch/good.json"
gate_up
serial() { openssl s_client -connect "127.0.0.1:$gate_port" </dev/null 2>/dev/null | openssl x509 -noout -serial; }

load 15 "$scratch/good.json" >"$scratch/codes" &
loader=$!
for i in 1 2 3 4; do
  sleep 1
  gate_certificate "$certificates"
  wanted=$(openssl x509 -noout -serial -in "$certificates/tls.crt")
  now() { [ "$(serial)" = "$wanted" ]; }
  check "rotation $i is served without a restart" until_true 15 now
done

# A new authority: both are trusted while the certificate changes hands.
cp -rL "$certificates" "$scratch/old" && rm "$certificates"/ca.*
gate_authority "$certificates"
cat "$scratch/old/ca.crt" "$certificates/ca.crt" >"$scratch/both.crt"
install_webhooks "$gate_port" "$scratch/both.crt" >/dev/null
sleep 1
gate_certificate "$certificates"
wanted=$(openssl x509 -noout -serial -in "$certificates/tls.crt")
check "a certificate of a new authority is served" until_true 15 now
install_webhooks "$gate_port" "$certificates/ca.crt" >/dev/null
wait "$loader"
same "of 750 calls through five rotations none failed" "750 201" "$(cat "$scratch/codes")"

# The pair arrives broken, then torn (certificate first, key a second later).
good=$(serial)
cp "$certificates/tls.key" "$scratch/tls.key" && cp "$certificates/tls.crt" "$scratch/tls.crt"
rm "$certificates/tls.crt" && echo "not a certificate" >"$certificates/tls.crt"
sleep 3
same "a broken certificate never replaces a good one" "$good" "$(serial)"
check "the gate stays ready with the one it has" gate_is_ready "$script"
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=stackgate -keyout "$scratch/new.key" -out "$scratch/new.csr" 2>/dev/null
openssl x509 -req -in "$scratch/new.csr" -CA "$certificates/ca.crt" -CAkey "$certificates/ca.key" -set_serial 0x77aa77 -days 30 \
  -out "$scratch/new.crt" -extfile <(echo subjectAltName=IP:127.0.0.1) 2>/dev/null
cp "$scratch/new.crt" "$certificates/tls.crt"
sleep 2
same "a certificate without its key does not replace the pair" "$good" "$(serial)"
rm "$certificates/tls.key" && cp "$scratch/new.key" "$certificates/tls.key"
wanted=serial=77AA77
check "when the key has come too, both are served" until_true 15 now
check "the API server trusts it" kube -n "$ns" create --dry-run=server --validate=false -f "$scratch/good.json"
says "the expiry is a metric" 'certificate' curl -sS --noproxy '*' "http://127.0.0.1:$gate_metrics/metrics"
