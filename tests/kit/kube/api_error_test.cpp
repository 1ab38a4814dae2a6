#include "services/kit/kube/api_error.hpp"

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/kube/exec_plugin.hpp"

namespace stackgate::kube {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(AnswerError, carries_the_servers_own_reason_and_message) {
  const ApiError error = error_from_answer(
      "GET /x", 404, R"({"kind":"Status","reason":"NotFound","message":"secrets \"hub\" not found","code":404})", 0s);
  EXPECT_EQ(error.code, 404);
  EXPECT_EQ(error.reason, "NotFound");
  EXPECT_EQ(error.message, "GET /x: secrets \"hub\" not found");
  EXPECT_TRUE(error.object_missing("hub"));
  EXPECT_FALSE(error.object_missing("hu"));
}

TEST(AnswerError, tells_an_unknown_type_from_a_missing_object) {
  const ApiError type = error_from_answer(
      "GET /x", 404,
      R"({"kind":"Status","reason":"NotFound","message":"the server could not find the requested resource"})", 0s);
  EXPECT_TRUE(type.not_found());
  EXPECT_FALSE(type.object_missing("hub"));
  EXPECT_FALSE(error_from_answer("GET /x", 404, "404 page not found\n", 0s).object_missing("hub"));
}

TEST(AnswerError, takes_the_wait_from_the_status_when_there_is_no_header) {
  const auto* body = R"({"kind":"Status","reason":"ServerTimeout","details":{"retryAfterSeconds":5}})";
  EXPECT_EQ(error_from_answer("GET /x", 504, body, 0s).retry_after, 5s);
  EXPECT_EQ(error_from_answer("GET /x", 504, body, 2s).retry_after, 2s);
}

TEST(AnswerError, quotes_the_first_words_of_a_proxys_page) {
  const ApiError error = error_from_answer("GET /x", 502, "<html>\n" + std::string(1000, 'x'), 0s);
  EXPECT_THAT(error.message, HasSubstr("HTTP 502: <html> xxx"));
  EXPECT_LT(error.message.size(), 250U);
}

TEST(PluginAnswer, gives_token_certificate_and_expiry) {
  const auto answer = parse_exec_credential(
      R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t","expirationTimestamp":"1970-01-01T00:00:10Z"}})",
      "client.authentication.k8s.io/v1");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->token, "t");
  EXPECT_EQ(std::chrono::system_clock::to_time_t(*answer->expires), 10);
}

TEST(PluginAnswer, that_cannot_be_used_is_refused_with_the_reason) {
  const std::pair<std::string, std::string> cases[] = {
      {"no", "not JSON"},
      {R"({"apiVersion":"v0","kind":"ExecCredential","status":{"token":"t"}})", "no ExecCredential"},
      {R"({"apiVersion":"v1","kind":"ExecCredential"})", "no status"},
      {R"({"apiVersion":"v1","kind":"ExecCredential","status":{}})", "neither a token"},
      {R"({"apiVersion":"v1","kind":"ExecCredential","status":{"clientCertificateData":"c"}})", "only one"},
      {R"({"apiVersion":"v1","kind":"ExecCredential","status":{"token":"t","expirationTimestamp":"soon"}})", "no time"},
  };
  for (const auto& [text, why] : cases) {
    const auto answer = parse_exec_credential(text, "v1");
    ASSERT_FALSE(answer) << text;
    EXPECT_THAT(answer.error().message, HasSubstr(why));
  }
}

Config with_plugin(std::string script) {
  Config config;
  config.server = "https://h";
  config.exec.api_version = "v1";
  config.exec.command = "sh";
  config.exec.args = {"-c", std::move(script)};
  config.exec.install_hint = "install it";
  config.exec.env = {{"WHO", "me"}};
  return config;
}

TEST(Plugin, is_run_with_its_environment) {
  const auto answer =
      run_exec_plugin(with_plugin(R"(case "$KUBERNETES_EXEC_INFO" in *ExecCredential*) ;; *) exit 9;; esac
                     printf '{"apiVersion":"v1","kind":"ExecCredential","status":{"token":"%s"}}' "$WHO")"),
                      5s);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->token, "me");
}

TEST(Plugin, that_fails_hangs_or_is_missing_is_an_error) {
  const auto failed = run_exec_plugin(with_plugin("exit 3"), 5s);
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("exit status 3; install it"));

  EXPECT_THAT(run_exec_plugin(with_plugin("exit 253"), 5s).error().message, HasSubstr("exit status 253"));

  const auto begun = std::chrono::steady_clock::now();
  const auto hung = run_exec_plugin(with_plugin("exec sleep 20"), 200ms);
  ASSERT_FALSE(hung);
  EXPECT_THAT(hung.error().message, HasSubstr("no answer within 200 ms"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);

  Config missing = with_plugin("");
  missing.exec.command = "no-such-plugin-anywhere";
  EXPECT_THAT(run_exec_plugin(missing, 1s).error().message, HasSubstr("No such file"));
}

TEST(Plugin, gets_none_of_our_signal_handling) {
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, &before);
  const auto killed = run_exec_plugin(with_plugin("kill -TERM $$; exit 0"), 5s);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_FALSE(killed);
  EXPECT_THAT(killed.error().message, HasSubstr("killed by signal 15"));
}

TEST(Plugin, that_answers_without_end_is_an_error) {
  EXPECT_THAT(run_exec_plugin(with_plugin("exec cat /dev/zero"), 20s).error().message,
              HasSubstr("longer than 1048576"));
}

TEST(Base64, goes_there_and_back) {
  const std::pair<std::string, std::string> cases[] = {{"", ""},        {"f", "Zg=="},          {"fo", "Zm8="},
                                                       {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}, {"\xff\x00z", ""}};
  for (const auto& [bytes, text] : cases) {
    if (!text.empty() || bytes.empty()) {
      EXPECT_EQ(base64::encode(bytes), text);
    }
    EXPECT_EQ(base64::decode(base64::encode(bytes)), bytes);
  }
  EXPECT_EQ(base64::decode("Zm\n9v\r\n"), "foo");
}

TEST(Base64, that_is_none_gives_nothing) {
  for (const auto* text : {"Z", "Zg=", "Zg", "Zm9v=", "Zm9v====", "Z g=", "Zg==Zg==", "====", "=", "Zm8=x", "Zm-_"})
    EXPECT_FALSE(base64::decode(text)) << text;
}

}  // namespace
}  // namespace stackgate::kube
