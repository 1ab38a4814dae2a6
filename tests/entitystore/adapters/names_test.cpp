#include "services/entitystore/adapters/names.hpp"

#include <gtest/gtest.h>

#include "services/entitystore/adapters/record.hpp"

namespace stackgate::entitystore {
namespace {

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
