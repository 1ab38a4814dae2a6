// A program of ours as the thing that is measured: started, asked until it is ready, kept on one core.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "tests/bench/http_load.hpp"

namespace stackgate::bench {

/// As many open files as are allowed: thousands of connections.
inline void open_more_files() {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

/// The whole answer, head and body, to a request that says "Connection: close"; empty when nothing answers.
inline std::string ask(std::uint16_t port, std::string_view request) {
  const int fd = connect_to(port);
  if (fd < 0) return {};
  std::string answer;
  if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
    char part[4096];
    for (ssize_t n = 0; (n = ::recv(fd, part, sizeof part, 0)) > 0;) answer.append(part, static_cast<std::size_t>(n));
  }
  ::close(fd);
  return answer;
}

struct Program {
  std::uint16_t port = free_port();
  std::string log;
  double start_ms = 0;  // until it is ready
  std::unique_ptr<Process> process{};

  /// `command` without its address, data and log level, which are added; `name` for its files. Core -1: any.
  Program(std::vector<std::string> command, const test::TempDir& dir, const std::string& name, int core)
      : log(dir / (name + ".log")) {
    for (const std::string& word :
         {std::string("--data-dir"), dir / name, std::string("--listen"), fmt::format("127.0.0.1:{}", port),
          std::string("--log-level"), std::string("warning")})
      command.push_back(word);
    const auto begun = Clock::now();
    process = std::make_unique<Process>(command, log);
    const std::string ready = "GET /v1/health/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    while (!ask(port, ready).starts_with("HTTP/1.1 200")) {
      if (Clock::now() - begun > std::chrono::seconds(10))
        throw std::runtime_error("the program does not get ready; " + log + " says why");
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    start_ms = std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
    process->keep_on_core(core);
  }
};

}  // namespace stackgate::bench
