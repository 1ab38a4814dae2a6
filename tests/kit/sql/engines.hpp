// The same tests on both engines: each gets an empty database.
#pragma once
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "services/kit/sql/database.hpp"
#include "tests/support/postgres_server.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::sql::test {

class OnBothEngines : public testing::TestWithParam<Engine> {
 protected:
  void SetUp() override {
    if (GetParam() == Engine::sqlite) {
      url_ = "sqlite:" + (folder_ / "test.db");
    } else {
      auto* server = stackgate::test::PostgresServer::shared();
      if (server == nullptr) GTEST_SKIP() << stackgate::test::PostgresServer::why_missing();
      url_ = server->fresh_database();
      password_ = server->password();
    }
    database_ = open();
  }
  std::unique_ptr<Database> open(Options options = {}) const {
    auto made = Database::open(url_, password_, options);
    if (!made) throw std::runtime_error(made.error());
    return std::move(*made);
  }
  /// Fails the test when the statement does.
  Result must(std::string_view statement, const std::vector<Value>& values = {}) const {
    auto out = database_->run(statement, values);
    EXPECT_TRUE(out) << out.error().message;
    return out ? *std::move(out) : Result{};
  }
  bool on_sqlite() const { return GetParam() == Engine::sqlite; }

  stackgate::test::TempDir folder_;
  std::string url_, password_;
  std::unique_ptr<Database> database_;
};

inline std::string engine_name(const testing::TestParamInfo<Engine>& info) {
  return info.param == Engine::sqlite ? "sqlite" : "postgresql";
}

}  // namespace stackgate::sql::test

#define ON_BOTH_ENGINES(suite)                                                                                      \
  INSTANTIATE_TEST_SUITE_P(, suite,                                                                                 \
                           testing::Values(::stackgate::sql::Engine::sqlite, ::stackgate::sql::Engine::postgresql), \
                           ::stackgate::sql::test::engine_name)
