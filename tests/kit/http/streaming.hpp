// A server whose handlers stream on threads of their own, for the tests of streamed bodies.
#pragma once
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "certs/identity.hpp"
#include "services/kit/http/server.hpp"
#include "services/kit/log/log.hpp"
#include "tests/certs/pairs.hpp"
#include "tests/kit/http/client.hpp"

namespace stackgate::http::test {

using namespace std::chrono_literals;

struct FixedIdentity final : TlsSource {
  std::shared_ptr<ssl_ctx_st> context;
  FixedIdentity() {
    const auto pair = certs::test::make_leaf(certs::test::make_ca());
    context = certs::test::must(certs::make_identity(pair, std::chrono::system_clock::now())).context;
  }
  std::shared_ptr<ssl_ctx_st> current() const override { return context; }
};

/// Bytes that differ from their neighbours, so that a shifted or doubled piece shows.
class Pattern {
 public:
  explicit Pattern(std::uint64_t at = 0) : at_(at) {}
  std::string next(std::size_t size) {
    std::string out;
    while (out.size() < size) {
      const std::string_view here = from(size - out.size());
      out += here;
      at_ += here.size();
    }
    return out;
  }
  bool goes_on_with(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::string_view here = from(bytes.size());
      if (!bytes.starts_with(here)) return false;
      bytes.remove_prefix(here.size());
      at_ += here.size();
    }
    return true;
  }
  std::uint64_t at() const { return at_; }

 private:
  std::string_view from(std::size_t most) const {
    static const std::string block = [] {
      std::string made(65521, '\0');
      std::uint32_t x = 1;
      for (char& c : made) c = static_cast<char>((x = x * 1664525U + 1013904223U) >> 24U);
      return made;
    }();
    return std::string_view(block).substr(at_ % block.size(), most);
  }
  std::uint64_t at_;
};

/// Of this process, since reset_peak().
inline double peak_mib() {
  std::FILE* status = std::fopen("/proc/self/status", "r");
  char line[256];
  double kib = 0;
  while (std::fgets(line, sizeof line, status) != nullptr)
    if (std::strncmp(line, "VmHWM:", 6) == 0) kib = std::strtod(line + 6, nullptr);
  std::fclose(status);
  return kib / 1024;
}
/// What may be held while hundreds of megabytes pass. The address sanitizer keeps back what was
/// freed: 64 MiB (upload_stream_test.cpp), and more while several threads free.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr double most_growth = 120;
#elif defined(__has_feature)
inline constexpr double most_growth = __has_feature(address_sanitizer) ? 120 : 16;
#else
inline constexpr double most_growth = 16;
#endif
inline double reset_peak() {
  if (std::FILE* refs = std::fopen("/proc/self/clear_refs", "w")) {
    std::fputs("5", refs);
    std::fclose(refs);
  }
  return peak_mib();
}

/// "key=value" of a query.
inline std::uint64_t number(const Request& request, std::string_view key) {
  const auto at = request.query.find(key);
  return at == std::string_view::npos ? 0 : std::strtoull(request.query.data() + at + key.size() + 1, nullptr, 10);
}

class StreamingTest : public testing::TestWithParam<bool> {
 protected:
  using Work = std::function<void(const Request&, Responder)>;

  StreamingTest() { log::configure({.level = log::Level::error, .format = log::Format::text, .fd = 2}); }
  ~StreamingTest() override {
    server.reset();
    for (std::thread& thread : threads_) thread.join();
  }
  void start(Work work, BodyPlan plan = {.stream = true, .body_bytes = 0}, Limits limits = {}) {
    ServerConfig config;
    if (GetParam()) config.tls = identity();
    config.limits = limits;
    config.body_policy = [plan](const Request& head) {
      BodyPlan mine = plan;
      if (head.path == "/whole") mine = {};
      if (head.path == "/unwanted") mine.refusal = plain_answer(401, "not you");
      if (head.path == "/broken-policy") throw std::runtime_error("broken on purpose");
      return mine;
    };
    auto started = Server::start(config, [this, work](const Request& request, Responder respond) {
      const std::lock_guard lock(mutex_);
      threads_.emplace_back([work, &request, respond = std::move(respond)]() mutable {
        try {
          work(request, std::move(respond));
        } catch (const std::exception&) {  // whatever the handler held has gone down with it
        }
      });
    });
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(*started);
  }
  std::unique_ptr<Client> connect() {
    auto client = std::make_unique<Client>(server->port());
    if (GetParam()) {
      EXPECT_TRUE(client->secure());
    }
    return client;
  }
  template <class Condition>
  static bool soon(Condition condition) {
    for (int i = 0; i < 500; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }
  static std::shared_ptr<FixedIdentity> identity() {
    static const auto made = std::make_shared<FixedIdentity>();
    return made;
  }

  std::unique_ptr<Server> server;

 private:
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

/// Reads all; "N" bytes of the pattern, or why not.
inline std::string judge(BodyReader& body, std::size_t piece = 64 * 1024, std::chrono::milliseconds nap = 0ms) {
  std::vector<char> space(piece);
  Pattern pattern;
  for (;;) {
    const auto n = body.read(space);
    if (!n) return std::to_string(n.error().status) + ": " + n.error().error.message;
    if (*n == 0) return std::to_string(pattern.at()) + " bytes";
    if (!pattern.goes_on_with({space.data(), *n})) return "other bytes after " + std::to_string(pattern.at());
    if (nap > 0ms) std::this_thread::sleep_for(nap);
  }
}

inline std::string post(std::string_view path, std::uint64_t length, std::string_view headers = "") {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(length) + "\r\n" +
         std::string(headers) + "\r\n";
}
inline std::string post_chunked(std::string_view path) {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
}
inline std::string get(std::string_view path, std::string_view version = "1.1", std::string_view method = "GET") {
  return std::string(method) + " " + std::string(path) + " HTTP/" + std::string(version) + "\r\nHost: x\r\n\r\n";
}
inline std::string chunk(std::string_view bytes) {
  char size[24];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return size + std::string(bytes) + "\r\n";
}
inline std::string body_of(const std::string& response) {
  return response.substr(std::min(response.size(), response.find("\r\n\r\n") + 4));
}

}  // namespace stackgate::http::test
