# Sourced. A script's checks: each prints "ok NAME" or "not ok NAME" and what was seen instead; $checks_failed counts.
# shellcheck shell=bash disable=SC2034
checks_failed=0

ok() { echo "ok $1"; }
not_ok() { # NAME [DETAIL]
  checks_failed=$((checks_failed + 1))
  printf 'not ok %s\n' "$1"
  [ -z "${2:-}" ] || printf '%s\n' "$2" | sed 's/^/  /' | head -30
}

# check NAME COMMAND...: passes when the command succeeds.
check() {
  local name=$1 words
  shift
  if words=$("$@" 2>&1); then ok "$name"; else not_ok "$name" "$words"; fi
}

# says NAME TEXT COMMAND...: the command succeeds and its output has the text.
says() {
  local name=$1 text=$2 words status=0
  shift 2
  words=$("$@" 2>&1) || status=$?
  if ((status == 0)) && [[ $words == *"$text"* ]]; then ok "$name"; else not_ok "$name" "wanted '$text', exit 0; got exit $status: $words"; fi
}

# refused NAME TEXT COMMAND...: the command fails and its output has the text.
refused() {
  local name=$1 text=$2 words
  shift 2
  if words=$("$@" 2>&1); then
    not_ok "$name" "it was accepted: $words"
  elif [[ $words == *"$text"* ]]; then ok "$name"; else not_ok "$name" "wanted '$text'; got: $words"; fi
}

# same NAME WANTED GOT
same() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "$(diff <(echo "$2") <(echo "$3"))"; fi; }
