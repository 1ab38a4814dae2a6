// Events posted over a real socket.
#include "services/trainer/report/poster.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "services/kit/http/server.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::trainer {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Le;

class PosterTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::pipe(log_), 0);
    log::configure({.level = log::Level::warning, .format = log::Format::text, .fd = log_[1]});
    server_ = *http::Server::start(
        {}, [this](const http::Request& request, http::Responder respond) { respond(answer(request)); });
  }
  void TearDown() override {
    log::configure({.level = log::Level::error, .format = log::Format::text, .fd = 2});
    for (const int fd : log_) ::close(fd);
  }
  http::Response answer(const http::Request& request) {
    const std::scoped_lock lock(mutex_);
    json::Document document;
    const auto body = json::parse(request.body, document);
    if (!body) return {.status = 400};
    calls_.push_back(std::chrono::steady_clock::now());
    const std::size_t count = body->is_array() ? body->items().size() : 1;
    bodies_.push_back(count);
    arrays_ += body->is_array() ? 1 : 0;
    if (body->is_array() && refuses_arrays_) return {.status = 422};
    if (refusals_ > 0) {
      --refusals_;
      http::Response out{.status = refusal_};
      if (!retry_after_.empty()) out.headers.emplace_back("Retry-After", retry_after_);
      return out;
    }
    if (body->is_array())
      for (const json::Value& each : body->items()) steps_.push_back(json::integer(&each, {"step"}));
    else
      steps_.push_back(json::integer(&*body, {"step"}));
    return {.status = 204};
  }
  void start(std::chrono::milliseconds pause = 50ms, std::size_t waiting = 20'000) {
    poster_.emplace(PosterSettings{
        .url = fmt::format("http://127.0.0.1:{}/", server_->port()), .pause = pause, .waiting = waiting});
  }
  void add(int first, int last) {
    for (int i = first; i <= last; ++i) poster_->add(fmt::format(R"({{"event":"step","step":{}}})", i));
  }
  /// What was logged; the poster has ended then.
  std::string end() {
    poster_.reset();
    const std::string mark = "the end";
    if (::write(log_[1], mark.data(), mark.size()) < 0) return "no pipe";
    std::string out;
    char part[4096];
    while (!out.ends_with(mark)) {
      const ssize_t got = ::read(log_[0], part, sizeof part);
      if (got <= 0) break;
      out.append(part, static_cast<std::size_t>(got));
    }
    return out.substr(0, out.size() - mark.size());
  }
  static std::vector<std::int64_t> numbers(int first, int last) {
    std::vector<std::int64_t> out;
    for (int i = first; i <= last; ++i) out.push_back(i);
    return out;
  }

  int log_[2] = {-1, -1};
  std::mutex mutex_;
  std::vector<std::int64_t> steps_{};
  std::vector<std::size_t> bodies_{};
  std::vector<std::chrono::steady_clock::time_point> calls_{};
  int refusals_ = 0, refusal_ = 429, arrays_ = 0;
  bool refuses_arrays_ = false;
  std::string retry_after_ = "1";
  std::unique_ptr<http::Server> server_;
  std::optional<Poster> poster_;
};

TEST_F(PosterTest, sends_what_has_gathered_in_one_body) {
  refusals_ = 1;
  start();
  add(1, 1'000);
  EXPECT_EQ(end(), "") << "to be asked to wait is no warning";
  EXPECT_EQ(steps_, numbers(1, 1'000)) << "all of them, once, in their order";
  EXPECT_THAT(bodies_.size(), Le(10U));
  EXPECT_GE(calls_.at(1) - calls_.at(0), 1s) << "Retry-After";
}

TEST_F(PosterTest, sends_one_alone_as_an_object_at_once) {
  start();
  for (int i = 1; i <= 3; ++i) {
    add(i, i);
    for (int tries = 0; tries < 500; ++tries) {
      std::this_thread::sleep_for(10ms);
      const std::scoped_lock lock(mutex_);
      if (steps_.size() == static_cast<std::size_t>(i)) break;
    }
  }
  EXPECT_EQ(end(), "");
  EXPECT_EQ(steps_, numbers(1, 3));
  EXPECT_THAT(bodies_, ElementsAre(1, 1, 1));
  EXPECT_EQ(arrays_, 0);
}

TEST_F(PosterTest, sends_each_alone_where_arrays_are_refused) {
  refuses_arrays_ = true;
  start();
  add(1, 20);
  EXPECT_EQ(end(), "");
  EXPECT_EQ(steps_, numbers(1, 20));
}

TEST_F(PosterTest, warns_once_of_a_server_that_fails) {
  refusals_ = 3;
  refusal_ = 500;
  retry_after_.clear();
  start();
  add(1, 20);
  const std::string text = end();
  EXPECT_THAT(text, testing::HasSubstr("HTTP 500"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  EXPECT_EQ(steps_, numbers(1, 20));
}

TEST_F(PosterTest, keeps_the_newest_of_a_server_that_is_away) {
  refusals_ = 1;
  start(50ms, 10);
  add(1, 30);
  (void)end();
  EXPECT_EQ(steps_, numbers(21, 30));
}

}  // namespace
}  // namespace stackgate::trainer
