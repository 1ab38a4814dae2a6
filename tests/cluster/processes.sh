# Sourced. Background processes of one state directory ($state): started detached, stopped only if still the same.
# shellcheck shell=bash disable=SC2154

# start NAME COMMAND...: log in $state/NAME.log; $state/NAME.pid holds "PID START", START being the kernel's start time,
# so that a number which the kernel has given to another process since is never signalled.
start() {
  local name=$1 pid
  shift
  setsid nohup "$@" >>"$state/$name.log" 2>&1 </dev/null &
  pid=$!
  disown "$pid" 2>/dev/null || true
  echo "$pid $(start_time "$pid")" >"$state/$name.pid"
}

# start_time PID: in clock ticks since boot; empty when there is no such process or it is a zombie.
start_time() {
  local stat fields
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
  read -ra fields <<<"${stat##*) }"
  [ "${fields[0]}" = Z ] || echo "${fields[19]}"
}

pid_of() {
  local pid=0 began=none
  [ -s "$state/$1.pid" ] && read -r pid began <"$state/$1.pid"
  [ "$(start_time "$pid")" = "$began" ] && echo "$pid"
}

alive() { pid_of "$1" >/dev/null; }

# stop NAME [SECONDS]: SIGTERM, and SIGKILL when that does not end it in time (default 15 s).
stop() {
  local pid tenths=$((${2:-15} * 10))
  if pid=$(pid_of "$1"); then
    kill "$pid" 2>/dev/null || true
    while alive "$1" && ((tenths-- > 0)); do sleep 0.1; done
    if alive "$1"; then
      echo "$1 (pid $pid) did not stop on SIGTERM; killed" >&2
      kill -KILL "$pid" 2>/dev/null || true
    fi
  fi
  rm -f "$state/$1.pid"
}

# free_port [COUNT]: one, or so many different ones, on which nothing listens, below the range that the kernel gives to
# outgoing connections, so that it is still free when the process is started a second time.
free_port() {
  perl -MIO::Socket::INET -e 'my $left = shift; my (@open, @ports);
    for (1..1000) { my $p = 20000 + int rand 12000;
    my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1", LocalPort => $p, ReuseAddr => 1) or next;
    push @open, $s; push @ports, $p; if (--$left == 0) { print "@ports\n"; exit 0 } } exit 1' "${1:-1}"
}
