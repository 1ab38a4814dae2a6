#include "services/datastore/repositories/access.hpp"

#include <gtest/gtest.h>

#include "services/datastore/repositories/repositories.hpp"

namespace stackgate::datastore {
namespace {

enum class Who : std::uint8_t { nobody, stranger, owner, owner_reading, steward, admin, admin_reading };
enum class What : std::uint8_t { none, open, hidden, open_archived };
using enum Verdict;

Identity identity_of(Who who) {
  switch (who) {
    case Who::nobody:
      return {};
    case Who::stranger:
      return {.account = 9, .name = "x"};
    case Who::owner:
      return {.account = 1, .name = "o"};
    case Who::owner_reading:
      return {.account = 1, .name = "o", .scope = Scope::read};
    case Who::steward:
      return {.account = 2, .name = "s"};
    case Who::admin:
      return {.account = 3, .name = "a", .admin = true};
    case Who::admin_reading:
      return {.account = 3, .name = "a", .admin = true, .scope = Scope::read};
  }
  return {};
}

TEST(Access, FollowsTheTable) {
  struct {
    Who who;
    What what;
    Verdict read, write, administer;
  } const table[] = {
      {Who::nobody, What::none, sign_in, sign_in, sign_in},
      {Who::nobody, What::open, allowed, sign_in, sign_in},
      {Who::nobody, What::hidden, sign_in, sign_in, sign_in},
      {Who::nobody, What::open_archived, allowed, sign_in, sign_in},
      {Who::stranger, What::none, hidden, hidden, hidden},
      {Who::stranger, What::open, allowed, forbidden, forbidden},
      {Who::stranger, What::hidden, hidden, hidden, hidden},
      {Who::owner, What::open, allowed, allowed, allowed},
      {Who::owner, What::hidden, allowed, allowed, allowed},
      {Who::owner, What::open_archived, allowed, forbidden, allowed},
      {Who::owner_reading, What::hidden, allowed, forbidden, forbidden},
      {Who::steward, What::hidden, allowed, allowed, allowed},
      {Who::admin, What::none, hidden, hidden, hidden},
      {Who::admin, What::hidden, allowed, allowed, allowed},
      {Who::admin, What::open_archived, allowed, forbidden, allowed},
      {Who::admin_reading, What::hidden, allowed, forbidden, forbidden},
  };
  for (const auto& row : table) {
    const Repository repository{.id = 1,
                                .owner_id = 1,
                                .steward_id = 2,
                                .is_private = row.what == What::hidden,
                                .archived = row.what == What::open_archived};
    const Repository* shown = row.what == What::none ? nullptr : &repository;
    const Identity identity = identity_of(row.who);
    const auto place = testing::Message() << "who " << int(row.who) << " what " << int(row.what);
    EXPECT_EQ(judge(identity, shown, Action::read), row.read) << place;
    EXPECT_EQ(judge(identity, shown, Action::write), row.write) << place;
    EXPECT_EQ(judge(identity, shown, Action::administer), row.administer) << place;
    if (row.who == Who::nobody) {
      EXPECT_EQ(judge(identity, shown, Action::read, false), sign_in) << place;
    }
  }
}

TEST(RepositoryNames, ThatUrlsAndFileSystemsCanBearAreTaken) {
  for (const char* good : {"a", "my-model", "Llama_3.1", "0", "git"})
    EXPECT_FALSE(fault_of_repository_name(good)) << good;
  for (const std::string bad : {"", ".", "..", "-x", ".x", "x.git", "X.GIT", "x.lock", "x.wiki", "a..b", "a.", "a b",
                                "a/b", "a\\b", "ü", "settings", "Resolve", "a%2f"})
    EXPECT_TRUE(fault_of_repository_name(bad)) << bad;
  EXPECT_FALSE(fault_of_repository_name(std::string(100, 'a')));
  EXPECT_TRUE(fault_of_repository_name(std::string(101, 'a')));
}

}  // namespace
}  // namespace stackgate::datastore
