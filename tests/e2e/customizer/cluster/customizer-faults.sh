#!/usr/bin/env bash
# What a customization meets when what it needs is away for a while: the API server, the datastore, the entitystore. It goes
# on afterwards, and shows why it waits.
# shellcheck disable=SC2154,SC2317 # what the library sets; functions that check calls
set -euo pipefail
# shellcheck source=tests/e2e/customizer/cluster/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
prepare || exit 1
give_role '{type: gang}' || exit 1
make_setup '{"type":"gang"}'
start_clustered || exit 1
customizer=$url
long='"max_steps":1200,"checkpoint_interval":20'
has_steps() { [ "$(record "$1" | jq .status_details.steps_completed)" -ge "$2" ]; }
attempts() { record "$1" | jq -r '[.status_details.stages[].attempts] | join(" ")'; }
away() { kill -9 "$1" && { wait "$1" || true; } 2>/dev/null; }
stage_message() { record "$1" | jq -r ".status_details.stages[$2].message"; }
stage_has() { [[ $(stage_message "$1" "$2") == *"$3"* ]]; }
shows() { within 30 stage_has "$@" || { record "$1" | jq -c .status_details.stages && return 1; }; }

# --- The API server, for ten seconds: one that trains goes on training, one that is new waits to begin.
check "one is created" is_created "$(body trains '' "$long")"
check "and trains" within 40 has_steps trains 20
"$kube_tests/down.sh" "$control" apiserver
left=$SECONDS
steps=$(record trains | jq .status_details.steps_completed)
check "the API server is away: records are read, and the training reports" within 10 has_steps trains $((steps + 10))
check "one is created all the same" is_created "$(body new '' '"max_steps":2')"
check "and shows why it does not begin" waits new "it cannot begin yet"
stop_customizer KILL
start_clustered || exit 1
check "a replica that never reached it takes one, too" is_created "$(body cold '' '"max_steps":2')"
check "and shows why it does not begin" waits cold "first lists are not complete yet"
sleep $((10 - (SECONDS - left) > 0 ? 10 - (SECONDS - left) : 0))
"$kube_tests/up.sh" "$control" apiserver >/dev/null 2>&1
check "the API server is back: what trained is completed" becomes trains completed
check "each stage once" same "1 1 1" "$(attempts trains)"
check "what waited is completed" becomes new completed
check "each stage once, too" same "1 1 1" "$(attempts new)"
check "and so is what came before the first lists" becomes cold completed

# --- The datastore: what is new cannot be looked at; what downloads tries again.
touch "$standin/still"
check "one is created" is_created "$(body downloads '' '"max_steps":2')"
away "$datastore_pid"
check "the datastore is away: nothing is taken that cannot be looked at" same 503 "$(status --json "$(body unseen)" "$url/v1/customizations")"
rm "$standin/still"
check "a download that fails is tried again, and shows why" shows downloads 0 "it is tried again (1 of 3)"
start_datastore || exit 1
url=$customizer
check "the datastore is back: it is completed" becomes downloads completed
check "trained once" same 1 "$(stage downloads 1 attempts)"

# --- The entitystore, at the upload: tried again, never trained again.
check "one is created" is_created "$(body uploads '' "$long")"
check "and trains" within 40 has_steps uploads 20
away "$entitystore_pid"
check "the entitystore is away: the upload is tried again, and shows why" shows uploads 2 "it is tried again (1 of 3)"
start_entitystore || exit 1
url=$customizer
check "the entitystore is back: it is completed" becomes uploads completed
check "trained once" same 1 "$(stage uploads 1 attempts)"
check "the adapter is ready" bash -c "curl -s '$entitystore/v1/adapters' | jq -e '[.adapters[] | select(.status == \"ready\")] | length == 5'"
exit "$failed"
