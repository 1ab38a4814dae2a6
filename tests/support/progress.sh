# Sourced. Long steps: quiet below five seconds, then one line with the elapsed time (rewritten on a terminal, repeated
# every half minute elsewhere); the step's own output goes to a log whose end is shown when it fails.
# shellcheck shell=bash disable=SC2034

if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' yellow=$'\e[33m' plain=$'\e[0m'
else
  bold='' dim='' red='' green='' yellow='' plain=''
fi
log_dir=${log_dir:-build/logs}
step_child='' lane='' # a file that says what this lane is about, when several run side by side (suites.sh)

# say TEXT: in one write, and not behind the line of progress.
say() { if [ -n "$lane" ] && [ -t 1 ]; then printf '\r\e[K%s\n' "$1"; else printf '%s\n' "$1"; fi; }

die() {
  printf '%serror:%s %s\n' "$red" "$plain" "$*" >&2
  exit 1
}

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# A background job of a script ignores Ctrl-C; it is in a process group of its own and ended as one.
end_step() {
  [ -z "$step_child" ] || kill -TERM -- "-$step_child" 2>/dev/null || true
  step_child=''
}

# step LABEL USUAL LOG COMMAND...: USUAL says how long it usually takes ("2 to 4 min"). Fails as the command does.
step() {
  local label=$1 usual=$2 log=$log_dir/$3.log began=$SECONDS told=0 elapsed status=0 last
  shift 3
  mkdir -p "$log_dir"
  set -m
  ("$@") >"$log" 2>&1 </dev/null &
  step_child=$!
  set +m
  while kill -0 "$step_child" 2>/dev/null; do
    elapsed=$((SECONDS - began))
    if [ -n "$lane" ]; then
      ((told)) || { told=1 && echo "$label|$began" >"$lane"; }
    elif ((elapsed >= 5)); then
      last=$(tail -c 400 "$log" | tr '\r' '\n' | grep -v '^ *$' | tail -1 | tr -cd '[:print:]' || true)
      if [ -t 1 ]; then
        printf '\r\e[K%.*s' "$(($(tput cols 2>/dev/null || echo 80) - 1))" "  $label $(clock $elapsed) (usually $usual)  $last"
      elif ((told == 0 || elapsed - told >= 30)); then
        told=$elapsed
        printf '  %s, %s (usually %s)  %.60s\n' "$label" "$(clock $elapsed)" "$usual" "$last"
      fi
    fi
    sleep 0.2
  done
  { wait "$step_child" || status=$?; } 2>/dev/null # bash would report a signal on its own
  step_child=''
  elapsed=$((SECONDS - began))
  ((elapsed < 5)) || [ ! -t 1 ] || [ -n "$lane" ] || printf '\r\e[K'
  [ -z "${quiet_failure:-}" ] || return "$status"  # the caller tells
  if ((status != 0)); then
    printf '%s  %s failed after %s; the end of %s:%s\n' "$red" "$label" "$(clock $elapsed)" "$log" "$plain" >&2
    tail -25 "$log" | cut -c1-400 | sed 's/^/    /' >&2
  elif ((elapsed >= 5)); then
    say "  $label: done in $(clock $elapsed)"
  fi
  return "$status"
}
