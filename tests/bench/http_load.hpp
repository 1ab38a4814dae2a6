// The client for servers without TLS: many connections looked after by one thread, requests at their times whatever
// the answers do, streams of events.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/free_port.hpp"
#include "tests/bench/processes.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::bench {

using Clock = std::chrono::steady_clock;

inline std::int64_t now_ns() { return Clock::now().time_since_epoch().count(); }

inline int connect_to(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int one = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

/// Many connections looked after by one thread.
class Client {
 public:
  Client(std::uint16_t port, int count) {
    for (int i = 0; i < count; ++i) {
      const int fd = connect_to(port);
      if (fd < 0) throw std::runtime_error("cannot connect to port " + std::to_string(port));
      epoll_event event{.events = EPOLLIN, .data = {.u64 = all_.size()}};
      ::epoll_ctl(ready_, EPOLL_CTL_ADD, fd, &event);
      all_.push_back(fd);
    }
  }
  ~Client() {
    for (const int fd : all_) ::close(fd);
    ::close(ready_);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(std::size_t which, std::string_view bytes) const {
    if (::send(all_[which], bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
      throw std::runtime_error("a server takes no request");
  }
  /// Calls take(which, bytes) for what comes until then; once at least when nothing comes.
  template <class Take>
  void receive(Clock::time_point until, const Take& take) const {
    epoll_event events[64];
    const auto left = std::max(until - Clock::now(), Clock::duration(0));
    const timespec wait{.tv_sec = left / std::chrono::seconds(1), .tv_nsec = (left % std::chrono::seconds(1)).count()};
    const int count = ::epoll_pwait2(ready_, events, 64, &wait, nullptr);
    char part[16 * 1024];
    for (int i = 0; i < count; ++i) {
      const auto which = static_cast<std::size_t>(events[i].data.u64);
      const ssize_t n = ::recv(all_[which], part, sizeof part, 0);
      if (n <= 0) throw std::runtime_error("a server closed a connection");
      take(which, std::string_view(part, static_cast<std::size_t>(n)));
    }
  }

 private:
  int ready_ = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<int> all_;
};

/// `body` as JSON, kept alive.
inline std::string json_request(std::string_view path, std::string_view body) {
  return fmt::format("POST {} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                     path, body.size(), body);
}

/// How long a whole answer with `length` bytes is, so that no parser is measured.
inline bool is_whole(std::string& received, std::string_view more, std::size_t length) {
  received += more;
  const auto end = received.find("\r\n\r\n");
  if (end == std::string::npos || received.size() < end + 4 + length) return false;
  if (!received.starts_with("HTTP/1.1 200 ") || received.size() != end + 4 + length)
    throw std::runtime_error("an unexpected answer: " + received.substr(0, 300));
  received.clear();
  return true;
}

struct Latency {
  double p50 = 0, p99 = 0, most = 0;  // ms
  long count = 0;
};

inline Latency latency_of(std::vector<double>& all) {
  std::ranges::sort(all);
  const auto at = [&](double part) {
    return all[static_cast<std::size_t>(part * static_cast<double>(all.size() - 1))];
  };
  return {at(0.5), at(0.99), all.back(), static_cast<long>(all.size())};
}

/// Of several rounds the best, so that a neighbour on the machine counts little.
inline void better(Latency& best, const Latency& other) {
  best.p50 = std::min(best.p50, other.p50);
  best.p99 = std::min(best.p99, other.p99);
}

struct Load {
  std::string request;
  std::size_t answer_bytes = 0;  // of the body
  int per_second = 0;
};

/// Requests at their times whatever the answers do; each counts from when it was due.
inline Latency at_a_rate(std::uint16_t port, const Load& load, std::chrono::seconds length) {
  constexpr int spread = 64;
  const Client client(port, spread);
  std::vector<std::string> received(spread);
  std::vector<Clock::time_point> due(spread);
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < spread; ++i) free.push_back(i);
  std::vector<double> took;
  auto next = Clock::now();
  const auto end = next + length;
  while (Clock::now() < end) {
    for (; next <= Clock::now() && !free.empty(); next += std::chrono::nanoseconds(1'000'000'000) / load.per_second) {
      const std::size_t which = free.back();
      free.pop_back();
      due[which] = next;
      client.send(which, load.request);
    }
    client.receive(free.empty() ? end : next, [&](std::size_t which, std::string_view bytes) {
      if (!is_whole(received[which], bytes, load.answer_bytes)) return;
      took.push_back(std::chrono::duration<double, std::milli>(Clock::now() - due[which]).count());
      free.push_back(which);
    });
  }
  return latency_of(took);
}

/// So many requests at once, one after the other on each connection, until `total` are answered.
inline void keep_busy(std::uint16_t port, const Load& load, long total) {
  constexpr int connections = 16;
  const Client client(port, connections);
  std::vector<std::string> received(connections);
  long sent = 0, done = 0;
  for (; sent < connections; ++sent) client.send(static_cast<std::size_t>(sent), load.request);
  while (done < total)
    client.receive(Clock::now() + std::chrono::seconds(10), [&](std::size_t which, std::string_view bytes) {
      if (!is_whole(received[which], bytes, load.answer_bytes)) return;
      ++done;
      if (sent < total) client.send(which, load.request), ++sent;
    });
}

struct Streams {
  std::string request;
  int count = 0;
  std::chrono::milliseconds pause{1'000};  // between two events of one stream
};

/// Each event's way, its data being when it was sent (now_ns); throws when one is missing.
inline Latency events_through(std::uint16_t port, const Streams& streams, std::chrono::seconds length) {
  const auto number = static_cast<std::size_t>(streams.count);
  const Client client(port, streams.count);
  for (std::size_t i = 0; i < number; ++i) client.send(i, streams.request);
  std::vector<std::string> received(number);
  std::vector<std::int64_t> last(number, 0);
  std::vector<double> took;
  const auto begin = Clock::now() + std::chrono::seconds(3), end = begin + length;  // all are there by then
  const std::int64_t longest = std::chrono::nanoseconds(streams.pause).count() * 3 / 2;
  while (Clock::now() < end) {
    client.receive(end, [&](std::size_t which, std::string_view bytes) {
      std::string& text = received[which];
      text += bytes;
      for (std::size_t at = 0; (at = text.find("data: ")) != std::string::npos;) {
        const auto line_end = text.find('\n', at);
        if (line_end == std::string::npos) return;
        const std::int64_t sent = std::stoll(text.substr(at + 6, line_end - at - 6));
        text.erase(0, line_end);
        if (last[which] != 0 && sent - last[which] > longest) throw std::runtime_error("an event was lost");
        last[which] = sent;
        if (Clock::now() >= begin) took.push_back(static_cast<double>(now_ns() - sent) / 1e6);
      }
    });
  }
  for (const std::int64_t sent : last)
    if (sent == 0) throw std::runtime_error("a stream got no event");
  return latency_of(took);
}

/// A server on a port of its own.
struct Peer {
  std::string name;
  std::uint16_t port = free_port();
  std::unique_ptr<Process> process{};
  void start(const std::vector<std::string>& command, const test::TempDir& dir, int core) {
    process = std::make_unique<Process>(command, dir / (name + ".log"));
    for (int i = 0; i < 5000; ++i) {
      if (const int fd = connect_to(port); fd >= 0) {
        ::close(fd);
        return process->keep_on_core(core);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    throw std::runtime_error(name + " did not start");
  }
};

}  // namespace stackgate::bench
