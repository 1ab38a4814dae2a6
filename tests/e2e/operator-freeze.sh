#!/usr/bin/env bash
# Leaders that are frozen (a stopped process, a paused virtual machine), again and again: right after etcd was compacted,
# right after the API server was killed and started, and in between. The other operator takes over within the lease and 2 s;
# just after a start of the API server it must first see the lease again, which it looks for at growing intervals.
#   FREEZES=300 ./dev test e2e/operator-freeze      prints the longest of 300
source "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/lib.sh"
freezes=${FREEZES:-12} lease=3

operator_up() { # NAME
  local name=$script-$1 metrics
  metrics=$(free_port)
  echo "$metrics" >"$state/$name.metrics"
  start "$name" "$gate_binary" operator --no-admission --kubeconfig "$state/kubeconfig" --namespaces "$ns" --listen 127.0.0.1:0 \
    --metrics-listen "127.0.0.1:$metrics" --health-listen 127.0.0.1:0 --lease-namespace "$ns" --lease-seconds "$lease" \
    --renew-seconds 2 --retry-seconds 1 --log-format json --log-level debug
}
leads() {
  curl -s --max-time 2 --noproxy '*' "http://127.0.0.1:$(cat "$state/$script-$1.metrics")/metrics" | grep -qx 'stackgate_leader 1'
}
read -r etcd_port _ <"$state/ports"
etcd() { curl -sf --noproxy '*' "http://127.0.0.1:$etcd_port/v3/kv/$1" -d "$2"; }
compact() { etcd compaction "$(etcd range '{"key": "AA=="}' | jq -c '{revision: .header.revision}')" >/dev/null; }
restart() {
  bash -c "state=$state; source $here/../cluster/processes.sh; stop kube-apiserver 1; exec $here/../cluster/up.sh $state apiserver" \
    >"$state/$script.restart" 2>&1
}
milliseconds() { echo $(($(date +%s%N) / 1000000)); }

operator_up a
check "the first operator leads" until_true 30 leads a
operator_up b
check "the second is up and waits" until_true 20 grep -q '"message":"lease has a holder"' "$state/$script-b.log"

leader=a other=b longest=0 late=0
for ((round = 1; round <= freezes; round++)); do
  case $((round % 4)) in
    1) compact || not_ok "etcd can be compacted" ;;
    2) restart || not_ok "the API server comes back" "$(tail -3 "$state/$script.restart")" ;;
    3) { compact && restart; } || not_ok "etcd is compacted and the API server comes back" "$(tail -3 "$state/$script.restart")" ;;
  esac
  # Both lost the API server meanwhile: whoever leads now.
  one_leads() { if leads "$leader"; then :; elif leads "$other"; then swap; else return 1; fi; }
  swap() { local was=$leader; leader=$other other=$was; }
  until_true 30 one_leads || { not_ok "one leads before freeze $round" "$(tail -4 "$state/$script-a.log" "$state/$script-b.log")" && break; }
  began=$(milliseconds)
  kill -STOP "$(pid_of "$script-$leader")"
  until_true 40 leads "$other" || not_ok "freeze $round: the other one leads within 40 s" "$(tail -5 "$state/$script-$other.log")"
  took=$(($(milliseconds) - began))
  kill -CONT "$(pid_of "$script-$leader")"
  ((took <= longest)) || longest=$took
  limit=$(((lease + (round % 4 < 2 ? 2 : 6)) * 1000))
  if ((took > limit)); then
    late=$((late + 1))
    echo "  freeze $round: taken over after $took ms, of $limit"
  fi
  swap
done
echo "  the longest of $freezes: $longest ms"
same "a frozen leader is replaced in time, each of $freezes times" 0 "$late"
for name in a b; do check "$name never crashed" alive "$script-$name"; done
