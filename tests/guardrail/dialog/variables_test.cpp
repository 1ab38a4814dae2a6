#include "services/guardrail/dialog/variables.hpp"

#include <gtest/gtest.h>

namespace stackgate::guardrail::test {
namespace {

std::string shown_variables(const SharedVariables& variables) {
  std::string out;
  variables.each([&](const std::string& name, const jinja::Value& value) {
    out += name + "=" + std::string(value.bytes()) + " ";
  });
  return out;
}

TEST(SharedVariables, changes_hide_the_beginning_and_come_in_the_order_of_names) {
  const auto beginning =
      std::make_shared<const Variables>(Variables{{"b", jinja::Value("1")}, {"d", jinja::Value("2")}});
  SharedVariables variables(beginning);
  EXPECT_EQ(shown_variables(variables), "b=1 d=2 ");
  for (const char* name : {"e", "d", "c", "a"}) variables.set(name, jinja::Value("new"));
  variables.set("c", jinja::Value("newer"));
  EXPECT_EQ(shown_variables(variables), "a=new b=1 c=newer d=new e=new ");
  EXPECT_EQ(variables.bytes("d"), "new");
  EXPECT_EQ(variables.bytes("b"), "1");
  EXPECT_EQ(variables.find("x"), nullptr);
  EXPECT_EQ(variables.all().size(), 5U);
  EXPECT_EQ(beginning->size(), 2U);
}

TEST(SharedVariables, a_copy_is_anothers) {
  SharedVariables one(std::make_shared<const Variables>(Variables{{"a", jinja::Value("1")}}));
  SharedVariables two = one;
  two.set("a", jinja::Value("2"));
  EXPECT_EQ(shown_variables(one), "a=1 ");
  EXPECT_EQ(shown_variables(two), "a=2 ");
  EXPECT_EQ(shown_variables(SharedVariables()), "");
}

}  // namespace
}  // namespace stackgate::guardrail::test
