# Sourced. live FILTER runs those tests of the live program on the control plane in $E2E_STATE; with $GTEST_OUTPUT set the
# caller reads the results there.
# shellcheck shell=bash disable=SC2089,SC2090 # the commands are for system(3), which reads the quotes
set -euo pipefail
live() {
  local state=${E2E_STATE:?run this through ./dev test e2e, which starts the control plane} here etcd_port
  here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
  read -r etcd_port _ <"$state/ports"
  export STACKGATE_TEST_KUBECONFIG=$state/kubeconfig
  # An API server waits a minute for open watches to end: it is killed, as a crash would do.
  STACKGATE_TEST_RESTART_APISERVER="bash -c 'state=$state; source $here/../../cluster/processes.sh; stop kube-apiserver 1;
    exec $here/../../cluster/up.sh $state apiserver' >$state/live-restart.log 2>&1"
  STACKGATE_TEST_COMPACT="curl -sf --noproxy '*' http://127.0.0.1:$etcd_port/v3/kv/range -d '{\"key\":\"AA==\"}' |
    jq '{revision: .header.revision}' | curl -sf --noproxy '*' http://127.0.0.1:$etcd_port/v3/kv/compaction -d @- >$state/live-compact.log"
  source "$here/../../cluster/binaries.sh"
  find_kube && STACKGATE_TEST_KUBECTL=$KUBECTL
  export STACKGATE_TEST_RESTART_APISERVER STACKGATE_TEST_COMPACT STACKGATE_TEST_KUBECTL
  "${LIVE_TESTS:-$here/../../../build/release/bin/live}" --gtest_brief=1 --gtest_filter="$1"
}
