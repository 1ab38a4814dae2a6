// A real database, SQLite and PostgreSQL in turn, and a real directory store in a folder that goes with the test.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "services/datastore/lfs/large_files.hpp"
#include "services/datastore/lfs/schema.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/objects/options.hpp"
#include "services/kit/sql/migrate.hpp"
#include "tests/support/postgres_server.hpp"

namespace stackgate::datastore::lfs {

inline std::string oid_of(std::string_view bytes) { return crypto::to_hex(crypto::sha256(bytes)); }

/// Gives `bytes` in pieces of `piece`.
inline Source bytes_source(std::string bytes, std::size_t piece = 1000) {
  return
      [bytes = std::move(bytes), piece, at = std::size_t{0}](std::span<char> space) mutable -> Expected<std::size_t> {
        const std::size_t count = std::min({piece, space.size(), bytes.size() - at});
        std::copy_n(bytes.data() + at, count, space.data());
        at += count;
        return count;
      };
}

class Files : public testing::TestWithParam<sql::Engine> {
 protected:
  void SetUp() override {
    char name[] = "/tmp/stackgate-lfs-XXXXXX";
    folder_ = mkdtemp(name);
    if (GetParam() == sql::Engine::postgresql) {
      test::PostgresServer* server = test::PostgresServer::shared();
      if (server == nullptr) GTEST_SKIP() << test::PostgresServer::why_missing();
      database = sql::Database::open(server->url(), server->password()).value();
      ASSERT_TRUE(database->run("DROP SCHEMA public CASCADE"));
      ASSERT_TRUE(database->run("CREATE SCHEMA public"));
    } else {
      database = sql::Database::open("sqlite:" + folder_ + "/db", "").value();
    }
    static constexpr sql::Migration steps[] = {
        {1, "repositories", "CREATE TABLE repositories (id BIGINT PRIMARY KEY);\n", {}},
        {2, "large files", schema_1, {}}};
    const auto migrated = sql::migrate(*database, steps);
    EXPECT_TRUE(migrated) << (migrated ? "" : migrated.error().message);
    for (int id = 1; id <= 3; ++id)
      EXPECT_TRUE(database->run("INSERT INTO repositories (id) VALUES ($1)", {std::int64_t{id}}));
    objects::Options options;
    options.directory = folder_ + "/store";
    store = objects::open_store(options).value();
    objects = std::make_unique<LargeFiles>(*database, *store);
  }
  ~Files() override {
    objects.reset();
    store.reset();
    database.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  void put(const std::string& key, const std::string& bytes) {
    auto upload = store->create(key, bytes.size());
    ASSERT_TRUE(upload) << upload.error().message;
    ASSERT_TRUE((*upload)->write(bytes));
    ASSERT_TRUE((*upload)->commit());
  }
  std::vector<std::string> keys(std::string_view prefix = "") {
    std::vector<std::string> out;
    EXPECT_TRUE(store->list(prefix, [&](const objects::Entry& entry) {
      out.push_back(entry.key);
      return true;
    }));
    return out;
  }
  std::string read(const Stat& stat, std::uint64_t offset = 0) {
    auto file = objects->open(stat, offset);
    EXPECT_TRUE(file);
    std::string out(stat.size + 10, '\0');
    std::size_t at = 0;
    for (;;) {
      const auto got = (*file)->read(std::span(out).subspan(at));
      EXPECT_TRUE(got);
      if (*got == 0) break;
      at += *got;
    }
    out.resize(at);
    return out;
  }

  std::string folder_;
  std::unique_ptr<sql::Database> database;
  std::unique_ptr<objects::Store> store;
  std::unique_ptr<LargeFiles> objects;
};

inline const auto both_engines = testing::Values(sql::Engine::sqlite, sql::Engine::postgresql);
inline std::string engine_name(const testing::TestParamInfo<sql::Engine>& info) {
  return info.param == sql::Engine::sqlite ? "sqlite" : "postgresql";
}

}  // namespace stackgate::datastore::lfs
