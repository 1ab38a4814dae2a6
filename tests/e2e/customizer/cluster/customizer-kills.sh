#!/usr/bin/env bash
# A customizer on Volcano that is killed at its writes, to the database and to the API server: the same end, each stage once.
# CUSTOMIZER_WRITES=all kills it at each of them, one after the other; other values are a list of numbers.
# shellcheck disable=SC2154,SC2317 # what the library sets; functions that check calls
set -euo pipefail
writes=${CUSTOMIZER_WRITES:-2 5 8 11 14}
[ "$writes" != all ] || suite_limit=900
# shellcheck source=tests/e2e/customizer/cluster/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
prepare || exit 1
give_role '{type: gang}' || exit 1
make_setup '{"type":"gang"}'

is_killed() { ! kill -0 "$customizer_pid" 2>/dev/null; }
has_ended() { is_killed || is_in "$1" completed; }
killed=0
# kill_at WRITE: fails where there is no such write
kill_at() {
  STACKGATE_FAIL_POINT=any:$1 customizer_binary=$bin/customizer_fail_points start_clustered || exit 1
  check "one is created, to be killed at write $1" is_created "$(body "write-$1" '' '"max_steps":2')"
  within 40 has_ended "write-$1" || true
  if ! is_killed; then
    stop_customizer
    return 1
  fi
  { wait "$customizer_pid" || true; } 2>/dev/null
  killed=$((killed + 1))
  start_clustered || exit 1
  check "killed there, it ends as if it were not" ends_so "write-$1"
  stop_customizer
}
if [ "$writes" = all ]; then
  point=1
  while kill_at "$point"; do point=$((point + 1)); done
  check "there are writes" test "$killed" -ge 16
else
  echo "killed at the writes $writes; CUSTOMIZER_WRITES=all kills at each"
  for point in $writes; do kill_at "$point" || { echo "not ok there is a write $point" && failed=1; }; done
fi
echo "killed at $killed writes"
check "no stage has objects twice" same "" "$(second_attempts)"
check "nothing that it did was forbidden" bash -c "! grep -i forbidden '$scratch/customizer.log'"
exit "$failed"
