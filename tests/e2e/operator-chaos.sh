#!/usr/bin/env bash
# What passes between the operator and the API server is spoilt: 409, 410, 429 with Retry-After, 500, 503, resets, half
# answers, lost answers, stalls. Fifty seeds; each must end where an undisturbed run ends, with bounded requests.
#   CHAOS_SEEDS=1000 (how many)  CHAOS_FIRST=17 (the first)  CHAOS_RATE=0.2 (share of requests)
source "$(dirname "$(realpath "$0")")/lib.sh"
source "$here/operator/scenario.sh"

optional_apis || not_ok "the optional APIs can be installed"
scenario_admitted
logs=$state/$script && mkdir -p "$logs"
disturb() { # SCENARIO COMMAND ARGUMENT...
  "$chaos" "${@:2}" --operator "$gate_binary" --kubeconfig "$state/kubeconfig" --scenario "$1" --scratch "$logs" \
    --first "${CHAOS_FIRST:-1}" --patience "${CHAOS_PATIENCE:-90}"
}
# The long run mostly waits: beside the others it costs no time of its own.
{ scenario_before && scenario_create && scenario_swing; } >"$scratch/long"
disturb "$scratch/long" leak "${claims_create[@]}" --rate 0.3 --rounds "${CHAOS_ROUNDS:-10}" --flag=--no-leader-elect >"$scratch/leak.out" &
leak=$!
# Half of the scenario is enough for each seed: what is made, changed and taken away.
{ scenario_before && scenario_create && scenario_update; } >"$scratch/scenario"
disturb "$scratch/scenario" faults "${claims_create[@]}" "${claims_update[@]}" --rate "${CHAOS_RATE:-0.1}" --seeds "${CHAOS_SEEDS:-50}" \
  --parallel "${CHAOS_PARALLEL:-8}" --flag=--lease-seconds=3 --flag=--renew-seconds=2 --flag=--retry-seconds=1 || checks_failed=1
wait "$leak" || checks_failed=1
cat "$scratch/leak.out"
