#include "services/kit/http/head.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::http {
namespace {

struct Good {
  const char* what;
  std::string head;
  std::string method, path, query;
  Head::Framing framing = Head::Framing::none;
  std::uint64_t length = 0;
  bool keep_alive = true;
};

TEST(Head, accepts_what_RFC_9112_allows) {
  const Good cases[] = {
      {"origin form", "GET /a/b?c=d&e HTTP/1.1\r\nHost: x\r\n\r\n", "GET", "/a/b", "c=d&e"},
      {"empty query", "GET /a? HTTP/1.1\r\nHost: x\r\n\r\n", "GET", "/a", ""},
      {"absolute form", "GET http://host:80/p?q HTTP/1.1\r\nHost: x\r\n\r\n", "GET", "/p", "q"},
      {"absolute form without path", "GET https://host HTTP/1.1\r\nHost: x\r\n\r\n", "GET", "/", ""},
      {"absolute form with query only", "GET https://host?q HTTP/1.1\r\nHost: x\r\n\r\n", "GET", "/", "q"},
      {"asterisk", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "OPTIONS", "*", ""},
      {"empty Host value", "GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET", "/", ""},
      {"length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n", "POST", "/", "", Head::Framing::length,
       12},
      {"length in any case and space", "POST / HTTP/1.1\r\nhost:x\r\nCONTENT-length: \t 7 \t\r\n\r\n", "POST", "/", "",
       Head::Framing::length, 7},
      {"chunked", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n", "POST", "/", "",
       Head::Framing::chunked},
      {"close", "GET / HTTP/1.1\r\nHost: x\r\nConnection: foo, Close\r\n\r\n", "GET", "/", "", Head::Framing::none, 0,
       false},
      {"HTTP/1.0 closes and needs no Host", "GET / HTTP/1.0\r\n\r\n", "GET", "/", "", Head::Framing::none, 0, false},
      {"HTTP/1.0 may stay", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET", "/", ""},
      {"HTTP/1.0 that says both closes", "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", "GET", "/", "",
       Head::Framing::none, 0, false},
      {"Connection that is no list of tokens", "GET / HTTP/1.1\r\nHost: x\r\nConnection: a b, c/d\r\n\r\n", "GET", "/",
       ""},
      {"close behind what is no token", "GET / HTTP/1.1\r\nHost: x\r\nConnection: a b, close\r\n\r\n", "GET", "/", "",
       Head::Framing::none, 0, false},
      {"close within what is no token", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close b\r\n\r\n", "GET", "/", ""},
      {"two oddities", "GET /a HTTP/1.7\r\nHost: x\r\nProxy-Connection: a b\r\n\r\n", "GET", "/a", ""},
      {"a later minor version", "GET / HTTP/1.7\r\nHost: x\r\n\r\n", "GET", "/", ""},
      {"obs-text in a value", "GET / HTTP/1.1\r\nHost: x\r\nX: \xe4\xff\r\n\r\n", "GET", "/", ""},
      {"extension method", "M-SEARCH /x HTTP/1.1\r\nHost: x\r\n\r\n", "M-SEARCH", "/x", ""},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    Request request;
    Head head;
    const auto fault = parse_head(test.head, request, head);
    ASSERT_FALSE(fault) << fault->reason;
    EXPECT_EQ(request.method, test.method);
    EXPECT_EQ(request.path, test.path);
    EXPECT_EQ(request.query, test.query);
    EXPECT_EQ(head.framing, test.framing);
    EXPECT_EQ(head.content_length, test.length);
    EXPECT_EQ(head.keep_alive, test.keep_alive);
  }
}

struct Bad {
  const char* what;
  std::string head;
  int status = 400;
};

TEST(Head, refuses_what_could_be_read_in_two_ways_and_what_is_no_request) {
  const std::string h = " HTTP/1.1\r\nHost: x\r\n";
  const Bad cases[] = {
      {"nothing", "\r\n"},
      {"no target", "GET HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"no version", "GET /\r\nHost: x\r\n\r\n"},
      {"HTTP/0.9 style", "GET / \r\nHost: x\r\n\r\n"},
      {"lower case version", "GET / http/1.1\r\nHost: x\r\n\r\n"},
      {"long version", "GET / HTTP/1.10\r\nHost: x\r\n\r\n"},
      {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\n", 505},
      {"two spaces", "GET  /" + h + "\r\n"},
      {"space in the target", "GET /a b" + h + "\r\n"},
      {"tab in the request line", "GET\t/" + h + "\r\n"},
      {"fragment", "GET /a#b" + h + "\r\n"},
      {"raw UTF-8 in the target", "GET /\xc3\xa4" + h + "\r\n"},
      {"relative target", "GET a" + h + "\r\n"},
      {"unknown scheme", "GET ftp://a/" + h + "\r\n"},
      {"scheme without host", "GET http:///" + h + "\r\n"},
      {"method with a colon", "GE:T /" + h + "\r\n"},
      {"method too long", std::string(33, 'A') + " /" + h + "\r\n"},
      {"proxying", "CONNECT a:1" + h + "\r\n", 501},
      {"no Host", "GET / HTTP/1.1\r\n\r\n"},
      {"two Hosts", "GET /" + h + "Host: y\r\n\r\n"},
      {"no colon", "GET /" + h + "abc\r\n\r\n"},
      {"space before the colon", "GET /" + h + "Content-Length : 1\r\n\r\n"},
      {"empty name", "GET /" + h + ": v\r\n\r\n"},
      {"folded line", "GET /" + h + "A: b\r\n c\r\n\r\n"},
      {"NUL in a value", "GET /" + h + std::string("A: b\0c\r\n\r\n", 10)},
      {"CR in a value", "GET /" + h + "A: b\rc\r\n\r\n"},
      {"two lengths", "POST /" + h + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n"},
      {"length list", "POST /" + h + "Content-Length: 1, 1\r\n\r\n"},
      {"signed length", "POST /" + h + "Content-Length: +1\r\n\r\n"},
      {"negative length", "POST /" + h + "Content-Length: -1\r\n\r\n"},
      {"hexadecimal length", "POST /" + h + "Content-Length: 0x1\r\n\r\n"},
      {"empty length", "POST /" + h + "Content-Length:\r\n\r\n"},
      {"length beyond 64 bits", "POST /" + h + "Content-Length: 18446744073709551617\r\n\r\n"},
      {"length and chunked", "POST /" + h + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"chunked and length", "POST /" + h + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n"},
      {"chunked twice", "POST /" + h + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"another coding", "POST /" + h + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {"chunked in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"another expectation", "POST /" + h + "Expect: 200-maybe\r\n\r\n", 417},
      {"too many headers",
       "GET /" + h +
           [] {
             std::string many;
             for (int i = 0; i < 300; ++i) many += "A: b\r\n";
             return many;
           }() +
           "\r\n",
       431},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    Request request;
    Head head;
    const auto fault = parse_head(test.head, request, head);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->status, test.status) << fault->reason;
    EXPECT_FALSE(fault->reason.empty());
  }
}

TEST(Head, a_Connection_that_is_no_list_of_tokens_is_passed_on_as_it_came) {
  Request request;
  Head head;
  const std::string bytes = "GET / HTTP/1.2\r\nHost: x\r\nConnection: a b,\xe5\r\nA: b c\r\n\r\n";
  ASSERT_FALSE(parse_head(bytes, request, head));
  EXPECT_EQ(request.header("connection"), "a b,\xe5");
  EXPECT_EQ(request.header("a"), "b c");
}

TEST(Head, headers_are_found_without_case_and_the_first_of_a_name_counts) {
  const std::string text = "GET / HTTP/1.1\r\nHost: x\r\nA-b: 1\r\na-B: 2\r\n\r\n";
  Request request;
  Head head;
  ASSERT_FALSE(parse_head(text, request, head));
  EXPECT_EQ(request.header("A-B"), "1");
  EXPECT_EQ(request.header("none"), "");
  EXPECT_EQ(request.headers.size(), 3U);
}

TEST(HeadScanner, finds_the_end_at_the_same_byte_however_the_head_is_cut) {
  const std::string text = "GET / HTTP/1.1\r\nHost: x\r\n\r\nbody\r\n\r\n";
  const std::size_t size = text.find("body");
  for (std::size_t step = 1; step <= text.size(); ++step) {
    HeadScanner scanner;
    auto found = HeadScanner::Found::nothing;
    for (std::size_t n = step; found == HeadScanner::Found::nothing; n += step)
      found = scanner.scan(std::string_view(text).substr(0, n));
    EXPECT_EQ(found, HeadScanner::Found::end) << step;
    EXPECT_EQ(scanner.size(), size) << step;
  }
}

TEST(HeadScanner, sees_a_bare_line_feed_at_once) {
  for (const char* text : {"\n", "GET / HTTP/1.1\n", "GET / HTTP/1.1\r\nA: b\n"}) {
    HeadScanner scanner;
    EXPECT_EQ(scanner.scan(text), HeadScanner::Found::bare_line_feed) << text;
  }
}

}  // namespace
}  // namespace stackgate::http
