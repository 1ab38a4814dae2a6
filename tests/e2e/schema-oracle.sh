#!/usr/bin/env bash
# The compiled schema checker against the API server's own verdicts: server-side dry runs of a few thousand generated
# objects, valid and mutated, of all eight kinds. current/schema-oracle.sh is this script on the current server.
source "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/lib.sh"
mode=${SCHEMA_ORACLE_MODE:-pruning} objects=${SCHEMA_ORACLE_OBJECTS:-40}
program=${SCHEMA_ORACLE:-$repo/build/release/bin/schema_oracle}

check "schema_oracle is built" test -x "$program"
start "$script-proxy" "$KUBECTL" --kubeconfig "$state/kubeconfig" proxy --port=0
proxy_port() { sed -nE 's/^Starting to serve on 127\.0\.0\.1:([0-9]+)$/\1/p' "$state/$script-proxy.log" | grep .; }
check "kubectl proxy serves" until_true 10 proxy_port
"$program" "http://127.0.0.1:$(proxy_port)" "$ns" "$mode" "$objects" || checks_failed=$((checks_failed + 1))
