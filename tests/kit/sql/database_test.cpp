#include "services/kit/sql/database.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>

#include "tests/kit/sql/engines.hpp"

namespace stackgate::sql {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class SqlDatabase : public test::OnBothEngines {};
ON_BOTH_ENGINES(SqlDatabase);

TEST_P(SqlDatabase, gives_back_the_values_it_was_given) {
  must("CREATE TABLE t (i BIGINT, r DOUBLE PRECISION, s TEXT)");
  const std::string words = "Ünïcode 'quoted'; DROP TABLE t; --";
  must("INSERT INTO t VALUES ($1, $2, $3)", {std::int64_t{-9'007'199'254'740'993}, 0.1, words});
  must("INSERT INTO t VALUES ($1, $2, $3)", {nullptr, nullptr, nullptr});
  must("INSERT INTO t VALUES ($1, $2, $3)", {INT64_MAX, 1e300, std::string()});
  const auto rows = must("SELECT i, r, s FROM t ORDER BY i IS NULL, i").rows;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].integer(0), -9'007'199'254'740'993);
  EXPECT_EQ(rows[0].real(1), 0.1);
  EXPECT_EQ(rows[0].text(2), words);
  EXPECT_EQ(rows[1].integer(0), INT64_MAX);
  EXPECT_EQ(rows[1].real(1), 1e300);
  EXPECT_FALSE(rows[1].is_null(2));
  EXPECT_TRUE(rows[2].is_null(0) && rows[2].is_null(1) && rows[2].is_null(2));
}

TEST_P(SqlDatabase, binds_placeholders_by_their_number_whatever_their_order) {
  for (int round = 0; round < 3; ++round) {  // as it stands, then prepared
    const auto rows =
        must("SELECT CAST($2 AS TEXT), CAST($1 AS TEXT), CAST($2 AS TEXT)", {std::string("one"), std::string("two")})
            .rows;
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].text(0) + rows[0].text(1) + rows[0].text(2), "twoonetwo");
  }
}

TEST_P(SqlDatabase, counts_rows_and_returns_what_was_written) {
  must("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)");
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(must("INSERT INTO t VALUES ($1, $2)", {std::int64_t{i}, std::int64_t{i}}).affected, 1);
  EXPECT_EQ(must("UPDATE t SET n = n + 1 WHERE id >= $1", {std::int64_t{2}}).affected, 3);
  EXPECT_EQ(must("UPDATE t SET n = 0 WHERE id = 99").affected, 0);
  EXPECT_EQ(must("SELECT * FROM t").affected, 0);
  const auto back = must("INSERT INTO t VALUES (7, 70) ON CONFLICT (id) DO UPDATE SET n = excluded.n RETURNING id, n");
  EXPECT_EQ(back.affected, 1);
  ASSERT_EQ(back.rows.size(), 1U);
  EXPECT_EQ(back.rows[0].integer(1), 70);
  EXPECT_EQ(must("SELECT sum(n), count(*) FROM t").rows[0].integer(0), 0 + 1 + 3 + 4 + 5 + 70);
  EXPECT_EQ(must("DELETE FROM t").affected, 6);
}

TEST_P(SqlDatabase, says_which_constraint_refused) {
  must("CREATE TABLE owner (id BIGINT PRIMARY KEY)");
  must(
      "CREATE TABLE t (name TEXT NOT NULL, owner BIGINT REFERENCES owner(id), CONSTRAINT t_name UNIQUE (name), CHECK "
      "(name <> ''))");
  must("INSERT INTO t VALUES ('a', NULL)");
  const auto twice = database_->run("INSERT INTO t VALUES ($1, NULL)", {std::string("a")});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().fault, Fault::duplicate);
  EXPECT_EQ(twice.error().constraint, on_sqlite() ? "t.name" : "t_name");
  EXPECT_EQ(database_->run("INSERT INTO t VALUES ('b', 5)").error().fault, Fault::refers);
  EXPECT_EQ(database_->run("INSERT INTO t VALUES ('', NULL)").error().fault, Fault::refers);
  EXPECT_EQ(database_->run("INSERT INTO t VALUES (NULL, NULL)").error().fault, Fault::refers);
}

TEST_P(SqlDatabase, refuses_statements_that_are_none_or_two_and_values_that_do_not_fit) {
  must("CREATE TABLE t (n BIGINT)");
  struct Case {
    const char* statement;
    std::vector<Value> values;
    Fault fault = Fault::broken;
  };
  const Case cases[] = {{"SELEC 1", {}},
                        {"SELECT 1; SELECT 2", {}},
                        {"SELECT 1; DROP TABLE t", {}},
                        {"", {}},
                        {"SELECT n FROM missing", {}},
                        {"SELECT n FROM t WHERE n = $1", {}},
                        {"SELECT n FROM t WHERE n = $1", {std::int64_t{1}, std::int64_t{2}}},
                        {"SELECT n FROM t WHERE n = $1", {std::string("a\0b", 3)}, Fault::unfit},
                        {"SELECT n FROM t WHERE n = $1", {std::string("\xff\xfe")}, Fault::unfit},
                        {"INSERT INTO t VALUES ($1)", {std::string("a\0b", 3)}, Fault::unfit}};
  for (const Case& c : cases) {
    for (int round = 0; round < 3; ++round) {
      const auto out = database_->run(c.statement, c.values);
      if (std::string_view(c.statement).empty() && !on_sqlite()) continue;  // an empty query is one there
      ASSERT_FALSE(out) << c.statement;
      EXPECT_EQ(out.error().fault, c.fault) << c.statement << ": " << out.error().message;
      EXPECT_FALSE(out.error().message.empty());
    }
  }
  EXPECT_EQ(must("SELECT count(*) FROM t").rows[0].integer(0), 0);
}

TEST_P(SqlDatabase, never_quotes_a_value_in_an_error) {
  must("CREATE TABLE t (n BIGINT PRIMARY KEY, s TEXT UNIQUE, CHECK (length(s) < 14))");
  must("INSERT INTO t VALUES (1, 'other-secret')");
  for (const char* value : {"hunter2-secret-long", "other-secret"}) {
    const auto out = database_->run("INSERT INTO t VALUES (2, $1)", {std::string(value)});
    ASSERT_FALSE(out);
    EXPECT_THAT(out.error().message, Not(HasSubstr("secret")));
  }
  if (on_sqlite()) return;  // it takes any text for a number
  const auto out = database_->run("INSERT INTO t VALUES ($1, '')", {std::string("hunter2-secret")});
  ASSERT_FALSE(out);
  EXPECT_THAT(out.error().message, Not(HasSubstr("secret")));
  EXPECT_THAT(out.error().message, HasSubstr("invalid input syntax"));
}

TEST_P(SqlDatabase, does_all_of_a_transaction_or_nothing) {
  must("CREATE TABLE t (n BIGINT PRIMARY KEY)");
  const auto insert = [](Session& s, std::int64_t n) -> Expected<void> {
    auto out = s.run("INSERT INTO t VALUES ($1)", {n});
    if (!out) return std::unexpected(out.error());
    return {};
  };
  EXPECT_TRUE(database_->transact([&](Session& s) -> Expected<void> {
    if (auto out = insert(s, 1); !out) return out;
    return insert(s, 2);
  }));
  const auto own = database_->transact([&](Session& s) -> Expected<void> {
    if (auto out = insert(s, 3); !out) return out;
    return std::unexpected(SqlError{Fault::refers, "mine", {}});
  });
  ASSERT_FALSE(own);
  EXPECT_EQ(own.error().message, "mine");
  EXPECT_THROW((void)database_->transact([&](Session& s) -> Expected<void> {
    if (auto out = insert(s, 4); !out) return out;
    throw std::runtime_error("out of the work");
  }),
               std::runtime_error);
  EXPECT_EQ(must("SELECT count(*), max(n) FROM t").rows[0].integer(1), 2);
}

TEST_P(SqlDatabase, ends_a_transaction_with_its_first_error_even_when_the_work_ignores_it) {
  must("CREATE TABLE t (n BIGINT PRIMARY KEY)");
  must("INSERT INTO t VALUES (1)");
  const auto out = database_->transact([&](Session& s) -> Expected<void> {
    EXPECT_TRUE(s.run("INSERT INTO t VALUES (2)"));
    EXPECT_EQ(s.run("INSERT INTO t VALUES (1)").error().fault, Fault::duplicate);
    EXPECT_EQ(s.run("INSERT INTO t VALUES (3)").error().fault, Fault::duplicate);
    return {};
  });
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().fault, Fault::duplicate);
  EXPECT_EQ(must("SELECT count(*) FROM t").rows[0].integer(0), 1);
}

TEST_P(SqlDatabase, cancels_a_statement_that_takes_too_long_and_goes_on) {
  const auto quick = open({.sessions = 1, .statement = 200ms});
  const auto began = std::chrono::steady_clock::now();
  const auto out = quick->run(
      "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1000000000) SELECT count(*) FROM c");
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().fault, Fault::away);
  EXPECT_THAT(out.error().message, HasSubstr("200 ms"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 2s);
  EXPECT_TRUE(quick->run("SELECT 1"));
}

TEST_P(SqlDatabase, loses_no_increment_of_many_writers_in_two_processes_worth_of_pools) {
  must("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)");
  must("INSERT INTO t VALUES (1, 0)");
  const auto other = open();
  std::atomic<int> done{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        Database& mine = i % 2 == 0 ? *database_ : *other;
        for (int round = 0; round < 25; ++round) {
          // Reads, then writes what follows from it: lost updates would show.
          const auto out = mine.transact([](Session& s) -> Expected<void> {
            const auto now = s.run("SELECT n FROM t WHERE id = 1");
            if (!now) return std::unexpected(now.error());
            const auto set = s.run("UPDATE t SET n = $1 WHERE id = 1", {now->rows[0].integer(0) + 1});
            if (!set) return std::unexpected(set.error());
            return {};
          });
          if (out) ++done;
          EXPECT_TRUE(out || out.error().fault == Fault::conflict) << out.error().message;
        }
      });
    }
  }
  EXPECT_GT(done.load(), 80);  // the retries carry nearly all of them through
  EXPECT_EQ(must("SELECT n FROM t").rows[0].integer(0), done.load());
}

TEST_P(SqlDatabase, reads_one_snapshot_beside_a_writer_and_refuses_to_write_there) {
  must("CREATE TABLE t (n BIGINT)");
  const auto out = database_->read([&](Session& s) -> Expected<void> {
    EXPECT_EQ(s.run("SELECT count(*) FROM t")->rows[0].integer(0), 0);
    EXPECT_TRUE(open()->run("INSERT INTO t VALUES (1)"));
    EXPECT_EQ(s.run("SELECT count(*) FROM t")->rows[0].integer(0), 0);
    return {};
  });
  EXPECT_TRUE(out) << out.error().message;
  EXPECT_EQ(must("SELECT count(*) FROM t").rows[0].integer(0), 1);
  const auto written = database_->read([](Session& s) -> Expected<void> {
    auto wrote = s.run("INSERT INTO t VALUES (2)");
    if (!wrote) return std::unexpected(wrote.error());
    return {};
  });
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().fault, Fault::broken) << written.error().message;
}

TEST_P(SqlDatabase, says_busy_when_no_session_comes_free_in_time) {
  const auto small = open({.sessions = 1, .wait = 100ms});
  must("CREATE TABLE t (n BIGINT)");
  const auto out = small->transact([&](Session&) -> Expected<void> {
    const auto began = std::chrono::steady_clock::now();
    const auto inner = small->run("INSERT INTO t VALUES (1)");
    EXPECT_LT(std::chrono::steady_clock::now() - began, 1s);
    EXPECT_FALSE(inner);
    EXPECT_EQ(inner.error().fault, Fault::busy);
    return {};
  });
  EXPECT_TRUE(out);
}

TEST_P(SqlDatabase, says_busy_when_another_process_keeps_the_lock) {
  must("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)");
  must("INSERT INTO t VALUES (1, 1)");
  const auto hasty = open({.wait = 150ms});
  const auto out = database_->transact([&](Session& s) -> Expected<void> {
    EXPECT_TRUE(s.run("UPDATE t SET n = 2 WHERE id = 1"));
    const auto began = std::chrono::steady_clock::now();
    const auto inner = hasty->run("UPDATE t SET n = 3 WHERE id = 1");
    EXPECT_FALSE(inner);
    EXPECT_EQ(inner.error().fault, Fault::busy) << inner.error().message;
    EXPECT_LT(std::chrono::steady_clock::now() - began, 2s);
    return {};
  });
  EXPECT_TRUE(out);
  EXPECT_EQ(must("SELECT n FROM t").rows[0].integer(0), 2);
}

TEST_P(SqlDatabase, takes_many_different_statements_and_a_changed_table) {
  must("CREATE TABLE t (n BIGINT)");
  for (int i = 0; i < 600; ++i) must("SELECT n AS a" + std::to_string(i) + " FROM t");
  for (int i = 0; i < 3; ++i) must("SELECT * FROM t");
  ASSERT_TRUE(open()->run("ALTER TABLE t ADD COLUMN m BIGINT"));
  must("INSERT INTO t VALUES (1, 2)");
  EXPECT_EQ(must("SELECT * FROM t").rows.at(0).size(), 2U);
}

TEST_P(SqlDatabase, answers_a_ping) { EXPECT_TRUE(database_->ping(1s)); }

TEST(SqlOpen, refuses_what_is_no_database_and_never_shows_a_password) {
  const char* urls[] = {"",
                        "mysql://h/db",
                        "sqlite:",
                        "sqlite::memory:",
                        "sqlite:/nowhere/at/all.db",
                        "postgresql://u:hunter2@h/db",
                        "postgresql://h/db?password=hunter2",
                        "postgresql://u:hunter2%zz@h/db",
                        "postgresql://h/db?sslpassword=hunter2",
                        "postgresql://h:hunter2/db?nonsense=1",
                        "/plain/path"};
  for (const char* url : urls) {
    const auto out = Database::open(url, "");
    ASSERT_FALSE(out) << url;
    EXPECT_THAT(out.error(), Not(HasSubstr("hunter2@"))) << url;
    EXPECT_FALSE(out.error().empty());
  }
  EXPECT_THAT(Database::open("postgresql://u:hunter2@h/db", "").error(), HasSubstr("holds a password"));
}

TEST(SqlOpen, makes_a_file_for_its_owner_alone) {
  const stackgate::test::TempDir folder;
  auto database = Database::open("sqlite:" + (folder / "a.db"), "");
  ASSERT_TRUE(database);
  ASSERT_TRUE((*database)->run("CREATE TABLE t (n BIGINT)"));
  for (const char* name : {"a.db", "a.db-wal"}) {
    const auto mode = std::filesystem::status(folder / name).permissions();
    EXPECT_EQ(mode & (std::filesystem::perms::group_all | std::filesystem::perms::others_all),
              std::filesystem::perms::none)
        << name;
  }
}

TEST(Erase, leaves_nothing_of_what_was_replaced_in_the_files) {
  const stackgate::test::TempDir folder;
  const std::string path = folder / "test.db";
  const auto holds = [&](std::string_view what) {
    std::string all;
    for (const char* end : {"", "-wal"}) {
      std::ifstream file(path + end, std::ios::binary);
      all.append(std::istreambuf_iterator<char>(file), {});
    }
    return all.contains(what);
  };
  auto database = Database::open("sqlite:" + path, "", {.erase = true});
  ASSERT_TRUE(database);
  const std::string large(20'000, 'k');  // on pages of its own
  ASSERT_TRUE((*database)->run("CREATE TABLE t (id INTEGER PRIMARY KEY, secret TEXT)"));
  ASSERT_TRUE((*database)->run("INSERT INTO t VALUES (1, $1), (2, $2)", {std::string("sk-short"), "sk-long" + large}));
  EXPECT_TRUE(holds("sk-short"));
  EXPECT_TRUE(holds("sk-long"));
  ASSERT_TRUE((*database)->run("UPDATE t SET secret = '' WHERE id = 1"));
  ASSERT_TRUE((*database)->run("DELETE FROM t WHERE id = 2"));
  ASSERT_TRUE((*database)->empty_log());
  EXPECT_FALSE(holds("sk-short"));
  EXPECT_FALSE(holds("sk-long"));
  EXPECT_FALSE(holds(large.substr(0, 1'000)));
}

}  // namespace
}  // namespace stackgate::sql
