#!/usr/bin/env bash
# The object stores' suite against a real Ceph gateway, and what becomes of a store whose server dies, hangs and returns.
#   OBJECTS_TESTS=build/release/bin/kit_objects_tests tests/e2e/storage/objects-rgw.sh
set -euo pipefail
here=$(dirname "$(realpath "$0")")
tests=${OBJECTS_TESTS:-$here/../../../build/release/bin/kit_objects_tests}
rgw=$here/../../support/rgw.sh
command -v radosgw >/dev/null || { echo "skip the stores on Ceph: install radosgw, ceph-mon, ceph-osd" && exit 0; }
[ -x "$tests" ] || { echo "not ok $tests is there" && exit 1; }
state=$(mktemp -d)
# shellcheck disable=SC2317 # called by the trap
finish() {
  "$rgw" stop "$state/rgw" || true
  rm -rf "$state"
}
trap finish EXIT
trap 'exit 130' INT TERM

facts=$("$rgw" start "$state/rgw") || { echo "not ok a Ceph gateway starts" && exit 1; }
echo "ok a Ceph gateway starts"
fact() { sed -n "s/^$1=//p" <<<"$facts"; }
STACKGATE_TEST_S3=$(fact endpoint),$(fact access_key),$(fact secret_key),$(fact bucket)
export STACKGATE_TEST_S3

# run NAME FILTER: each test that passed or failed as a line; nothing run is a failure.
run() {
  local out status=0
  out=$(GTEST_OUTPUT='' timeout 300 "$tests" --gtest_filter="$2" 2>&1) || status=$?
  sed -n "s/^\[       OK \] \([^ ]*\).*/ok $1: \1/p; s/^\[  FAILED  \] \([^ ,]*\).* ms)$/not ok $1: \1/p" <<<"$out"
  if ((status != 0)) || ! grep -q '^\[       OK' <<<"$out"; then
    echo "not ok $1 (exit status $status)"
    tail -n 40 <<<"$out" >&2
    return 1
  fi
}

failed=0
run 'store' 'Stores/StoreSuite.*' || failed=1
run 's3' 'S3StoreTest.*:S3Presign.*' || failed=1

"$rgw" kill "$state/rgw"
if STACKGATE_TEST_S3_AWAY=1 run 'server gone' 'S3AwayTest.*'; then :; else failed=1; fi
"$rgw" revive "$state/rgw"
run 'server back' 'Stores/StoreSuite.GivesBackWhatItTook/s3' || failed=1
"$rgw" pause "$state/rgw"
if STACKGATE_TEST_S3_AWAY=1 run 'server hung' 'S3AwayTest.*'; then :; else failed=1; fi
"$rgw" resume "$state/rgw"
run 'server resumed' 'Stores/StoreSuite.GivesBackWhatItTook/s3' || failed=1
exit "$failed"
