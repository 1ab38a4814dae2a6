#!/usr/bin/env bash
# The compiled schema checker against the API server's own verdicts: server-side dry runs of a few thousand generated
# objects, valid and mutated, of all eight kinds; where the server evaluates CEL rules, against the rule book, too.
source "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/lib.sh"
objects=${SCHEMA_ORACLE_OBJECTS:-40}
program=${SCHEMA_ORACLE:-$repo/build/release/bin/schema_oracle}

check "schema_oracle is built" test -x "$program"
start "$script-proxy" "$KUBECTL" --kubeconfig "$state/kubeconfig" proxy --port=0
proxy_port() { sed -nE 's/^Starting to serve on 127\.0\.0\.1:([0-9]+)$/\1/p' "$state/$script-proxy.log" | grep .; }
check "kubectl proxy serves" until_true 10 proxy_port
"$program" "http://127.0.0.1:$(proxy_port)" "$ns" "$objects" >"$scratch/verdicts" || checks_failed=$((checks_failed + 1))
cat "$scratch/verdicts"
[ "${control_plane:-}" != current ] || says "it was a server with CEL rules" 'evaluates CEL rules' cat "$scratch/verdicts"
