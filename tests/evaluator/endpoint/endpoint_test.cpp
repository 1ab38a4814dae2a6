#include "services/evaluator/endpoint/endpoint.hpp"

#include <atomic>

#include <gmock/gmock.h>

#include "services/kit/log/log.hpp"
#include "tests/certs/pairs.hpp"
#include "tests/kit/http_client/serving.hpp"
#include "tests/kit/web/app_support.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::evaluator {
namespace {

using testing::HasSubstr;
using testing::Not;
using Kind = NoAnswer::Kind;

/// Answers of a model: by the path's last word.
class EndpointTest : public testing::Test {
 protected:
  void SetUp() override {
    log::configure({.level = log::Level::error});
    app_ = web::test::start({
        {"GET", "/v1/models", [this](web::Call&) { return http::Response{200, "application/json", {}, models_}; }},
        {"POST", "/v1/completions",
         [this](web::Call& call) -> web::Answer {
           const auto body = call.body();
           asked_ = body ? std::string(*body) : "";
           if (++calls_ <= fails_) return web::Failure{.status = status_, .message = "no, key sk-1"};
           return http::Response{200, "application/json", {}, answer_};
         }},
    });
  }
  Endpoint endpoint(std::string model = "", unsigned retries = 2) {
    return Endpoint({.url = "http://127.0.0.1:" + std::to_string(app_->port()) + "/v1",
                     .model = std::move(model),
                     .api_key = "sk-1",
                     .max_retries = retries},
                    [this] { return stop_.load(); });
  }

  std::string models_ = R"({"data":[{"id":"llama"},{"id":"qwen"}]})";
  std::string answer_ = R"({"choices":[{"text":"4"}]})";
  std::string asked_;
  std::atomic<int> calls_ = 0, fails_ = 0;
  int status_ = 503;
  std::atomic<bool> stop_ = false;
  std::unique_ptr<web::App> app_;
};

TEST_F(EndpointTest, takes_the_first_model_or_the_named_one) {
  Endpoint first = endpoint(), named = endpoint("qwen"), unknown = endpoint("qwem");
  ASSERT_TRUE(first.check());
  EXPECT_EQ(first.model(), "llama");
  EXPECT_TRUE(named.check());
  const auto missing = unknown.check();
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, Kind::away);  // an adapter that is still being registered
  EXPECT_THAT(missing.error().message, HasSubstr("did you mean \"qwen\"?"));
  models_ = R"({"data":[]})";
  EXPECT_THAT(endpoint().check().error().message, HasSubstr("serves no model yet"));
  models_ = "<html>";
  EXPECT_EQ(endpoint().check().error().kind, Kind::broken);
}

TEST_F(EndpointTest, asks_again_what_may_pass) {
  fails_ = 2;
  const auto answer = endpoint("m").ask({.prompt = "2+2="});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->text, "4");
  EXPECT_EQ(calls_, 3);
  EXPECT_THAT(asked_, HasSubstr(R"("model":"m","prompt":"2+2=")"));
}

TEST_F(EndpointTest, gives_up_with_the_reason_and_without_the_key) {
  fails_ = 100;
  const auto away = endpoint("m", 1).ask({.prompt = "x"});
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().kind, Kind::away);
  EXPECT_THAT(away.error().message, testing::AllOf(HasSubstr("503"), HasSubstr("key ***"), Not(HasSubstr("sk-1"))));
  status_ = 400;
  calls_ = 0;
  EXPECT_EQ(endpoint("m").ask({.prompt = "x"}).error().kind, Kind::refused);
  EXPECT_EQ(calls_, 1);
  status_ = 401;
  EXPECT_THAT(endpoint("m").ask({.prompt = "x"}).error().message, HasSubstr("set \"api_key\""));
}

TEST_F(EndpointTest, is_probed_for_likelihoods) {
  const auto plain = endpoint("m").check_likelihoods();
  ASSERT_FALSE(plain);
  EXPECT_EQ(plain.error().kind, Kind::broken);
  EXPECT_THAT(plain.error().message, HasSubstr("cannot score given texts"));
  answer_ = R"({"choices":[{"text":"","logprobs":{"tokens":["The capital of France"," is Paris."],
                "token_logprobs":[null,-1.5],"text_offset":[0,21]}}]})";
  EXPECT_TRUE(endpoint("m").check_likelihoods());
}

TEST_F(EndpointTest, that_is_away_is_left_when_asked_to_stop) {
  fails_ = 100;
  stop_ = true;
  EXPECT_EQ(endpoint("m", 20).ask({.prompt = "x"}).error().kind, Kind::stopped);
}

struct Identity final : http::TlsSource {
  std::shared_ptr<ssl_ctx_st> context;
  std::shared_ptr<ssl_ctx_st> current() const override { return context; }
};

using TlsEndpointTest = http_client::test::Serving;

TEST_F(TlsEndpointTest, is_trusted_by_its_own_authority_only) {
  const auto ca = certs::test::make_ca(), other = certs::test::make_ca("another CA");
  const auto identity = std::make_shared<Identity>();
  identity->context =
      certs::test::must(certs::make_identity(certs::test::make_leaf(ca), std::chrono::system_clock::now())).context;
  serve([](const http::Request&,
           http::Responder respond) { respond(http_client::test::text(200, R"({"data":[{"id":"llama"}]})")); },
        identity);
  test::TempDir dir;
  dir.write("ca.crt", ca.certificates);
  const auto check = [&](http_client::Pem authorities) {
    return Endpoint({.url = base_ + "/v1", .max_retries = 0, .authorities = std::move(authorities)}, {}).check();
  };
  EXPECT_TRUE(check({.file = dir / "ca.crt"}));
  EXPECT_TRUE(check({.text = ca.certificates}));
  for (const auto& authorities :
       {http_client::Pem{}, http_client::Pem{.text = other.certificates}, http_client::Pem{.file = dir / "none.crt"}}) {
    const auto refused = check(authorities);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Kind::away);
    EXPECT_THAT(refused.error().message, HasSubstr("certificate"));
  }
}

}  // namespace
}  // namespace stackgate::evaluator
