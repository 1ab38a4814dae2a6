// Mutual TLS and proxies: what stands between the client and the server it means.
#include <atomic>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>

#include "certs/identity.hpp"
#include "services/kit/http_client/client.hpp"
#include "tests/certs/pairs.hpp"
#include "tests/kit/http_client/serving.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::http_client::way_out_test {
namespace {

using namespace std::chrono_literals;
using test::Peer;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct FixedIdentity final : http::TlsSource {
  std::shared_ptr<ssl_ctx_st> context;
  std::shared_ptr<ssl_ctx_st> current() const override { return context; }
};

struct WayOut : test::Serving {
  const certs::PemPair ca = certs::test::make_ca(), leaf = certs::test::make_leaf(ca);
  stackgate::test::TempDir dir;
  WayOut() { dir.write("ca.crt", ca.certificates); }
  /// Over TLS; `asks`: only for clients with a certificate of the authority.
  void serve_tls(bool asks) {
    auto identity = std::make_shared<FixedIdentity>();
    identity->context = certs::test::must(certs::make_identity(leaf, std::chrono::system_clock::now())).context;
    if (asks) {
      BIO* const text = BIO_new_mem_buf(ca.certificates.data(), static_cast<int>(ca.certificates.size()));
      X509* const authority = PEM_read_bio_X509(text, nullptr, nullptr, nullptr);
      X509_STORE_add_cert(SSL_CTX_get_cert_store(identity->context.get()), authority);
      X509_free(authority);
      BIO_free(text);
      SSL_CTX_set_purpose(identity->context.get(), X509_PURPOSE_ANY);
      SSL_CTX_set_verify(identity->context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    serve([](const http::Request&, http::Responder respond) { respond(test::text(200, "hello")); }, identity);
  }
};

TEST_F(WayOut, shows_its_certificate_to_a_server_that_asks) {
  serve_tls(true);
  dir.write("tls.crt", leaf.certificates);
  dir.write("tls.key", leaf.key);
  const std::string file = dir / "ca.crt";
  const Client by_text(
      {.retries = 0, .ca_file = file, .certificate = {.text = leaf.certificates}, .key = {.text = leaf.key}});
  const Client by_file(
      {.retries = 0, .ca_file = file, .certificate = {.file = dir / "tls.crt"}, .key = {.file = dir / "tls.key"}});
  for (const Client* client : {&by_text, &by_file}) {
    const auto reply = client->call({.url = base_ + "/"});
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->body, "hello");
  }
}

TEST_F(WayOut, is_refused_without_a_certificate_or_with_one_of_a_stranger) {
  serve_tls(true);
  const std::string file = dir / "ca.crt";
  const auto other = certs::test::make_leaf(certs::test::make_ca("another CA"));
  const Client without({.retries = 0, .ca_file = file});
  const Client wrong(
      {.retries = 0, .ca_file = file, .certificate = {.text = other.certificates}, .key = {.text = other.key}});
  const Client broken(
      {.retries = 0, .ca_file = file, .certificate = {.text = "no certificate"}, .key = {.text = "hush"}});
  for (const Client* client : {&without, &wrong, &broken}) {
    const auto reply = client->call({.url = base_ + "/"});
    ASSERT_FALSE(reply);
    EXPECT_THAT(reply.error().message, AllOf(StartsWith("GET https://localhost:"), Not(HasSubstr("hush"))));
  }
}

/// A proxy for one connection: keeps what it was asked, and after CONNECT passes bytes both ways.
class Proxy {
 public:
  explicit Proxy(int status = 200)
      : peer_(1, [this, status](int fd) {
          const std::string asked = Peer::receive(fd);
          {
            const std::lock_guard lock(mutex_);
            asked_ = asked;
          }
          if (status != 200)
            return Peer::send(fd, "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n");
          if (!asked.starts_with("CONNECT "))
            return Peer::send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy");
          const auto colon = asked.find(':');
          const int there = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
          sockaddr_in address{};
          address.sin_family = AF_INET;
          address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(asked.substr(colon + 1))));
          address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
          if (::connect(there, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return;
          Peer::send(fd, "HTTP/1.1 200 Connection established\r\nX-Of: proxy\r\n\r\n");
          pollfd both[] = {{fd, POLLIN, 0}, {there, POLLIN, 0}};
          for (bool open = true; open && ::poll(both, 2, 5'000) > 0;)
            for (int i = 0; i < 2; ++i) {
              if (both[i].revents == 0) continue;
              const std::string bytes = Peer::receive(both[i].fd);
              open = open && !bytes.empty();
              Peer::send(both[1 - i].fd, bytes);
            }
          ::close(there);
        }) {}
  std::string url(std::string_view credentials = {}) const {
    std::string url = peer_.url();
    return url.insert(7, credentials);
  }
  std::string asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  std::mutex mutex_;
  std::string asked_;
  Peer peer_;
};

TEST_F(WayOut, goes_through_a_proxy_by_connect_and_the_proxys_head_is_not_the_answers) {
  serve_tls(false);
  Proxy proxy;
  {
    const Client client({.retries = 0, .ca_file = dir / "ca.crt", .proxy = proxy.url("ann:secret@")});
    const auto answer = client.open({.url = base_ + "/"});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->head().status, 200);
    EXPECT_FALSE(answer->head().header("x-of"));
  }
  EXPECT_THAT(proxy.asked(), AllOf(StartsWith("CONNECT localhost:" + std::to_string(server_->port())),
                                   HasSubstr("Proxy-Authorization: Basic YW5uOnNlY3JldA==")));
}

TEST_F(WayOut, asks_a_proxy_for_plain_urls_whole) {
  Proxy proxy;
  const Client client({.retries = 0, .proxy = proxy.url()});
  const auto reply = client.call({.url = "http://nowhere.invalid/x?y"});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->body, "proxy");
  EXPECT_THAT(proxy.asked(), StartsWith("GET http://nowhere.invalid/x?y HTTP/1.1\r\n"));
}

TEST_F(WayOut, a_proxy_that_refuses_is_an_error_without_its_credentials) {
  serve_tls(false);
  Proxy proxy(407);
  const Client client({.retries = 0, .ca_file = dir / "ca.crt", .proxy = proxy.url("ann:secret@")});
  const auto reply = client.call({.url = base_ + "/"});
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, AllOf(HasSubstr("407"), Not(HasSubstr("secret")), Not(HasSubstr("YW5u"))));
}

TEST_F(WayOut, takes_the_proxy_of_the_environment_unless_there_is_to_be_none) {
  serve([](const http::Request&, http::Responder respond) { respond(test::text(200, "direct")); });
  Proxy proxy;
  ::unsetenv("no_proxy");
  ::unsetenv("NO_PROXY");
  ::setenv("http_proxy", proxy.url().c_str(), 1);
  const Client usual({.retries = 0}), direct({.retries = 0, .proxy = ""});
  const auto past = direct.call({.url = base_ + "/"}), through = usual.call({.url = base_ + "/"});
  ::unsetenv("http_proxy");
  ASSERT_TRUE(past && through);
  EXPECT_EQ(past->body, "direct");
  EXPECT_EQ(through->body, "proxy");
}

}  // namespace
}  // namespace stackgate::http_client::way_out_test
