#include "services/kit/log/log.hpp"

#include <fstream>
#include <iterator>
#include <limits>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "services/kit/json/parse.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::log {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

std::string line(Format format, std::string_view message, std::initializer_list<Field> fields) {
  return format_line(format, Level::info, message, {fields.begin(), fields.size()});
}

TEST(Log, a_JSON_line_is_one_object_with_every_field_in_its_own_type) {
  const std::string_view rules[] = {"a", "b\""};
  const auto text = line(Format::json, "quote \" and\nnewline",
                         {{"text", "x"},
                          {"flag", true},
                          {"small", -3},
                          {"large", std::uint64_t{1} << 63U},
                          {"ratio", 0.5},
                          {"rules", rules},
                          {"nan", std::numeric_limits<double>::quiet_NaN()},
                          {"bad utf8", "\xff"}});
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  json::Document document;
  const auto root = json::parse(text, document);
  ASSERT_TRUE(root) << root.error().message << "\n" << text;
  EXPECT_EQ(root->find("message")->string(), "quote \" and\nnewline");
  EXPECT_EQ(root->find("level")->string(), "info");
  EXPECT_THAT(std::string(root->find("time")->string()), MatchesRegex("20..-..-..T..:..:..\\....Z"));
  EXPECT_EQ(root->find("text")->string(), "x");
  EXPECT_TRUE(root->find("flag")->boolean());
  EXPECT_EQ(root->find("small")->integer(), -3);
  EXPECT_EQ(root->find("large")->number(), 9223372036854775808.0);
  EXPECT_EQ(root->find("ratio")->number(), 0.5);
  EXPECT_EQ(root->find("rules")->items().size(), 2U);
  EXPECT_TRUE(root->find("nan")->is_null());
}

TEST(Log, a_text_line_quotes_what_would_not_read_as_one_word) {
  const std::string_view rules[] = {"a", "b c"};
  const auto text =
      line(Format::text, "two\nlines",
           {{"plain", "x-1"}, {"empty", ""}, {"spaced", "a b"}, {"quoted", "a\"b"}, {"n", 7}, {"rules", rules}});
  EXPECT_THAT(text, MatchesRegex("..:..:..\\.... info two lines plain=x-1 empty=\"\" spaced=\"a b\" "
                                 "quoted=\"a\\\\\"b\" n=7 rules=a,\"b c\"\n"));
}

TEST(Log, words_of_flags_are_read_and_others_refused) {
  EXPECT_EQ(parse_level("warning"), Level::warning);
  EXPECT_EQ(parse_level("WARN"), std::nullopt);
  EXPECT_EQ(parse_format("json"), Format::json);
  EXPECT_EQ(parse_format("text"), Format::text);
  EXPECT_EQ(parse_format("xml"), std::nullopt);
}

struct LogToFile : testing::Test {
  test::TempDir dir;
  int fd = ::open((dir / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ~LogToFile() override {
    configure({});
    ::close(fd);
  }
  std::vector<std::string> lines() const {
    std::ifstream file(dir / "log");
    std::vector<std::string> all;
    for (std::string text; std::getline(file, text);) all.push_back(text);
    return all;
  }
};

TEST_F(LogToFile, levels_below_the_set_one_are_not_written) {
  configure({.level = Level::warning, .format = Format::json, .fd = fd});
  debug("no");
  info("no");
  warning("yes");
  error("yes");
  EXPECT_EQ(lines().size(), 2U);
  EXPECT_FALSE(enabled(Level::info));
}

TEST_F(LogToFile, lines_of_many_threads_stay_whole) {
  configure({.level = Level::info, .format = Format::json, .fd = fd});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      const std::string padding(static_cast<std::size_t>(t) * 1000, 'x');
      for (int i = 0; i < 500; ++i) info("line", {{"thread", t}, {"i", i}, {"padding", padding}});
    });
  }
  for (auto& thread : threads) thread.join();
  const auto all = lines();
  EXPECT_EQ(all.size(), 2000U);
  for (const auto& text : all) {
    json::Document document;
    ASSERT_TRUE(json::parse(text, document)) << text;
  }
}

TEST_F(LogToFile, a_batch_leaves_at_its_end_and_with_a_warning) {
  configure({.level = Level::info, .format = Format::text, .fd = fd});
  {
    const Batch batch;
    info("first");
    info("second");
    EXPECT_EQ(lines().size(), 0U);
    {
      const Batch inner;
      info("third");
    }
    EXPECT_EQ(lines().size(), 0U) << "one inside another does nothing";
    std::thread([] { info("of another thread"); }).join();
    EXPECT_EQ(lines().size(), 1U);
    warning("fourth");
    EXPECT_EQ(lines().size(), 5U);
    info("fifth");
  }
  info("sixth");
  ASSERT_EQ(lines().size(), 7U);
  const char* in_order[] = {"another", "first", "second", "third", "fourth", "fifth", "sixth"};
  for (std::size_t i = 0; i < 7; ++i) EXPECT_THAT(lines()[i], HasSubstr(in_order[i]));
}

TEST_F(LogToFile, a_batch_keeps_lines_whole_whatever_their_length) {
  configure({.level = Level::info, .format = Format::text, .fd = fd});
  const std::string kilobyte(1000, 'k'), huge(10'000, 'h');
  {
    const Batch batch;
    for (int i = 0; i < 10; ++i) info(kilobyte);
    EXPECT_EQ(lines().size(), 8U) << "4 KiB at a time";
    info(huge);
    EXPECT_EQ(lines().size(), 11U);
    info("last");
  }
  ASSERT_EQ(lines().size(), 12U);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_THAT(lines()[i], HasSubstr(kilobyte));
  EXPECT_THAT(lines()[10], HasSubstr(huge));
  EXPECT_THAT(lines()[11], HasSubstr("last"));
}

TEST(Log, a_slow_reader_of_a_non_blocking_pipe_loses_nothing_and_a_dead_one_is_counted) {
  const auto lost_before = lost_lines();  // other tests log into nothing
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
  configure({.level = Level::info, .format = Format::text, .fd = ends[1]});
  std::size_t received = 0;
  std::thread reader([&] {
    char part[1000];
    for (int idle = 0; idle < 1000 && received < 200'000;) {
      const auto n = ::read(ends[0], part, sizeof part);
      if (n > 0) {
        received += static_cast<std::size_t>(n);
      } else {
        ++idle;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
  });
  const std::string text(20'000, 'x');
  for (int i = 0; i < 10; ++i) info(text);  // 200 kB into a pipe of 64 kB
  reader.join();
  EXPECT_GE(received, 200'000U);
  EXPECT_EQ(lost_lines() - lost_before, 0U);
  ::close(ends[0]);
  ::signal(SIGPIPE, SIG_IGN);
  info("nobody hears this");
  EXPECT_EQ(lost_lines() - lost_before, 1U);
  ::close(ends[1]);
  configure({});
}

}  // namespace
}  // namespace stackgate::log
