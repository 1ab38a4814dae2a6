// The API over a real database and a real server; without a datastore, which the end-to-end script has.
#include "services/entitystore/api/api.hpp"

#include <thread>

#include <gmock/gmock.h>

#include "services/entitystore/adapters/rows.hpp"
#include "services/kit/log/log.hpp"
#include "tests/kit/web/app_support.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::entitystore {
namespace {

using testing::HasSubstr;
using web::test::ask;

class ApiTest : public testing::Test {
 protected:
  void SetUp() override {
    log::configure({.level = log::Level::error});
    app_ = web::test::start(routes(api_));
  }
  void add(const std::string& id, const std::string& version, Status status) {
    Record r;
    r.id = id;
    r.name = "bot";
    r.version = version;
    r.base_model = "m";
    r.created_at = r.updated_at = timestamp();
    r.repository = "adapters/default--bot";
    r.archive_sha256 = "00";
    r.archive_bytes = 10;
    ASSERT_TRUE(insert_adapter(*database_, r, {}, {"test", 60}));
    if (status != Status::uploading) {
      ASSERT_TRUE(note_step(*database_, id, "committed", "c0ffee", {"test", 60}).value());
      ASSERT_TRUE(move_status(*database_, id, Status::uploading, status, "").value());
    }
    ASSERT_TRUE(catalogue_.refresh());
  }
  static std::unique_ptr<sql::Database> open(const std::string& path) {
    auto database = sql::Database::open("sqlite:" + path, "");
    if (!database || !sql::migrate(**database, migrations())) throw std::runtime_error("no database");
    return std::move(*database);
  }

  test::TempDir dir_;
  std::unique_ptr<sql::Database> database_ = open(dir_ / "db");
  metrics::Registry metrics_;
  Spool spool_ = *Spool::open(dir_ / "data");
  Datastore datastore_{{.url = "http://127.0.0.1:1", .username = {}, .password = {}}};
  Catalogue catalogue_{*database_};
  Registrar registrar_{*database_, catalogue_, datastore_, spool_, {}};
  AccessLog access_{*database_, metrics_};
  int woken_ = 0;
  Api api_{.database = *database_,
           .catalogue = catalogue_,
           .datastore = datastore_,
           .spool = spool_,
           .registrar = registrar_,
           .access = access_,
           .downloads = Downloads::direct,
           .datastore_public_url = "http://datastore:8000",
           .signing_key = [] { return std::string(32, 'k'); },
           .wake_sweep = [this] { ++woken_; }};
  std::unique_ptr<web::App> app_;
};

TEST_F(ApiTest, IsNotReadyBeforeTheDatabaseWasRead) { EXPECT_EQ(ask(*app_, "GET /v1/adapters").status, 503); }

TEST_F(ApiTest, APollerIsToldOnlyWhatChangesItsOwnList) {
  add("a", "1.0.0", Status::ready);
  const auto first = ask(*app_, "GET /v1/adapters?status=ready");
  ASSERT_EQ(first.status, 200);
  EXPECT_THAT(first.body, HasSubstr(R"({"adapters":[{"id":"a","name":"bot","base_model":"m","version":"1.0.0")"));
  EXPECT_EQ(first.header("X-Total-Count"), "1");
  const std::string known = "If-None-Match: " + first.header("ETag") + "\r\n";
  EXPECT_EQ(ask(*app_, "GET /v1/adapters?status=ready", {}, known).status, 304);
  add("b", "1.1.0", Status::pending);
  EXPECT_EQ(ask(*app_, "GET /v1/adapters?status=ready", {}, known).status, 304);  // remembered anew, same answer
  EXPECT_EQ(ask(*app_, "GET /v1/adapters", {}, known).status, 200);
  add("c", "1.2.0", Status::ready);
  EXPECT_EQ(ask(*app_, "GET /v1/adapters?status=ready", {}, known).status, 200);
  EXPECT_EQ(ask(*app_, "HEAD /v1/adapters").body, "");
}

TEST_F(ApiTest, DetailsGiveADownloadUrlOnceThereAreFiles) {
  add("a", "1.0.0", Status::ready);
  add("b", "1.1.0", Status::uploading);
  const auto ready = ask(*app_, "GET /v1/adapters/a");
  EXPECT_THAT(ready.body, HasSubstr("http://datastore:8000/v1/hf/adapters/default--bot/resolve/c0ffee/adapter.tar.gz"));
  EXPECT_EQ(ask(*app_, "GET /v1/adapters/a", {}, "If-None-Match: " + ready.header("ETag") + "\r\n").status, 304);
  EXPECT_THAT(ask(*app_, "GET /v1/adapters/b").body, testing::Not(HasSubstr("download_url")));
  EXPECT_EQ(ask(*app_, "GET /v1/adapters/a/archive").status, 302);
  EXPECT_EQ(ask(*app_, "GET /v1/adapters/b/archive").status, 409);
}

TEST_F(ApiTest, AnUnchangedListWithSignedLinksIsGivenAnewBeforeTheyRunOut) {
  api_.downloads = Downloads::proxy;
  api_.link_valid = std::chrono::seconds(2);  // so that the tag changes each second
  add("a", "1.0.0", Status::ready);
  for (const std::string query : {"?expand=true", "?expand=1&page=1", "?e%78pand=true"}) {
    const auto first = ask(*app_, "GET /v1/adapters" + query);
    ASSERT_EQ(first.status, 200);
    ASSERT_THAT(first.body, HasSubstr("download_url"));
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    const std::string known = "If-None-Match: " + first.header("ETag") + "\r\n";
    EXPECT_EQ(ask(*app_, "GET /v1/adapters" + query, {}, known).status, 200) << query;
  }
  const auto plain = ask(*app_, "GET /v1/adapters");
  api_.link_valid = std::chrono::hours(1000);
  const auto expanded = ask(*app_, "GET /v1/adapters?expand=true");
  EXPECT_EQ(ask(*app_, "GET /v1/adapters?expand=true", {}, "If-None-Match: " + expanded.header("ETag") + "\r\n").status,
            304);
  EXPECT_EQ(ask(*app_, "GET /v1/adapters", {}, "If-None-Match: " + plain.header("ETag") + "\r\n").status, 304);
}

TEST_F(ApiTest, ASignedLinkIsForItsAdapterOnly) {
  api_.downloads = Downloads::proxy;
  add("a", "1.0.0", Status::ready);
  add("b", "1.1.0", Status::ready);
  const auto detail = ask(*app_, "GET /v1/adapters/a");
  const auto at = detail.body.find("/v1/adapters/a/archive?");
  ASSERT_NE(at, std::string::npos);
  const std::string link = detail.body.substr(at, detail.body.find('"', at) - at);
  EXPECT_EQ(ask(*app_, "GET " + link).status, 503);  // allowed, and then the datastore is away
  std::string other = link;
  other[13] = 'b';
  const auto forged = ask(*app_, "GET " + other);
  EXPECT_EQ(forged.status, 403);
  EXPECT_THAT(forged.body, HasSubstr("\"the link's signature is not valid; GET /v1/adapters/b gives a fresh one\""));
  const auto bare = ask(*app_, "GET /v1/adapters/a/archive");
  EXPECT_EQ(bare.status, 403);
  EXPECT_THAT(bare.body, HasSubstr("\"the link has no signature; GET /v1/adapters/a gives a fresh one\""));
}

TEST_F(ApiTest, StatusesMoveByPatchAsTheTableSays) {
  add("a", "1.0.0", Status::pending);
  const auto patch = [&](std::string_view body) {
    return ask(*app_, "PATCH /v1/adapters/a", body, "Content-Type: application/json\r\n");
  };
  EXPECT_EQ(patch(R"({"status":"uploading"})").status, 409);
  EXPECT_EQ(patch(R"({"status":"ready"})").status, 200);
  EXPECT_EQ(patch(R"({"status":"ready"})").status, 200);
  EXPECT_EQ(patch(R"({"state":"ready"})").status, 422);
  EXPECT_EQ(patch(R"({"status":)").status, 400);
  EXPECT_THAT(patch(R"({"status":"failed","reason":"bad answers"})").body, HasSubstr("bad answers"));
  EXPECT_EQ(patch(R"({"status":"ready"})").status, 409);
  EXPECT_EQ(woken_, 1);
}

TEST_F(ApiTest, DeletionIsSeenAtOnceAndOnce) {
  add("a", "1.0.0", Status::ready);
  EXPECT_EQ(ask(*app_, "DELETE /v1/adapters/a").status, 204);
  EXPECT_EQ(ask(*app_, "DELETE /v1/adapters/a").status, 404);
  EXPECT_EQ(ask(*app_, "GET /v1/adapters").body, R"({"adapters":[]})");
  EXPECT_THAT(ask(*app_, "GET /v1/adapters/a/access-log").body, HasSubstr("\"delete\""));
}

TEST_F(ApiTest, TheAccessLogHasTheTraceOfEveryRequestAndTheUserOfATrustedProxy) {
  add("a", "1.0.0", Status::ready);
  const auto log = [&] { return ask(*app_, "GET /v1/adapters/a/access-log").body; };
  ask(*app_, "GET /v1/adapters/a", {}, "X-Remote-User: mallory\r\n");
  EXPECT_THAT(log(), testing::ContainsRegex(R"("actor":"",.*"trace_id":"[0-9a-f]{32}")"));
  api_.trust_forwarded = true;
  ask(*app_, "GET /v1/adapters/a", {},
      "X-Remote-User: ada\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n");
  EXPECT_THAT(log(), testing::AllOf(HasSubstr(R"("actor":"ada")"), HasSubstr("0af7651916cd43dd8448eb211c80319c")));
  ask(*app_, "GET /v1/adapters/a/archive");
  EXPECT_THAT(log(), HasSubstr(R"("action":"redirect")"));
}

TEST_F(ApiTest, AnUploadWithoutItsPartsIsToldWhatIsMissing) {
  EXPECT_EQ(ask(*app_, "POST /v1/adapters", "{}", "Content-Type: application/json\r\n").status, 415);
  const auto empty = ask(*app_, "POST /v1/adapters", "--x--\r\n", "Content-Type: multipart/form-data; boundary=x\r\n");
  EXPECT_EQ(empty.status, 422);
  EXPECT_THAT(empty.body, testing::AllOf(HasSubstr("metadata"), HasSubstr("adapter")));
  EXPECT_THAT(spool_.all(), testing::IsEmpty());
}

TEST_F(ApiTest, ModelsAreTheReadyAdaptersInAnEnvelope) {
  add("a", "1.0.0", Status::ready);
  add("b", "1.1.0", Status::pending);
  const auto list = ask(*app_, "GET /v1/models?page_size=10");
  EXPECT_THAT(list.body, testing::AllOf(HasSubstr(R"("name":"bot@1.0.0")"), HasSubstr(R"("total_results":1)")));
  EXPECT_EQ(ask(*app_, "GET /v1/models?page_size=10", {}, "If-None-Match: " + list.header("ETag") + "\r\n").status,
            304);
  EXPECT_EQ(ask(*app_, "GET /v1/models/default/bot").status, 200);
  EXPECT_EQ(ask(*app_, "GET /v1/models/default/bot@1.1.0").status, 404);
}

}  // namespace
}  // namespace stackgate::entitystore
