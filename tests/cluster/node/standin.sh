#!/usr/bin/env bash
# Makes stand-in workload images (standin.c): one archive for each name given, all of the same program.
#   standin.sh OUT_DIR NAME:TAG...      prints the archives' paths
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
out=$(realpath -m "${1:?usage: standin.sh OUT_DIR NAME:TAG...}")
shift
root=$out/standin.root
rm -rf "$root"
mkdir -p "$root/tmp"
chmod 1777 "$root/tmp"
gcc -std=gnu11 -O1 -Wall -Wextra -Werror -static -s -o "$root/standin" "$here/standin.c"
for name; do
  file=$out/$(tr '/:' '--' <<<"$name").tar
  "$here/../oci-archive.sh" "$name" "$root" "$file" '{"Entrypoint": ["/standin"], "User": "65532:65532"}'
  echo "$file"
done
rm -rf "$root"
