#include "services/kit/sql/migrate.hpp"

#include <array>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kit/sql/engines.hpp"

namespace stackgate::sql {
namespace {

using testing::HasSubstr;

constexpr std::array<Migration, 3> steps = {{
    // Slow enough there that five processes meet in it.
    {1, "accounts", "CREATE TABLE a (n BIGINT); -- first\nINSERT INTO a VALUES (1);\n",
     "CREATE TABLE a (n BIGINT); -- first\nINSERT INTO a VALUES (1); SELECT pg_sleep(0.2);\n"},
    {2, "more", "ALTER TABLE a ADD COLUMN m BIGINT;",
     "ALTER TABLE a ADD COLUMN m BIGINT; COMMENT ON TABLE a IS 'x; y';"},
    {3, "rows", "INSERT INTO a VALUES (2, 3);", ""},
}};

class SqlMigrate : public test::OnBothEngines {};
ON_BOTH_ENGINES(SqlMigrate);

TEST_P(SqlMigrate, applies_what_is_missing_once) {
  const auto before = require_current(*database_, steps);
  ASSERT_FALSE(before);
  EXPECT_THAT(before.error().message, HasSubstr("migrate"));
  const auto first = migrate(*database_, std::span(steps).first(1));
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->from, 0);
  EXPECT_EQ(first->to, 1);
  EXPECT_FALSE(require_current(*database_, steps));
  const auto second = migrate(*database_, steps);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->from, 1);
  EXPECT_EQ(second->to, 3);
  const auto third = migrate(*database_, steps);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->from, 3);
  EXPECT_TRUE(require_current(*database_, steps));
  EXPECT_EQ(must("SELECT count(*) FROM a").rows[0].integer(0), 2);
  EXPECT_THAT(must("SELECT applied_at FROM stackgate_migrations").rows[0].text(0),
              testing::MatchesRegex("20..-..-..T..:..:..Z"));
}

TEST_P(SqlMigrate, ids_of_the_engine_are_written_once_for_both) {
  const std::array<Migration, 1> ids = {{{1, "ids",
                                          "CREATE TABLE c (id INTEGER PRIMARY KEY AUTOINCREMENT, t TEXT);"
                                          "CREATE TABLE d (t TEXT, id INTEGER PRIMARY KEY AUTOINCREMENT);",
                                          ""}}};
  const auto done = migrate(*database_, ids);
  ASSERT_TRUE(done) << done.error().message;
  for (const char* table : {"c", "d"})
    for (const std::int64_t id : {1, 2})
      EXPECT_EQ(must(fmt::format("INSERT INTO {} (t) VALUES ('x') RETURNING id", table)).rows[0].integer(0), id);
}

TEST_P(SqlMigrate, leaves_nothing_of_a_step_that_fails) {
  const std::array<Migration, 2> bad = {
      {steps[0], {2, "broken", "CREATE TABLE b (n BIGINT); INSERT INTO nowhere VALUES (1);", ""}}};
  const auto out = migrate(*database_, bad);
  ASSERT_FALSE(out);
  EXPECT_THAT(out.error().message, HasSubstr("migration 2 (broken)"));
  EXPECT_FALSE(database_->run("SELECT * FROM b"));
  EXPECT_TRUE(require_current(*database_, std::span(bad).first(1)));
}

TEST_P(SqlMigrate, refuses_a_newer_database_and_another_programs) {
  ASSERT_TRUE(migrate(*database_, steps));
  const auto older = migrate(*database_, std::span(steps).first(2));
  ASSERT_FALSE(older);
  EXPECT_THAT(older.error().message, HasSubstr("version 3"));
  EXPECT_FALSE(require_current(*database_, std::span(steps).first(2)));
  const std::array<Migration, 1> foreign = {{{1, "adapters", "CREATE TABLE x (n BIGINT);", ""}}};
  const auto other = migrate(*database_, foreign);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, testing::AnyOf(HasSubstr("another"), HasSubstr("database of its own")));
}

TEST_P(SqlMigrate, lets_five_processes_run_it_at_once) {
  database_.reset();
  std::vector<pid_t> children;
  for (int i = 0; i < 5; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto mine = Database::open(url_, password_);
      const auto out = migrate(**mine, steps);
      if (!out) std::fprintf(stderr, "migrate: %s\n", out.error().message.c_str());
      ::_exit(out && out->to == 3 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  database_ = open();
  EXPECT_EQ(must("SELECT count(*) FROM a").rows[0].integer(0), 2);
  EXPECT_EQ(must("SELECT count(*) FROM stackgate_migrations").rows[0].integer(0), 3);
}

}  // namespace
}  // namespace stackgate::sql
