// Against PostgreSQL. pgvector is no package of Debian 12, so its type, operator and access method are stood in for by
// ones of PostgreSQL's own functions: the statements are parsed, planned and run as they are.
#include "services/evaluator/vectors/pgvector_store.hpp"

#include <gmock/gmock.h>

#include "services/kit/log/log.hpp"
#include "tests/support/postgres_server.hpp"

namespace stackgate::evaluator {
namespace {

using testing::HasSubstr;

constexpr std::string_view stand_in = R"(
CREATE TYPE vector;
CREATE FUNCTION vector_in(cstring, oid, integer) RETURNS vector LANGUAGE internal IMMUTABLE STRICT AS 'textin';
CREATE FUNCTION vector_out(vector) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout';
CREATE FUNCTION vector_typmod_in(cstring[]) RETURNS integer LANGUAGE internal IMMUTABLE STRICT AS 'bittypmodin';
CREATE TYPE vector (INPUT = vector_in, OUTPUT = vector_out, TYPMOD_IN = vector_typmod_in, STORAGE = extended);
CREATE FUNCTION vector_numbers(vector) RETURNS float8[] LANGUAGE sql IMMUTABLE
  AS $$SELECT string_to_array(btrim($1::text, '[]'), ',')::float8[]$$;
CREATE FUNCTION cosine_distance(vector, vector) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
  SELECT 1 - sum(a * b) / sqrt(sum(a * a) * sum(b * b)) FROM unnest(vector_numbers($1), vector_numbers($2)) t(a, b)$$;
CREATE OPERATOR <=> (LEFTARG = vector, RIGHTARG = vector, FUNCTION = cosine_distance);
CREATE FUNCTION vector_hash(vector) RETURNS integer LANGUAGE internal IMMUTABLE STRICT AS 'hashvarlena';
CREATE ACCESS METHOD hnsw TYPE INDEX HANDLER hashhandler;
CREATE OPERATOR CLASS vector_cosine_ops FOR TYPE vector USING hnsw AS FUNCTION 1 vector_hash(vector);
)";

class PgvectorTest : public testing::Test {
 protected:
  void SetUp() override {
    log::configure({.level = log::Level::error});
    if (!test::PostgresServer::why_missing().empty()) GTEST_SKIP() << test::PostgresServer::why_missing();
    auto& server = *test::PostgresServer::shared();
    auto opened = sql::Database::open(server.fresh_database(), server.password());
    ASSERT_TRUE(opened) << opened.error();
    database_ = std::move(*opened);
  }
  void make_stand_in() {
    const auto made =
        database_->transact([](sql::Session& session) -> sql::Expected<void> { return session.script(stand_in); });
    ASSERT_TRUE(made) << made.error().message;
  }
  std::shared_ptr<sql::Database> database_;
};

TEST_F(PgvectorTest, a_missing_extension_is_named_with_what_to_do) {
  const VectorStore store = pgvector_store(database_, "docs");
  EXPECT_EQ(store.count(), 0U);
  const auto put = store.put(0, 2, std::vector<float>{1, 0});
  ASSERT_FALSE(put);
  EXPECT_FALSE(put.error().away);
  EXPECT_THAT(put.error().message, testing::AnyOf(HasSubstr("install pgvector"), HasSubstr("CREATE EXTENSION vector")));
}

TEST_F(PgvectorTest, makes_a_table_fills_and_searches_it) {
  make_stand_in();
  const VectorStore store = pgvector_store(database_, "docs");
  std::vector<float> vectors = {1, 0, 0, 1, 3, 3};
  ASSERT_TRUE(store.put(0, 2, vectors));
  ASSERT_TRUE(store.put(1, 2, std::vector<float>{0, 2})) << "the same number again";
  for (int i = 3; i < 250; ++i)
    ASSERT_TRUE(store.put(static_cast<std::uint64_t>(i), 2, std::vector<float>{-1, -0.25F}));
  const auto finished = store.finish();
  ASSERT_TRUE(finished) << finished.error().message;
  EXPECT_EQ(store.count(), 250U);
  const auto found = store.nearest(std::vector<float>{1, 0.1F}, 3);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 3U);
  EXPECT_EQ((*found)[0].number, 0U);
  EXPECT_EQ((*found)[1].number, 2U);
  EXPECT_EQ((*found)[2].number, 1U);
  EXPECT_NEAR((*found)[0].score, 0.995, 1e-3);
}

TEST_F(PgvectorTest, another_dimension_begins_again) {
  make_stand_in();
  ASSERT_TRUE(pgvector_store(database_, "docs").put(0, 2, std::vector<float>{1, 0, 0, 1}));
  ASSERT_TRUE(pgvector_store(database_, "docs").put(0, 3, std::vector<float>{1, 0, 0}));
  EXPECT_EQ(pgvector_store(database_, "docs").count(), 1U);
  ASSERT_TRUE(pgvector_store(database_, "docs").drop());
  EXPECT_EQ(pgvector_store(database_, "docs").count(), 0U);
}

TEST_F(PgvectorTest, a_server_that_is_away_is_told_from_a_wrong_one) {
  auto away = sql::Database::open("postgresql://nobody@127.0.0.1:1/none", "");
  ASSERT_TRUE(away);
  const auto count = pgvector_store(std::move(*away), "docs").count();
  ASSERT_FALSE(count);
  EXPECT_TRUE(count.error().away);
}

TEST(PgvectorText, has_the_shortest_digits_of_the_same_float) {
  EXPECT_EQ(pgvector_text(std::vector<float>{0.5F, 1, -2e-5F, 0.1F}), "[0.5,1,-2e-05,0.1]");
  EXPECT_EQ(pgvector_text({}), "[]");
}

}  // namespace
}  // namespace stackgate::evaluator
