#include "services/kit/http/chunked.hpp"

#include <string>

#include <gtest/gtest.h>

namespace stackgate::http {
namespace {

using State = ChunkedDecoder::State;

struct Result {
  State state = State::more;
  std::string body;
  std::size_t consumed = 0;
};

// As the reader does it: pieces of `step` bytes behind what is decoded.
Result decode(std::string text, std::size_t step, std::uint64_t limit = 1000) {
  ChunkedDecoder decoder;
  decoder.reset(limit);
  Result result;
  for (std::size_t at = 0; at < text.size() && result.state == State::more; at += step) {
    std::string piece = text.substr(at, step);
    const auto got = decoder.decode(piece);
    result.state = got.state;
    result.body += piece.substr(0, got.body);
    result.consumed += got.consumed;
  }
  return result;
}

struct Case {
  const char* what;
  std::string text;
  State state;
  std::string body;
  std::size_t left = 0;  // bytes after the body
};

TEST(ChunkedDecoder, decodes_alike_however_the_bytes_are_cut) {
  const Case cases[] = {
      {"one chunk", "5\r\nhello\r\n0\r\n\r\n", State::done, "hello"},
      {"several, any case of digits", "3\r\nabc\r\nA\r\n0123456789\r\na\r\n9876543210\r\n0\r\n\r\n", State::done,
       "abc01234567899876543210"},
      {"leading zeros", "0003\r\nabc\r\n000\r\n\r\n", State::done, "abc"},
      {"extensions and trailers are dropped", "3;a=b; c\r\nabc\r\n0 ;x\r\nT: v\r\nU: w\r\n\r\n", State::done, "abc"},
      {"what follows is left alone", "1\r\nx\r\n0\r\n\r\nGET /", State::done, "x", 5},
      {"empty body", "0\r\n\r\n", State::done, ""},
      {"unfinished", "5\r\nhel", State::more, "hel"},
      {"no digits", "\r\n", State::malformed, ""},
      {"not hexadecimal", "g\r\n", State::malformed, ""},
      {"sign", "-1\r\n", State::malformed, ""},
      {"prefix", "0x1\r\na\r\n", State::malformed, ""},
      {"bare line feed after the size", "1\na\r\n0\r\n\r\n", State::malformed, ""},
      {"data longer than announced", "1\r\nab\r\n0\r\n\r\n", State::malformed, "a"},
      {"CR without LF after data", "1\r\na\rb", State::malformed, "a"},
      {"control character in an extension", "1;\x01\r\na\r\n0\r\n\r\n", State::malformed, ""},
      {"control character in a trailer", "0\r\nA: \x01\r\n\r\n", State::malformed, ""},
      {"endless size line", "1;" + std::string(2000, 'x'), State::malformed, ""},
      {"endless trailers", "0\r\n" + std::string(20000, 'x'), State::malformed, ""},
      {"larger than allowed at once", "3e9\r\n", State::too_large, ""},
      {"larger than allowed in sum", "3e8\r\n" + std::string(1000, 'x') + "\r\n1\r\n", State::too_large,
       std::string(1000, 'x')},
      {"size beyond 64 bits", "fffffffffffffffff\r\n", State::too_large, ""},
      {"exactly what is allowed", "3e8\r\n" + std::string(1000, 'x') + "\r\n0\r\n\r\n", State::done,
       std::string(1000, 'x')},
  };
  for (const auto& test : cases) {
    for (const std::size_t step :
         {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, std::size_t{100'000}}) {
      SCOPED_TRACE(std::string(test.what) + ", in pieces of " + std::to_string(step));
      const auto result = decode(test.text, step);
      EXPECT_EQ(result.state, test.state);
      EXPECT_EQ(result.body, test.body);
      if (test.state == State::done) {
        EXPECT_EQ(result.consumed, test.text.size() - test.left);
      }
    }
  }
}

}  // namespace
}  // namespace stackgate::http
