#include "services/datastore/accounts/accounts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/datastore/migrations.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/log/log.hpp"
#include "tests/kit/sql/engines.hpp"

namespace stackgate::datastore {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class AccountsOnBoth : public sql::test::OnBothEngines {
 protected:
  void SetUp() override {
    OnBothEngines::SetUp();
    if (IsSkipped()) return;
    std::vector<sql::Migration> steps(account_migrations().begin(), account_migrations().end());
    for (sql::Migration each : failure_migrations()) {
      each.version = static_cast<int>(steps.size()) + 1;
      steps.push_back(each);
    }
    auto done = sql::migrate(*database_, steps);
    ASSERT_TRUE(done) << done.error().message;
    accounts_ = std::make_unique<Accounts>(*database_, options());
  }
  AccountOptions options() {
    return {.admin_name = "Root", .admin_password = "the admin's word", .now = [this] { return now_; }};
  }
  static std::string basic(const std::string& name, const std::string& password) {
    return "Basic " + base64::encode(name + ":" + password);
  }
  auto ask(const std::string& header, const std::string& peer = "10.0.0.1:1") {
    return accounts_->authenticate(header, peer);
  }

  std::chrono::system_clock::time_point now_{std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)};
  std::unique_ptr<Accounts> accounts_;
};
ON_BOTH_ENGINES(AccountsOnBoth);

TEST_P(AccountsOnBoth, NobodyIsAnonymous) {
  auto who = ask("");
  ASSERT_TRUE(who);
  EXPECT_TRUE(who->anonymous());
}

TEST_P(AccountsOnBoth, AFailedSignInIsLoggedWithNamesThatExistOnly) {
  ASSERT_TRUE(accounts_->create_user("Ann", "a long password", false));
  log::configure({.level = log::Level::warning});
  testing::internal::CaptureStderr();
  for (const char* name : {"hunter2-my-password", "ann", "ROOT", "no name at all!"})
    EXPECT_FALSE(ask(basic(name, "wrong"), "10.9.8.7:1"));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, testing::AllOf(HasSubstr("sign-in failed account=Ann"), HasSubstr("sign-in failed account=Root"),
                                   HasSubstr("(none of that name)"), HasSubstr("10.9.8.7")));
  EXPECT_THAT(said, testing::Not(testing::AnyOf(HasSubstr("hunter2"), HasSubstr("no name"))));
}

TEST_P(AccountsOnBoth, TheConfiguredAdministratorSignsInWithAnyCaseOfTheNameAndOnlyTheRightPassword) {
  auto who = ask(basic("root", "the admin's word"));
  ASSERT_TRUE(who) << who.error().message;
  EXPECT_TRUE(who->admin);
  EXPECT_EQ(who->name, "Root");
  EXPECT_GT(who->account, 0);
  EXPECT_EQ(ask(basic("ROOT", "the admin's word"))->account, who->account);
  auto wrong = ask(basic("root", "the admin's worD"));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().fault, ServiceFault::unauthenticated);
  EXPECT_FALSE(ask(basic("root", "")));
}

TEST_P(AccountsOnBoth, ReplicasOnOneDatabaseCountFailuresTogether) {
  if (database_->engine() != sql::Engine::postgresql) GTEST_SKIP() << "there is one process on a SQLite database";
  Accounts other(*database_, options());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ask(basic("root", "guess")).error().fault, ServiceFault::unauthenticated);
    EXPECT_EQ(other.authenticate(basic("root", "guess"), "10.0.0.1:2").error().fault, ServiceFault::unauthenticated);
  }
  Accounts third(*database_, options());
  const auto held = third.authenticate(basic("root", "the admin's word"), "10.0.0.1:3");
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().fault, ServiceFault::limited);
  EXPECT_EQ(held.error().retry_after, seconds(2));
  EXPECT_TRUE(third.authenticate(basic("root", "the admin's word"), "10.0.0.2:3")) << "from another address";
  now_ += seconds(2);
  EXPECT_TRUE(third.authenticate(basic("root", "the admin's word"), "10.0.0.1:3"));
  Accounts fourth(*database_, options());
  EXPECT_EQ(fourth.authenticate(basic("root", "guess"), "10.0.0.1:2").error().fault, ServiceFault::unauthenticated)
      << "a success forgets what all have counted";
}

TEST_P(AccountsOnBoth, TheAdministratorNeedsNoDatabaseOnceSeen) {
  ASSERT_TRUE(accounts_->prepare());
  must("DROP TABLE tokens");
  must("DROP TABLE accounts");
  EXPECT_TRUE(ask(basic("Root", "the admin's word")));
  auto user = ask(basic("ann", "whatever"));
  ASSERT_FALSE(user);
  EXPECT_EQ(user.error().fault, ServiceFault::broken);
}

TEST_P(AccountsOnBoth, AUserSignsInUntilSwitchedOff) {
  ASSERT_TRUE(accounts_->create_user("Ann", "correct horse", false));
  auto who = ask(basic("ann", "correct horse"));
  ASSERT_TRUE(who) << who.error().message;
  EXPECT_EQ(who->name, "Ann");
  EXPECT_FALSE(who->admin);
  EXPECT_FALSE(ask(basic("ann", "wrong horse")));
  EXPECT_FALSE(ask(basic("nobody", "correct horse")));
  EXPECT_EQ(accounts_->set_active("ann", false), true);
  EXPECT_FALSE(ask(basic("ann", "correct horse")));
  EXPECT_EQ(accounts_->set_active("ann", false), false);
  EXPECT_EQ(accounts_->set_active("ann", true), true);
  EXPECT_TRUE(ask(basic("ann", "correct horse")));
}

TEST_P(AccountsOnBoth, SwitchingOnAnAccountThatIsOnChangesNothing) {
  ASSERT_TRUE(accounts_->create_user("ann", "correct horse", false));
  const std::string early = "2001-01-01T00:00:00Z";
  ASSERT_TRUE(database_->run("UPDATE accounts SET updated_at = $1 WHERE name_key = 'ann'", {early}));
  EXPECT_EQ(accounts_->set_active("Ann", true), false);
  EXPECT_EQ(accounts_->find("ann")->updated_at, early);
  EXPECT_EQ(accounts_->set_active("nobody", true).error().fault, ServiceFault::missing);
}

TEST_P(AccountsOnBoth, AChangedPasswordEndsTheOldOneAtOnce) {
  ASSERT_TRUE(accounts_->create_user("ann", "correct horse", false));
  ASSERT_TRUE(ask(basic("ann", "correct horse")));
  ASSERT_TRUE(accounts_->set_password("ann", "battery staple"));
  EXPECT_FALSE(ask(basic("ann", "correct horse")));
  EXPECT_TRUE(ask(basic("ann", "battery staple")));
}

TEST_P(AccountsOnBoth, GuessingIsSlowedButWhoeverWasRightBeforeIsNotHeldUp) {
  ASSERT_TRUE(accounts_->create_user("ann", "correct horse", false));
  accounts_ = std::make_unique<Accounts>(
      *database_, AccountOptions{.admin_name = "root", .admin_password = "x", .proven_for = seconds(0)});
  ASSERT_TRUE(ask(basic("ann", "correct horse")));
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(ask(basic("ann", "guess" + std::to_string(i))).error().fault, ServiceFault::unauthenticated);
  auto limited = ask(basic("ann", "guess again"));
  ASSERT_FALSE(limited);
  EXPECT_EQ(limited.error().fault, ServiceFault::limited);
  EXPECT_GE(limited.error().retry_after, seconds(1));
  EXPECT_TRUE(ask(basic("ann", "correct horse")));
  EXPECT_EQ(ask(basic("ann", "guess again"), "10.0.0.2:1").error().fault, ServiceFault::unauthenticated);
}

TEST_P(AccountsOnBoth, ATokenSignsInWithItsScopeUntilItExpiresOrIsWithdrawn) {
  const auto ann = accounts_->create_user("ann", "", false);
  ASSERT_TRUE(ann);
  auto token = accounts_->create_token(ann->id, "ci", Scope::read, seconds(3600));
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_TRUE(token->secret.ends_with(token->token.last_eight));
  for (const std::string& header :
       {"Bearer " + token->secret, "token " + token->secret, basic("ann", token->secret), basic(token->secret, "")}) {
    auto who = ask(header);
    ASSERT_TRUE(who) << header << who.error().message;
    EXPECT_EQ(who->account, ann->id);
    EXPECT_EQ(who->scope, Scope::read);
  }
  EXPECT_EQ(accounts_->list_tokens(ann->id)->at(0).last_used_at, "2026-01-01T00:00:00Z");
  now_ += seconds(3600);
  EXPECT_THAT(ask("Bearer " + token->secret).error().message, HasSubstr("expired"));
  auto lasting = accounts_->create_token(ann->id, "for ever", Scope::write, seconds(0));
  EXPECT_TRUE(ask("Bearer " + lasting->secret));
  ASSERT_TRUE(accounts_->remove_token(ann->id, "for ever"));
  EXPECT_FALSE(ask("Bearer " + lasting->secret));
  EXPECT_EQ(accounts_->remove_token(ann->id, "for ever").error().fault, ServiceFault::missing);
}

TEST_P(AccountsOnBoth, NoSecretStandsInTheDatabase) {
  const auto ann = accounts_->create_user("ann", "correct horse", false);
  auto token = accounts_->create_token(ann->id, "ci", Scope::write, seconds(0));
  ASSERT_TRUE(accounts_->prepare());
  const auto rows =
      must("SELECT COALESCE(a.password, ''), t.hash FROM accounts a LEFT JOIN tokens t ON t.account_id = a.id").rows;
  ASSERT_EQ(rows.size(), 2U);
  for (const auto& row : rows) {
    EXPECT_FALSE(row.text(0).contains("correct") || row.text(0).contains("admin's")) << row.text(0);
    EXPECT_FALSE(row.text(1).contains(token->secret.substr(5)));
  }
}

TEST_P(AccountsOnBoth, NamesAreUniqueOverUsersAndOrganisationsWithoutCase) {
  const auto ann = accounts_->create_user("ann", "", false);
  ASSERT_TRUE(ann);
  EXPECT_EQ(accounts_->create_organization("ANN", ann->id).error().fault, ServiceFault::exists);
  auto team = accounts_->create_organization("Team", ann->id);
  ASSERT_TRUE(team);
  EXPECT_EQ(team->steward_id, ann->id);
  EXPECT_EQ(accounts_->create_user("team", "", false).error().fault, ServiceFault::exists);
  EXPECT_EQ(accounts_->create_user("api", "", false).error().fault, ServiceFault::invalid);
  EXPECT_EQ(accounts_->create_user("bob", "short", false).error().fault, ServiceFault::invalid);
  EXPECT_FALSE(ask(basic("team", "")));
  std::size_t total = 0;
  EXPECT_EQ(accounts_->list(AccountKind::organization, "EA", 0, 10, &total)->size(), 1U);
  EXPECT_EQ(total, 1U);
  EXPECT_EQ(accounts_->list(AccountKind::organization, "%", 0, 10, &total)->size(), 0U);
}

TEST_P(AccountsOnBoth, TheConfiguredAdministratorCannotBeDeletedSwitchedOffOrGivenAPassword) {
  ASSERT_TRUE(accounts_->prepare());
  EXPECT_EQ(accounts_->remove("root").error().fault, ServiceFault::forbidden);
  EXPECT_EQ(accounts_->set_active("root", false).error().fault, ServiceFault::forbidden);
  EXPECT_EQ(accounts_->set_password("ROOT", "another one").error().fault, ServiceFault::forbidden);
}

}  // namespace
}  // namespace stackgate::datastore
