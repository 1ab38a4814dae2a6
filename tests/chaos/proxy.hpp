// Stands between one operator and the API server: passes HTTP/1.1 on, watches unbuffered, and spoils what its seed
// says. Plain HTTP towards the operator, TLS with the kubeconfig's certificate towards the API server.
#pragma once
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "tests/chaos/faults.hpp"
#include "tests/chaos/wire.hpp"

namespace stackgate::chaos {

/// Writes are all requests but GET, without those for leases and events: what makes up the state.
struct ProxyCounts {
  std::uint64_t requests = 0, writes = 0;
  std::array<std::uint64_t, 15> faults{};  // by Fault
};

struct Spoil {
  std::uint64_t seed = 0;
  double rate = 0;            // 0: everything passes
  unsigned silent_write = 0;  // this write's answer never comes; 0: none
};

/// When the operator dies: at its n-th write (from 1), which the API server has carried out …
struct KillAt {
  unsigned write = 0;     // 0: never
  bool answered = false;  // … before the answer reaches the operator, or after
};

/// Thread-safe. A thread for each connection.
class Proxy {
 public:
  explicit Proxy(const kube::Config& config);  // throws
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  std::uint16_t port() const { return port_; }
  void spoil(const Spoil& how);
  /// `kill` is called on a connection's thread, once.
  void kill_at(const KillAt& when, std::function<void()> kill);
  ProxyCounts counts() const;

 private:
  struct Exchange;
  void accept();
  void serve(Socket& client);
  bool handle(Socket& client, std::string& buffer, std::unique_ptr<Socket>& server);
  Exchange take_in(const Head& head);
  bool spoil_before(Socket& client, const Exchange& exchange);
  bool pass_answer(Socket& client, Socket& server, const Exchange& exchange);
  bool pass_watch(Socket& client, Socket& server, const Head& head, std::string rest, const Exchange& exchange);
  bool pause(std::chrono::milliseconds time);
  void kill_now();

  const Upstream upstream_;
  std::uint16_t port_ = 0;
  int listener_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::set<const Socket*> open_;
  unsigned serving_ = 0;
  Spoil spoil_;
  KillAt kill_at_;
  std::function<void()> kill_;
  std::map<std::string, unsigned> seen_;
  ProxyCounts counts_;
  std::thread acceptor_;
};

}  // namespace stackgate::chaos
