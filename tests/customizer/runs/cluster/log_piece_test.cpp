// A pod's log in pieces, over a real socket: a server that filters by whole seconds, as some do.
#include "services/customizer/runs/cluster/log_piece.hpp"

#include <algorithm>

#include <gmock/gmock.h>

#include "services/kit/http/server.hpp"
#include "services/kit/kube/client.hpp"

namespace stackgate::customizer {
namespace {

constexpr std::chrono::seconds limit{20};
constexpr std::size_t megabyte = 1U << 20U;

class LogPieces : public testing::Test {
 protected:
  void SetUp() override {
    server_ = *http::Server::start({}, [this](const http::Request& request, http::Responder respond) {
      const std::string query(request.query);
      const auto at = query.find("sinceTime=");
      const std::string since = at == std::string::npos ? "" : query.substr(at + 10);
      std::size_t begin = 0;
      // "2026-11-26T21%3A00%3A01.5Z" as whole seconds
      if (!since.empty()) {
        begin = std::string::npos;
        for (int second = std::stoi(since.substr(since.find("%3A", 14) + 3, 2)); second < 10; ++second)
          begin = std::min(begin, log_.find("2026-11-26T21:00:0" + std::to_string(second)));
      }
      respond(begin == std::string::npos ? http::Response{.status = 404, .body = "{}"}
                                         : http::Response{.content_type = "text/plain", .body = log_.substr(begin)});
    });
    kube::Config config;
    config.server = "http://127.0.0.1:" + std::to_string(server_->port());
    client_ = *kube::Client::connect(config);
  }
  LogPiece read(bool has_ended = true) {
    auto out = read_log_piece(client_->transport(), "ml", "train-0", cursor_, has_ended, limit);
    EXPECT_TRUE(out) << (out ? "" : out.error().message);
    return out.value_or(LogPiece{});
  }
  /// All pieces, until there is no more.
  std::string read_all() {
    std::string out;
    for (int i = 0; i < 20; ++i) {
      const LogPiece piece = read();
      out += piece.lines;
      if (!piece.has_more) return out;
    }
    ADD_FAILURE() << "it is read again and again";
    return out;
  }
  static std::string line(int second, std::string_view text) {
    return "2026-11-26T21:00:0" + std::to_string(second) + ".5Z " + std::string(text) + "\n";
  }

  std::string log_{};
  LogCursor cursor_{};
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<kube::Client> client_;
};

TEST_F(LogPieces, pass_over_a_line_that_is_longer_than_a_piece) {
  log_ = line(1, "one") + line(2, std::string(5 * megabyte, 'x')) + line(3, "three");
  const std::string all = read_all();
  EXPECT_TRUE(all.starts_with("one\nxxx"));
  EXPECT_TRUE(all.ends_with("x\nthree\n"));
  EXPECT_LT(all.size(), 100'000U) << "of a long line the beginning";
  log_ += line(4, "four");
  EXPECT_EQ(read().lines, "four\n");
}

TEST_F(LogPieces, go_on_within_a_second_that_is_longer_than_a_piece) {
  const std::string text(1'000, 'y');
  for (int i = 0; i < 9'000; ++i) log_ += line(1, text);
  log_ += line(2, "two");
  EXPECT_TRUE(read().has_more);
  cursor_ = {};
  const std::string all = read_all();
  EXPECT_EQ(all.size(), 9'000 * 1'001 + 4U);
  EXPECT_TRUE(all.ends_with("\ntwo\n"));
}

TEST_F(LogPieces, leave_what_is_still_written) {
  log_ = line(1, "one") + "2026-11-26T21:00:02Z tw";
  EXPECT_EQ(read(false).lines, "one\n");
  log_ += "o\n";
  EXPECT_EQ(read(false).lines, "two\n");
  log_ += "2026-11-26T21:00:03Z three";
  EXPECT_EQ(read(true).lines, "three\n") << "the last words";
  log_ = line(1, "one") + "2026-11-26T21:00:04Z " + std::string(megabyte, 'z');
  EXPECT_FALSE(read(false).lines.empty()) << "a line that never ends is cut, too";
  const LogPiece again = read(false);
  EXPECT_EQ(again.lines, "") << "and taken once";
  EXPECT_TRUE(again.is_endless);
  log_ += "\n";
  EXPECT_FALSE(read(false).is_endless);
}

TEST(PauseOfLogs, grows_while_nothing_comes_but_an_endless_line) {
  using std::chrono::seconds;
  EXPECT_EQ(next_pause({.lines = "a\n"}, seconds(40)), seconds(5));
  EXPECT_EQ(next_pause({}, seconds(5)), seconds(5));
  EXPECT_EQ(next_pause({.lines = "begin of it\n", .is_endless = true}, seconds(5)), seconds(5));
  EXPECT_EQ(next_pause({.is_endless = true}, seconds(5)), seconds(10));
  EXPECT_EQ(next_pause({.is_endless = true}, seconds(200)), seconds(300));
}

TEST_F(LogPieces, are_refused_with_the_servers_answer) {
  cursor_.time = "2026-11-26T21:00:59Z";
  const auto refused = read_log_piece(client_->transport(), "ml", "train-0", cursor_, true, limit);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().failure, kube::Failure::answered);
}

}  // namespace
}  // namespace stackgate::customizer
