#include "services/puller/plan/failure.hpp"

#include <cerrno>

#include <gtest/gtest.h>

#include "services/puller/plan/progress.hpp"

namespace stackgate::puller {
namespace {

TEST(PullerFailure, AStatusHasACauseAndACure) {
  struct Row {
    int status, code;
    const char *words, *cure;
  };
  for (const auto& [status, code, words, cure] :
       std::initializer_list<Row>{{401, 3, "401 Unauthorized: https://h/x (Bad token)", "REGISTRY_API_KEY"},
                                  {403, 3, "403 Forbidden", "licence"},
                                  {404, 5, "404 Not Found", "revision"},
                                  {410, 5, "410 Gone", "revision"},
                                  {407, 3, "407 Proxy Authentication Required", "HTTPS_PROXY"},
                                  {408, 1, "408", "later"},
                                  {429, 1, "429 Too Many Requests", "Retry-After: 900"},
                                  {500, 1, "500", "later"},
                                  {503, 1, "503", "later"},
                                  {599, 1, "status 599", "later"},
                                  {418, 8, "status 418", "endpoint"}}) {
    const auto failure = failure_of_status(status, "https://h/x", "Bad token", "900");
    ASSERT_TRUE(failure);
    EXPECT_EQ(exit_code(failure->cause), code) << status;
    EXPECT_TRUE(failure->message.starts_with(words)) << failure->message;
    EXPECT_TRUE(failure->cure.contains(cure)) << failure->cure;
    EXPECT_EQ(may_pass(failure->cause), code == 1);
    EXPECT_FALSE(reason(failure->cause).empty());
  }
  EXPECT_FALSE(failure_of_status(206, "x", ""));
  EXPECT_EQ(failure_of_status(404, "x", "a\nb\x1b")->message, "404 Not Found: x (a b )")
      << "one line, safe for a terminal";
}

TEST(PullerFailure, CallsAndTheSystemHaveToo) {
  EXPECT_EQ(failure_of_call("GET https://h: Received HTTP code 407 from proxy after CONNECT").cause, Cause::refused);
  EXPECT_EQ(failure_of_call("GET https://h/x: CONNECT tunnel failed, response 407").cause, Cause::refused);
  for (const char* name : {"model-00407-of-00500.safetensors", "response407", "SSL-certificate-resolver"})
    EXPECT_EQ(
        sentence(failure_of_call(std::string("GET https://h/") + name + ": Recv failure: Connection reset by peer")),
        std::string("GET https://h/") + name +
            ": Recv failure: Connection reset by peer; check endpoint, proxy and network policies; it is tried again")
        << "what a URL is called says nothing";
  EXPECT_TRUE(failure_of_call("SSL certificate problem: self-signed certificate").cure.contains("--ca-dir"));
  EXPECT_TRUE(failure_of_call("Could not resolve host: h").cure.contains("DNS"));
  EXPECT_EQ(failure_of_call("Connection refused").cause, Cause::network);
  EXPECT_EQ(failure_of_system("write /m/x", ENOSPC).cause, Cause::no_space);
  EXPECT_EQ(failure_of_system("write /m/x", EDQUOT).cause, Cause::no_space);
  EXPECT_EQ(failure_of_system("write /m/x", EROFS).cause, Cause::volume);
  EXPECT_EQ(sentence(failure_of_system("write /m/x", EACCES)),
            "write /m/x: Permission denied; let this user write there (userID and groupID of the cache)");
}

TEST(PullerProgress, IsTold) {
  const Progress half{.downloaded = 50, .total = 100, .file = "a\"b"};
  EXPECT_EQ(progress_line(half), R"({"downloadedBytes":50,"totalBytes":100,"percent":50,"file":"a\"b"})");
  EXPECT_EQ(percent({.downloaded = 5}), 0) << "the total is not known";
  EXPECT_EQ(percent({.downloaded = 300, .total = 100}), 100);
  EXPECT_EQ(percent({.downloaded = 999'999, .total = 1'000'000}), 99) << "not whole yet";
  EXPECT_EQ(progress_bar({.downloaded = 1'500'000, .total = 3'000'000, .file = "m"}, 2e6, 200),
            "[############............]  50 % 1.5 MB of 3.0 MB  2.0 MB/s  m");
  EXPECT_EQ(progress_bar(half, 0, 30).size(), 30U);
}

TEST(PullerProgress, AConfigMapGetsWhatTheReconcilerReads) {
  EXPECT_EQ(report_patch({.downloaded = 5}, std::nullopt, std::nullopt),
            R"({"data":{"downloadedBytes":"5","reason":null,"message":null}})");
  EXPECT_EQ(report_patch({.downloaded = 5, .total = 9}, Failure{Cause::no_space, "full", "grow"}, std::nullopt),
            R"({"data":{"downloadedBytes":"5","totalBytes":"9","reason":"VolumeFull","message":"full; grow"}})");
  EXPECT_EQ(report_patch({.downloaded = 9, .total = 9}, std::nullopt, Pulled{"a/b", "c"}),
            R"({"data":{"downloadedBytes":"9","totalBytes":"9",)"
            R"("profiles":"[{\"name\":\"a/b\",\"release\":\"c\",\"model\":\"a/b\"}]","reason":null,"message":null}})");
}

TEST(PullerSpace, OneInAHundredMoreIsWanted) {
  EXPECT_FALSE(fault_of_space(1000, 1010, "/m"));
  const auto fault = fault_of_space(1000, 1009, "/m");
  ASSERT_TRUE(fault);
  EXPECT_EQ(exit_code(fault->cause), 4);
  EXPECT_TRUE(fault->message.contains("no space left on device"));
  EXPECT_FALSE(fault_of_space(0, 0, "/m"));
}

}  // namespace
}  // namespace stackgate::puller
