#include "services/kit/web/multipart.hpp"

#include <gtest/gtest.h>

namespace stackgate::web {
namespace {

// "name|file|type=data;" for each part, or "400 …".
struct Outcome {
  std::string parts;
  int status = 0;
  std::string message;
};

Outcome parse(std::string_view body, std::size_t step, MultipartLimits limits = {}) {
  Outcome out;
  PartEvents events{.begin = [&](const PartHead& head) -> std::expected<void, Failure> {
                      out.parts += head.name + "|" + head.file_name.value_or("-") + "|" + head.content_type + "=";
                      return {};
                    },
                    .data = [&](std::string_view bytes) -> std::expected<void, Failure> {
                      EXPECT_FALSE(bytes.empty());
                      out.parts += bytes;
                      return {};
                    },
                    .end = [&]() -> std::expected<void, Failure> {
                      out.parts += ";";
                      return {};
                    }};
  MultipartParser parser("B0undary", std::move(events), limits);
  const auto fail = [&](const Failure& failure) {
    out.status = failure.status;
    out.message = failure.message;
    return out;
  };
  for (std::size_t at = 0; at < body.size(); at += step) {
    if (auto done = parser.add(body.substr(at, step)); !done) return fail(done.error());
  }
  if (auto done = parser.finish(); !done) return fail(done.error());
  return out;
}

TEST(Multipart, GivesThePartsHoweverTheBytesArrive) {
  const struct {
    std::string body, expected;
  } cases[] = {
      {"--B0undary\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n"
       "--B0undary\r\ncontent-disposition: form-data; filename=\"f.tgz\"; name=b\r\nContent-Type: application/gzip\r\n"
       "\r\ntwo\r\n--B0undary--\r\n",
       "a|-|=one;b|f.tgz|application/gzip=two;"},
      // Empty content, nearly a boundary, and line breaks that belong to the content.
      {"--B0undary\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--B0undary\r\n"
       "Content-Disposition: form-data; name=b\r\n\r\n\r\n--B0undar\r\n--\r\n\r\r\n\r\n--B0undary--",
       "a|-|=;b|-|=\r\n--B0undar\r\n--\r\n\r\r\n;"},
      // Preamble, epilogue, padding.
      {"hello\r\n--B0undary  \t\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--B0undary--  and more\r\n"
       "--B0undary\r\n",
       "a|-|=x;"},
      {"--B0undary--\r\n", ""},
      {"--B0undary\r\nContent-Disposition: form-data; name=\"a\\\"b\"; filename=\"..\\\\..\\\\x\"\r\n"
       "Content-Transfer-Encoding: binary\r\n\r\n--B0undary\r\n--B0undary--",
       "a\"b|..\\..\\x|=--B0undary;"},
  };
  for (const auto& each : cases) {
    for (std::size_t step = 1; step <= each.body.size(); ++step) {
      const Outcome got = parse(each.body, step);
      ASSERT_EQ(got.message, "") << each.body << step;
      ASSERT_EQ(got.parts, each.expected) << each.body << step;
    }
  }
}

TEST(Multipart, RefusesABrokenBody) {
  const std::string head = "--B0undary\r\nContent-Disposition: form-data; name=a\r\n\r\n";
  const struct {
    std::string body;
    std::string_view says;
  } cases[] = {
      {"", "before its closing boundary"},
      {"nothing", "before its closing boundary"},
      {head + "abc", "before its closing boundary"},
      {head + "abc\r\n--B0undary", "before its closing boundary"},
      {head + "abc\r\n--B0undary-", "before its closing boundary"},
      {head + "abc\n--B0undary--", "before its closing boundary"},
      {head + "abc\r\n--B0undaryX", "stands inside a part"},
      {head + "abc\r\n--B0undary X", "stands inside a part"},
      {head + "abc\r\n--B0undary-x", "stands inside a part"},
      {head + "abc\r\n--B0undary" + std::string(300, ' '), "is broken"},
      {"--B0undary\r\n\r\nabc\r\n--B0undary--", "lacks Content-Disposition"},
      {"--B0undary\r\nContent-Type: a/b\r\n\r\nabc\r\n--B0undary--", "lacks Content-Disposition"},
      {"--B0undary\r\nContent-Disposition: attachment; name=a\r\n\r\n", "lacks Content-Disposition"},
      {"--B0undary\r\nContent-Disposition: form-data\r\n\r\n", "has no name"},
      {"--B0undary\r\nContent-Disposition: form-data; name=\"a\r\n\r\n", "has no name"},
      {"--B0undary\r\nno colon\r\n\r\n", "header line without a name and a colon"},
      {"--B0undary\r\nX : y\r\n\r\n", "header line without a name and a colon"},
      {"--B0undary\r\nX: y\r\n folded\r\n\r\n", "header line without a name and a colon"},
      {std::string("--B0undary\r\nX: a\0b\r\n\r\n", 22), "control character"},
      {"--B0undary\r\nContent-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64\r\n\r\n",
       "is encoded as base64"},
  };
  for (const auto& each : cases) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{1000}}) {
      const Outcome got = parse(each.body, step);
      EXPECT_EQ(got.status, 400) << each.body;
      EXPECT_NE(got.message.find(each.says), std::string::npos) << each.body << ": " << got.message;
    }
  }
}

TEST(Multipart, HoldsItsLimits) {
  const std::string part = "--B0undary\r\nContent-Disposition: form-data; name=a\r\n\r\n12345\r\n";
  const std::string body = part + part + part + "--B0undary--";
  EXPECT_EQ(parse(body, 3, {.parts = 3}).status, 0);
  EXPECT_EQ(parse(body, 3, {.parts = 2}).message, "the body has more than 2 parts");
  EXPECT_EQ(parse(body, 3, {.part_bytes = 5}).status, 0);
  EXPECT_EQ(parse(body, 3, {.part_bytes = 4}).message, "the part a is larger than 4 bytes");
  for (const std::size_t step : {1U, 3U, 1000U}) {
    EXPECT_EQ(parse(body, step, {.head_bytes = 38}).status, 0);
    EXPECT_EQ(parse(body, step, {.head_bytes = 37}).status, 413);
  }
  EXPECT_EQ(parse("--B0undary\r\n" + std::string(20'000, 'x'), 100).status, 413);
}

TEST(Multipart, EndsWithTheFailureOfItsReader) {
  MultipartParser parser("b", {.data = [](std::string_view) -> std::expected<void, Failure> {
                           return std::unexpected(Failure{507, "full"});
                         }});
  const auto first = parser.add("--b\r\nContent-Disposition: form-data; name=a\r\n\r\nxyz");
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().status, 507);
  EXPECT_EQ(parser.add("more").error().status, 507);
  EXPECT_EQ(parser.finish().error().status, 507);
}

TEST(Multipart, KnowsItsBoundary) {
  EXPECT_EQ(multipart_boundary("multipart/form-data; boundary=abc").value_or("?"), "abc");
  EXPECT_EQ(multipart_boundary("Multipart/Form-Data; charset=x; Boundary=\"a b:c\"").value_or("?"), "a b:c");
  EXPECT_EQ(multipart_boundary("application/json").error().status, 415);
  EXPECT_EQ(multipart_boundary("").error().status, 415);
  for (const std::string& boundary :
       {std::string(), std::string("boundary="), std::string("boundary=\"a \""), "boundary=" + std::string(71, 'x'),
        std::string("boundary=\"a\\\"b\""), std::string("boundary=\"a;b\"")})
    EXPECT_EQ(multipart_boundary("multipart/form-data; " + boundary).error().status, 400) << boundary;
}

}  // namespace
}  // namespace stackgate::web
