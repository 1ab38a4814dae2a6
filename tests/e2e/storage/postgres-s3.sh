#!/usr/bin/env bash
# The clients' scripts as they are, this time over PostgreSQL and a Ceph gateway: each gets a database and a bucket of its
# own and is told of them by environment variables. What lies in SQLite and a directory otherwise lies there.
#   DATASTORE=build/release/bin/stackgate-datastore tests/e2e/storage/postgres-s3.sh [SCRIPT…]
set -euo pipefail
# shellcheck source=tests/e2e/storage/lib.sh
source "$(dirname "$(realpath "$0")")/lib.sh"
home=$HOME
storage_unmigrated=1 storage_begin postgres-s3
# Their own settings count, not ours.
unset GIT_ADMIN_USERNAME GIT_ADMIN_PASSWORD STACKGATE_LFS_JWT_SECRET STACKGATE_LOG_FORMAT STACKGATE_DATA_DIR
server_url=$STACKGATE_DATABASE_URL
admin_psql() { PGPASSWORD=$STACKGATE_DATABASE_PASSWORD psql -q "$server_url" -c "$1"; }
make_bucket() {
  python3 - "http://$STACKGATE_S3_ENDPOINT" "$S3_ACCESS_KEY" "$S3_SECRET_KEY" "$STACKGATE_S3_REGION" "$1" <<'PY'
import sys, boto3
from botocore.config import Config
endpoint, access_key, secret_key, region, bucket = sys.argv[1:]
boto3.client("s3", endpoint_url=endpoint, aws_access_key_id=access_key, aws_secret_access_key=secret_key, region_name=region,
             config=Config(s3={"addressing_style": "path"})).create_bucket(Bucket=bucket)
PY
}

# over NAME [VARIABLE=VALUE…] -- COMMAND…: its lines, with NAME before them
over() {
  local name=$1 variables=() status=0
  shift
  while [ "$1" != -- ]; do variables+=("$1") && shift; done
  shift
  local word=${name//[^a-z0-9]/-}
  admin_psql "CREATE DATABASE \"$word\""
  make_bucket "$word"
  STACKGATE_DATABASE_URL="${server_url%/*}/$word" "$datastore_binary" migrate >/dev/null 2>&1
  env HOME="$home" STACKGATE_DATABASE_URL="${server_url%/*}/$word" STACKGATE_S3_BUCKET="$word" DATASTORE="$(realpath "$datastore_binary")" "${variables[@]}" \
    "$@" >"$state/$word.log" 2>&1 || status=$?
  sed -nE "s#^(ok|not ok|skip) #\\1 $name: #p" "$state/$word.log"
  if ((status != 0)); then
    failed_checks=$((failed_checks + 1))
    grep -q '^not ok ' "$state/$word.log" || echo "not ok $name: ended with $status"
    tail -n 15 "$state/$word.log" | cut -c1-300 | sed 's/^/  | /' >&2
  fi
}

scripts=("$@")
((${#scripts[@]} > 0)) || scripts=(git gitea-api lfs hub)
for script in "${scripts[@]}"; do
  case $script in
    # They look at the datastore's own links and entity tags; lfs.sh --s3 looks at S3's.
    lfs | hub) over "$script" STACKGATE_S3_SERVE_DIRECT=false -- "$storage_here/$script.sh" ;;
    *) over "$script" -- "$storage_here/$script.sh" ;;
  esac
done
((failed_checks == 0)) || exit 1
