#include "services/guardrail/memory/conversations.hpp"

#include <array>
#include <atomic>
#include <thread>

#include "services/guardrail/memory/upkeep.hpp"
#include "tests/kit/sql/engines.hpp"

namespace stackgate::guardrail {
namespace {

using namespace std::chrono_literals;

const std::string thread = "thread-0123456789";

class ConversationsTest : public sql::test::OnBothEngines {
 protected:
  void SetUp() override {
    OnBothEngines::SetUp();
    if (IsSkipped()) return;
    const auto done = sql::migrate(*database_, conversation_migrations());
    ASSERT_TRUE(done) << done.error().message;
  }
  /// As if so many seconds had passed since locks were taken or renewed, and since turns were appended.
  void age(int lease, int turns) {
    must("UPDATE conversation SET lease_until = lease_until - $1, changed_at = changed_at - $2",
         {std::int64_t{lease}, std::int64_t{turns}});
  }
  std::int64_t count(std::string_view table) {
    return must(std::string("SELECT count(*) FROM ").append(table)).rows.at(0).integer(0);
  }
  static OpenConversation must_open(Conversations& of, const std::string& id = thread) {
    auto opened = of.try_open(id);
    EXPECT_TRUE(opened) << opened.error().message;
    EXPECT_TRUE(opened && *opened) << "locked";
    return opened && *opened ? **opened : OpenConversation{};
  }
  static void turn(Conversations& of, const std::string& user, const std::string& answer) {
    const auto opened = must_open(of);
    const std::array messages = {StoredMessage{"user", user}, StoredMessage{"assistant", answer}};
    const auto done = of.append(opened, messages, "{}");
    EXPECT_TRUE(done) << done.error().message;
    EXPECT_TRUE(done && *done);
  }
  static std::string shown(const std::vector<StoredMessage>& messages) {
    std::string out;
    for (const StoredMessage& each : messages) out += each.role.substr(0, 1) + ":" + each.content + " ";
    return out;
  }
};

TEST_P(ConversationsTest, are_read_as_they_were_appended) {
  Conversations one(*database_, "one", {}), two(*database_, "two", {});
  const auto fresh = must_open(one);
  EXPECT_TRUE(fresh.messages.empty() && fresh.state.empty());
  const std::string odd("q\0\n\"é😀", 10);
  const std::array first = {StoredMessage{"user", odd}, StoredMessage{"assistant", "a"}};
  EXPECT_TRUE(*one.append(fresh, first, R"({"version":1})"));
  turn(two, "q2", "a2");
  const auto again = must_open(one);
  EXPECT_EQ(shown(again.messages), "u:" + odd + " a:a u:q2 a:a2 ");
  EXPECT_EQ(again.state, "{}");
}

TEST_P(ConversationsTest, a_thread_has_one_turn_at_a_time) {
  Conversations one(*database_, "one", {}), two(*database_, "two", {});
  const auto first = must_open(one);
  EXPECT_FALSE(two.try_open(thread)->has_value());
  EXPECT_FALSE(one.try_open(thread)->has_value());
  EXPECT_TRUE(two.try_open("another-0123456789")->has_value());
  EXPECT_FALSE(two.open(thread, 120ms)->has_value());
  std::jthread later([&] {
    std::this_thread::sleep_for(100ms);
    EXPECT_TRUE(*one.append(first, {}, ""));
  });
  EXPECT_TRUE(two.open(thread, 10s)->has_value());
}

TEST_P(ConversationsTest, a_lock_that_was_not_renewed_is_lost) {
  Conversations one(*database_, "one", {.lease = 30s}), two(*database_, "two", {.lease = 30s});
  const auto first = must_open(one);
  age(20, 0);
  ASSERT_TRUE(one.renew());
  age(20, 0);
  EXPECT_FALSE(two.try_open(thread)->has_value());
  age(20, 0);
  const auto second = must_open(two);
  const std::array message = {StoredMessage{"user", "lost"}};
  EXPECT_FALSE(*one.append(first, message, "x"));
  EXPECT_FALSE(*one.release(first));
  EXPECT_EQ(count("conversation_message"), 0);
  EXPECT_TRUE(*two.append(second, message, ""));
  EXPECT_EQ(count("conversation_message"), 1);
}

TEST_P(ConversationsTest, what_came_to_nothing_is_released) {
  Conversations one(*database_, "one", {});
  EXPECT_TRUE(*one.release(must_open(one)));
  EXPECT_EQ(count("conversation"), 0);
  turn(one, "q", "a");
  const auto opened = must_open(one);
  EXPECT_TRUE(*one.release(opened));
  EXPECT_FALSE(*one.release(opened));
  EXPECT_EQ(shown(must_open(one).messages), "u:q a:a ");
}

TEST_P(ConversationsTest, keep_the_newest_messages_and_begin_with_the_user) {
  Conversations few(*database_, "one", {.most_messages = 5});
  for (const char* each : {"1", "2", "3", "4"}) turn(few, std::string("q") + each, std::string("a") + each);
  EXPECT_EQ(shown(must_open(few).messages), "u:q3 a:a3 u:q4 a:a4 ");  // the fifth is an answer
  EXPECT_EQ(count("conversation_message"), 5);
}

TEST_P(ConversationsTest, keep_so_many_bytes) {
  Conversations small(*database_, "one", {.most_bytes = 10});
  turn(small, "1234", "5678");
  turn(small, "abcd", "efgh");
  EXPECT_EQ(count("conversation_message"), 2);
  auto opened = must_open(small);
  EXPECT_EQ(shown(opened.messages), "u:abcd a:efgh ");
  const std::array large = {StoredMessage{"user", "more than ten bytes"}};
  EXPECT_TRUE(*small.append(opened, large, ""));
  EXPECT_EQ(shown(must_open(small).messages), "");
  EXPECT_EQ(count("conversation_message"), 0);
}

TEST_P(ConversationsTest, expire) {
  Conversations one(*database_, "one", {.lease = 30s, .expiry = 100s});
  turn(one, "q", "a");
  age(0, 90);
  EXPECT_EQ(*one.remove_expired(), 0);
  age(0, 20);
  const auto opened = must_open(one);  // nobody has swept yet
  EXPECT_TRUE(opened.messages.empty() && opened.state.empty());
  EXPECT_EQ(*one.remove_expired(), 0);  // a turn is under way
  EXPECT_TRUE(*one.append(opened, {}, "s"));
  EXPECT_EQ(*one.remove_expired(), 0);
  age(0, 110);
  EXPECT_EQ(*one.remove_expired(), 1);
  EXPECT_EQ(count("conversation") + count("conversation_message"), 0);
}

TEST_P(ConversationsTest, are_removed_under_a_turn_too) {
  Conversations one(*database_, "one", {});
  turn(one, "q", "a");
  const auto opened = must_open(one);
  EXPECT_TRUE(*one.remove(thread));
  EXPECT_FALSE(*one.remove(thread));
  const std::array message = {StoredMessage{"user", "ghost"}};
  EXPECT_FALSE(*one.append(opened, message, ""));
  EXPECT_EQ(count("conversation") + count("conversation_message"), 0);
}

TEST_P(ConversationsTest, two_replicas_append_whole_turns_one_after_the_other) {
  Conversations one(*database_, "one", {.most_messages = 1000});
  const auto other = open();
  Conversations two(*other, "two", {.most_messages = 1000});
  std::atomic<int> done = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 6; ++t)
      threads.emplace_back([&, t] {
        Conversations& mine = t % 2 == 0 ? one : two;
        for (int i = 0; i < 4; ++i) {
          const auto opened = mine.open(thread, 60s);
          ASSERT_TRUE(opened && *opened);
          const std::string name = std::to_string((**opened).messages.size() / 2);
          const std::array messages = {StoredMessage{"user", "q" + name}, StoredMessage{"assistant", "a" + name}};
          ASSERT_TRUE(mine.append(**opened, messages, name).value_or(false));
          ++done;
        }
      });
  }
  EXPECT_EQ(done, 24);
  std::string expected;
  for (int i = 0; i < 24; ++i) expected += "u:q" + std::to_string(i) + " a:a" + std::to_string(i) + " ";
  const auto last = must_open(one);
  EXPECT_EQ(shown(last.messages), expected);
  EXPECT_EQ(last.state, "23");
}

TEST_P(ConversationsTest, upkeep_renews_and_sweeps) {
  Conversations one(*database_, "one", {.lease = 1s, .expiry = 1s}), two(*database_, "two", {.lease = 1s});
  const Upkeep upkeep(one);
  const std::string old = "old-0123456789012345";
  EXPECT_TRUE(*one.append(must_open(one, old), {}, "s"));
  const auto opened = must_open(one);
  std::this_thread::sleep_for(3200ms);
  EXPECT_FALSE(two.try_open(thread)->has_value());
  EXPECT_EQ(count("conversation"), 1);
  EXPECT_TRUE(*one.release(opened));
}

ON_BOTH_ENGINES(ConversationsTest);

}  // namespace
}  // namespace stackgate::guardrail
