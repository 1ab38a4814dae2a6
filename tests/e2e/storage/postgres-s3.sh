#!/usr/bin/env bash
# The clients' scripts that know nothing of legs, over PostgreSQL and a Ceph gateway: each gets a database and a bucket of
# its own and is told of them by environment variables.
#   DATASTORE=build/release/bin/stackgate-datastore tests/e2e/storage/postgres-s3.sh [SCRIPT…]
set -euo pipefail
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
home=$HOME
storage_begin postgres-s3
# Their own settings count, not ours.
unset GIT_ADMIN_USERNAME GIT_ADMIN_PASSWORD STACKGATE_LFS_JWT_SECRET STACKGATE_LOG_FORMAT STACKGATE_DATA_DIR

# over SCRIPT: its lines, with its name before them
over() {
  local status=0
  STACKGATE_DATA_DIR=$state/none fresh_place
  HOME=$home DATASTORE=$(realpath "$datastore_binary") "$storage_here/$1.sh" >"$state/$1.log" 2>&1 || status=$?
  sed -nE "s#^(ok|not ok|skip) #\\1 $1: #p" "$state/$1.log"
  if ((status != 0)); then
    failed_checks=$((failed_checks + 1))
    grep -q '^not ok ' "$state/$1.log" || echo "not ok $1: ended with $status"
    tail -n 15 "$state/$1.log" | cut -c1-300 | sed 's/^/  | /' >&2
  fi
}
scripts=("$@")
((${#scripts[@]} > 0)) || scripts=(git gitea-api)
for script in "${scripts[@]}"; do over "$script"; done
((failed_checks == 0)) || exit 1
