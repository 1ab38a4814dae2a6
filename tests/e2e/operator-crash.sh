#!/usr/bin/env bash
# The operator is killed at each of its writes, once before the answer reaches it and once after, and started again: it must
# end where an undisturbed run ends. CRASH_EVERY=N takes each N-th write only.
source "$(dirname "$(realpath "$0")")/lib.sh"
source "$here/operator/scenario.sh"

optional_apis || not_ok "the optional APIs can be installed"
{ scenario_before && scenario_create && scenario_update && scenario_drift; } >"$scratch/scenario"
logs=$state/$script && mkdir -p "$logs"
"$chaos" crash --operator "$gate_binary" --kubeconfig "$state/kubeconfig" --scenario "$scratch/scenario" --scratch "$logs" \
  --flag=--no-leader-elect --parallel "${CRASH_PARALLEL:-6}" --every "${CRASH_EVERY:-1}" --patience "${CRASH_PATIENCE:-60}" || checks_failed=1
