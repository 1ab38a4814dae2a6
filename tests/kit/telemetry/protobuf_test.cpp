#include "services/kit/telemetry/protobuf.hpp"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "services/kit/telemetry/answers.hpp"

namespace stackgate::telemetry {
namespace {

using namespace std::string_literals;

template <class Write>
std::string written(const Write& write) {
  std::string out;
  ProtobufEncoder to(out);
  write(to);
  return out;
}

// The examples of protobuf.dev/programming-guides/encoding, and what follows from them.
TEST(Protobuf, writes_fields_as_the_encoding_guide_does) {
  EXPECT_EQ(written([](auto& to) { to.int64(1, "", 150); }), "\x08\x96\x01");
  EXPECT_EQ(written([](auto& to) { to.text(2, "", "testing"); }), "\x12\x07testing");
  EXPECT_EQ(written([](auto& to) { to.message(3, "", [&] { to.int64(1, "", 150); }); }), "\x1a\x03\x08\x96\x01");
  EXPECT_EQ(written([](auto& to) { to.int64(1, "", -2); }), "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  EXPECT_EQ(written([](auto& to) { to.word(16, "", 1); }), "\x80\x01\x01");
  EXPECT_EQ(written([](auto& to) { to.flag(3, "", true); }), "\x18\x01");
  EXPECT_EQ(written([](auto& to) { to.fixed64(7, "", 0x0102030405060708U); }), "\x39\x08\x07\x06\x05\x04\x03\x02\x01");
  EXPECT_EQ(written([](auto& to) { to.fixed32(16, "", 0x301); }), "\x85\x01\x01\x03\x00\x00"s);
  EXPECT_EQ(written([](auto& to) { to.number(4, "", 1.0); }), "\x21\x00\x00\x00\x00\x00\x00\xf0\x3f"s);
  EXPECT_EQ(written([](auto& to) { to.id(1, "", "00ff10ab"); }), "\x0a\x04\x00\xff\x10\xab"s);
  const std::vector<std::uint64_t> counts{1, 2};
  EXPECT_EQ(written([&](auto& to) { to.counts(6, "", counts); }),
            "\x32\x10\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00"s);
}

TEST(Protobuf, writes_long_messages_within_each_other_with_the_right_lengths) {
  const std::string text(300, 'x');
  const std::string out = written([&](auto& to) {
    to.message(1, "", [&] {
      to.message(1, "", [&] { to.text(1, "", text); });
      to.int64(2, "", 7);
    });
  });
  std::string_view rest = out;
  const auto outer = next_field(rest);
  ASSERT_TRUE(outer);
  EXPECT_TRUE(rest.empty());
  std::string_view inside = outer->bytes;
  const auto middle = next_field(inside);
  ASSERT_TRUE(middle);
  const auto number = next_field(inside);
  ASSERT_TRUE(number);
  EXPECT_EQ(number->value, 7U);
  std::string_view innermost = middle->bytes;
  EXPECT_EQ(next_field(innermost)->bytes, text);
}

TEST(Protobuf, mends_text_that_is_not_utf8_because_receivers_refuse_the_whole_batch) {
  EXPECT_EQ(written([](auto& to) { to.text(1, "", "gr\xc3\xbcn \xff\xc3"); }),
            "\x0a\x0cgr\xc3\xbcn \xef\xbf\xbd\xef\xbf\xbd");
}

TEST(Protobuf, stops_at_what_is_malformed) {
  for (const std::string& bytes : {"\x08"s, "\x08\xff"s, "\x0a\x05xx"s, "\x09\x01\x02"s, "\x0b"s, "\x0f"s, "\x00\x01"s,
                                   "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s, std::string(11, '\xff')}) {
    std::string_view rest = bytes;
    EXPECT_FALSE(next_field(rest)) << testing::PrintToString(bytes);
    EXPECT_EQ(rest, bytes);
  }
  std::string_view nothing;
  EXPECT_FALSE(next_field(nothing));
}

TEST(CollectorsAnswer, tells_what_was_refused_in_either_encoding) {
  const Partial json = read_partial("application/json; charset=utf-8",
                                    R"({"partialSuccess":{"rejectedSpans":"3","errorMessage":"too\nold"}})");
  EXPECT_EQ(json.rejected, 3U);
  EXPECT_EQ(json.message, "too old");
  EXPECT_EQ(read_partial("application/json", R"({"partialSuccess":{"rejectedLogRecords":4}})").rejected, 4U);
  const std::string bytes = written([](auto& to) {
    to.message(1, "", [&] {
      to.int64(1, "", 5);
      to.text(2, "", "full");
    });
  });
  const Partial protobuf = read_partial("application/x-protobuf", bytes);
  EXPECT_EQ(protobuf.rejected, 5U);
  EXPECT_EQ(protobuf.message, "full");
}

TEST(CollectorsAnswer, is_a_whole_success_when_it_says_nothing_that_can_be_read) {
  for (const auto& [type, body] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"application/json", ""},
           {"application/json", "{}"},
           {"application/json", "[1]"},
           {"application/json", R"({"partialSuccess":null})"},
           {"application/json", R"({"partialSuccess":{"rejectedSpans":"-1"}})"},
           {"application/json", "{"},
           {"application/x-protobuf", ""},
           {"application/x-protobuf", "\x0a\x55"},
           {"text/html", "<p>fine</p>"}}) {
    const Partial answer = read_partial(type, body);
    EXPECT_EQ(answer.rejected, 0U) << body;
    EXPECT_EQ(answer.message, "") << body;
  }
}

TEST(CollectorsAnswer, gives_its_reason_on_one_line) {
  EXPECT_EQ(read_refusal("application/json", R"({"code":3,"message":"bad token"})"), "bad token");
  EXPECT_EQ(read_refusal("application/x-protobuf", written([](auto& to) {
                           to.int64(1, "", 3);
                           to.text(2, "", "bad token");
                         })),
            "bad token");
  EXPECT_EQ(read_refusal("text/plain", "no\r\nway"), "no  way");
  EXPECT_EQ(read_refusal("text/plain", std::string(1000, 'x')).size(), 200U);
}

TEST(CollectorsAnswer, may_be_another_one_later_for_four_statuses_only) {
  for (const int status : {429, 502, 503, 504}) EXPECT_TRUE(is_retryable(status));
  for (const int status : {400, 401, 404, 408, 413, 500, 501}) EXPECT_FALSE(is_retryable(status));
}

}  // namespace
}  // namespace stackgate::telemetry
