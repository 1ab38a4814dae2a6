#!/usr/bin/env bash
# What the operator's pod does: the init containers "migrate" and "init", then the service, with the variables and mounted
# files of reconcile/plan; against PostgreSQL, two replicas at once.
#   DATASTORE=build/release/bin/stackgate-datastore tests/e2e/storage/datastore-init.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
datastore=$(realpath "${DATASTORE:-build/release/bin/stackgate-datastore}")
postgres=$PWD/tests/support/postgres.sh
if ! why=$("$postgres" available 2>&1); then
  echo "skip the operator's init containers: $why"
  exit 0
fi
work=$(mktemp -d)
chmod 755 "$work"
servers=()
# shellcheck disable=SC2317 # by the trap
stop_all() {
  for each in ${servers[@]+"${servers[@]}"}; do
    kill "$each" 2>/dev/null || true
    wait "$each" 2>/dev/null || true
  done
  "$postgres" stop "$work/pg" immediate >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap stop_all EXIT
failures=0
check() { # NAME WANTED GOT
  if [[ $2 == "$3" ]]; then echo "ok $1"; else
    echo "not ok $1: wanted '$2', got '$3'"
    failures=$((failures + 1))
  fi
}

url=$("$postgres" start "$work/pg")
mkdir -p "$work/secrets/"{lfs-jwt,config,init,inline-config}
printf '%s' 0123456789abcdef0123456789abcdef >"$work/secrets/lfs-jwt/jwtSecret"
printf 'export STACKGATE_ANONYMOUS_READ=false\n' >"$work/secrets/config/config_environment.sh"
printf '1Gi' >"$work/secrets/inline-config/STACKGATE_LFS_MAX_FILE"
# shellcheck disable=SC2016 # the script's own variables
printf 'echo "$STACKGATE_DATA_DIR" >>"$STACKGATE_DATA_DIR/script-ran"\n' >"$work/secrets/init/10-note.sh"
export STACKGATE_LISTEN=127.0.0.1:0 STACKGATE_DATA_DIR=$work/data STACKGATE_DATABASE_URL=$url \
  STACKGATE_DATABASE_PASSWORD_FILE=$work/pg/password GIT_ADMIN_USERNAME=git-admin GIT_ADMIN_PASSWORD=very-secret-word \
  STACKGATE_LFS_JWT_SECRET_FILE=$work/secrets/lfs-jwt/jwtSecret \
  STACKGATE_CONFIG_SCRIPT=$work/secrets/config/config_environment.sh STACKGATE_INIT_DIR=$work/secrets/init \
  STACKGATE_INLINE_CONFIG_DIR=$work/secrets/inline-config STACKGATE_DRAIN_WAIT=0s

check 'without its tables it does not serve' 1 "$(timeout 20 "$datastore" >"$work/early" 2>&1 && echo 0 || echo $?)"
check 'and says which command makes them' 1 "$(grep -c migrate "$work/early")"
"$datastore" migrate >"$work/migrate-1" 2>&1 &
first=$!
status=0
"$datastore" migrate >"$work/migrate-2" 2>&1 || status=$?
wait "$first" || status=$?
check 'two replicas migrate at once' 0 "$status"
status=0
"$datastore" init >"$work/init" 2>&1 || status=$?
check "init works" 0 "$status"
"$datastore" init >>"$work/init" 2>&1 || status=$?
check "and again" 0 "$status"
check 'its script ran each time' 2 "$(wc -l <"$work/data/script-ran" | tr -d ' ')"
printf 'exit 3\n' >"$work/secrets/init/20-fails.sh"
check 'a script that fails fails it' 1 "$("$datastore" init >"$work/init" 2>&1 && echo 0 || echo $?)"
check 'and is named' 1 "$(grep -c '20-fails.sh ended with status 3' "$work/init")"
check 'no secret was made beside those given' false "$([[ -e $work/data/secrets ]] && echo true || echo false)"

for replica in 1 2; do
  "$datastore" >"$work/log-$replica" 2>&1 &
  servers+=($!)
done
base() { grep -a -o 'http://127.0.0.1:[0-9]*' "$work/log-$1" | tail -1; }
for replica in 1 2; do
  for _ in $(seq 600); do
    address=$(base $replica || true)
    [[ -n $address ]] && curl -fsS -o "$work/body" "$address/v1/health" 2>/dev/null && break
    sleep 0.1
  done
  check "replica $replica is healthy" '{"status":"pass"}' "$(cat "$work/body" 2>/dev/null)"
done
status_of() { curl -sS -o "$work/body.$BASHPID" -w "%{http_code}" "$@"; }
admin=git-admin:very-secret-word
check 'one replica makes a repository' 201 "$(status_of -u $admin -H 'Content-Type: application/json' -d '{"name":"x"}' "$(base 1)/api/v1/user/repos")"
check 'the other shows it at once' 200 "$(status_of -u $admin "$(base 2)/api/v1/repos/git-admin/x")"
check 'the configuration script was read' 401 "$(status_of "$(base 2)/api/v1/repos/git-admin/x")"
for i in 1 2 3 4 5 6; do
  status_of -u $admin -H 'Content-Type: application/json' -d '{"name":"race"}' "$(base $((i % 2 + 1)))/api/v1/user/repos" >"$work/race-$i" &
  races[i]=$!
done
wait "${races[@]}"
check 'of six who make one name one wins' '201 409 409 409 409 409' "$(for i in 1 2 3 4 5 6; do cat "$work/race-$i"; echo; done | sort | tr '\n' ' ' | sed 's/ $//')"
check 'no secret stands in the logs' 0 "$(cat "$work"/log-* "$work/init" | grep -c -e very-secret -e 0123456789abcdef || true)"
exit $((failures > 0))
