#!/usr/bin/env bash
# The operator is killed at each of its writes, in turns before the answer reaches it and after, and started again: it must
# end where an undisturbed run ends. CRASH_BOTH=1 kills at each write in both ways; CRASH_EVERY=N takes each N-th only.
source "$(dirname "$(realpath "$0")")/lib.sh"
source "$here/operator/scenario.sh"

optional_apis || not_ok "the optional APIs can be installed"
scenario_admitted
{ scenario_before && scenario_create && scenario_update && scenario_drift; } >"$scratch/scenario"
logs=$state/$script && mkdir -p "$logs"
how=(--alternate)
[ -z "${CRASH_BOTH:-}" ] || how=()
"$chaos" crash "${how[@]}" "${claims_create[@]}" "${claims_update[@]}" --operator "$gate_binary" --kubeconfig "$state/kubeconfig" --scenario "$scratch/scenario" --scratch "$logs" \
  --flag=--no-leader-elect --parallel "${CRASH_PARALLEL:-6}" --every "${CRASH_EVERY:-1}" --patience "${CRASH_PATIENCE:-60}" || checks_failed=1
