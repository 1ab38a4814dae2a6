// A TCP proxy in the test's own process, between a client and a server: TLS passes through unread. What it does
// to connections is what bad networks do.
#pragma once
#include <array>
#include <atomic>
#include <cstdlib>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace stackgate::test {

class TcpProxy {
 public:
  /// To `server`, "https://127.0.0.1:6443".
  explicit TcpProxy(const std::string& server) {
    const std::size_t colon = server.rfind(':');
    target_ = address(static_cast<std::uint16_t>(std::atoi(server.c_str() + colon + 1)));
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in any = address(0);
    socklen_t size = sizeof any;
    if (bind(listener_, generic(any), size) != 0 || listen(listener_, 64) != 0 ||
        getsockname(listener_, generic(any), &size) != 0)
      std::abort();
    url_ = "https://127.0.0.1:" + std::to_string(ntohs(any.sin_port));
    thread_ = std::thread([this] { loop(); });
  }
  ~TcpProxy() {
    stopping_ = true;
    thread_.join();
    for (const Pair& pair : pairs_) close_both(pair);
    close(listener_);
  }
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  const std::string& url() const { return url_; }
  /// Connections that are open now stay open, and nothing passes them any more; new ones work.
  void stall() {
    const std::scoped_lock lock(mutex_);
    for (Pair& pair : pairs_) pair.stalled = true;
  }
  /// New connections, too.
  void stall_all(bool on) {
    stall_new_ = on;
    if (on) stall();
  }
  /// Ends the connections that are open now.
  void cut() {
    const std::scoped_lock lock(mutex_);
    for (Pair& pair : pairs_) pair.cut = true;
  }
  /// Ends a connection after so many more bytes from the server: in the midst of an answer, most likely. 0: no limit.
  void cut_after(std::int64_t bytes) { cut_after_ = bytes; }

 private:
  // Closed in programs that the test starts: a server that inherited them would keep them open.
  struct Pair {
    int client = -1, server = -1;
    bool stalled = false, cut = false;
    std::int64_t passed = 0;
  };

  static sockaddr_in address(std::uint16_t port) {
    sockaddr_in out{};
    out.sin_family = AF_INET;
    out.sin_port = htons(port);
    out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return out;
  }
  static sockaddr* generic(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }
  static void close_both(const Pair& pair) {
    close(pair.client);
    close(pair.server);
  }

  void accept_one() {
    Pair pair;
    pair.client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (pair.client < 0) return;
    pair.server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pair.stalled = stall_new_;
    if (connect(pair.server, generic(target_), sizeof target_) != 0) return close_both(pair);
    pairs_.push_back(pair);
  }
  /// False when the connection is over.
  static bool pass(int from, int to, std::int64_t& bytes) {
    std::array<char, 16'384> buffer;
    const ssize_t got = recv(from, buffer.data(), buffer.size(), 0);
    if (got <= 0) return false;
    bytes += got;
    for (ssize_t sent = 0; sent < got;) {
      const ssize_t now = send(to, buffer.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
      if (now <= 0) return false;
      sent += now;
    }
    return true;
  }

  void loop() {
    while (!stopping_) {
      std::vector<pollfd> waiting{{listener_, POLLIN, 0}};
      {
        const std::scoped_lock lock(mutex_);
        for (const Pair& pair : pairs_) {
          // A negative descriptor is passed over by poll().
          waiting.push_back({pair.stalled ? -1 : pair.client, POLLIN, 0});
          waiting.push_back({pair.stalled ? -1 : pair.server, POLLIN, 0});
        }
      }
      poll(waiting.data(), waiting.size(), 20);
      const std::scoped_lock lock(mutex_);
      std::size_t at = 1;
      for (auto pair = pairs_.begin(); pair != pairs_.end() && at + 1 < waiting.size(); at += 2) {
        bool alive = !pair->cut;
        std::int64_t up = 0;
        if (alive && !pair->stalled && waiting[at].revents != 0) alive = pass(pair->client, pair->server, up);
        if (alive && !pair->stalled && waiting[at + 1].revents != 0)
          alive = pass(pair->server, pair->client, pair->passed);
        if (cut_after_ > 0 && pair->passed > cut_after_) alive = false;
        if (alive) {
          ++pair;
        } else {
          close_both(*pair);
          pair = pairs_.erase(pair);
        }
      }
      if (waiting[0].revents != 0) accept_one();
    }
  }

  sockaddr_in target_{};
  int listener_ = -1;
  std::string url_;
  std::atomic<bool> stopping_{false}, stall_new_{false};
  std::atomic<std::int64_t> cut_after_{0};
  std::mutex mutex_;
  std::list<Pair> pairs_;
  std::thread thread_;
};

}  // namespace stackgate::test
