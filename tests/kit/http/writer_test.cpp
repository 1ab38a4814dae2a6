#include "services/kit/http/writer.hpp"

#include <gtest/gtest.h>

namespace stackgate::http {
namespace {

std::string written(const Response& response, WriteOptions options = {}) {
  options.date = "Sat, 21 Nov 2026 03:00:00 GMT";
  std::string out;
  append_response(out, response, options);
  return out;
}

constexpr const char* ok =
    "HTTP/1.1 200 OK\r\nDate: Sat, 21 Nov 2026 03:00:00 GMT\r\nContent-Type: application/json\r\nContent-Length: 2\r\n";

TEST(Writer, writes_head_and_body) {
  EXPECT_EQ(written({.body = "{}"}), std::string(ok) + "\r\n{}");
  EXPECT_EQ(written({.body = "{}"}, {.close = true}), std::string(ok) + "Connection: close\r\n\r\n{}");
  EXPECT_EQ(written({.body = "{}"}, {.keep_alive = true}), std::string(ok) + "Connection: keep-alive\r\n\r\n{}");
  EXPECT_EQ(written({.headers = {{"A", "b"}}, .body = "{}"}), std::string(ok) + "A: b\r\n\r\n{}");
}

TEST(Writer, answers_HEAD_with_the_length_of_what_GET_would_send) {
  EXPECT_EQ(written({.body = "{}"}, {.head_only = true}), std::string(ok) + "\r\n");
}

TEST(Writer, gives_no_body_to_statuses_that_have_none) {
  EXPECT_EQ(written({.status = 204, .body = "x"}),
            "HTTP/1.1 204 No Content\r\nDate: Sat, 21 Nov 2026 03:00:00 GMT\r\n\r\n");
  EXPECT_EQ(written({.status = 304, .body = "x"}),
            "HTTP/1.1 304 Not Modified\r\nDate: Sat, 21 Nov 2026 03:00:00 GMT\r\n\r\n");
}

TEST(Writer, lets_no_header_end_early) {
  const auto out = written({.headers = {{"A\r\nB", "c\r\nSet-Cookie: d\n"}}});
  EXPECT_NE(out.find("A??B: c??Set-Cookie: d?\r\n"), std::string::npos) << out;
}

}  // namespace
}  // namespace stackgate::http
