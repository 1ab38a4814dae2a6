#include "services/entitystore/adapters/version.hpp"

#include <gtest/gtest.h>

#include "services/entitystore/adapters/names.hpp"
#include "services/entitystore/adapters/record.hpp"

namespace stackgate::entitystore {
namespace {

TEST(Versions, AreReadByTheGrammar) {
  for (const char* good : {"0.0.0", "1.2.3", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-0.3.7", "1.0.0-x-y-z.--",
                           "1.0.0+001", "1.0.0-beta+exp.sha.5114f85", "18446744073709551615.0.0"})
    EXPECT_TRUE(parse_version(good)) << good;
  for (const char* bad :
       {"", "1", "1.2", "1.2.3.4", "v1.2.3", "01.2.3", "1.2.03", "1.2.3-", "1.2.3-01", "1.2.3-a..b", "1.2.3+",
        "1.2.3+a+b", "1.2.3-ä", "18446744073709551616.0.0", "1.-2.3", " 1.2.3", "1.2.3-a/b"})
    EXPECT_FALSE(parse_version(bad)) << bad;
  EXPECT_FALSE(parse_version("1.0.0-" + std::string(60, 'a')));
}

TEST(Versions, ComeInTheOrderOfTheirPrecedence) {
  const char* const order[] = {"0.9.9",        "1.0.0-1",       "1.0.0-2",          "1.0.0-10",
                               "1.0.0-alpha",  "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta",
                               "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",       "1.0.0",
                               "1.0.1",        "1.2.0",         "1.10.0",           "2.0.0"};
  for (std::size_t i = 0; i < std::size(order); ++i)
    for (std::size_t j = 0; j < std::size(order); ++j)
      EXPECT_EQ(compare(*parse_version(order[i]), *parse_version(order[j])), i <=> j) << order[i] << " " << order[j];
  EXPECT_EQ(compare(*parse_version("1.0.0+a"), *parse_version("1.0.0+b")), std::strong_ordering::equal);
}

TEST(Statuses, MoveAsTheTableSays) {
  using enum Status;
  struct {
    Status from, to;
    bool person, registration;
  } const table[] = {
      {uploading, uploading, true, false}, {uploading, pending, false, true},  {uploading, ready, false, true},
      {uploading, failed, true, true},     {pending, uploading, false, false}, {pending, pending, true, false},
      {pending, ready, true, false},       {pending, failed, true, false},     {ready, uploading, false, false},
      {ready, pending, true, false},       {ready, ready, true, false},        {ready, failed, true, false},
      {failed, uploading, false, false},   {failed, pending, false, false},    {failed, ready, false, false},
      {failed, failed, true, false},
  };
  for (const auto& row : table) {
    EXPECT_EQ(may_move(Mover::person, row.from, row.to), row.person) << to_string(row.from) << to_string(row.to);
    EXPECT_EQ(may_move(Mover::registration, row.from, row.to), row.registration)
        << to_string(row.from) << to_string(row.to);
  }
  EXPECT_EQ(parse_status("Ready"), std::nullopt);
}

TEST(Names, FollowWhatGitAndUrlsAllow) {
  for (const char* good : {"a", "support-bot", "A.b_c-9", "a--b"}) EXPECT_FALSE(fault_of_name(good)) << good;
  for (const char* bad : {"", "-a", "a.", "a/b", "a b", "ä", "a..b", "x.git", "x.LOCK", "."})
    EXPECT_TRUE(fault_of_name(bad)) << bad;
  EXPECT_TRUE(fault_of_name(std::string(65, 'a')));
  EXPECT_TRUE(fault_of_namespace("a--b"));
  EXPECT_EQ(repository_of("adapters", "default", "a--b"), "adapters/default--a--b");
}

}  // namespace
}  // namespace stackgate::entitystore
