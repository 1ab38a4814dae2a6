#include "services/kit/json/value.hpp"

#include <string>

#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::json {
namespace {

bool same(std::string_view a, std::string_view b) {
  Document left;
  Document right;
  return equal(*parse(a, left), *parse(b, right));
}

TEST(Equal, ignores_the_order_of_members_only) {
  EXPECT_TRUE(same(R"({"a":1,"b":[1,2]})", R"({"b":[1,2],"a":1})"));
  EXPECT_FALSE(same("[1,2]", "[2,1]"));
  EXPECT_FALSE(same(R"({"a":1})", R"({"a":1,"b":2})"));
  EXPECT_FALSE(same(R"({"a":1})", R"({"b":1})"));
  EXPECT_FALSE(same(R"({"a":1,"b":2})", R"({"a":1,"c":2})"));
  EXPECT_FALSE(same(R"({"a":1,"b":2})", R"({"b":1,"a":2})"));
}

TEST(Equal, compares_numbers_by_value) {
  EXPECT_TRUE(same("1", "1.0"));
  EXPECT_TRUE(same("1e2", "100"));
  EXPECT_FALSE(same("1", "1.5"));
  EXPECT_FALSE(same("9007199254740993", "9007199254740992.0"));
  EXPECT_FALSE(same("9223372036854775807", "9223372036854775808"));
  EXPECT_FALSE(same("1", "true"));
  EXPECT_FALSE(same("1", "\"1\""));
  EXPECT_FALSE(same("null", "false"));
}

TEST(Equal, holds_for_objects_with_many_members_in_any_order) {
  std::string forward = "{";
  std::string backward = "{";
  for (int i = 0; i < 20000; ++i) {
    forward += "\"a-long-common-prefix-" + std::to_string(i) + "\":" + std::to_string(i) + ",";
    backward += "\"a-long-common-prefix-" + std::to_string(19999 - i) + "\":" + std::to_string(19999 - i) + ",";
  }
  EXPECT_TRUE(same(forward + "\"z\":1}", backward + "\"z\":1}"));
  EXPECT_FALSE(same(forward + "\"z\":1}", backward + "\"z\":2}"));
  EXPECT_FALSE(same(forward + "\"z\":1}", backward + "\"y\":1}"));
}

TEST(Value, readers_of_another_type_give_nothing) {
  const Value text = Value::make_string("x", 7);
  EXPECT_EQ(text.integer(), 0);
  EXPECT_EQ(text.number(), 0.0);
  EXPECT_FALSE(text.boolean());
  EXPECT_TRUE(text.items().empty());
  EXPECT_TRUE(text.members().empty());
  EXPECT_EQ(text.find("x"), nullptr);
  EXPECT_EQ(text.offset(), 7U);
  EXPECT_EQ(Value::make_integer(3, 0).number(), 3.0);
  EXPECT_EQ(Value::make_integer(3, 0).string(), "");
  EXPECT_TRUE(Value().is_null());
}

TEST(Arena, keeps_its_memory_over_a_reset) {
  Arena arena;
  arena.allocate(100'000, 8);
  arena.allocate(10, 1);
  EXPECT_EQ(arena.bytes_used(), 100'010U);
  arena.reset();
  EXPECT_EQ(arena.bytes_used(), 0U);
  const auto address = reinterpret_cast<std::uintptr_t>(arena.allocate(8, 8));
  EXPECT_EQ(address % 8, 0U);
  arena.allocate(1, 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.allocate(8, 8)), address + 16);
}

}  // namespace
}  // namespace stackgate::json
