# Sourced. free_port prints a port of 127.0.0.1 that nobody listens on, below those that the kernel gives to outgoing
# connections: one whose server is down for a moment is not taken by a client meanwhile.
# shellcheck shell=bash
free_port() {
  local port
  for _ in {1..50}; do
    port=$((20000 + SRANDOM % 10000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || {
      echo "$port"
      return 0
    }
  done
  echo "no free port" >&2
  return 1
}
