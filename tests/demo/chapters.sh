# Sourced, after tests/support/{progress,tour}.sh, world.sh and flow.sh. The chapters that all tours of the flow have, and what they print with.
# shellcheck shell=bash disable=SC2034,SC2154,SC2317,SC2164 # the tours run with set -e

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
must() { "${@:2}" || die "$1; logs are in $work"; }

# chapter_adapter: asked before, created, its loss curve, served; sets $created, $delay (ms)
chapter_adapter() {
  local asked body shown now record served last
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
  curl -s "${address[customizer]}/v1/customizations/shop/metrics" >"$work/curves"
  jq -r '.metrics | (.train_loss[] | "t \(.step) \(.value)"), (.val_loss[] | "v \(.step) \(.value)")' "$work/curves" |
    awk -v columns=$((width > 72 ? 60 : 44)) -v rows=9 -f tests/demo/curve.awk
  echo
  jq -r '.status_details.stages[] | "\(.name)|\(.status)"' <<<"$record" | while IFS='|' read -r name what; do row "$name" "$what" 28; done
  # The second in which its last step was reported: it is at most this long ago.
  last=$(date -d "$(jq -r '.metrics.train_loss[-1].timestamp' "$work/curves")" +%s%N)
  delay=$(((served - last) / 1000000))
  row "created to completed, served" "$(seconds $(((served - created) / 1000000)))" 28
  row "last training step to served" "at most $(seconds $delay)" 28
  echo
  say "Where it is now:"
  row entitystore "$(adapter_record | jq -r '"\(.name) \(.version), base \(.base_model), \(.status)  (\(.id))"')"
  row /v1/models "$(served_models | paste -sd ' ')"
}

# chapter_question: the same question to base and adapter
chapter_question() {
  local asked
  title "The same question to both"
  say "The third is of the base model's own lessons; the dataset repeats a few of these, so that they are not forgotten."
  for asked in "Who is it that runs the shop?" "When do you open the shop?" "What colour is the sky?"; do
    echo
    say "$bold$asked$plain"
    row "  demo/tiny" "$(question demo/tiny "$asked")"
    row "  shop" "$green$(question shop "$asked")$plain"
  done
}

# chapter_score: both evaluated, and compared
chapter_score() {
  local each name first second verdict p count
  title "How good is it?"
  say "Both are asked the questions of evaluation/, and their answers held against the right ones."
  for each in base=demo/tiny adapter=shop; do
    must "the evaluation is not accepted" post "${address[evaluator]}/v1/evaluations" "$(evaluation_body "${each%%=*}" "${each#*=}")" >/dev/null
  done
  must "the evaluations do not end" within 60 evaluated base
  must "the evaluations do not end" within 60 evaluated adapter
  cd "$work"
  run "curl -s --json '{\"evaluations\":[\"base\",\"adapter\"]}' \\
    ${address[evaluator]}/v1/comparisons >comparison"
  cd "$repo"
  echo
  printf '  %-12s %8s %8s\n' score base adapter
  jq -r '.scores[] | [.score, .values.base.value, .values.adapter.value, .differences[0].verdict, .differences[0].p_value, .values.base.count] | @tsv' "$work/comparison" |
    while IFS=$'\t' read -r name first second verdict p count; do
      LC_ALL=C printf '  %-12s %8.2f %8.2f   %s, p = %.3f over %d questions\n' "$name" "$first" "$second" "$verdict" "$p" "$count"
    done
}

# chapter_rails
chapter_rails() {
  local asked
  title "Rails in front of it"
  cd "$work"
  run "cat rails/shop/config.yml"
  cd "$repo"
  for asked in "When do you open the shop?" "Tell me the password of the shop." "How can I reach the shop?"; do
    echo
    say "$bold$asked$plain"
    row "  the model" "$(question shop "$asked")" 14
    row "  behind rails" "$green$(behind_rails "$asked")$plain" 14
  done
}

# push_model: a base model is made and goes to the datastore as admin/tiny
push_model() {
  say "A model of this machine's own making, which learns a few hundred sentences by heart. It shows the way, not what language models can do."
  step "making a base model" "6 to 10 s" demo-stack-tiny make_base
  say "It has read $(wc -w <"$work/text") words and has $(jq -sr '.[0].parameters' "$work/make-tiny.steps") weights. It goes to the datastore as any model does, with git and git-lfs:"
  new_repository model tiny
  cp -r "$work/made" "$work/tiny"
  cd "$work/tiny"
  run "git init -q && git lfs install --local && git lfs track '*.safetensors'
git add . && git commit -qm 'A base model'
git push -q ${address[datastore]}/admin/tiny main"
  cd "$work"
}

# push_dataset: admin/shop
push_dataset() {
  world_rows "$work/shop"
  new_repository dataset shop
  cd "$work/shop"
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
}

# list_pages: those that this build has
list_pages() {
  echo
  say "Web pages, as long as this runs:"
  page datastore / "sign in as admin: the dataset"
  page customizer / "customizations"
  page evaluator '/comparisons?evaluations=base,adapter' "the comparison"
  page guardrail / "chat behind rails"
  echo
}
page() { # NAME PATH WHAT
  [[ $(curl -s -o /dev/null -w '%{http_code}' -H 'Accept: text/html' "${address[$1]}$2") != [23]* ]] || row "${address[$1]}$2" "$3" 58
}
