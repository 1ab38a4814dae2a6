#!/usr/bin/env bash
# The tour behind ./dev demo stack --local: all services as processes of this machine, and the way from a dataset in Git to an
# adapter that answers behind rails.
#   stack.sh [--exit]    --exit: ends by itself, as it does where standard output is no terminal
# shellcheck disable=SC2317 # functions that run and must call
# Everything lies in build/demo-stack and is removed at the end; after a failure it stays. Every process is ended.
set -euo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.."
source tests/support/progress.sh
source tests/support/tour.sh
source tests/support/port.sh
source tests/demo/world.sh
source tests/demo/services.sh
source tests/demo/flow.sh
source tests/demo/chapters.sh
repo=$PWD work=$PWD/build/demo-stack bin=$PWD/build/release/bin
stays=1
{ [ "${1:-}" != --exit ] && [ -t 1 ]; } || stays=''
bin=${STACKGATE_BIN:-$bin}
mkdir -p build
exec 9>"$work.lock"
flock -n 9 || die "another demo runs in $work"
services_sweep
rm -rf "$work"
mkdir -p "$work" && chmod 700 "$work"

finish() {
  local status=$?
  trap - EXIT INT TERM HUP
  end_step
  services_end
  if [[ $status =~ ^(0|2|130)$ ]]; then rm -rf "$work"; else echo "  What was made, and the logs: $work" >&2; fi
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

stackgate() { "$bin/stackgate" "$@"; }
began=$(date +%s%N)

printf '\n%sStackgate%s  From a dataset in Git to an adapter that answers behind rails, on this machine alone.\n' "$bold" "$plain"
title "A stack is judged before it runs"
say "crds/samples/stack.yaml has a resource of each kind, as a cluster gets them."
run 'stackgate validate crds/samples/stack.yaml'
echo
say "One broken resource of each kind, and the first two faults that each is told of, with their cure:"
for bad in crds/samples/bad/*.yaml; do
  stackgate validate --output json "$bad" >"$work/verdict" && die "$bad should have been refused"
  printf '\n  %s%s%s  %s\n' "$bold" "$(jq -r '.[0].kind' "$work/verdict")" "$plain" "$(jq -r '"\(map(select(.severity == "error")) | length) faults"' "$work/verdict")"
  jq -r '[.[] | select(.severity == "error")][:2][] | "\(.path): \(.message)\n= \(.fix)"' "$work/verdict" | sed 's/^= /  = /' | wrap 2 4
done

title "The services"
[ -z "$stays" ] || preferred_ports=1
place_services
# start NAME WHAT
start() {
  local at
  at=$(date +%s%N)
  must "stackgate-$1 does not start" service_start "$1"
  printf '  %-12s %-23s %-16s ready after %s\n' "$1" "${address[$1]}" "$2" "$(seconds "$(since "$at")")"
}
say "Each is one process with a folder and SQLite: no cluster, no other server."
echo
start datastore "Git, datasets"
start entitystore "adapters"
start evaluator "scores"
start customizer "fine-tuning"
prepare_git

title "A base model, and a dataset"
push_model
echo
say "From there, complete and checked, to where models are served and trained:"
export DATASTORE_USERNAME=admin DATASTORE_PASSWORD
DATASTORE_PASSWORD=$(admin_password)
stackgate-puller() { "$bin/stackgate-puller" --log-format text "$@" 2>&1 | sed -nE 's/^.* info (the model is complete).* files=([0-9]+) bytes=([0-9]+)$/\1: \2 files, \3 bytes/p; / error /p'; }
run "stackgate-puller --datastore-url ${address[datastore]} --model admin/tiny \\
  --output models/demo/tiny"
unset DATASTORE_USERNAME DATASTORE_PASSWORD
echo
start inference "OpenAI's API"
world_rails "$work/rails"
start guardrail "rails before it"
push_dataset
must "the customizer does not find the base model" within 30 knows_base

chapter_adapter
chapter_question
chapter_score
chapter_rails

title "That was it"
say "From nothing to an adapter behind rails in $(seconds "$(since "$began")")."
[ "$delay" -le 5000 ] || die "the adapter was served $delay ms after the last training step: more than 5 s"
[ -n "$stays" ] || { say "Everything that was started is ended now." && exit 0; }
list_pages
say "The password of admin: cat ${work#"$repo/"}/datastore/secrets/admin-password"
say "Go on: train on rows of your own with the POST above and another name; ask the new adapter by that name at ${address[inference]}/v1/chat/completions. README.md has a page for each service."
echo
trap 'exit 0' INT TERM HUP
say "${bold}Ctrl-C ends all of it.$plain"
# One that ends by itself is a fault.
wait -n "${service_pid[@]}" || true
die "a service has ended by itself"
