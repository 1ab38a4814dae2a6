// For tests that drive our own client code against a real API server. Environment, set by tests/e2e/live-*.sh:
//   STACKGATE_TEST_KUBECONFIG         its kubeconfig, with all rights; without it every test here is skipped
//   STACKGATE_TEST_RESTART_APISERVER  a shell command that stops the API server and starts it again
//   STACKGATE_TEST_COMPACT            a shell command that compacts etcd up to now
//   STACKGATE_TEST_KUBECTL            the kubectl that goes with it
#pragma once
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace stackgate::live {

inline constexpr const char* no_server = "STACKGATE_TEST_KUBECONFIG is not set: no API server to try this on";

inline std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

template <class Condition>
bool within(std::chrono::milliseconds limit, Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace stackgate::live
