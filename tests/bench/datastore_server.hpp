// A real datastore with an empty data directory, a plain HTTP client, and rounds that alternate with a peer.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "services/kit/base/base64.hpp"
#include "tests/bench/figure.hpp"
#include "tests/bench/free_port.hpp"
#include "tests/bench/processes.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::bench {

using Clock = std::chrono::steady_clock;

inline double seconds_of(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// One kept connection; blocks.
class Http {
 public:
  struct Answer {
    int status = 0;
    std::string head, body;
  };

  explicit Http(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int one = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    good_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Http() { ::close(fd_); }
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;
  bool good() const { return good_; }
  int descriptor() const { return fd_; }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) throw std::runtime_error("the server closed a connection while it was sent a request");
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  /// With Content-Length or chunks (which stay as they came).
  Answer receive() {
    std::string text;
    std::size_t end = 0;
    while ((end = text.find("\r\n\r\n")) == std::string::npos) more(text);
    Answer out{.status = std::stoi(text.substr(9, 3)), .head = text.substr(0, end + 2), .body = text.substr(end + 4)};
    if (const auto at = out.head.find("Content-Length: "); at != std::string::npos) {
      const auto length = std::stoull(out.head.substr(at + 16, 20));
      while (out.body.size() < length) more(out.body);
    } else if (out.head.contains("chunked")) {
      while (!out.body.ends_with("\r\n0\r\n\r\n")) more(out.body);
    }
    return out;
  }
  /// Thrown away; returns how many bytes came.
  std::uint64_t receive_and_drop() {
    std::string text;
    std::size_t end = 0;
    while ((end = text.find("\r\n\r\n")) == std::string::npos) more(text);
    if (!text.starts_with("HTTP/1.1 200")) throw std::runtime_error(text.substr(0, 200));
    const auto length = std::stoull(text.substr(text.find("Content-Length: ") + 16, 20));
    std::uint64_t got = text.size() - end - 4;
    const auto space = std::make_unique_for_overwrite<char[]>(256 * 1024);
    while (got < length) {
      const ssize_t n = ::recv(fd_, space.get(), 256 * 1024, 0);
      if (n <= 0) throw std::runtime_error("the server closed a connection in the middle of a file");
      got += static_cast<std::uint64_t>(n);
    }
    return got;
  }
  Answer call(std::string_view method, std::string_view path, std::string_view headers, std::string_view body) {
    send(fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\n{}Content-Length: {}\r\n\r\n", method, path, headers,
                     body.size()));
    send(body);
    return receive();
  }

 private:
  void more(std::string& text) {
    char part[64 * 1024];
    const ssize_t n = ::recv(fd_, part, sizeof part, 0);
    if (n <= 0) throw std::runtime_error("the server closed a connection instead of answering");
    text.append(part, static_cast<std::size_t>(n));
  }
  int fd_;
  bool good_ = false;
};

inline Http::Answer expect(int status, Http::Answer answer) {
  if (answer.status != status)
    throw std::runtime_error(fmt::format("expected {}, got {} {}", status, answer.head, answer.body.substr(0, 300)));
  return answer;
}

inline void await(const Process& process, std::uint16_t port, const std::string& log) {
  for (int i = 0; i < 20'000 && process.is_running(); ++i) {
    if (Http(port).good()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  throw std::runtime_error("a server did not start; its log is " + log);
}

/// A shell command; throws when it fails.
inline void must_run(const std::string& command) {
  if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
}

/// DATASTORE names another binary than the one beside this program.
class Datastore {
 public:
  explicit Datastore(const std::string& own_path) {
    const char* named = std::getenv("DATASTORE");
    const std::string binary = named != nullptr && *named != '\0'
                                   ? named
                                   : (std::filesystem::path(own_path).parent_path() / "stackgate-datastore").string();
    for (const auto& [name, value] : {std::pair{"GIT_ADMIN_USERNAME", "ada"},
                                      {"GIT_ADMIN_PASSWORD", "correct-horse"},
                                      {"STACKGATE_LFS_JWT_SECRET", "0123456789abcdef0123456789abcdef"},
                                      {"STACKGATE_LOG_LEVEL", "warning"}})
      ::setenv(name, value, 1);
    port_ = free_port();
    process_ = std::make_unique<Process>(
        std::vector<std::string>{binary, "--data-dir", dir_ / "data", "--listen", fmt::format("127.0.0.1:{}", port_)},
        dir_ / "log");
    await(*process_, port_, dir_ / "log");
  }
  std::uint16_t port() const { return port_; }
  const Process& process() const { return *process_; }
  const test::TempDir& dir() const { return dir_; }
  std::string url(const std::string& repository) const {
    return fmt::format("http://ada:correct-horse@127.0.0.1:{}/ada/{}.git", port_, repository);
  }
  static std::string signed_in(std::string_view type = "application/json") {
    return fmt::format("Authorization: Basic {}\r\nContent-Type: {}\r\n", base64::encode("ada:correct-horse"), type);
  }
  void make_repository(const std::string& name) {
    expect(201, Http(port_).call("POST", "/api/v1/user/repos", signed_in(), fmt::format(R"({{"name":"{}"}})", name)));
  }

 private:
  test::TempDir dir_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Process> process_;
};

struct Rounds {
  std::vector<double> own, peer, ratio;
};

/// Both in turn, so that a neighbour on the machine troubles both alike; the first round warms up.
inline Rounds alternate(int rounds, const std::function<double(int)>& own, const std::function<double(int)>& peer) {
  Rounds out;
  for (int round = 0; round <= rounds; ++round) {
    const bool first = round % 2 == 0;
    double o = 0, p = 0;
    if (first) o = own(round);
    p = peer(round);
    if (!first) o = own(round);
    if (round == 0) continue;
    out.own.push_back(o), out.peer.push_back(p), out.ratio.push_back(o / p);
  }
  return out;
}

}  // namespace stackgate::bench
