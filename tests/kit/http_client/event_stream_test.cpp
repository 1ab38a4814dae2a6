#include "services/kit/http_client/event_stream.hpp"

#include <vector>

#include <gmock/gmock.h>

namespace stackgate::http_client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// "type|data|id" of each event.
std::vector<std::string> read_in_parts(std::string_view stream, std::size_t part) {
  EventReader reader;
  std::vector<std::string> out;
  for (std::size_t at = 0; at < stream.size(); at += part)
    (void)reader.feed(stream.substr(at, part), [&](const Event& event) {
      out.push_back(event.type + "|" + event.data + "|" + event.id);
      return true;
    });
  return out;
}

struct Case {
  std::string_view stream;
  std::vector<std::string> events;
};

const std::vector<Case>& cases() {
  using namespace std::string_view_literals;
  static const std::vector<Case> table = {
      // The examples of the specification.
      {"data: YHOO\ndata: +2\ndata: 10\n\n", {"|YHOO\n+2\n10|"}},
      {": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
       {"|first event|1", "|second event|", "| third event|"}},
      {"data\n\ndata\ndata\n\ndata:", {"||", "|\n|"}},
      {"data:test\n\ndata: test\n\n", {"|test|", "|test|"}},
      // Line ends, also mixed; CRLF is one.
      {"data: a\r\ndata: b\r\n\r\n", {"|a\nb|"}},
      {"data: a\rdata: b\r\r", {"|a\nb|"}},
      {"data: a\r\n\ndata: b\n\r\ndata: c\r\r\n", {"|a|", "|b|", "|c|"}},
      // A byte order mark counts at the very beginning only.
      {"\xEF\xBB\xBF"
       "data: a\n\n",
       {"|a|"}},
      {"\n\xEF\xBB\xBF"
       "data: a\n\n",
       {}},
      // Type, id and unknown fields.
      {"event: add\ndata: 1\n\ndata: 2\n\n", {"add|1|", "|2|"}},
      {"event: add\n\ndata: 1\n\n", {"|1|"}},
      {"id: 7\n\ndata: a\n\nid: 8\ndata: b\n\n", {"|a|7", "|b|8"}},
      {"id: x\0y\ndata: a\n\n"sv, {"|a|"}},
      {"Data: a\nother: b\ndata : c\n\n", {}},
      {"data: a: b\n\n", {"|a: b|"}},
      {"data: \xC3\xA4\n\n", {"|\xC3\xA4|"}},
      // What is not ended by an empty line is no event.
      {"data: a\n", {}},
      {"data: a", {}},
      {"", {}},
  };
  return table;
}

TEST(EventReader, reads_what_the_specification_says_wherever_the_bytes_are_split) {
  for (const auto& [stream, events] : cases())
    for (std::size_t part = 1; part <= stream.size() + 1; ++part)
      EXPECT_EQ(read_in_parts(stream, part), events) << stream << " in parts of " << part;
}

TEST(EventReader, keeps_the_wait_and_the_id_for_the_next_connection) {
  EventReader reader;
  const auto any = [](const Event&) { return true; };
  EXPECT_EQ(reader.retry(), std::nullopt);
  for (const char* bad : {"retry: 1x\n\n", "retry:\n\n", "retry: -1\n\n", "retry: 99999999999999999999\n\n"}) {
    EXPECT_TRUE(reader.feed(bad, any));
    EXPECT_EQ(reader.retry(), std::nullopt) << bad;
  }
  EXPECT_TRUE(reader.feed("retry: 1500\nid: 9\n\n", any));
  EXPECT_EQ(reader.retry(), 1500U);
  EXPECT_EQ(reader.last_id(), "9");
}

TEST(EventReader, ends_at_its_limits_and_when_it_is_asked_to) {
  const auto any = [](const Event&) { return true; };
  EventReader lines({.line = 10});
  EXPECT_TRUE(lines.feed("data: 1234\n\n", any));
  EXPECT_FALSE(lines.feed("data: 12345", any));
  EXPECT_THAT(lines.fault(), HasSubstr("longer than 10 bytes"));
  EXPECT_FALSE(lines.feed("\n\n", any));

  EventReader data({.line = 100, .data = 10});
  EXPECT_TRUE(data.feed("data: 12345\ndata: 123\n\n", any));
  EXPECT_FALSE(data.feed("data: 12345\ndata: 12345\n\n", any));
  EXPECT_THAT(data.fault(), HasSubstr("data is longer than 10 bytes"));

  EventReader once;
  int count = 0;
  EXPECT_FALSE(once.feed("data: a\n\ndata: b\n\n", [&](const Event&) { return ++count > 1; }));
  EXPECT_EQ(count, 1);
  EXPECT_THAT(once.fault(), IsEmpty());
}

}  // namespace
}  // namespace stackgate::http_client
