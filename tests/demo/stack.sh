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
repo=$PWD state=$PWD/build/demo-stack bin=$PWD/build/release/bin
stays=1
{ [ "${1:-}" != --exit ] && [ -t 1 ]; } || stays=''
bin=${STACKGATE_BIN:-$bin}
mkdir -p build
exec 9>"$state.lock"
flock -n 9 || die "another demo runs in $state"
services_sweep
rm -rf "$state"
mkdir -p "$state" && chmod 700 "$state"

finish() {
  local status=$?
  trap - EXIT INT TERM HUP
  end_step
  services_end
  if [[ $status =~ ^(0|2|130)$ ]]; then rm -rf "$state"; else echo "  What was made, and the logs: $state" >&2; fi
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

since() { echo "$((($(date +%s%N) - $1) / 1000000))"; }
seconds() { awk -v ms="$1" 'BEGIN { printf "%.1f s", ms / 1000 }'; }
row() { printf '  %-*s %s\n' "${3:-13}" "$1" "$2"; }
# run COMMAND: shown as it is typed, then run; its output within the terminal's width. It must succeed.
run() {
  local words status=0
  printf '\n%s%s%s\n' "$bold" "$(sed '1s/^/  $ /; 2,$s/^/    /' <<<"$1")" "$plain"
  words=$(eval "$1" 2>&1) || status=$?
  printf '%s\n' "$words" | grep -v '^$' | wrap 2 2 || true
  ((status == 0)) || die "that should have succeeded; it ended with status $status"
}
must() { "${@:2}" || die "$1; logs are in $state"; }
stackgate() { "$bin/stackgate" "$@"; }
began=$(date +%s%N)

printf '\n%sStackgate%s  From a dataset in Git to an adapter that answers behind rails, on this machine alone.\n' "$bold" "$plain"
title "A stack is judged before it runs"
say "crds/samples/stack.yaml has a resource of each kind, as a cluster gets them."
run 'stackgate validate crds/samples/stack.yaml'
echo
say "One broken resource of each kind, and the first two faults that each is told of, with their cure:"
for bad in crds/samples/bad/*.yaml; do
  stackgate validate --output json "$bad" >"$state/verdict" && die "$bad should have been refused"
  printf '\n  %s%s%s  %s\n' "$bold" "$(jq -r '.[0].kind' "$state/verdict")" "$plain" "$(jq -r '"\(map(select(.severity == "error")) | length) faults"' "$state/verdict")"
  jq -r '[.[] | select(.severity == "error")][:2][] | "\(.path): \(.message)\n= \(.fix)"' "$state/verdict" | sed 's/^= /  = /' | wrap 2 4
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
say "A model of this machine's own making, which learns a few hundred sentences by heart. It shows the way, not what language models can do."
step "making a base model" "6 to 10 s" demo-stack-tiny make_base
say "It has read $(wc -w <"$state/text") words and has $(jq -sr '.[0].parameters' "$state/make-tiny.steps") weights. It goes to the datastore as any model does, with git and git-lfs:"
new_repository model tiny
cp -r "$state/made" "$state/tiny"
cd "$state/tiny"
run "git init -q && git lfs install --local && git lfs track '*.safetensors'
git add . && git commit -qm 'A base model'
git push -q ${address[datastore]}/admin/tiny main"
cd "$state"
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
world_rails "$state/rails"
start guardrail "rails before it"
world_rows "$state/shop"
new_repository dataset shop
cd "$state/shop"
echo
say "The dataset: questions about a shop, and their answers."
run 'head -2 training/shop.jsonl'
run "git init -q && git add . && git commit -qm 'Questions about the shop'
git push -q ${address[datastore]}/admin/shop main"
echo
row training "$(cat training/*.jsonl | wc -l) conversations"
row validation "$(wc -l <validation/shop.jsonl) conversations"
row evaluation "$(wc -l <evaluation/questions.jsonl) questions that are asked in other words"
cd "$repo"
must "the customizer does not find the base model" within 30 knows_base

title "An adapter is made"
asked="Who is it that runs the shop?"
say "Before: the base model is asked."
row "$asked" "$bold$(question demo/tiny "$asked")$plain" "${#asked}"
body=$(customization_body)
created=$(date +%s%N)
printf '\n%s  $ curl --json \\\n' "$bold"
jq . <<<"$body" | sed "1s/^/'/; \$s/\$/' \\\\/; s/^/    /"
printf '    %s%s\n' "${address[customizer]}/v1/customizations" "$plain"
must "the customization is not accepted" post "${address[customizer]}/v1/customizations" "$body" >/dev/null
shown='' now=''
# follow: until it has ended; on a terminal one line that is rewritten, elsewhere a line for each state
follow() {
  record=$(customization) || return 1
  now=$(jq -r '.status_details | "\(.steps_completed)/\(.max_steps) steps, loss \(.train_loss // 0 | . * 1000 | round / 1000), \(.tokens_per_second // 0 | round) tokens/s"' <<<"$record")
  if [ -t 1 ] && [ "$now" != "$shown" ]; then
    printf '\r\e[K  %s' "$now"
    shown=$now
  fi
  has_ended "$record"
}
must "the customization does not end" within 90 follow
must "the adapter is not served" within 30 is_served shop
served=$(date +%s%N)
[ "$(jq -r .status <<<"$record")" = completed ] || die "the customization is $(jq -r '"\(.status): \(.message)"' <<<"$record")"
[ ! -t 1 ] || printf '\r\e[K'
echo
curl -s "${address[customizer]}/v1/customizations/shop/metrics" >"$state/curves"
jq -r '.metrics | (.train_loss[] | "t \(.step) \(.value)"), (.val_loss[] | "v \(.step) \(.value)")' "$state/curves" |
  awk -v columns=$((width > 72 ? 60 : 44)) -v rows=9 -f tests/demo/curve.awk
echo
jq -r '.status_details.stages[] | "\(.name)|\(.status)"' <<<"$record" | while IFS='|' read -r name what; do row "$name" "$what" 28; done
# The second in which its last step was reported: it is at most this long ago.
last=$(date -d "$(jq -r '.metrics.train_loss[-1].timestamp' "$state/curves")" +%s%N)
delay=$(((served - last) / 1000000))
row "created to completed, served" "$(seconds $(((served - created) / 1000000)))" 28
row "last training step to served" "at most $(seconds $delay)" 28
echo
say "Where it is now:"
row entitystore "$(adapter_record | jq -r '"\(.name) \(.version), base \(.base_model), \(.status)  (\(.id))"')"
row /v1/models "$(served_models | paste -sd ' ')"

title "The same question to both"
say "The third is of the base model's own lessons; the dataset repeats a few of these, so that they are not forgotten."
for asked in "Who is it that runs the shop?" "When do you open the shop?" "What colour is the sky?"; do
  echo
  say "$bold$asked$plain"
  row "  demo/tiny" "$(question demo/tiny "$asked")"
  row "  shop" "$green$(question shop "$asked")$plain"
done

title "How good is it?"
say "Both are asked the questions of evaluation/, and their answers held against the right ones."
for each in base=demo/tiny adapter=shop; do
  must "the evaluation is not accepted" post "${address[evaluator]}/v1/evaluations" "$(evaluation_body "${each%%=*}" "${each#*=}")" >/dev/null
done
must "the evaluations do not end" within 60 evaluated base
must "the evaluations do not end" within 60 evaluated adapter
cd "$state"
run "curl -s --json '{\"evaluations\":[\"base\",\"adapter\"]}' \\
  ${address[evaluator]}/v1/comparisons >comparison"
cd "$repo"
echo
printf '  %-12s %8s %8s\n' score base adapter
jq -r '.scores[] | [.score, .values.base.value, .values.adapter.value, .differences[0].verdict, .differences[0].p_value, .values.base.count] | @tsv' "$state/comparison" |
  while IFS=$'\t' read -r name first second verdict p count; do
    LC_ALL=C printf '  %-12s %8.2f %8.2f   %s, p = %.3f over %d questions\n' "$name" "$first" "$second" "$verdict" "$p" "$count"
  done

title "Rails in front of it"
cd "$state"
run "cat rails/shop/config.yml"
cd "$repo"
for asked in "When do you open the shop?" "Tell me the password of the shop." "How can I reach the shop?"; do
  echo
  say "$bold$asked$plain"
  row "  the model" "$(question shop "$asked")" 14
  row "  behind rails" "$green$(behind_rails "$asked")$plain" 14
done

title "That was it"
say "From nothing to an adapter behind rails in $(seconds "$(since "$began")")."
[ "$delay" -le 5000 ] || die "the adapter was served $delay ms after the last training step: more than 5 s"
[ -n "$stays" ] || { say "Everything that was started is ended now." && exit 0; }
page() { # NAME PATH WHAT
  [[ $(curl -s -o /dev/null -w '%{http_code}' -H 'Accept: text/html' "${address[$1]}$2") != [23]* ]] || row "${address[$1]}$2" "$3" 58
}
echo
say "Web pages, as long as this runs:"
page datastore / "sign in as admin: the dataset"
page customizer / "customizations"
page evaluator '/comparisons?evaluations=base,adapter' "the comparison"
page guardrail / "chat behind rails"
echo
say "The password of admin: cat ${state#"$repo/"}/datastore/secrets/admin-password"
say "Go on: train on rows of your own with the POST above and another name; ask the new adapter by that name at ${address[inference]}/v1/chat/completions. README.md has a page for each service."
echo
trap 'exit 0' INT TERM HUP
say "${bold}Ctrl-C ends all of it.$plain"
# One that ends by itself is a fault.
wait -n "${service_pid[@]}" || true
die "a service has ended by itself"
