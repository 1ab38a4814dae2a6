// The datastore's client against one that says nothing, and against one that says something else than wanted.
#include "services/kit/datastore_client/datastore.hpp"

#include <gmock/gmock.h>

#include "services/kit/log/log.hpp"
#include "tests/kit/web/app_support.hpp"
#include "tests/support/silent_server.hpp"

namespace stackgate::datastore_client {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using Clock = std::chrono::steady_clock;

/// Takes connections, and leaves it at that.
class SilentDatastore : public testing::Test {
 protected:
  Datastore datastore() const {
    return Datastore(
        {.url = server_.url(), .username = "u", .password = "p", .patience = 1000ms, .transfer_pause = 1000ms});
  }
  /// `call` fails within `most`, and says that the datastore is away.
  static void gives_up(std::chrono::milliseconds most, const auto& call) {
    const auto began = Clock::now();
    const auto got = call();
    EXPECT_LT(Clock::now() - began, most);
    ASSERT_FALSE(got);
    EXPECT_TRUE(got.error().silent());
    EXPECT_THAT(got.error().message, StartsWith("the datastore is away: "));
  }

 private:
  const test::SilentServer server_;
};

TEST_F(SilentDatastore, is_waited_for_no_longer_than_our_patience_lasts) {
  Datastore silent = datastore();
  gives_up(2500ms, [&] { return silent.description("o/n"); });
  gives_up(2500ms, [&] { return silent.create_repository("o/n"); });
  gives_up(2500ms, [&] { return silent.small_file("o/n", "config.json"); });
  gives_up(2500ms, [&] { return silent.send("o/n", {{{"00", 1}, "/dev/null"}}, [] {}); });
  gives_up(4500ms, [&] { return silent.commit("o/n", {}); });
}

TEST(DatastoreCheck, tells_what_the_credentials_are_not_good_for) {
  log::configure({.level = log::Level::error});
  const auto check = [](int status, const std::string& body) {
    const auto app = web::test::start({{"GET", "/v1/hf/api/whoami-v2", [&](web::Call&) {
                                          return http::Response{status, "application/json", {}, body};
                                        }}});
    Datastore datastore({.url = "http://127.0.0.1:" + std::to_string(app->port()), .username = "u", .password = "p"});
    const auto known = datastore.check(2000ms);
    return known ? std::string("good") : known.error().away ? "away" : known.error().message;
  };
  EXPECT_EQ(check(200, R"({"name":"u","auth":{"accessToken":{"role":"write"}}})"), "good");
  EXPECT_EQ(check(200, R"({"name":"u"})"), "good") << "says nothing of it";
  EXPECT_EQ(check(200, "[]"), "good");
  EXPECT_THAT(check(200, R"({"name":"u","auth":{"accessToken":{"role":"read"}}})"),
              AllOf(HasSubstr("reading only"), HasSubstr("DATASTORE_PASSWORD")));
  EXPECT_THAT(check(401, R"({"error":"no"})"), HasSubstr("DATASTORE_USERNAME"));
  EXPECT_EQ(check(500, "{}"), "away");
}

}  // namespace
}  // namespace stackgate::datastore_client
