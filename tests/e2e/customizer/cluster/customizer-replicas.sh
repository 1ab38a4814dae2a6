#!/usr/bin/env bash
# Two stackgate-customizers on one PostgreSQL and one cluster: they share what is to be done, take reports of all trainers, and one
# goes on with what the other held when it was killed, at whichever of its writes (CUSTOMIZER_WRITES="1 2 3" names others). No
# stage runs twice.
# shellcheck disable=SC2154,SC2317 # what the library sets; functions that check calls
set -euo pipefail
suite_limit=420
writes=${CUSTOMIZER_WRITES:-1 4 7 10 13}
# shellcheck source=tests/e2e/customizer/cluster/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
needs_database
prepare || exit 1
give_role '{type: gang}' || exit 1
make_setup '{"type":"gang"}'
start_database || exit 1
start_two || exit 1

for i in 1 2 3; do
  url=$one
  check "one is created at the first, $i" is_created "$(body "first-$i")"
  url=$two
  check "and at the second" is_created "$(body "second-$i")"
done
check "a name is taken at both" bash -c "curl -s -o /dev/null -w '%{http_code} ' --json '$(body both)' '$one/v1/customizations' & curl -s -o /dev/null -w '%{http_code} ' --json '$(body both)' '$two/v1/customizations' & wait; true"
check "once" same "201 409" "$(tr ' ' '\n' <"$scratch/out" | sort | xargs)"
for i in 1 2 3; do
  url=$two
  check "the first's, at the second, $i" ends_so "first-$i"
  url=$one
  check "the second's, at the first" ends_so "second-$i"
done
check "and that one" ends_so both
check "each step is counted once" same "20 20" "$(points first-1)"
check "both took reports" bash -c "(( $(reports "$one") > 0 && $(reports "$two") > 0 ))"

url=$two
long='"max_steps":600,"checkpoint_interval":200'
for i in 1 2 3 4; do
  check "a long one, $i" is_created "$(body "long-$i" '' "$long")"
done
for i in 1 2 3 4; do check "trains, $i" within 40 has_steps "long-$i" 5; done
event() { printf '{"event":"step","job_id":"%s","step":%s,"max_steps":600,"loss":1}' "$(id_of long-1)" "$1"; }
token=$(k get secret "$(id_of long-1)" -o 'jsonpath={.data.token}' | base64 -d)
post() { curl -s -o "$scratch/answer" -w '%{http_code}' -H "Authorization: Bearer $token" --json "$2" "http://127.0.0.1:$1/v1/customizations/$(id_of long-1)/progress"; }
check "either takes the report of a step" same "204 204" "$(post "$callback_one" "$(event 3)") $(post "$callback_two" "$(event 3)")"
counts_once() { [ "$(points long-1 | awk '{ print $1 == $2 }')" = 1 ]; }
check "and counts none that is known" counts_once
kill -9 "$one_pid"
{ wait "$one_pid" || true; } 2>/dev/null
held() { sql "SELECT count(*) FROM customization WHERE owner = 'one' AND settled = 0 AND state IN ('created', 'pending', 'running', 'cancelling')"; }
is_taken_over() { [ "$(held)" = 0 ]; }
check "the first is killed, and the second takes over what it held" within 15 is_taken_over
for i in 1 2 3 4; do
  check "it ends, each stage in one attempt, $i" ends_so "long-$i"
  check "with all of its curve, $i" same "600 600" "$(points "long-$i")"
done
start_clustered one || exit 1
check "the first comes back" is_created "$(body again)"
url=$two
check "and works" ends_so again

# Killed at its writes, to the database and to the API server, while the second is there: that goes on with what was begun.
stop_customizer
killed=0
is_killed() { ! kill -0 "$customizer_pid" 2>/dev/null; }
has_ended() { is_killed || is_in "$1" completed; }
for point in $writes; do
  STACKGATE_FAIL_POINT=any:$point customizer_binary=$bin/customizer_fail_points start_clustered one || exit 1
  check "one is created, to be killed at write $point" is_created "$(body "write-$point" '' '"max_steps":2')"
  url=$two
  { within 40 has_ended "write-$point" || true; } 2>/dev/null # and the shell's word of its end
  if is_killed; then
    killed=$((killed + 1))
    { wait "$customizer_pid" || true; } 2>/dev/null
  else # the second has claimed it before
    stop_customizer
  fi
  check "it ends, each stage in one attempt" ends_so "write-$point"
done
echo "killed at $killed of the writes $writes" # the others were the second's
check "the first was killed at most of its writes" test "$((killed * 2))" -gt "$(wc -w <<<"$writes")"
check "no stage has objects twice" same "" "$(second_attempts)"
check "nothing that they did was forbidden" bash -c "! grep -i forbidden '$scratch/customizer.log'"
exit "$failed"
