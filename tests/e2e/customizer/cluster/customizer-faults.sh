#!/usr/bin/env bash
# What customizations meet when what two replicas need is away for a while: the API server, PostgreSQL, the datastore, the
# entitystore. They go on afterwards, show why they wait, and no stage runs twice.
# shellcheck disable=SC2154,SC2317 # what the library sets; functions that check calls
set -euo pipefail
suite_limit=300
# shellcheck source=tests/e2e/customizer/cluster/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
needs_database
prepare || exit 1
give_role '{type: gang}' || exit 1
make_setup '{"type":"gang"}'
start_database || exit 1
start_two || exit 1
long='"max_steps":1200,"checkpoint_interval":20'
kill_hard() { kill -9 "$@" && { wait "$@" || true; } 2>/dev/null; }
stage_message() { record "$1" | jq -r ".status_details.stages[$2].message"; }
stage_has() { [[ $(stage_message "$1" "$2") == *"$3"* ]]; }
shows() { within 30 stage_has "$@" || { record "$1" | jq -c .status_details.stages && return 1; }; }
# at_least SECONDS SINCE: until so many have passed
at_least() { sleep $(($1 - (SECONDS - $2) > 0 ? $1 - (SECONDS - $2) : 0)); }
answers() { same "$1" "$(status "${@:2}")"; }

# --- The API server, for ten seconds: one that trains goes on training, one that is new waits to begin.
url=$one
check "one is created" is_created "$(body trains '' "$long")"
url=$two
check "and trains" within 40 has_steps trains 20
"$kube_tests/down.sh" "$control" apiserver
left=$SECONDS
steps=$(record trains | jq .status_details.steps_completed)
check "the API server is away: records are read, and the training reports" within 10 has_steps trains $((steps + 10))
check "one is created all the same" is_created "$(body new '' '"max_steps":2')"
check "and shows why it does not begin" waits new "it cannot begin yet"
kill_hard "$one_pid" "$two_pid"
start_two || exit 1
check "replicas that never reached it take one, too" is_created "$(body cold '' '"max_steps":2')"
check "and show why it does not begin" waits cold "first lists are not complete yet"
at_least 10 "$left"
"$kube_tests/up.sh" "$control" apiserver >/dev/null 2>&1
check "the API server is back: what trained is completed, each stage once" ends_so trains
check "and so is what waited" ends_so new
check "and what came before the first lists" ends_so cold

# --- PostgreSQL, for five seconds: nothing is taken or shown, what trains goes on and ends, and none of it is lost.
url=$one
check "two are created, at the first" is_created "$(body long '' "$long")"
url=$two
check "and at the second" is_created "$(body short '' '"max_steps":300,"checkpoint_interval":20')"
check "both train" within 40 has_steps long 5
check "the shorter, too" within 40 has_steps short 5
short_pod=$(id_of short)-training-1-trainer-0
"$postgres" stop "$scratch/postgres"
left=$SECONDS
for each in "$one" "$two"; do
  check "PostgreSQL is away: records are not read" answers 503 "$each/v1/customizations/long"
  check "which is said in words" jq -e '.detail | test("database")' "$scratch/answer"
  check "nothing is taken" answers 503 --json "$(body unseen)" "$each/v1/customizations"
  check "with words, too" jq -e '.detail | test("database")' "$scratch/answer"
  check "it lives" answers 200 "$each/v1/health/live"
  check "and is not ready" within 15 answers 503 "$each/v1/health/ready"
done
has_succeeded() { [ "$(k get pod "$1" -o 'jsonpath={.status.phase}')" = Succeeded ]; }
check "the shorter training ends meanwhile" within 30 has_succeeded "$short_pod"
at_least 5 "$left"
"$postgres" start "$scratch/postgres" >/dev/null
check "PostgreSQL is back: the shorter is completed, each stage once" ends_so short
check "with all of its curve" same "300 300" "$(points short)"
check "and so is the longer" ends_so long
check "with all of its curve, too" same "1200 1200" "$(points long)"
for each in "$one" "$two"; do check "a replica is ready again, without a restart" within 10 answers 200 "$each/v1/health/ready"; done

# --- The datastore: what is new cannot be looked at; what downloads tries again.
touch "$standin/still"
url=$one
check "one is created" is_created "$(body downloads '' '"max_steps":2')"
kill_hard "$datastore_pid"
for each in "$one" "$two"; do
  check "the datastore is away: nothing is taken that cannot be looked at" answers 503 --json "$(body unseen)" "$each/v1/customizations"
done
rm "$standin/still"
check "a download that fails is tried again, and shows why" shows downloads 0 "it is tried again (1 of 3)"
start_datastore || exit 1
url=$two
check "the datastore is back: it is completed" becomes downloads completed
check "trained and uploaded once" test "$(stage downloads 1 attempts) $(stage downloads 2 attempts)" = "1 1"

# --- The entitystore, at the upload: tried again, never trained again.
check "one is created" is_created "$(body uploads '' "$long")"
check "and trains" within 40 has_steps uploads 20
kill_hard "$entitystore_pid"
check "the entitystore is away: the upload is tried again, and shows why" shows uploads 2 "it is tried again (1 of 3)"
start_entitystore || exit 1
url=$one
check "the entitystore is back: it is completed" becomes uploads completed
check "downloaded and trained once" test "$(stage uploads 0 attempts) $(stage uploads 1 attempts)" = "1 1"
check "the adapters are ready" bash -c "curl -s '$entitystore/v1/adapters' | jq -e '[.adapters[] | select(.status == \"ready\")] | length == 7'"

# Of all of it, whichever replica made it.
check "only what could not download or upload began again" same "download-2 upload-2" "$(second_attempts | sed -E 's/.*-(download|upload)/\1/' | sort | xargs)"
owners() { k get pods -o json | jq -r '.items[].metadata.ownerReferences[].name' | sort; }
check "no Job ran twice" same "$(k get vcjob,jobs.batch -o json | jq -r '.items[].metadata.name' | sort)" "$(owners)"
check "both took reports" bash -c "(( $(reports "$one") > 0 && $(reports "$two") > 0 ))"
exit "$failed"
