# Sourced, after progress.sh. Runs test suites and counts their checks.
#
# A suite is a command. It reports its checks either as googletest's JSON (GTEST_OUTPUT is set for it) or as lines
# "ok NAME", "not ok NAME", "skip NAME: why" on stdout. One that ends badly counts as a failure whatever it printed, and
# so does one that reports nothing.
# shellcheck shell=bash disable=SC2030,SC2031,SC2154

suite_filter='' suite_rows=$(mktemp) # a line "name|passed|failed|skipped|tenths of a second|why" of each suite
lane_pids=()

wanted() { [[ -z $suite_filter || $1 =~ $suite_filter ]]; }

# skip_suite NAME REASON: said at once and again at the end.
skip_suite() {
  wanted "$1" || return 0
  echo "$1|0|0|1|0|$2" >>"$suite_rows"
  say "$(printf '  %sskip%s %s: %s' "$yellow" "$plain" "$1" "$2")"
}

# suite NAME USUAL COMMAND...
suite() {
  local name=$1 usual=$2 log=${1//\//-} began passed=0 failed=0 skipped=0 status=0 json colour=$green
  shift 2
  wanted "$name" || return 0
  began=$(date +%s%N)
  json=$(realpath -m "$log_dir/$log.json")
  rm -f "$json"
  GTEST_OUTPUT=json:$json quiet_failure=1 step "$name" "$usual" "$log" "$@" || status=$?
  if [ -s "$json" ]; then
    read -r passed failed skipped < <(jq -r '[.testsuites[].testsuite[]] |
      [(map(select(.result == "COMPLETED" and (has("failures") | not))) | length),
       (map(select(has("failures"))) | length), (map(select(.result == "SKIPPED")) | length)] | join(" ")' "$json")
  else
    passed=$(grep -a -c '^ok ' "$log_dir/$log.log" || true)
    failed=$(grep -a -c '^not ok ' "$log_dir/$log.log" || true)
    skipped=$(grep -a -c '^skip ' "$log_dir/$log.log" || true)
  fi
  ((status == 0 || failed > 0)) || failed=1
  ((passed + failed + skipped > 0)) || failed=1
  began=$((($(date +%s%N) - began) / 100000000))
  echo "$name|$passed|$failed|$skipped|$began|" >>"$suite_rows"
  ((failed == 0)) || colour=$red
  say "$(suite_report)"
}

# suite_report: what a person reads of a suite that has ended; in the scope of suite.
suite_report() {
  printf '  %s%-4s%s %-34s %4d checks %5d.%d s\n' "$colour" "$( ((failed == 0)) && echo ok || echo FAIL)" "$plain" "$name" \
    "$((passed + failed))" "$((began / 10))" "$((began % 10))"
  if ((failed > 0)); then
    { grep -a -E -A8 '^not ok |^\[  FAILED  \]|Failure$|ERROR: AddressSanitizer|runtime error:|WARNING: ThreadSanitizer' \
        "$log_dir/$log.log" | grep -a -v '^ok ' | head -60 || true
      ((status == 0)) || { echo "exit status $status; the end of $log_dir/$log.log:" && tail -8 "$log_dir/$log.log"; }
    } | cut -c1-300 | sed 's/^/       /'
  fi
  grep -a '^skip ' "$log_dir/$log.log" | sed "s/^/       ${yellow}/; s/\$/${plain}/" || true
}

# lanes FUNCTION...: side by side, each in a process of its own that calls lane_end when it ends, however that is.
# Packages are installed before: apt allows one at a time.
lanes() {
  local each status told=0 # their statuses go through files: bash forgets that of a process whose number is used again
  lane_pids=()
  set -m # process groups, to end them as one
  for each; do
    (
      set +m
      lane=$log_dir/lane-$each lane_pids=()
      rm -f "$lane.status"
      trap 'status=$?; lane_end || true; echo "$status" >"$lane.status"; rm -f "$lane"' EXIT
      trap 'exit 130' INT TERM
      "$each"
    ) </dev/null &
    lane_pids+=($!)
  done
  set +m
  while [ -n "$(jobs -r)" ]; do
    if [ -t 1 ] || ((SECONDS - told >= 60)); then
      told=$SECONDS
      lanes_progress "$@"
    fi
    sleep 0.3
  done
  [ ! -t 1 ] || printf '\r\e[K'
  for each; do
    status=$(cat "$log_dir/lane-$each.status" 2>/dev/null) || status=unknown
    [ "$status" = 0 ] || echo "$each ended early, status $status|0|1|0|0|" >>"$suite_rows"
  done
  lane_pids=()
}

# wait_for_lane FUNCTION: until it has ended. Fails when it did.
wait_for_lane() {
  local status=$log_dir/lane-$1.status
  [ -s "$status" ] || echo "waiting for $1|$SECONDS" >"$lane"
  while [ ! -s "$status" ]; do sleep 1; done
  [ "$(cat "$status")" = 0 ]
}

# end_lanes: stops what still runs, and waits until it has cleaned up.
end_lanes() {
  local pid
  for pid in "${lane_pids[@]}"; do kill -TERM -- "-$pid" 2>/dev/null || true; done
  for pid in "${lane_pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  lane_pids=()
}

# lanes_progress FUNCTION...: one line of what runs in each lane and for how long.
lanes_progress() {
  local each label since line=''
  for each; do
    if IFS='|' read -r label since 2>/dev/null <"$log_dir/lane-$each"; then line+="  $label $(clock $((SECONDS - since)))"; fi
  done
  if [ -t 1 ]; then printf '\r\e[K%.*s' "$(($(tput cols 2>/dev/null || echo 80) - 1))" "$line"; else printf '%s\n' "$line"; fi
}

# suites_summary: a table, and as the very last line the totals. Fails when any check did.
suites_summary() {
  local name passed failed skipped tenths why total_passed=0 total_failed=0 total_skipped=0
  printf '\n%s%-36s %8s %8s %8s %9s%s\n' "$bold" suite passed failed skipped seconds "$plain"
  while IFS='|' read -r name passed failed skipped tenths why; do
    printf '%-36s %8d %8d %8d %7d.%d\n' "$name" "$passed" "$failed" "$skipped" "$((tenths / 10))" "$((tenths % 10))"
    [ -z "$why" ] || printf '    skipped: %s\n' "$why"
    total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed)) total_skipped=$((total_skipped + skipped))
  done <"$suite_rows"
  [ -s "$suite_rows" ] || { echo "no suite is called '$suite_filter'" && total_failed=1; }
  rm -f "$suite_rows"
  printf '\n%d passed, %d failed, %d skipped\n' "$total_passed" "$total_failed" "$total_skipped"
  ((total_failed == 0))
}
