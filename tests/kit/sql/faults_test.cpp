// What happens to the database happens here for real: PostgreSQL is stopped, killed and frozen, SQLite's disk is full.
#include <thread>

#include <gmock/gmock.h>

#include "tests/kit/sql/engines.hpp"

namespace stackgate::sql {
namespace {

using namespace std::chrono_literals;
using stackgate::test::PostgresServer;
using testing::HasSubstr;

class PostgresFaults : public testing::Test {
 protected:
  void SetUp() override {
    if (PostgresServer::shared() == nullptr) GTEST_SKIP() << PostgresServer::why_missing();
    server_ = PostgresServer::shared();
    url_ = server_->fresh_database();
    database_ =
        std::move(*Database::open(url_, server_->password(), {.connect = 500ms, .statement = 500ms, .wait = 1s}));
    ASSERT_TRUE(database_->run("CREATE TABLE t (n BIGINT PRIMARY KEY)"));
  }
  std::int64_t count() {
    const auto out = database_->run("SELECT count(*) FROM t");
    return out ? out->rows[0].integer(0) : -1;
  }
  PostgresServer* server_ = nullptr;
  std::string url_;
  std::unique_ptr<Database> database_;
};

TEST_F(PostgresFaults, a_restart_between_statements_is_not_noticed) {
  std::int64_t rows = 0;
  for (const char* mode : {"fast", "immediate"}) {
    for (int i = 0; i < 3; ++i) ASSERT_EQ(count(), rows);
    server_->restart(mode);
    // A write, which is not sent twice: the dead connection must be seen before.
    const auto written = database_->run("INSERT INTO t VALUES ($1)", {rows++});
    EXPECT_TRUE(written) << mode << ": " << written.error().message;
    server_->restart(mode);
    EXPECT_EQ(count(), rows) << mode;
    EXPECT_TRUE(database_->transact([](Session& s) -> Expected<void> {
      auto out = s.run("SELECT n FROM t");
      if (!out) return std::unexpected(out.error());
      return {};
    })) << mode;
  }
}

TEST_F(PostgresFaults, a_restart_inside_a_transaction_runs_it_again) {
  int runs = 0;
  const auto out = database_->transact([&](Session& s) -> Expected<void> {
    auto first = s.run("INSERT INTO t VALUES ($1)", {std::int64_t{runs}});
    if (!first) return std::unexpected(first.error());
    if (++runs == 1) server_->restart();
    auto second = s.run("INSERT INTO t VALUES ($1)", {std::int64_t{100}});
    if (!second) return std::unexpected(second.error());
    return {};
  });
  EXPECT_TRUE(out) << out.error().message;
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(count(), 2);
}

TEST_F(PostgresFaults, a_server_that_is_down_is_said_to_be_away_at_once_and_used_again_when_it_is_back) {
  server_->stop();
  const auto began = std::chrono::steady_clock::now();
  const auto out = database_->run("SELECT 1");
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().fault, Fault::away);
  EXPECT_THAT(out.error().message, HasSubstr("cannot reach PostgreSQL"));
  EXPECT_FALSE(database_->ping(1s));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 1s);
  server_->start();
  EXPECT_EQ(count(), 0);
}

TEST_F(PostgresFaults, a_server_that_hangs_is_left_in_time) {
  ASSERT_EQ(count(), 0);
  server_->freeze();
  const auto began = std::chrono::steady_clock::now();
  const auto on_open_connection = database_->run("SELECT count(*) FROM t");
  EXPECT_LT(std::chrono::steady_clock::now() - began, 1500ms);
  const auto on_new_connection = database_->run("SELECT 1");
  EXPECT_LT(std::chrono::steady_clock::now() - began, 3s);
  const auto written = database_->transact([](Session& s) -> Expected<void> {
    auto out = s.run("INSERT INTO t VALUES (1)");
    if (!out) return std::unexpected(out.error());
    return {};
  });
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
  server_->resume();
  ASSERT_FALSE(on_open_connection);
  EXPECT_EQ(on_open_connection.error().fault, Fault::away);
  EXPECT_THAT(on_open_connection.error().message, HasSubstr("did not answer"));
  ASSERT_FALSE(on_new_connection);
  EXPECT_EQ(on_new_connection.error().fault, Fault::away);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().fault, Fault::away);
  EXPECT_EQ(count(), 0);
}

TEST_F(PostgresFaults, a_ping_of_a_server_that_hangs_keeps_its_limit) {
  ASSERT_TRUE(database_->ping(1s));
  server_->freeze();
  const auto began = std::chrono::steady_clock::now();
  const auto out = database_->ping(100ms);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 900ms);
  server_->resume();
  EXPECT_FALSE(out);
  EXPECT_TRUE(database_->ping(1s));
}

TEST_F(PostgresFaults, a_commit_without_an_answer_says_that_nobody_knows) {
  const auto out = database_->transact([&](Session& s) -> Expected<void> {
    auto done = s.run("INSERT INTO t VALUES (1)");
    server_->freeze();
    if (!done) return std::unexpected(done.error());
    return {};
  });
  server_->resume();
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().fault, Fault::away);
  EXPECT_THAT(out.error().message, HasSubstr("not known"));
}

TEST_F(PostgresFaults, a_terminated_session_is_replaced) {
  ASSERT_EQ(count(), 0);
  const auto other = std::move(*Database::open(url_, server_->password()));
  ASSERT_TRUE(
      other->run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = "
                 "current_database()"));
  const auto out = database_->run("INSERT INTO t VALUES (1)");
  EXPECT_TRUE(out) << out.error().message;
  EXPECT_EQ(count(), 1);
}

TEST_F(PostgresFaults, a_wrong_password_is_told_without_it) {
  const auto wrong = std::move(*Database::open(url_, "hunter2-wrong"));
  const auto out = wrong->run("SELECT 1");
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().fault, Fault::away);
  EXPECT_THAT(out.error().message, HasSubstr("password authentication failed"));
  EXPECT_THAT(out.error().message, testing::Not(HasSubstr("hunter2")));
}

TEST_F(PostgresFaults, statements_that_outlive_their_client_end_on_the_server_too) {
  const auto out = database_->run("SELECT pg_sleep(30)");
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().fault, Fault::away);
  std::this_thread::sleep_for(300ms);
  const auto running = database_->run(
      "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND state = 'active' AND pid <> "
      "pg_backend_pid()");
  ASSERT_TRUE(running);
  EXPECT_EQ(running->rows[0].integer(0), 0);
}

TEST_F(PostgresFaults, tls_is_spoken_when_the_url_asks_for_it) {
  // The server makes its own certificate: its folder is its alone.
  const auto admin = std::move(*Database::open(url_, server_->password(), {.statement = 20s}));
  for (const char* statement : {"COPY (SELECT 1) TO PROGRAM 'umask 077; openssl req -x509 -newkey rsa:2048 -nodes "
                                "-days 1 -subj /CN=localhost -keyout "
                                "server.key -out server.crt 2>&1 >/dev/null'",
                                "ALTER SYSTEM SET ssl = on"}) {
    const auto done = admin->run(statement);
    ASSERT_TRUE(done) << done.error().message;
  }
  server_->restart();
  const auto over_tls = std::move(*Database::open(url_ + "?sslmode=require", server_->password()));
  for (int round = 0; round < 3; ++round) {
    const auto rows = over_tls->run("SELECT ssl, repeat('x', 500000) FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
    ASSERT_TRUE(rows) << rows.error().message;
    EXPECT_EQ(rows->rows[0].integer(0), 1);
    EXPECT_EQ(rows->rows[0].text(1).size(), 500'000U);
  }
  const auto checked =
      std::move(*Database::open(url_ + "?sslmode=verify-full&sslrootcert=/nowhere.crt", server_->password()));
  EXPECT_EQ(checked->run("SELECT 1").error().fault, Fault::away);
}

class SqliteFaults : public testing::Test {
 protected:
  void SetUp() override {
    database_ = std::move(*Database::open("sqlite:" + (folder_ / "t.db"), "", {.statement = 2s, .wait = 500ms}));
    ASSERT_TRUE(database_->run("CREATE TABLE t (n BIGINT PRIMARY KEY, s TEXT)"));
  }
  stackgate::test::TempDir folder_;
  std::unique_ptr<Database> database_;
};

TEST_F(SqliteFaults, a_full_disk_undoes_the_transaction_and_is_told) {
  ASSERT_TRUE(database_->run("INSERT INTO t VALUES (0, 'kept')"));
  const auto pages = [&](std::string_view most) {
    return database_->transact([&](Session& s) { return s.script(most); });
  };
  ASSERT_TRUE(pages("PRAGMA max_page_count = 20;"));
  const auto out = database_->transact([](Session& s) -> Expected<void> {
    for (std::int64_t i = 1; i < 1000; ++i) {
      auto done = s.run("INSERT INTO t VALUES ($1, $2)", {i, std::string(1000, 'x')});
      if (!done) return std::unexpected(done.error());
    }
    return {};
  });
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().fault, Fault::full) << out.error().message;
  EXPECT_EQ(database_->run("SELECT count(*) FROM t")->rows[0].integer(0), 1);
  ASSERT_TRUE(pages("PRAGMA max_page_count = 100000;"));
  EXPECT_TRUE(database_->run("INSERT INTO t VALUES (1, 'again')"));
}

TEST_F(SqliteFaults, a_file_that_is_no_database_is_told_and_nothing_is_overwritten) {
  folder_.write("other.db", std::string(5000, 'x'));
  auto other = std::move(*Database::open("sqlite:" + (folder_ / "other.db"), ""));
  const auto out = other->run("CREATE TABLE t (n BIGINT)");
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().fault, Fault::broken);
  EXPECT_THAT(out.error().message, HasSubstr("not a database"));
}

TEST_F(SqliteFaults, a_transaction_of_a_killed_process_is_not_there) {
  database_.reset();
  const pid_t child = ::fork();
  if (child == 0) {
    auto mine = std::move(*Database::open("sqlite:" + (folder_ / "t.db"), ""));
    (void)mine->run("INSERT INTO t VALUES (1, 'acknowledged')");
    (void)mine->transact([](Session& s) -> Expected<void> {
      (void)s.run("INSERT INTO t VALUES (2, 'not')");
      ::raise(SIGKILL);
      return {};
    });
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  database_ = std::move(*Database::open("sqlite:" + (folder_ / "t.db"), ""));
  const auto rows = database_->run("SELECT s FROM t")->rows;
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].text(0), "acknowledged");
}

TEST_F(SqliteFaults, a_hundred_look_ups_by_key_take_less_than_five_milliseconds) {
  ASSERT_TRUE(database_->transact([](Session& s) -> Expected<void> {
    for (std::int64_t i = 0; i < 10'000; ++i) {
      if (auto done = s.run("INSERT INTO t VALUES ($1, $2)", {i, std::string("some text")}); !done)
        return std::unexpected(done.error());
    }
    return {};
  }));
  auto best = 1s + 0ns;
  for (int round = 0; round < 5; ++round) {
    const auto began = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < 100; ++i) ASSERT_TRUE(database_->run("SELECT s FROM t WHERE n = $1", {i * 97}));
    best = std::min(best, std::chrono::steady_clock::now() - began);
  }
  RecordProperty("microseconds", static_cast<int>(best.count() / 1000));
  std::printf("100 look-ups: %d us\n", static_cast<int>(best.count() / 1000));
  EXPECT_LT(best, 5ms);
}

}  // namespace
}  // namespace stackgate::sql
