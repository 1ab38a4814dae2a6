// A server of the project's own for tests of its client, and a peer that does with a connection what a test wants.
#pragma once
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "services/kit/http/server.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::http_client::test {

/// Handlers run on threads of their own and may stream.
class Serving : public testing::Test {
 protected:
  using Work = std::function<void(const http::Request&, http::Responder)>;
  Serving() { log::configure({.level = log::Level::error, .format = log::Format::text, .fd = 2}); }
  ~Serving() override {
    server_.reset();
    for (std::thread& thread : threads_) thread.join();
  }
  void serve(Work work, std::shared_ptr<http::TlsSource> tls = {}) {
    http::ServerConfig config;
    config.tls = std::move(tls);
    config.body_policy = [](const http::Request&) { return http::BodyPlan{.stream = true, .body_bytes = 0}; };
    auto started = http::Server::start(config, [this, work](const http::Request& request, http::Responder respond) {
      const std::lock_guard lock(mutex_);
      threads_.emplace_back(
          [work, &request, respond = std::move(respond)]() mutable { work(request, std::move(respond)); });
    });
    ASSERT_TRUE(started) << started.error().message;
    server_ = std::move(*started);
    base_ = (config.tls ? "https://localhost:" : "http://127.0.0.1:") + std::to_string(server_->port());
  }
  static std::string drink(http::BodyReader& body) {
    std::string all;
    std::vector<char> space(65536);
    for (auto n = body.read(space); n && *n > 0; n = body.read(space)) all.append(space.data(), *n);
    return all;
  }

  std::string base_;
  std::unique_ptr<http::Server> server_;

 private:
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

inline http::Response text(int status, std::string body) { return http::text_answer(status, std::move(body)); }

/// Listens on the loopback and hands each connection to `work`, one after the other, `count` times.
class Peer {
 public:
  Peer(int count, std::function<void(int fd)> work) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_, any, size), 0);
    EXPECT_EQ(::listen(listener_, 64), 0);
    ::getsockname(listener_, any, &size);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/";
    thread_ = std::thread([this, count, work = std::move(work)] {
      for (int i = 0; i < count; ++i) {
        const int fd = ::accept(listener_, nullptr, nullptr);
        if (fd < 0) return;
        work(fd);
        ::close(fd);
      }
    });
  }
  ~Peer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  const std::string& url() const { return url_; }

  static std::string receive(int fd) {
    char bytes[8192];
    const auto n = ::recv(fd, bytes, sizeof bytes, 0);
    return n > 0 ? std::string(bytes, static_cast<std::size_t>(n)) : std::string();
  }
  static void send(int fd, std::string_view bytes) { (void)!::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

 private:
  int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string url_;
  std::thread thread_;
};

}  // namespace stackgate::http_client::test
