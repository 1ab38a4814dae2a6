# Sourced, after progress.sh. Runs test suites and counts their checks.
#
# A suite is a command. It reports its checks either as googletest's JSON (GTEST_OUTPUT is set for it) or as lines
# "ok NAME", "not ok NAME", "skip NAME: why" on stdout. One that ends badly counts as a failure whatever it printed, and
# so does one that reports nothing.
# shellcheck shell=bash disable=SC2154

total_passed=0 total_failed=0 total_skipped=0 suite_rows=() suite_filter=''

wanted() { [[ -z $suite_filter || $1 =~ $suite_filter ]]; }

# skip_suite NAME REASON: said at once and again at the end.
skip_suite() {
  wanted "$1" || return 0
  total_skipped=$((total_skipped + 1))
  suite_rows+=("$1|0|0|1|0|$2")
  printf '  %sskip%s %s: %s\n' "$yellow" "$plain" "$1" "$2"
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
  total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed)) total_skipped=$((total_skipped + skipped))
  began=$((($(date +%s%N) - began) / 100000000))
  suite_rows+=("$name|$passed|$failed|$skipped|$began|")
  ((failed == 0)) || colour=$red
  printf '  %s%-4s%s %-34s %4d checks %5d.%d s\n' "$colour" "$( ((failed == 0)) && echo ok || echo FAIL)" "$plain" "$name" \
    "$((passed + failed))" "$((began / 10))" "$((began % 10))"
  if ((failed > 0)); then
    { grep -a -E -A3 '^not ok |^\[  FAILED  \]|Failure$|ERROR: AddressSanitizer|runtime error:|WARNING: ThreadSanitizer' \
        "$log_dir/$log.log" | head -60 || true
      ((status == 0)) || { echo "exit status $status; the end of $log_dir/$log.log:" && tail -8 "$log_dir/$log.log"; }
    } | cut -c1-300 | sed 's/^/       /'
  fi
  grep -a '^skip ' "$log_dir/$log.log" | sed "s/^/       ${yellow}/; s/\$/${plain}/" || true
}

# suites_summary: a table, and as the very last line the totals. Fails when any check did.
suites_summary() {
  local row name passed failed skipped tenths why
  printf '\n%s%-36s %8s %8s %8s %9s%s\n' "$bold" suite passed failed skipped seconds "$plain"
  for row in "${suite_rows[@]}"; do
    IFS='|' read -r name passed failed skipped tenths why <<<"$row"
    printf '%-36s %8d %8d %8d %7d.%d\n' "$name" "$passed" "$failed" "$skipped" "$((tenths / 10))" "$((tenths % 10))"
    [ -z "$why" ] || printf '    skipped: %s\n' "$why"
  done
  ((${#suite_rows[@]} > 0)) || { echo "no suite is called '$suite_filter'" && total_failed=1; }
  printf '\n%d passed, %d failed, %d skipped\n' "$total_passed" "$total_failed" "$total_skipped"
  ((total_failed == 0))
}
